// Data addresses of samples, compared with the data that the triggers of the target access.
#pragma once

#include "analysis/basis.h"
#include "runway/target.h"
#include "src/measure/event_description.h"
#include "src/perfdata/attribute.h"

#include <optional>
#include <vector>

namespace skid::measure {

/// page-faults, minor-faults or major-faults.
bool is_page_fault(const perfdata::Attribute& attribute);

/// What the data addresses of an event's samples are worth; nullopt: they contain none.
/// AMD's core PMU samples through IBS at level 1 and above
/// (arch/x86/events/amd/ibs.c), Intel's has data addresses only in PEBS records.
std::optional<analysis::AddressSource> address_source(const RecordedEvent& event);

/// The data that the triggers of a target access, by its note and, for a pointer chase, its report.
/// `report`: of the run, null where unknown. Empty where that is not known or there is none.
std::vector<analysis::DeclaredData> declared_data(const runway::TargetDescription& target,
                                                  const runway::TargetReport* report);

}  // namespace skid::measure
