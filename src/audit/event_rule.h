// By which rule the samples of an event are held against the instructions that they are at.
#pragma once

#include "src/measure/event_knowledge.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace skid::audit {

/// Why a sample is not judged.
enum class Reason : std::uint8_t {
  no_core_event,      ///< no event of a core PMU, and none whose instruction is known otherwise
  unknown_cpu,        ///< no catalogue covers the CPU
  unknown_event,      ///< the catalogue does not have the event
  imprecise,          ///< the catalogue says that the CPU cannot record it precisely
  unknown_precision,  ///< … or does not say whether it can
  no_precise_levels,  ///< of an Arm core PMU, which records where the interrupt came
  unknown_cause,      ///< nobody has said whether such an instruction can cause the event
  level_0,
  not_exact,     ///< no PERF_RECORD_MISC_EXACT_IP at level 2 or 3
  kernel,        ///< in kernel mode: kernel code patches itself
  guest,         ///< in a guest or a hypervisor, or in a mode that the sample does not tell
  unmapped,      ///< nothing is known to be mapped there
  anonymous,     ///< memory without a file
  no_file,       ///< its file was not found, or is none
  refused,       ///< its file has another build-id, or architecture, than the recorded one
  no_code,       ///< only a debug file was found, or the file ends before
  architecture,  ///< of another architecture than the recording, or of one that is not classified
  not_decoded,
  inside_instruction,  ///< not where an instruction begins, counted from the function's first byte
  no_function,  ///< no symbol tells where its function begins, or it begins with half of a pair
  no_only_predecessor,
};
inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::no_only_predecessor) + 1;

/// "no_code", as in JSON and CSV.
std::string_view name_of(Reason reason);
/// What it means, for people: "the file holds no code there".
std::string_view describe(Reason reason);

enum class Rule : std::uint8_t {
  none,
  sampled,           ///< the sampled instruction caused the event: levels 2 and 3
  predecessor,       ///< the one in front of it did: level 1
  data_breakpoint,   ///< x86 traps behind the instruction that touched the datum
  write_breakpoint,  ///< the same of one that only writes trigger
  data_watchpoint,   ///< aarch64 stops in front of the instruction that is to touch the datum
  write_watchpoint,  ///< the same of one that only writes trigger
  execute_breakpoint,
  page_fault,
};

std::string_view name_of(Rule rule);
std::string_view describe(Rule rule);

struct EventRule {
  Rule rule = Rule::none;
  Reason reason = Reason::no_core_event;  ///< of all samples, where `rule` is none
};

/// What holds for all samples of an event. `arch`: that was recorded; nullopt where the recording
/// does not tell, and breakpoints are taken for those of x86 until `rule_on` knows better.
EventRule rule_of(const perfdata::Attribute& attribute, const measure::EventKnowledge& knowledge,
                  std::optional<Arch> arch);

/// A rule on code of an architecture: what a breakpoint on data is called there.
Rule rule_on(Rule rule, Arch arch);

}  // namespace skid::audit
