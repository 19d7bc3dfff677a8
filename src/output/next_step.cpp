#include "src/output/next_step.h"

#include "analysis/wording.h"
#include "src/events/cpu.h"
#include "src/machine/cpu_identity.h"  // IWYU pragma: keep

#include <fmt/format.h>

namespace skid::output {

using analysis::NotJudged;

std::string next_step(NotJudged reason, const machine::CpuIdentity& cpu, bool read_in_part) {
  const std::string name = events::name_of(cpu);
  const std::string of_cpu = " --cpu " + (name.empty() ? "CPU" : name);
  switch (reason) {
    case NotJudged::timer:
      return "record an event of the CPU ('skidscan doctor' on that machine prints what it has)";
    case NotJudged::every_instruction:
    case NotJudged::no_core_event:
      return fmt::format("record one of particular instructions ('skidscan events --for WHAT{}')",
                         of_cpu);
    case NotJudged::no_trigger:
      return "pass --hit FUNCTION --runway FUNCTION";
    case NotJudged::not_caused:
      return "record it with one that is";
    case NotJudged::unrecorded_cpu:
      if (read_in_part) {
        return "it follows the records, of which only a part was read: copy the whole file, or "
               "record again";
      }
      return "a newer perf, or perf record -o FILE, records it";
    case NotJudged::unknown_cpu:
      return "--perfmon takes a directory of newer event files";
    case NotJudged::unknown_event:
      return fmt::format("'skidscan events --list{}' prints those that it has", of_cpu);
    case NotJudged::imprecise:
    case NotJudged::unknown_precision:
      return fmt::format("'skidscan events --list --precise{}' prints events that are precise",
                         of_cpu);
    case NotJudged::no_precise_levels:
      return analysis::kSampleWithSpe;
    case NotJudged::unknown_cause:
      return fmt::format("'skidscan events EVENT{}' prints what is known of it", of_cpu);
    case NotJudged::level_0:
      return fmt::format(
          "record an event of particular instructions precisely ('skidscan events --for WHAT{}' "
          "prints how)",
          of_cpu);
    case NotJudged::mode_contradicts_address:
      return "record on Linux 5.0 or later, which takes the mode from the sampled address";
    case NotJudged::kernel:
      return "record user mode alone (:u)";
    case NotJudged::guest:
      return "record in the guest itself";
    case NotJudged::unmapped:
      return "start perf before the program, or record all CPUs (-a)";
    case NotJudged::anonymous:
      return "'perf inject --jit' makes files of a JIT compiler's code";
    case NotJudged::no_file:
    case NotJudged::refused:
    case NotJudged::no_code:
      return "--binary FILE and --symfs DIR take a copy of it";
    case NotJudged::no_only_predecessor:
      return "record it with :pp, whose samples are judged by themselves";
    case NotJudged::none:
    case NotJudged::no_samples:
    case NotJudged::other_causes:
    case NotJudged::not_exact:
    case NotJudged::no_address:
    case NotJudged::architecture:
    case NotJudged::not_decoded:
    case NotJudged::inside_instruction:
    case NotJudged::no_function:
    case NotJudged::too_much_code:
      break;
  }
  return "";
}

}  // namespace skid::output
