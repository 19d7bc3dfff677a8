// Catalogues of CPUs that are not here; libpfm4 has those of its own architecture ("x86-64").
#pragma once

#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/events/spelling.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "tests/support/prelude.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// The events of a CPU by a name that --cpu takes. Throws ValueError for others.
inline events::Catalogue catalogue_of(const std::string& cpu) {
  return events::open_catalogue({.cpu = cpu, .perfmon = {}}, machine::Machine());
}

/// The events that a spelling names; empty if there are none.
inline std::vector<events::Event> find_events(const events::Catalogue& catalogue,
                                              std::string_view spelling) {
  return catalogue.find(events::parse_spelling(spelling, catalogue.cpu().layout));
}

/// A CPU of Intel's family 6.
inline machine::CpuIdentity intel_cpu(int model, std::optional<int> stepping = {}) {
  return {.arch = "x86_64",
          .vendor = "GenuineIntel",
          .family = 6,
          .model = model,
          .stepping = stepping};
}

}  // namespace skid::test
