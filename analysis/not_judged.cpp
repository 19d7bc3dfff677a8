#include "analysis/not_judged.h"

#include <algorithm>
#include <array>
#include <utility>

namespace skid::analysis {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array<Words, kNotJudged> kWords{{
    {"none", "judged"},
    {"timer", "a timer samples any instruction that runs; the offset is not a skid"},
    {"every_instruction", "any instruction can cause this event; the offset is not a skid"},
    {"no_trigger", "no trigger address; pass --hit FUNCTION --runway FUNCTION"},
    {"not_caused",
     "the trigger of this target is not known to cause this event; record it with one that is"},
    {"other_causes", "other instructions of this target can cause this event as well"},
    {"no_core_event", "not an event of a core PMU; no instruction is known to cause it"},
    {"unrecorded_cpu", "the recording does not contain its CPU: a CPUID section is missing"},
    {"unknown_cpu", "no catalogue covers this CPU (see --perfmon)"},
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
    {"kernel", "in kernel mode; the kernel patches its code, so its file may differ"},
    {"guest", "in a guest, a hypervisor or an unknown mode"},
    {"unmapped", "no known mapping at the address"},
    {"anonymous", "memory without a file"},
    {"no_file", "the binary is missing, or is not an ELF file"},
    {"refused", "the file has another build-id or architecture than the recorded one"},
    {"no_code", "the file has no code there"},
    {"architecture", "code of an unsupported architecture, or of another than the recording"},
    {"not_decoded", "the code does not decode"},
    {"inside_instruction", "not at the first byte of an instruction of its function"},
    {"no_function", "no symbol marks the beginning of its function"},
    {"no_only_predecessor", "the preceding instruction is not certain"},
    {"too_much_code",
     "its function, its file or the recording has more code than is decoded (docs/audit.md, Cost)"},
}};

}  // namespace

std::string_view name_of(NotJudged reason) {
  return kWords.at(static_cast<std::size_t>(reason)).first;
}

std::string_view describe(NotJudged reason) {
  return kWords.at(static_cast<std::size_t>(reason)).second;
}

std::string judgeable_name(NotJudged reason) {
  if (reason == NotJudged::none) return "yes";
  std::string name(name_of(reason));
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::optional<NotJudged> judgeable_named(std::string_view name) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(NotJudged::unknown_cause); ++i) {
    const auto reason = static_cast<NotJudged>(i);
    if (judgeable_name(reason) == name) return reason;
  }
  return std::nullopt;
}

}  // namespace skid::analysis
