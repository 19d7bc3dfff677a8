// Events of recordings that need not exist, with what is known of them.
#pragma once

#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "tests/support/prelude.h"

#include <string>
#include <utility>

namespace skid::test {

/// The event of an attribute that a machine recorded; both must outlive it.
inline measure::RecordedEvent known_event(const perfdata::Attribute& attribute,
                                          const machine::Machine& machine,
                                          std::string pmu = "cpu") {
  measure::RecordedEvent event{
      .attribute = attribute, .pmu_name = std::move(pmu), .machine = machine};
  measure::RecordedCpu(machine).look_up(event);
  return event;
}

}  // namespace skid::test
