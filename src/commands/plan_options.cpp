#include "src/commands/plan_options.h"

#include "runway/specification.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/shared_options.h"
#include "src/record/choice.h"
#include "src/run/perftool/record_command.h"
#include "src/run/run.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

/// perf_event_open refuses periods with the highest bit set.
constexpr std::uint64_t kLongestPeriod = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostSamples = 1'000'000'000;
constexpr double kLongestDuration = 86'400;
constexpr std::uint64_t kHighestFrequency = 1'000'000;  // perf limits it further

/// Returns a mode of call graphs that perf takes: "fp", "dwarf", "dwarf,8192", "lbr"; nullopt: it
/// is none.
std::optional<std::string> call_graph_from(const std::string& mode) {
  const std::string name = mode.substr(0, mode.find(','));
  const bool known = name == "fp" || name == "dwarf" || name == "lbr";
  const bool sized = name == "dwarf" && name.size() < mode.size() &&
                     whole_number<unsigned>(mode.substr(name.size() + 1)).has_value();
  return known && (name == mode || sized) ? std::optional(mode) : std::nullopt;
}

/// Checks the characters of branch filters. perf gets them in one argument and checks the words.
std::optional<std::string> branch_filter_from(const std::string& filter) {
  const bool is_known =
      filter.find_first_not_of("abcdefghijklmnopqrstuvwxyz_,") == std::string::npos;
  return is_known ? std::optional(filter) : std::nullopt;
}

/// Triggers at the marks of a Golomb ruler, between which nearly each distance up to its length
/// exists: a delay of another length leads from an overflow to another trigger.
void aim_at_delay(record::PlanOptions& options) {
  constexpr std::array<std::uint32_t, 12> kDistances{2, 3, 20, 12, 6, 16, 11, 15, 4, 9, 1, 7};
  constexpr std::uint32_t kNops = 2000;
  constexpr int kRemainders = 11;  // of a period and 13 triggers, that do not resonate
  options.vary_period = true;
  if (options.repeat == 1) options.repeat = kRemainders;
  if (!options.nops) options.nops = kNops;
  if (options.triggers || !options.gaps.empty()) return;
  for (const std::uint32_t distance : kDistances) options.gaps.push_back(distance - 1);
}

}  // namespace

std::vector<Option> plan_options(record::PlanOptions& options) {
  return {
      {"-e,--event", event_list(options.events),
       "event, or several separated by commas; may be repeated: any event of perf or of 'skidscan "
       "events', or a built-in one (access, execute, faults, cpu-clock)"},
      {"-p,--precise", level_list(options.levels), "precise levels (default: none,p,pp,ppp)"},
      {"-c,--count", Value::number("PERIOD", options.period, 1, kLongestPeriod),
       "events per sample; for clocks nanoseconds (default: a prime that suits the event)"},
      {"-F,--freq",
       Value::number("FREQ", options.extras.frequency, 1, kHighestFrequency),
       "samples per second instead of a period: an interrupt per sample",
       {"--count"}},
      {"-g",
       Value::converted("", [&options](const auto&) { options.extras.call_graph = "fp"; }),
       "record call graphs by frame pointers, as --call-graph fp: an interrupt per sample",
       {"--call-graph"}},
      {"--call-graph",
       Value::parsed("MODE", options.extras.call_graph, call_graph_from,
                     "fp, dwarf, dwarf,BYTES or lbr"),
       "record call graphs: fp, dwarf[,BYTES] or lbr"},
      {"-b",
       Value::converted("", [&options](const auto&) { options.extras.branch_filter = "any"; }),
       "record the stack of taken branches (LBR), as -j any",
       {"--branch-filter"}},
      {"-j,--branch-filter",
       Value::parsed("FILTER", options.extras.branch_filter, branch_filter_from,
                     "perf's branch filters separated by commas, such as any,u"),
       "record the stack of taken branches that perf's filter selects: any_call,u"},
      {"--per-cpu", Value::flag(options.extras.per_cpu),
       "record all of the CPU that the target is pinned to (perf record -C); record does it by "
       "itself where the kernel samples no single task, as with IBS before Linux 6.2"},
      {"--pmu", Value::text("PMU", options.pmu),
       "core PMU of events that name none: cpu_core or cpu_atom of a hybrid CPU (default: by "
       "default events of both, else cpu_core)"},
      trigger_option(options.trigger,
                     "instruction that causes the event (default: suits the event, or load)"),
      {"--nops", Value::number("N", options.nops, runway::kFewestNops, runway::kMostNops),
       "NOPs of the runway"},
      {"--nop-bytes", Value::number("B", options.nop_bytes), "length of one NOP in bytes"},
      {"--triggers", Value::number("K", options.triggers, 1, runway::kMostTriggers),
       "triggers in one iteration: the report includes how evenly the hardware samples "
       "them"},
      {"--gaps", Value::number("N,N", options.gaps, 0, runway::kMostNops).separated(),
       "NOPs between consecutive triggers, one number less than triggers (default: "
       "unequal, growing up to --nops)"},
      {"--working-set", Value::size("BYTES", options.working_set),
       "size of the pointer chase of load-l2, load-l3 and load-dram (default: depends on this "
       "CPU's caches)"},
      {"--samples", Value::number("N", options.samples, 1, kMostSamples),
       "minimum samples per measurement, not counting those of other triggers (default: 5000)"},
      {"--duration",
       Value::number("S", options.duration_seconds, 0.001, kLongestDuration),
       "seconds per measurement, instead of --samples",
       {"--samples"}},
      {"--iterations",
       Value::number("N", options.iterations, 1, runway::kMostIterations),
       "iterations of the target per measurement, instead of --samples: the same instructions each "
       "time",
       {"--samples", "--duration"}},
      {"--repeat", Value::number("N", options.repeat, 1, run::kMostRepeats),
       "record all events and levels N times, interleaved"},
      {"--vary-period",
       Value::flag(options.vary_period),
       "divide each measurement into four recordings (or --repeat N) with different periods, which "
       "the report adds up: no period can lock to the loop",
       {"--freq"}},
      {"--delay",
       Value::converted("", [&options](const auto&) { aim_at_delay(options); }),
       "measure the delay from overflow to PEBS record, of up to 106 instructions: 11 periods, and "
       "13 triggers at many distances from each other",
       {"--freq"}},
      {"--cpu", Value::number("N", options.cpu, 0),
       "CPU to pin the target to (default: the highest allowed)"},
      {"--perfmon", Value::directory(options.perfmon),
       "directory of Intel's event files (a checkout of github.com/intel/perfmon), for CPUs that "
       "are newer than the built-in tables"},
      {"--check-ip", Value::flag(options.check_ip),
       "with page faults also record exceptions:page_fault_user, which contains the address of the "
       "faulting instruction, to cross-check the samples (root, x86)"},
      {"--skid-in-events",
       Value::flag(options.skid_in_events),
       "at level 0 record the counter's value in each sample (perf's modifier S): the report then "
       "shows how many events past the overflow the interrupt read the counter",
       {"--freq"}}};
}

}  // namespace skid::commands
