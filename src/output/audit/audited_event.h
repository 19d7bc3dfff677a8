// An event of an audit, with the recording that it is in.
#pragma once

#include "analysis/event_identity.h"
#include "src/audit/findings.h"
#include "src/machine/machine.h"
#include "src/support/escape.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

/// Neither is owned.
struct AuditedEvent {
  const audit::Audit* audit = nullptr;
  const audit::EventAudit* event = nullptr;
};

/// Returns the events of all recordings.
inline std::vector<AuditedEvent> events_of(const std::vector<audit::Audit>& audits) {
  std::vector<AuditedEvent> events;
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) events.push_back({&audit, &event});
  }
  return events;
}

/// Names an event and its level: "access, pp". Escaped.
inline std::string event_name(const audit::EventAudit& event) {
  return fmt::format("{}, {}", escape_for_terminal(event.identity.label),
                     machine::level_name(event.level));
}

}  // namespace skid::output
