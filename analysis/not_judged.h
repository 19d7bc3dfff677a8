// Why an event, or a single sample of it, is not judged: one list for reports and audits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::analysis {

/// Reports use those up to `unknown_cause`, audits all from `no_core_event`.
enum class NotJudged : std::uint8_t {
  none,  ///< it is judged
  // Events.
  timer,              ///< cpu-clock, task-clock: any instruction may be sampled
  every_instruction,  ///< cycles, instructions: each instruction causes it, or can
  no_trigger,         ///< the address of the trigger is not known
  not_caused,         ///< the trigger of this target is not known to cause it
  other_causes,       ///< other instructions of the target can cause it as well
  no_core_event,      ///< of no core PMU, and no rule relates it to an instruction
  unrecorded_cpu,     ///< the recording does not contain which CPU it is of
  unknown_cpu,        ///< no catalogue covers the CPU
  unknown_event,      ///< the catalogue does not have the event
  imprecise,          ///< the CPU does not record the address of the instruction that causes it
  unknown_precision,  ///< the catalogue does not contain whether the CPU can record it precisely
  no_precise_levels,  ///< of an Arm core PMU, which records where the interrupt occurred
  unknown_cause,      ///< whether such an instruction can cause the event is not known
  level_0,
  // Samples.
  not_exact,     ///< no PERF_RECORD_MISC_EXACT_IP at level 2 or 3
  kernel,        ///< in kernel mode: the kernel patches its code
  guest,         ///< in a guest or a hypervisor, or in an unknown mode
  unmapped,      ///< nothing is known to be mapped at the address
  anonymous,     ///< memory without a file
  no_file,       ///< its file does not exist, or is no ELF file
  refused,       ///< its file has another build-id, or architecture, than the recorded one
  no_code,       ///< only a debug file exists, or the file ends before
  architecture,  ///< of another architecture than the recording, or of an unsupported one
  not_decoded,
  inside_instruction,  ///< not where an instruction begins, counted from the function's first byte
  no_function,         ///< no symbol marks where its function begins, or it begins with half a pair
  no_only_predecessor,  ///< several instructions can precede it
  too_much_code,        ///< of its function, its file or the recording; the rest is not decoded
};
inline constexpr std::size_t kNotJudged = static_cast<std::size_t>(NotJudged::too_much_code) + 1;

/// "no_code", as audits have it in JSON and CSV.
std::string_view name_of(NotJudged reason);
/// What it means, as part of a sentence: "the file holds no code there".
std::string_view describe(NotJudged reason);

/// Whether any instruction can be sampled, so that an offset is not a skid.
constexpr bool samples_any_instruction(NotJudged reason) {
  return reason == NotJudged::timer || reason == NotJudged::every_instruction;
}

/// "yes", "timer", "every instruction": `judgeable` in reports in JSON.
std::string judgeable_name(NotJudged reason);
/// The reason of that name; nullopt for reasons that no report has.
std::optional<NotJudged> judgeable_named(std::string_view name);

}  // namespace skid::analysis
