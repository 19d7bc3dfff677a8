// The answers are composed from three sources. Events of a core PMU are those of the catalogue that
// count what is asked (counted_by), or whose names the question lists. The filters of the samplers
// are those of the kernel's drivers:
//
//   IBS   arch/x86/events/amd/ibs.c of Linux 7.2: l3missonly from Zen 4 on, ldlat (128 to 2048
//         cycles) from Zen 5 on. Without a filter it tags any operation, and the samples in
//         question are found by their data source (perf record -d), or by their instruction.
//   SPE   drivers/perf/arm_spe_pmu.c (load_filter, store_filter, branch_filter, event_filter,
//         min_latency); the bits of event_filter are those of the events packet
//         (tools/perf/util/arm-spe-decoder/arm-spe-pkt-decoder.h): 3 L1D refill, 5 TLB walk, 7
//         mispredicted, 9 last-level miss, 20 L2D miss.

#include "src/events/questions.h"

#include "src/events/catalogue.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/kernel_rules.h"
#include "src/events/spelling.h"
#include "src/instructions/counted.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

namespace skid::events {

namespace {

constexpr std::string_view kAnyOperation = "ibs_op/cnt_ctl=1/";
constexpr std::string_view kByDataSource =
    "tags any operation; record with -d and keep the samples with this data source";
constexpr std::string_view kByOperation =
    "tags any operation; keep the samples at such instructions";
constexpr std::string_view kByFlags =
    "tags any operation; keep the samples whose raw data (perf record -R) has the flag";

/// PMSEVFR_EL1_RES0 of drivers/perf/arm_spe_pmu.c.
constexpr std::string_view kRareBit =
    "where Linux accepts this bit of event_filter; else keep the samples that have it";

}  // namespace

/// Unused elements and members are empty, or `other`.
struct Question {
  std::string_view name;
  std::array<std::string_view, 3> others = {};  ///< other names
  std::array<Counted, 2> counted = {};          ///< what events that answer it count
  std::array<std::string_view, 3> names = {};   ///< patterns of the names of such events
  std::string_view kernel_name = {};            ///< event with ldlat of kernel_event()
  std::string_view ibs = kAnyOperation, ibs_remark = kByDataSource;
  int ibs_since = 1;                                ///< first Zen that has the filter of `ibs`
  std::string_view ibs_unfiltered = kByDataSource;  ///< remark for earlier ones
  std::string_view spe = {}, spe_remark = {};       ///< terms of arm_spe_0
};

namespace {

using K = Counted;

const auto kQuestions = std::to_array<Question>({
    {.name = "cycles",
     .others = {"time", "cpu cycles", "clock cycles"},
     .counted = {K::cycles},
     .ibs = "ibs_op//",
     .ibs_remark = "tags an operation at each period of cycles",
     .spe = "ts_enable=1",
     .spe_remark = "samples operations, not cycles; each has its latency"},
    {.name = "instructions",
     .others = {"retired instructions"},
     .counted = {K::instructions},
     .ibs_remark = "tags an operation at each period of dispatched micro-ops",
     .spe = "ts_enable=1",
     .spe_remark = "samples operations by their number"},
    {.name = "loads", .others = {"memory reads"}, .counted = {K::loads}, .spe = "load_filter=1"},
    {.name = "stores",
     .others = {"memory writes", "writes"},
     .counted = {K::stores},
     .spe = "store_filter=1"},
    {.name = "L1 hits", .others = {"L1D hits"}, .counted = {K::l1_hits}},
    {.name = "L2 hits", .counted = {K::l2_hits}},
    {.name = "L3 hits", .others = {"LLC hits", "last level cache hits"}, .counted = {K::l3_hits}},
    {.name = "L1 misses",
     .others = {"L1D misses", "data cache misses"},
     .counted = {K::l1_misses},
     .spe = "load_filter=1,event_filter=0x8"},
    {.name = "L2 misses",
     .counted = {K::l2_misses},
     .spe = "load_filter=1,event_filter=0x100000",
     .spe_remark = kRareBit},
    {.name = "L3 misses",
     .others = {"LLC misses", "last level cache misses", "cache misses"},
     .counted = {K::l3_misses},
     .ibs = "ibs_op/cnt_ctl=1,l3missonly=1/",
     .ibs_remark = "other operations are dropped, so that the period is one of all operations",
     .ibs_since = 4,
     .spe = "load_filter=1,event_filter=0x200",
     .spe_remark = kRareBit},
    {.name = "loads from memory",
     .others = {"DRAM accesses", "memory accesses", "local memory"},
     .counted = {K::local_memory, K::l3_misses},
     .ibs = "ibs_op/cnt_ctl=1,l3missonly=1/",
     .ibs_remark = "with -d the data source distinguishes local and remote memory",
     .ibs_since = 4,
     .spe = "load_filter=1,event_filter=0x200",
     .spe_remark = "with -d the data source distinguishes local and remote memory"},
    {.name = "load latency",
     .others = {"latency of loads", "memory latency", "slow loads"},
     .kernel_name = "mem-loads",
     .ibs = "ibs_op/cnt_ctl=1,ldlat=128/",
     .ibs_remark = "ldlat: 128 to 2048 cycles",
     .ibs_since = 5,
     .ibs_unfiltered = "tags any operation; with -W the weight of a load is its latency",
     .spe = "load_filter=1,min_latency=30",
     .spe_remark = "min_latency: cycles from which operations are recorded"},
    {.name = "branches",
     .others = {"branch instructions"},
     .counted = {K::branches},
     .ibs_remark = kByOperation,
     .spe = "branch_filter=1"},
    {.name = "taken branches",
     .others = {"jumps"},
     .counted = {K::taken_branches},
     .ibs_remark = kByFlags,
     .spe = "branch_filter=1,inv_event_filter=0x40",
     .spe_remark = "inv_event_filter requires FEAT_SPEv1p2"},
    {.name = "mispredicted branches",
     .others = {"branch misses", "branch mispredictions", "mispredicts"},
     .counted = {K::mispredicted},
     .ibs_remark = kByFlags,
     .spe = "branch_filter=1,event_filter=0x80"},
    {.name = "calls",
     .others = {"function calls"},
     .counted = {K::calls},
     .ibs_remark = kByOperation,
     .spe = "branch_filter=1",
     .spe_remark = "keep the samples at calls"},
    {.name = "returns",
     .counted = {K::returns},
     .ibs_remark = kByOperation,
     .spe = "branch_filter=1",
     .spe_remark = "keep the samples at returns"},
    {.name = "TLB misses",
     .others = {"DTLB misses", "translation misses"},
     .names = {"MEM_INST_RETIRED.STLB_MISS_*", "MEM_UOPS_RETIRED.STLB_MISS_*",
               "MEM_UOPS_RETIRED.DTLB_MISS*"},
     .spe = "event_filter=0x20",
     .spe_remark = "accesses that walked a page table"},
    {.name = "page walks",
     .others = {"page table walks"},
     .names = {"MEM_INST_RETIRED.STLB_MISS_*", "MEM_UOPS_RETIRED.STLB_MISS_*",
               "DTLB_*WALK_COMPLETED"},
     .spe = "event_filter=0x20"},
    {.name = "divides",
     .others = {"divisions", "divider"},
     .counted = {K::divisions, K::divider_cycles},
     .ibs_remark = kByOperation},
    {.name = "prefetches",
     .others = {"software prefetches"},
     .counted = {K::prefetches},
     .names = {"MEM_INST_RETIRED.*SWPF*"},
     .ibs_remark = kByOperation},
});

/// The words of a text in lower case without a plural's ending, sorted.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  const std::string lower = lower_case(text);
  std::string_view rest = lower;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" -_"), rest.size());
    std::string word(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (const std::string_view plural : {"es", "s"}) {
      if (word.size() > plural.size() + 2 && word.ends_with(plural) && !word.ends_with("ss")) {
        word.resize(word.size() - plural.size());
        break;
      }
    }
    if (!word.empty() && word != "of" && word != "from" && word != "the") words.push_back(word);
  }
  std::ranges::sort(words);
  return words;
}

