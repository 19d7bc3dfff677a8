// Reasons not to judge an event or a single sample of it. Reports and audits share this list.
#pragma once

#include "src/support/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::analysis {

/// Why an event or a sample is not judged. Reports use the reasons up to `unknown_cause`; audits
/// use `timer`, `every_instruction`, and those from `no_core_event` on.
enum class NotJudged : std::uint8_t {
  none,  ///< it is judged
  // Events.
  no_samples,         ///< no samples were recorded
  timer,              ///< cpu-clock, task-clock: any instruction may be sampled
  every_instruction,  ///< cycles, instructions: each instruction causes it, or can
  no_trigger,         ///< the address of the trigger is not known
  not_caused,         ///< the trigger of this target is not known to cause it
  other_causes,       ///< other instructions of the target can cause it as well
  no_core_event,      ///< an event of another PMU that no rule relates to an instruction
  unrecorded_cpu,     ///< the recording does not contain its CPU
  unknown_cpu,        ///< no catalogue covers the CPU
  unknown_event,      ///< the catalogue does not have the event
  imprecise,          ///< the CPU does not record the address of the instruction that causes it
  unknown_precision,  ///< the catalogue does not contain whether the CPU can record it precisely
  no_precise_levels,  ///< an event of an Arm core PMU, which records where the interrupt occurred
  unknown_cause,      ///< whether such an instruction can cause the event is not known
  level_0,
  // Samples.
  not_exact,  ///< no PERF_RECORD_MISC_EXACT_IP at level 2 or 3
  /// Kernel mode at an address of the user's half, or the reverse: kernels that set the mode by the
  /// address of the next instruction (setup_pebs_sample_data() of Linux 3.1x to 4.x), guests.
  mode_contradicts_address,
  kernel,  ///< in kernel mode: the kernel patches its code
  guest,   ///< in a guest or a hypervisor, or in an unknown mode
  /// At address 0 or near it, where nothing is mapped: a call of a null pointer; Linux 7.3 writes 0
  /// for a sample of `:u` in the kernel.
  no_address,
  unmapped,      ///< nothing is known to be mapped at the address
  anonymous,     ///< memory without a file
  no_file,       ///< its file does not exist, or is no ELF file
  refused,       ///< the file at its path is not the recorded one
  no_code,       ///< only a debug file exists, or the file ends before
  architecture,  ///< code of another architecture than the recording, or of an unsupported one
  not_decoded,
  inside_instruction,   ///< no instruction begins there, decoded from the function's first byte
  no_function,          ///< nothing marks where its function begins, or it begins with half a pair
  no_only_predecessor,  ///< several instructions can precede it
  /// Its function, its file or the recording has too much code; the rest is not decoded.
  too_much_code,
};

/// For each reason, its name in audits in JSON and CSV, and its meaning as a part of a sentence.
SKID_WORDS(
    NotJudged, {"none", "judged"}, {"no_samples", "no samples were recorded"},
    {"timer", "a timer samples any instruction that runs"},
    {"every_instruction", "any instruction can cause this event"},
    {"no_trigger", "no trigger address"},
    {"not_caused", "the trigger of this target is not known to cause this event"},
    {"other_causes", "other instructions of this target can cause this event as well"},
    {"no_core_event", "not an event of a core PMU; no instruction is known to cause it"},
    {"unrecorded_cpu", "the recording does not contain its CPU: a CPUID section is missing"},
    {"unknown_cpu", "no catalogue covers this CPU"},
    {"unknown_event", "the catalogue of this CPU does not have the event"},
    {"imprecise",
     "not a precise event on this CPU, which does not record the instruction that caused it"},
    {"unknown_precision", "whether the CPU can record this event precisely is not known"},
    {"no_precise_levels",
     "the core PMUs of Arm have no precise levels and ignore one: samples are where the interrupt "
     "occurred"},
    {"unknown_cause", "whether such an instruction can cause the event is not known"},
    {"level_0", "level 0: arbitrary skid"},
    {"not_exact", "no EXACT_IP, though the precise level is 2 or 3"},
    {"mode_contradicts_address", "the mode of the sample contradicts its address"},
    {"kernel", "in kernel mode, whose code the kernel patches"},
    {"guest", "in a guest, a hypervisor or an unknown mode"},
    {"no_address",
     "at address 0 or near it: a call of a null pointer, or a sample of user mode alone (:u) that "
     "skidded into the kernel, whose address Linux 7.3 writes as 0"},
    {"unmapped", "no known mapping at the address"}, {"anonymous", "memory without a file"},
    {"no_file", "the binary is missing, or is not an ELF file"},
    {"refused", "the file that was found is not the recorded one"},
    {"no_code", "the file has no code there"},
    {"architecture", "code of an unsupported architecture, or of another than the recording"},
    {"not_decoded", "the code does not decode"},
    {"inside_instruction", "not at the first byte of an instruction of its function"},
    {"no_function", "neither a symbol nor the unwind table marks the beginning of its function"},
    {"no_only_predecessor", "the preceding instruction is not certain"},
    {"too_much_code",
     "its function, its file or the recording has more code than is decoded (docs/audit.md, Cost)"})
inline constexpr std::size_t kNotJudged = words_of(NotJudged{}).size();
static_assert(kNotJudged == static_cast<std::size_t>(NotJudged::too_much_code) + 1,
              "a reason has no words");

/// Whether any instruction can be sampled, so that an offset is not a skid.
constexpr bool samples_any_instruction(NotJudged reason) {
  return reason == NotJudged::timer || reason == NotJudged::every_instruction;
}

/// Returns the value of `judgeable` in reports in JSON: "yes", "timer", "every instruction".
inline std::string judgeable_name(NotJudged reason) {
  if (reason == NotJudged::none) return "yes";
  std::string name(name_of(reason));
  std::ranges::replace(name, '_', ' ');
  return name;
}
/// Finds the reason that has this value of `judgeable`; nullopt for reasons that no report has.
inline std::optional<NotJudged> judgeable_named(std::string_view name) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(NotJudged::unknown_cause); ++i) {
    const auto reason = static_cast<NotJudged>(i);
    if (judgeable_name(reason) == name) return reason;
  }
  return std::nullopt;
}

}  // namespace skid::analysis
