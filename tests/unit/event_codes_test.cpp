// Codes and levels of events on each of Intel's CPUs, compared with the tables of perf and of the
// kernel. The rows of tests/data/counter_constraints.tsv are those of intel_*_event_constraints and
// intel_*_pebs_event_constraints in arch/x86/events/intel/core.c and ds.c of Linux 7.2.
#include "src/events/cache_events.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/intel_table.h"
#include "src/events/kernel_rules.h"
#include "src/events/spelling.h"
#include "src/output/catalogue/unknown_event.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::events {
namespace {

using test::catalogue_of;
using test::find_events;

TEST(EventCodes, AreThoseOfPerfWhereIntelNamesAFixedCounter) {
  SKIP_WITHOUT("x86-64");
  // tools/perf/pmu-events/jevents.py of Linux 7.2, real_event().
  const std::map<std::string, std::uint64_t> perf{
      {"INST_RETIRED.ANY", 0xc0},          {"INST_RETIRED.ANY_P", 0xc0},
      {"CPU_CLK_UNHALTED.REF", 0x0300},    {"CPU_CLK_UNHALTED.THREAD", 0x3c},
      {"CPU_CLK_UNHALTED.CORE", 0x3c},     {"CPU_CLK_UNHALTED.THREAD_ANY", 0x20003c},
      {"CPU_CLK_UNHALTED.REF_TSC", 0x0300}};
  std::size_t compared = 0;
  for (const IntelFile& file : intel_files()) {
    const Catalogue catalogue = catalogue_of(file.name);
    for (const auto& [name, config] : perf) {
      for (const Event& event : catalogue.find_name(name)) {
        EXPECT_EQ(event.config, config) << file.name << ' ' << name;
        ++compared;
      }
    }
    // A code of a fixed counter that is on no general one counts nothing.
    for (const Event& event : catalogue.events()) {
      EXPECT_NE(event.config, 0x200U) << file.name << ' ' << event.name;
    }
  }
  EXPECT_GE(compared, 4 * intel_files().size());
}

TEST(EventCodes, OfGenericCacheEventsFollowTheCore) {
  const std::vector<std::string> names{"L1-dcache-loads",
                                       "L1-dcache-load-misses",
                                       "L1-dcache-stores",
                                       "L1-dcache-prefetch-misses",
                                       "L1-icache-load-misses",
                                       "dTLB-loads",
                                       "dTLB-load-misses",
                                       "dTLB-store-misses",
                                       "iTLB-loads",
                                       "iTLB-load-misses",
                                       "branch-loads",
                                       "branch-load-misses",
                                       "LLC-loads",
                                       "node-load-misses"};
  // *_hw_cache_event_ids in arch/x86/events/intel/core.c and amd/core.c of Linux 7.2, in the order
  // of the names; those of the last level and of nodes need an MSR besides.
  const std::map<std::string, std::string> codes{
      {"nhm", "10b 151 20b 24e 280 f40 108 10c 1c0 20c8 c4 3e8 - -"},
      {"wsm", "10b 151 20b 24e 280 10b 108 10c 1c0 185 c4 3e8 - -"},
      {"snb", "f1d0 151 f2d0 24e 280 81d0 108 149 1085 185 c4 c5 - -"},
      {"ivb", "f1d0 151 f2d0 24e 280 81d0 8108 149 1085 185 c4 c5 - -"},
      {"bdw", "81d0 151 82d0 - 280 81d0 108 149 6085 185 c4 c5 - -"},
      {"skl", "81d0 151 82d0 - 283 81d0 e08 e49 2085 e85 c4 c5 - -"},
      {"icl", "81d0 151 82d0 - 283 81d0 e08 e49 - e85 c4 c5 - -"},
      {"spr", "81d0 e124 82d0 - e424 81d0 e12 e13 - e11 4c4 4c5 - -"},
      {"lunarlake_lioncove", "81d0 e124 82d0 - e424 81d0 e12 e13 - e11 4c4 4c5 - -"},
      {"slm", "- 104 - - 280 - 804 - c0 40205 c4 c5 - -"},
      {"glm", "81d0 - 82d0 - 280 81d0 - - c0 481 c4 c5 - -"},
      {"adl_grt", "81d0 - 82d0 - 280 81d0 e08 e49 - 481 c4 c5 - -"},
      {"zen2", "40 c860 - - 81 ff45 f045 - 84 ff85 c2 c3 - -"},
      {"zen5", "40 c860 - - 81 ff45 f045 - 84 ff85 c2 c3 - -"},
      {"neoverse_n1", "- - - - - - - - - - - - - -"}};
  for (const auto& each : codes) {
    const std::string& cpu = each.first;
    const auto layout = cpu.starts_with("zen")    ? ConfigLayout::amd
                        : cpu.starts_with("neov") ? ConfigLayout::arm
                                                  : ConfigLayout::intel;
    const auto found = test::mapped(names, [&](const std::string& name) {
      const auto code = cache_event(core_of(cpu), layout, cache_event_config(name).value());
      return code ? fmt::format("{:x}", *code) : "-";
    });
    EXPECT_EQ(fmt::to_string(fmt::join(found, " ")), each.second) << cpu;
  }
  EXPECT_EQ(cache_event_config("l1-DCACHE-load-misses"), 0x1'0000);  // perf takes any case
  EXPECT_EQ(cache_event_config("LLC-prefetches"), 0x202);
  EXPECT_EQ(cache_event_config("L1-dcache"), std::nullopt);
  EXPECT_EQ(cache_event_config("L2-loads"), std::nullopt);
}

TEST(EventCodes, OfGenericCacheEventsAreFoundByNameOnEachCoreType) {
  SKIP_WITHOUT("x86-64");
  const auto found =
      test::mapped(find_events(catalogue_of("adl"), "L1-dcache-loads"), [](const Event& event) {
        return fmt::format("{} {:x} {}", event.pmu, event.config, event.name);
      });
  EXPECT_EQ(found, (std::vector<std::string>{"cpu_core 81d0 MEM_INST_RETIRED.ALL_LOADS",
                                             "cpu_atom 81d0 MEM_UOPS_RETIRED.ALL_LOADS"}));
}

TEST(EventCodes, OfTheKernelsMemoryEventsFollowTheCore) {
  SKIP_WITHOUT("x86-64");
  struct Known {
    std::string cpu, spelling;
    std::vector<std::string> codes;  // "cpu_core 1cd 3"
  };
  // mem_ld_*, mem_st_* in arch/x86/events/intel/core.c of Linux 7.2; AMD's driver has none.
  const std::vector<std::string> glc_loads{"cpu_core 1cd 3", "cpu_atom 5d0 3"};
  const std::vector<std::string> glc_stores{"cpu_core 2cd 0", "cpu_atom 6d0 0"};
  for (const Known& known :
       std::vector<Known>{{"nhm", "mem-loads", {"cpu 100b 3"}},
                          {"nhm", "mem-stores", {}},
                          {"snb", "mem-loads", {"cpu 1cd 3"}},
                          {"ivb", "mem-stores", {"cpu 2cd 0"}},
                          {"hsw", "mem-stores", {"cpu 82d0 0"}},
                          {"skl", "cpu/mem-loads,ldlat=30/", {"cpu 1cd 1e"}},
                          {"icl", "cpu/mem-stores/", {"cpu 82d0 0"}},
                          {"spr", "mem-stores", {"cpu 2cd 0"}},
                          {"srf", "mem-loads", {"cpu 5d0 3"}},
                          {"adl", "mem-loads", glc_loads},
                          {"mtl", "mem-stores", glc_stores},
                          {"arl", "cpu_core/mem-loads,ldlat=30/P", {"cpu_core 1cd 1e"}},
                          {"lnl", "cpu_atom/mem-stores/", {"cpu_atom 6d0 0"}},
                          {"adl_grt", "mem-loads", {"cpu_atom 5d0 3"}},
                          {"slm", "mem-loads", {}},
                          {"zen3", "mem-loads", {}},
                          {"zen4", "mem-stores", {}},
                          {"zen5", "mem-loads", {}},
                          {"zen3", "cpu/branch-brs/", {"cpu c4 0"}},
                          {"zen4", "branch-brs", {}}}) {
    const Catalogue catalogue = catalogue_of(known.cpu);
    const auto parts = parse_spelling(known.spelling, catalogue.cpu().layout);
    const auto codes = test::mapped(catalogue.find(parts), [](const Event& event) {
      return fmt::format("{} {:x} {:x}", event.pmu, event.config, event.config1);
    });
    EXPECT_EQ(codes, known.codes) << known.cpu << ' ' << known.spelling;
  }
}

TEST(EventCodes, AreOfThePmuThatASpellingNames) {
  SKIP_WITHOUT("x86-64");
  const Catalogue alder_lake = catalogue_of("adl");
  const auto pmus = [&](const std::string& spelling) {
    return test::mapped(find_events(alder_lake, spelling), &Event::pmu);
  };
  EXPECT_THAT(pmus("cycles"), ElementsAre("cpu_core", "cpu_atom"));
  EXPECT_THAT(pmus("cpu_core/cycles/"), ElementsAre("cpu_core"));
  EXPECT_THAT(pmus("cpu_core/cycles:pp/"), ElementsAre("cpu_core"));
  EXPECT_THAT(pmus("cpu_core/event=0xc6,umask=0x1,frontend=0x8,name=X/"), ElementsAre("cpu_core"));
  EXPECT_THAT(pmus("cpu_atom/mem_uops_retired.all_loads/"), ElementsAre("cpu_atom"));
  const auto named =
      find_events(catalogue_of("skl"), "cpu/mem_inst_retired.all_stores,name=stores/");
  EXPECT_THAT(test::mapped(named, &Event::name), ElementsAre("MEM_INST_RETIRED.ALL_STORES"));
}

TEST(EventCodes, OfZenHaveTheUpperBitsOfTheEventInTheUpperHalf) {
  SKIP_WITHOUT("x86-64");
  EXPECT_THAT(output::explain_unknown_event("0x1c7", catalogue_of("zen4")),
              HasSubstr("the code of event 0x1c7 is r1000000c7"));
}

/// A row of tests/data/counter_constraints.tsv.
struct Constraint {
  std::uint64_t first = 0, last = 0, compared = 0, counters = 0;
  bool fixed = false;
};

std::uint64_t hexadecimal(std::string_view text) {
  return whole_number<std::uint64_t>(text.substr(2), 16).value();
}

/// Rows by "glc pebs".
std::map<std::string, std::vector<Constraint>> read_constraints() {
  std::map<std::string, std::vector<Constraint>> tables;
  const std::string text = read_file(SKIDSCAN_TEST_DATA "/data/counter_constraints.tsv", 1 << 20);
  std::string_view rest = text;
  take_until('\n', rest);
  while (!rest.empty()) {
    std::string_view line = take_until('\n', rest);
    std::string table(take_until('\t', line));
    table.append(" ").append(take_until('\t', line));
    Constraint row;
    row.first = hexadecimal(take_until('\t', line));
    row.last = hexadecimal(take_until('\t', line));
    const std::string_view compared = take_until('\t', line);
    row.counters = hexadecimal(line);
    row.fixed = compared == "fixed";
    row.compared = compared.find("umask") == compared.npos && !row.fixed ? 0xff : 0xffff;
    // X86_ALL_EVENT_FLAGS.
    if (row.fixed || compared.find("flags") != compared.npos) row.compared |= 0x3'ffac'0000;
    tables[table].push_back(row);
  }
  return tables;
}

/// Counters of a precise event at level 2, as intel_get_event_constraints() finds them.
std::uint64_t level_2_counters(const std::map<std::string, std::vector<Constraint>>& tables,
                               const std::string& core, std::uint64_t config) {
  constexpr std::uint64_t kGeneral = 0xff;
  for (const char* kind : {" pebs", " event"}) {
    const auto table = tables.find(core + kind);
    if (table == tables.end()) continue;
    for (const Constraint& row : table->second) {
      const std::uint64_t compared = config & row.compared;
      if (compared < row.first || compared > row.last) continue;
      // intel_pmu_check_event_constraints(): a fixed event may be on general counters as well,
      // unless its code is a pseudo-encoding.
      return row.fixed && (row.first & 0xff) != 0 ? row.counters | kGeneral : row.counters;
    }
  }
  return kGeneral;
}

TEST(EventsToRecord, AreNoneWhereEachPossibleCounterHasPreciseDistribution) {
  SKIP_WITHOUT("x86-64");
  struct Known {
    std::string cpu, event;
    std::array<std::optional<std::uint64_t>, 3> at_levels;  // 1 to 3
  };
  constexpr auto kNotKnown = std::nullopt;
  for (const Known& known : std::vector<Known>{
           // PDIR from Ivy Bridge on is of one event and one counter.
           {"skl", "MEM_INST_RETIRED.ALL_LOADS", {1, 1, 1}},
           {"skl", "INST_RETIRED.PREC_DIST", {kNotKnown, kNotKnown, kNotKnown}},
           {"icx", "MEM_INST_RETIRED.ALL_LOADS", {1, 1, 1}},
           {"icx", "INST_RETIRED.PREC_DIST", {kNotKnown, kNotKnown, kNotKnown}},
           // On general counters 0 to 7 below level 3, then on 0, which has it.
           {"spr", "MEM_INST_RETIRED.ALL_LOADS", {kNotKnown, kNotKnown, 0}},
           {"gnr", "MEM_LOAD_RETIRED.L3_MISS", {kNotKnown, kNotKnown, 0}},
           {"lnl", "cpu_core/MEM_INST_RETIRED.ALL_LOADS/", {kNotKnown, kNotKnown, 0}},
           // Counter 0 alone at each level; counters 1 to 7, of which none has it.
           {"spr", "MEM_TRANS_RETIRED.STORE_SAMPLE", {0, 0, 0}},
           {"spr", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", {1, 1, kNotKnown}},
           {"spr", "INST_RETIRED.PREC_DIST", {0, 0, kNotKnown}},
           {"spr", "INST_RETIRED.ANY_P", {1, 1, 0}},
           // All of Goldmont's have a reduced skid; of its heirs that of some counters.
           {"glm", "MEM_UOPS_RETIRED.ALL_LOADS", {0, 0, 0}},
           {"glm", "UOPS_RETIRED.ANY", {1, 1, 1}},
           {"glp", "MEM_UOPS_RETIRED.ALL_LOADS", {kNotKnown, kNotKnown, kNotKnown}},
           {"adl", "cpu_atom/MEM_UOPS_RETIRED.ALL_LOADS/", {kNotKnown, kNotKnown, kNotKnown}}}) {
    const Catalogue catalogue = catalogue_of(known.cpu);
    const auto found = find_events(catalogue, known.event);
    ASSERT_FALSE(found.empty()) << known.cpu << ' ' << known.event;
    for (int level = 1; level <= 3; ++level) {
      EXPECT_EQ(events_to_record(found.front(), level),
                known.at_levels.at(static_cast<std::size_t>(level - 1)))
          << known.cpu << ' ' << known.event << ' ' << level;
    }
  }
}

TEST(LevelThree, FollowsTheCountersOfTheKernelsTables) {
  SKIP_WITHOUT("x86-64");
  const auto tables = read_constraints();
  const std::map<Core, std::string> names{
      {Core::icelake, "icl"},   {Core::golden_cove, "glc"}, {Core::redwood_cove, "glc"},
      {Core::lion_cove, "lnc"}, {Core::coyote_cove, "pnc"}, {Core::goldmont_plus, "slm"},
      {Core::tremont, "slm"},   {Core::gracemont, "grt"},   {Core::crestmont, "cmt"},
      {Core::skymont, "skt"},   {Core::darkmont, "dkt"},    {Core::arctic_wolf, "arw"}};
  std::size_t compared = 0;
  std::set<Core> cores;
  for (const IntelFile& file : intel_files()) {
    const Catalogue catalogue = catalogue_of(file.name);
    for (const Event& listed : catalogue.events()) {
      const auto core = names.find(listed.core);
      if (core == names.end()) continue;
      // The event as it is found, with the other names of its code.
      const Event event = catalogue.find_code(listed.config, listed.config1).at(0);
      if (event.precise != true) continue;
      const std::uint64_t at_2 = level_2_counters(tables, core->second, event.config);
      const bool instructions = event.config == 0xc0;
      std::uint64_t at_3 = at_2;
      switch (listed.core) {
        case Core::icelake:
          at_3 = instructions ? 1ULL << 32 : at_2;
          break;
        case Core::goldmont_plus:
          at_3 = 1;
          break;
        case Core::tremont:
        case Core::gracemont:
          at_3 = instructions ? 1ULL << 32 | 1 : 1;
          break;
        case Core::golden_cove:
        case Core::redwood_cove:
        case Core::lion_cove:
        case Core::coyote_cove:
          at_3 = instructions ? 1ULL << 32 : at_2 & 1;
          break;
        default:
          at_3 = instructions ? 1ULL << 32 | 3 : at_2 & 3;
          break;
      }
      const LevelThree found = level_3_of(event);
      const std::string place = fmt::format("{} {} {:x}", file.name, event.name, event.config);
      EXPECT_EQ(found == LevelThree::refused, at_3 == 0) << place;
      if (at_3 == at_2) EXPECT_EQ(name_of(found), name_of(LevelThree::same_as_level_2)) << place;
      if (instructions && listed.core != Core::goldmont_plus) {
        EXPECT_EQ(found, LevelThree::distinct) << place;
      }
      if (found == LevelThree::distinct) EXPECT_NE(at_3, at_2) << place;
      ++compared;
      cores.insert(listed.core);
    }
  }
  EXPECT_EQ(cores.size(), names.size());
  EXPECT_GT(compared, 1000U);
}

}  // namespace
}  // namespace skid::events