/// Words that change nothing where no question has them: "L3 cache misses".
constexpr auto kFillers = std::to_array<std::string_view>(
    {"cache", "core", "cpu", "data", "event", "instruction", "retired"});

bool is_beginning_of(std::string_view part, std::string_view word) {
  constexpr std::size_t kShortest = 3;
  return part == word || (part.size() >= kShortest && word.starts_with(part));
}

bool is_asked(const Question& question, const Event& event) {
  const Counted counted = counted_by(event);
  const bool counts = counted != K::other && contains(question.counted, counted);
  return counts || std::ranges::any_of(question.names, [&event](std::string_view pattern) {
           return !pattern.empty() &&
                  ::fnmatch(std::string(pattern).c_str(), event.name.c_str(), FNM_CASEFOLD) == 0;
         });
}

/// The highest level that differs from the lower ones.
std::string_view best_level(const Event& event) {
  if (event.precise != true || event.layout == ConfigLayout::arm) return "";
  return level_3_of(event) == LevelThree::distinct ? "ppp" : "pp";
}

/// The events of one PMU that answer a question: precise ones, else the best other one.
void add_events(const Question& question, const Catalogue& catalogue, std::string_view pmu,
                std::vector<Answer>& answers) {
  constexpr std::size_t kMost = 3;
  std::vector<Event> found;
  for (const Event& event : catalogue.events()) {
    if (event.pmu != pmu || event.deprecated || !is_asked(question, event)) continue;
    if (find_by(found, &Event::config, event.config) != nullptr) continue;
    found.push_back(event);
  }
  std::ranges::stable_sort(found, {}, [](const Event& event) {
    return std::pair(event.precise != true, preference(event));
  });
  const bool has_precise = !found.empty() && found.front().precise == true;
  const auto wanted = std::ranges::count(found, std::optional(true), &Event::precise);
  found.resize(has_precise ? std::min(static_cast<std::size_t>(wanted), kMost)
                           : std::min<std::size_t>(found.size(), 1));
  for (const Event& event : found) {
    answers.push_back({.pmu = event.pmu,
                       .perf = perf_encoding(event) + std::string(best_level(event)),
                       .precise = event.precise,
                       .remark = {},
                       .event = event});
  }
}

