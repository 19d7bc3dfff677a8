// Which event was recorded, whether it is the requested one, and whether it can be judged.
#pragma once

#include "analysis/not_judged.h"
#include "runway/target.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::measure {

/// What a recording's own command line requested, one entry per measured event in their order;
/// empty when the command line does not contain it (no -e, groups, another number of events).
std::vector<std::string> requested_events(const perfdata::Features& features,
                                          std::size_t measured_events);

/// cpu-clock or task-clock.
bool is_clock(const perfdata::Attribute& attribute);
/// page-faults, minor-faults or major-faults.
bool is_page_fault(const perfdata::Attribute& attribute);

/// perf's own cycles.
bool is_generic_cycles(const perfdata::Attribute& attribute);

/// Whether `perf record` was given no event, so that it takes its default.
bool names_no_event(const std::vector<std::string>& command_line);

/// Whether another event was recorded than `requested` names: perf silently records cpu-clock for
/// cycles where there is no PMU. `requested` may be a perf event or a built-in name.
bool is_substituted(std::string_view requested, const perfdata::Attribute& recorded);

/// Whether an attribute is certainly the requested event, by its name, generic event or code;
/// modifiers and levels aside.
bool is_recorded_as_requested(std::string_view requested, const perfdata::Attribute& recorded);

/// The built-in event that an attribute amounts to on this target ("access", "execute", "faults");
/// nullopt when it is none of them.
std::optional<std::string> builtin_event_of(const perfdata::Attribute& attribute,
                                            const runway::TargetDescription& target);

/// Whether several triggers cause the event equally often. The execute breakpoint is at the first
/// one; in a pointer chase the watched datum is one element, which the same trigger may access in
/// every round; of the CPU's events a trigger that can cause one need not do so in each iteration.
bool triggers_are_equal(const perfdata::Attribute& attribute, const EventKnowledge& knowledge,
                        const runway::TargetDescription& target);

/// Why samples of this event cannot be judged, or NotJudged::none. Judged is only what is known:
/// where the CPU records the address of a cause precisely, the trigger is known to cause the event,
/// and no other instruction of the loop can (docs/method.md). `target` null: that the hit function
/// alone causes it is taken from the user. `loop`: of the target.
/// pmu_name: of attribute.type in the recording, empty when unknown.
analysis::NotJudged reason_not_judged(const perfdata::Attribute& attribute,
                                      std::string_view pmu_name, const EventKnowledge& knowledge,
                                      const runway::TargetDescription* target,
                                      const LoopCategories& loop);

/// What the reason leaves open: that the CPU has no precise levels, or which catalogue does not
/// have the precision of the event. May be empty.
std::string remark_on(const EventKnowledge& knowledge, unsigned level,
                      analysis::NotJudged not_judged);

/// Software events, breakpoints and tracepoints accept a precise level and ignore it.
bool ignores_level(const perfdata::Attribute& attribute);

/// Where every sample of an event that ignores levels is, in instructions from the trigger: what
/// `target` declares; null: by the kind of event and the architecture. nullopt: not known.
std::optional<std::int64_t> known_offset(const perfdata::Attribute& attribute,
                                         const runway::TargetDescription* target,
                                         std::optional<Arch> arch);

}  // namespace skid::measure