/// The kernel's event with a threshold of latency.
void add_kernel_event(std::string_view name, const Catalogue& catalogue, const std::string& pmu,
                      std::vector<Answer>& answers) {
  const std::string spelling = fmt::format("{}/{},ldlat=30/", pmu, name);
  const auto parts = parse_spelling(spelling, catalogue.cpu().layout);
  for (Event& event : catalogue.find(parts)) {
    if (event.pmu != pmu) continue;
    Answer answer{.pmu = pmu, .perf = spelling + "pp", .precise = event.precise, .remark = {}};
    answer.remark = "ldlat: cycles from which loads are recorded";
    // PMU_FL_MEM_LOADS_AUX in arch/x86/events/intel/core.c.
    if (event.core == Core::golden_cove) {
      answer.remark += fmt::format(
          "; with -d it has to be in a group: '{{{0}/mem-loads-aux/,{1}pp}}:S'", pmu, spelling);
    }
    answer.event = std::move(event);
    answers.push_back(std::move(answer));
  }
}

}  // namespace

const Question* find_question(std::string_view text) {
  auto wanted = words_of(text);
  const auto find_only = [&](auto is_meant) {
    std::vector<const Question*> found;
    for (const Question& question : kQuestions) {
      const auto is_name = [&](std::string_view name) {
        return !name.empty() && is_meant(words_of(name));
      };
      if (is_name(question.name) || std::ranges::any_of(question.others, is_name)) {
        found.push_back(&question);
      }
    }
    return found.size() == 1 ? found.front() : nullptr;
  };
  const auto is_equal = [&](const auto& words) { return words == wanted; };
  if (const Question* question = find_only(is_equal)) return question;
  // Beside these, "instruction" is no filler: it names another cache, which no question is about.
  constexpr auto kOfCaches = std::to_array<std::string_view>({"l1", "l2", "l3", "llc", "cache"});
  const bool is_of_cache = std::ranges::find_first_of(wanted, kOfCaches) != wanted.end();
  if (is_of_cache && contains(wanted, "instruction")) return nullptr;
  std::erase_if(wanted, [](const std::string& word) { return contains(kFillers, word); });
  if (wanted.empty()) return nullptr;
  if (const Question* question = find_only(is_equal)) return question;
  return find_only(
      [&](const auto& words) { return std::ranges::equal(wanted, words, is_beginning_of); });
}

std::string_view name_of(const Question& question) {
  return question.name;
}

std::vector<std::string> question_names() {
  std::vector<std::string> names;
  for (const Question& question : kQuestions) names.emplace_back(question.name);
  return names;
}

std::vector<Answer> answers_to(const Question& question, const Catalogue& catalogue) {
  const Cpu& cpu = catalogue.cpu();
  std::vector<Answer> answers;
  if (cpu.layout == ConfigLayout::amd) {
    const bool has_filter = zen_of(cpu.name) >= question.ibs_since;
    answers.push_back(
        {.pmu = "ibs_op",
         .perf = std::string(has_filter ? question.ibs : kAnyOperation),
         .precise = true,
         .remark = std::string(has_filter ? question.ibs_remark : question.ibs_unfiltered)});
  } else if (cpu.layout == ConfigLayout::arm && !question.spe.empty()) {
    answers.push_back({.pmu = "arm_spe_0",
                       .perf = fmt::format("arm_spe_0/{}/", question.spe),
                       .precise = true,
                       .remark = std::string(question.spe_remark)});
  }
  for (const std::string& pmu : catalogue.pmus()) {
    if (question.kernel_name.empty()) {
      add_events(question, catalogue, pmu, answers);
    } else {
      add_kernel_event(question.kernel_name, catalogue, pmu, answers);
    }
  }
  return answers;
}

}  // namespace skid::events
