// What is recorded of a machine when nothing is named. The trees of tests/machines are written by
// hand from the kernel's documentation; see the README there.
#include "src/events/default_set.h"

#include "src/events/triggers.h"
#include "src/perftool/record_command.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/event_tables.h"
#include "tests/support/trigger_kinds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::record {
namespace {

using events::Catalogue;
using events::Event;
using runway::TriggerKind;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

machine::Machine tree(const std::string& name) {
  return machine::inspect(SKIDSCAN_TEST_DATA "/machines/" + name);
}

machine::PerfTool installed_perf() {
  auto tool = machine::parse_perf_version("perf version 6.1.76");
  tool->path = "perf";
  return *tool;
}

std::map<TriggerKind, runway::TargetDescription> targets() {
  std::map<TriggerKind, runway::TargetDescription> result;
  for (const TriggerKind kind : runway::all_trigger_kinds()) {
    runway::TargetDescription target;
    target.specification.trigger = kind;
    target.layout.datum = 0x403000;
    target.layout.trigger = {0x401010, 0x401014};
    result.emplace(kind, target);
  }
  return result;
}

/// Of Arm's Neoverse N1 Technical Reference Manual, the events that are looked for; libpfm4 has
/// them where it is built for Arm.
Catalogue neoverse_n1() {
  std::vector<Event> events;
  for (const auto& [name, code] :
       std::vector<std::pair<const char*, std::uint64_t>>{{"L1D_CACHE_REFILL", 0x03},
                                                          {"INST_RETIRED", 0x08},
                                                          {"BR_MIS_PRED", 0x10},
                                                          {"CPU_CYCLES", 0x11},
                                                          {"BR_RETIRED", 0x21},
                                                          {"BR_MIS_PRED_RETIRED", 0x22},
                                                          {"LL_CACHE_MISS_RD", 0x37},
                                                          {"MEM_ACCESS_RD", 0x66},
                                                          {"MEM_ACCESS_WR", 0x67},
                                                          {"LD_SPEC", 0x70},
                                                          {"ST_SPEC", 0x71}}) {
    Event event;
    event.name = name;
    event.pmu = "armv8_pmuv3_0";
    event.config = code;
    event.precise = false;
    events.push_back(std::move(event));
  }
  return {{.name = "arm_n1",
           .description = "ARM Neoverse N1",
           .source = "libpfm4",
           .layout = events::ConfigLayout::arm,
           .core = events::Core::other,
           .at_hand = true},
          std::move(events)};
}

/// perf's command lines for what is recorded.
std::vector<std::string> command_lines(const machine::Machine& machine, const Catalogue* catalogue,
                                       const PlanOptions& options = {}) {
  const RecordRequest request = resolve_request(options, machine, installed_perf(), catalogue);
  std::vector<std::string> lines;
  for (const auto& planned : plan_measurements(options, request, targets())) {
    auto command =
        perftool::record_command(installed_perf(), {.subject = {.event = planned.perf_event,
                                                                .period = planned.period,
                                                                .cross_check = planned.cross_check,
                                                                .length = planned.length},
                                                    .output = planned.file,
                                                    .target = "./target." + planned.trigger,
                                                    .cpu = 0,
                                                    .control = "C",
                                                    .acknowledge = "A"});
    // How long the target runs, and where, is another question.
    command.erase(std::find(command.begin(), command.end(), "./target." + planned.trigger) + 1,
                  command.end());
    lines.push_back(fmt::format("{}", fmt::join(command, " ")));
  }
  return lines;
}

std::vector<std::string> command_lines(const std::string& name) {
  const machine::Machine machine = tree(name);
  const auto catalogue = events::find_catalogue(machine);
  return command_lines(machine, catalogue ? &*catalogue : nullptr);
}

/// An event as it should be recorded.
struct Expected {
  std::string event;  ///< as perf's -e takes it
  std::string file;
  std::uint64_t period;
  std::string trigger;
  int highest = 3;  ///< kChosenByPerf: modifier P
};
constexpr int kChosenByPerf = -1;

std::vector<std::string> lines_of(const std::vector<Expected>& events) {
  std::vector<std::string> lines;
  for (const auto& [event, file, period, trigger, highest] : events) {
    for (int level = std::min(highest, 0); level <= highest; ++level) {
      const std::string p =
          level == kChosenByPerf ? "P" : std::string(static_cast<std::size_t>(level), 'p');
      const std::string colon = p.empty() || event.ends_with('/') ? "" : ":";
      lines.push_back(
          fmt::format("perf record --no-buildid-cache --no-bpf-event -e {}{}{} -c {} -o {}.{}.data "
                      "-D -1 --control fifo:C,A -- ./target.{}",
                      event, colon, p, period, file, p.empty() ? "none" : p, trigger));
    }
  }
  return lines;
}

/// The built-in events, which every machine records first.
std::vector<Expected> with_built_in(std::vector<Expected> events) {
  std::vector<Expected> all{{"mem:0x403000/8:rw", "access", 7, "load"},
                            {"mem:0x401010:x", "execute", 7, "load"},
                            {"page-faults", "faults", 7, "fault"},
                            {"cpu-clock", "cpu-clock", 99'991, "load"}};
  all.insert(all.end(), events.begin(), events.end());
  return all;
}

TEST(DefaultSet, HasThePreciseEventsOfASkylakeInAContainerToo) {
  SKIP_WITHOUT_X86_TABLES();
  const std::vector<Expected> skylake{
      {"cpu/config=0x81d0,name=MEM_INST_RETIRED.ALL_LOADS/", "MEM_INST_RETIRED_ALL_LOADS", 1009,
       "load"},
      {"cpu/config=0x20d1,name=MEM_LOAD_RETIRED.L3_MISS/", "MEM_LOAD_RETIRED_L3_MISS", 1009,
       "load-dram"},
      {"cpu/config=0x82d0,name=MEM_INST_RETIRED.ALL_STORES/", "MEM_INST_RETIRED_ALL_STORES", 1009,
       "store"},
      {"cpu/config=0x20c4,name=BR_INST_RETIRED.NEAR_TAKEN/", "BR_INST_RETIRED_NEAR_TAKEN", 1009,
       "branch-taken"},
      {"cpu/config=0x1c5,name=BR_MISP_RETIRED.CONDITIONAL/", "BR_MISP_RETIRED_CONDITIONAL", 1009,
       "branch-mispredict"},
      {"cpu/config=0xc0,name=INST_RETIRED.ANY_P/", "INST_RETIRED_ANY_P", 400'009, "load"},
      {"cpu/config=0x3c,name=CPU_CLK_UNHALTED.THREAD_P/", "CPU_CLK_UNHALTED_THREAD_P", 400'009,
       "load-dram"},
      {"cycles", "cycles", 400'009, "load-dram", kChosenByPerf}};
  for (const char* name : {"skylake", "container"}) {
    EXPECT_THAT(command_lines(name), ElementsAreArray(lines_of(with_built_in(skylake)))) << name;
  }
}

TEST(DefaultSet, IsGenericOnBothKindsOfCoresOfAnAlderLake) {
  const machine::Machine machine = tree("alder-lake");
  EXPECT_THAT(
      command_lines(machine, nullptr),
      ElementsAreArray(lines_of(with_built_in(
          {{"cpu_core/cycles/", "cpu_core_cycles", 400'009, "load-dram"},
           {"cpu_core/branch-instructions/", "cpu_core_branch-instructions", 1009, "branch-taken"},
           {"cpu_atom/cycles/", "cpu_atom_cycles", 400'009, "load-dram"},
           {"cpu_atom/branch-instructions/", "cpu_atom_branch-instructions", 1009, "branch-taken"},
           {"cpu_core/cycles/", "cpu_core_cycles", 400'009, "load-dram", kChosenByPerf},
           {"cpu_atom/cycles/", "cpu_atom_cycles", 400'009, "load-dram", kChosenByPerf}}))));
  EXPECT_THAT(events::default_set(machine, nullptr).notes, ElementsAre(HasSubstr("--perfmon DIR")));
  const RecordRequest request = resolve_request({}, machine, installed_perf(), nullptr);
  EXPECT_EQ(request.cpu, 11) << "the last of cpu_core";
  for (const auto& planned : plan_measurements({}, request, targets())) {
    const bool atom = planned.event.starts_with("cpu_atom/");
    EXPECT_EQ(planned.cpu, atom ? std::optional(15) : std::nullopt) << planned.event;
  }
}

TEST(DefaultSet, HasTheKindsOfCoresThatMayBeUsed) {
  const machine::Machine machine = tree("alder-lake");
  const auto pmus = [&](const PlanOptions& options) {
    std::set<std::string> names;
    for (const ChosenEvent& chosen :
         resolve_request(options, machine, installed_perf(), nullptr).events) {
      if (chosen.event.kind == EventKind::other) names.insert(chosen.event.name.substr(0, 8));
    }
    return names;
  };
  PlanOptions options;
  options.cpu = 13;
  EXPECT_THAT(pmus(options), ElementsAre("cpu_atom"));
  EXPECT_THAT(resolve_request(options, machine, installed_perf(), nullptr).notes,
              Contains(HasSubstr("cpu_core: left out, it is on other CPUs")));
  options.cpu.reset();
  options.pmu = "cpu_atom";
  EXPECT_THAT(pmus(options), ElementsAre("cpu_atom"));
  EXPECT_EQ(resolve_request(options, machine, installed_perf(), nullptr).cpu, 15);
  options.events = {"cycles", "r00c4", "branches:u"};
  std::vector<std::string> names;
  for (const ChosenEvent& chosen :
       resolve_request(options, machine, installed_perf(), nullptr).events) {
    names.push_back(chosen.event.for_perf(0, {}));
    EXPECT_EQ(chosen.cpu, 15);
  }
  EXPECT_THAT(names, ElementsAre("cpu_atom/cycles/", "cpu_atom/config=0xc4/",
                                 "cpu_atom/branch-instructions/u"));
  options.pmu = "cpu";
  EXPECT_THROW(resolve_request(options, machine, installed_perf(), nullptr), Error);
}

TEST(DefaultSet, IsRawOnTheCoresOfAnAlderLakeWithEventFiles) {
  std::vector<Event> events;
  for (const char* pmu : {"cpu_atom", "cpu_core"}) {
    Event loads;
    loads.name = "MEM_INST_RETIRED.ALL_LOADS";
    loads.pmu = pmu;
    loads.config = 0x81d0;
    loads.precise = true;
    events.push_back(loads);
  }
  const Catalogue catalogue({.name = "adl", .description = {}, .source = "perfmon V1"}, events);
  const events::DefaultSet set = events::default_set(tree("alder-lake"), &catalogue);
  ASSERT_EQ(set.events.size(), 2U);
  EXPECT_EQ(set.events[0].perf_event, "cpu_core/config=0x81d0,name=MEM_INST_RETIRED.ALL_LOADS/");
  EXPECT_EQ(set.events[1].perf_event, "cpu_atom/config=0x81d0,name=MEM_INST_RETIRED.ALL_LOADS/");
  EXPECT_EQ(set.events[1].name, "cpu_atom/MEM_INST_RETIRED.ALL_LOADS/") << "names differ";
  EXPECT_THAT(
      set.notes,
      Contains(
          "a store of cpu_atom: left out, the catalogue (perfmon V1, adl) has no event for it"));
}

TEST(DefaultSet, DoesNotResonateWithItsTargets) {
  PlanOptions options;
  for (const char* name : {"skylake", "alder-lake"}) {
    const machine::Machine machine = tree(name);
    const auto catalogue = events::find_catalogue(machine);
    ASSERT_TRUE(catalogue) << name;
    const RecordRequest request = resolve_request({}, machine, installed_perf(), &*catalogue);
    bool two_triggers = false;
    for (const ChosenEvent& chosen : request.events) {
      for (const runway::Specification& target : request.targets) {
        if (target.trigger != chosen.trigger || chosen.event.kind != EventKind::other) continue;
        two_triggers = two_triggers || runway::triggers_of(target) == 2;
        EXPECT_FALSE(resonates(chosen, target)) << name << ": " << chosen.event.text();
      }
    }
    EXPECT_TRUE(two_triggers) << "of which the loop's own branch makes three";
  }
  // One trigger and the back edge: two events, of which each period or the next number has half.
  options.triggers = 1;
  const machine::Machine machine = tree("skylake");
  const auto catalogue = events::find_catalogue(machine);
  EXPECT_THAT(resolve_request(options, machine, installed_perf(), &*catalogue).notes,
              Contains(HasSubstr("resonates with the loop")));
}

TEST(DefaultSet, HasTheEventsOfIbsOnAZen4) {
  EXPECT_THAT(command_lines("zen4"),
              ElementsAreArray(lines_of(
                  with_built_in({{"cycles", "cycles", 400'208, "load-dram", 2},
                                 {"r076", "r076", 400'208, "load-dram", 2},
                                 {"r0c1", "r0c1", 400'208, "load-dram", 2},
                                 {"ibs_op//", "ibs_op", 400'208, "load", 0},
                                 {"ibs_op/cnt_ctl=1/", "ibs_op_cnt_ctl_1", 400'208, "store", 0},
                                 {"cycles", "cycles", 400'208, "load-dram", kChosenByPerf}}))));
  EXPECT_EQ(400'208 % 16, 0);
  EXPECT_THAT(events::default_set(tree("zen4"), nullptr).notes,
              ElementsAre(HasSubstr("with the address of the trigger's data are judged")));
  machine::Machine without_ibs = tree("zen4");
  without_ibs.other_pmus.clear();
  const events::DefaultSet set = events::default_set(without_ibs, nullptr);
  for (const auto& event : set.events) EXPECT_THAT(event.levels, ElementsAre(0)) << event.name;
  EXPECT_THAT(set.notes, ElementsAre(HasSubstr("ibs_op, which samples them, does not exist")));
}

TEST(DefaultSet, LeavesOutSpeOnANeoverse) {
  const machine::Machine machine = tree("neoverse-n1");
  const Catalogue catalogue = neoverse_n1();
  const std::string pmu = "armv8_pmuv3_0/config=";
  std::vector<Expected> events =
      with_built_in({{pmu + "0x66,name=MEM_ACCESS_RD/", "MEM_ACCESS_RD", 1009, "load", 0},
                     {pmu + "0x67,name=MEM_ACCESS_WR/", "MEM_ACCESS_WR", 1009, "store", 0},
                     {pmu + "0x21,name=BR_RETIRED/", "BR_RETIRED", 1009, "branch-taken", 0},
                     {pmu + "0x11,name=CPU_CYCLES/", "CPU_CYCLES", 400'009, "div", 0},
                     {"cycles", "cycles", 400'009, "div", kChosenByPerf}});
  EXPECT_THAT(command_lines(machine, &catalogue), ElementsAreArray(lines_of(events)));
  EXPECT_THAT(
      events::default_set(machine, &catalogue).notes,
      ElementsAre("an L3-missing load: left out, no trigger for aarch64 causes "
                  "LL_CACHE_MISS_RD",
                  "a mispredicted branch: left out, no trigger for aarch64 causes "
                  "BR_MIS_PRED_RETIRED",
                  "armv8_pmuv3_0: levels above none are left out: caps/max_precise does not "
                  "exist",
                  "arm_spe_0: left out, its samples are AUX data, which is not read yet"));
}

TEST(DefaultSet, HasTheBuiltInEventsWithoutAPmu) {
  EXPECT_THAT(command_lines("vm-without-pmu"), ElementsAreArray(lines_of(with_built_in({}))));
  EXPECT_THAT(events::default_set(tree("vm-without-pmu"), nullptr).events, IsEmpty());
}

TEST(DefaultSet, IsDocumented) {
  SKIP_WITHOUT_X86_TABLES();
  const std::string document = read_file(SKIDSCAN_TEST_DATA "/../docs/events.md", 1 << 20);
  const Catalogue arm = neoverse_n1();
  for (const std::string name :
       {"skylake", "alder-lake", "zen4", "neoverse-n1", "vm-without-pmu", "container"}) {
    const machine::Machine machine = tree(name);
    const auto found = events::find_catalogue(machine);
    const Catalogue* catalogue = name == "neoverse-n1" ? &arm : found ? &*found : nullptr;
    for (const auto& event : events::default_set(machine, catalogue).events) {
      std::vector<std::string> levels;
      for (const int level : event.levels) levels.push_back(machine::level_name(level));
      const std::string row =
          fmt::format("| `{}` | {} | `{}` | {} | {} |\n", name, event.stands_for, event.perf_event,
                      runway::name_of(event.trigger), fmt::join(levels, " "));
      EXPECT_NE(document.find(row), std::string::npos) << row;
    }
  }
}

TEST(DefaultSet, HasTheLevelsOfTheMachine) {
  SKIP_WITHOUT_X86_TABLES();
  machine::Machine machine = tree("skylake");
  const auto catalogue = events::find_catalogue(machine);
  machine.core_pmus.at(0).max_precise = 2;
  const events::DefaultSet set = events::default_set(machine, &*catalogue);
  for (const auto& event : set.events) EXPECT_THAT(event.levels, ElementsAre(0, 1, 2));
  EXPECT_THAT(set.notes, ElementsAre("cpu: levels above pp are left out: caps/max_precise is 2"));
  PlanOptions options;
  options.levels = {3};
  EXPECT_THAT(command_lines(machine, &*catalogue, options),
              Contains(HasSubstr("name=MEM_LOAD_RETIRED.L3_MISS/ppp ")))
      << "what is asked for is tried";
}

TEST(NamedEvents, AreWarnedOfErrataOfOneMode) {
  SKIP_WITHOUT_X86_TABLES();
  const machine::Machine machine = tree("skylake");
  const auto catalogue = events::find_catalogue(machine);
  const auto notes_of = [&](const std::string& event) {
    PlanOptions options;
    options.events = {event};
    return resolve_request(options, machine, installed_perf(), &*catalogue).notes;
  };
  EXPECT_THAT(notes_of("MEM_LOAD_RETIRED.L3_MISS:u"),
              Contains(AllOf(HasSubstr("erratum SKL128"), HasSubstr("record it without :u"))));
  for (const char* event : {"MEM_LOAD_RETIRED.L3_MISS", "BR_INST_RETIRED.NEAR_TAKEN:u"}) {
    EXPECT_THAT(notes_of(event), Not(Contains(HasSubstr("erratum"))));
  }
}

TEST(DefaultSet, RecordsAnImpreciseEventAtLevelZeroOnly) {
  SKIP_WITHOUT_X86_TABLES();
  const machine::Machine machine = tree("skylake");
  Event misses;
  misses.name = "MEM_LOAD_RETIRED.L3_MISS";
  misses.config = 0x20d1;
  misses.precise = false;
  const Catalogue catalogue({.name = "skl", .description = {}, .source = "libpfm4"}, {misses});
  const events::DefaultSet set = events::default_set(machine, &catalogue);
  ASSERT_EQ(set.events.size(), 1U);
  EXPECT_THAT(set.events[0].levels, ElementsAre(0));
  EXPECT_THAT(set.notes, Contains(HasSubstr("MEM_LOAD_RETIRED.L3_MISS is not precise here")));
}

TEST(DefaultSet, LeavesOutEventsWithoutATriggerOnThisMachine) {
  SKIP_WITHOUT_X86_TABLES();
  machine::Machine machine = tree("skylake");
  machine.memory_bytes = std::uint64_t{64} << 20;
  for (const int cpu : machine.allowed_cpus) {
    machine.data_caches[cpu] = {{1, 32 << 10}, {2, 256 << 10}, {3, 32 << 20}};
  }
  const auto catalogue = events::find_catalogue(machine);
  const RecordRequest request = resolve_request({}, machine, installed_perf(), &*catalogue);
  for (const ChosenEvent& chosen : request.events) {
    EXPECT_NE(chosen.event.name, "MEM_LOAD_RETIRED.L3_MISS");
    EXPECT_NE(chosen.trigger, "load-dram"_trigger);
  }
  EXPECT_EQ(request.events.back().trigger, "div"_trigger);
  EXPECT_THAT(request.notes, Contains(HasSubstr("MEM_LOAD_RETIRED.L3_MISS: left out; load-dram: a "
                                                "quarter of the memory (64 MiB)")));
  EXPECT_THAT(request.notes, Contains(HasSubstr("THREAD_P: with the trigger div; load-dram")));
  PlanOptions named;
  named.events = {"MEM_LOAD_RETIRED.L3_MISS"};
  EXPECT_THROW(resolve_request(named, machine, installed_perf(), &*catalogue), Error);
  named.working_set = std::uint64_t{16} << 20;
  EXPECT_NO_THROW(resolve_request(named, machine, installed_perf(), &*catalogue));
}

TEST(DefaultSet, CountsCyclesByTheirCodeOnEveryIntelCpu) {
  SKIP_WITHOUT_X86_TABLES();
  const machine::Machine machine = tree("skylake");
  for (const char* cpu : {"nhm", "wsm", "snb", "ivb", "hsw", "bdw", "skl", "skx", "icl", "icx",
                          "spr", "slm", "glm", "tmt", "knl"}) {
    const Catalogue catalogue = events::open_catalogue({.cpu = cpu, .perfmon = {}}, machine);
    const events::DefaultSet set = events::default_set(machine, &catalogue);
    ASSERT_FALSE(set.events.empty()) << cpu;
    EXPECT_EQ(set.events.back().stands_for, "cycles") << cpu;
    EXPECT_THAT(set.events.back().perf_event, HasSubstr("/config=0x3c,")) << cpu;
  }
}

TEST(DefaultSet, HasTheEventsThatTheTriggerCauses) {
  SKIP_WITHOUT_X86_TABLES();
  const machine::Machine machine = tree("skylake");
  const auto catalogue = events::find_catalogue(machine);
  const auto names = [&](TriggerKind trigger, std::vector<std::string>& notes) {
    PlanOptions options;
    options.trigger = trigger;
    const RecordRequest request = resolve_request(options, machine, installed_perf(), &*catalogue);
    notes = request.notes;
    std::vector<std::string> result;
    for (const ChosenEvent& chosen : request.events) result.push_back(chosen.event.name);
    return result;
  };
  std::vector<std::string> notes;
  EXPECT_THAT(names("div"_trigger, notes),
              ElementsAre("access", "execute", "faults", "cpu-clock", "INST_RETIRED.ANY_P",
                          "CPU_CLK_UNHALTED.THREAD_P", "cycles"));
  EXPECT_THAT(notes, Contains("MEM_LOAD_RETIRED.L3_MISS: left out, the trigger div does not "
                              "cause it"));
  EXPECT_THAT(names("load-dram"_trigger, notes),
              ElementsAre("execute", "faults", "cpu-clock", "MEM_INST_RETIRED.ALL_LOADS",
                          "MEM_LOAD_RETIRED.L3_MISS", "INST_RETIRED.ANY_P",
                          "CPU_CLK_UNHALTED.THREAD_P", "cycles"));
  EXPECT_THAT(notes, Contains(HasSubstr("access: left out, load-dram's chase")));
}

TEST(DefaultSet, LeavesOutNamesThatPerfMisreads) {
  Event event;
  event.config = 0x1;
  event.config1 = 0x2;
  for (const char* name : {"a/b", "a,b", "1st", "", "a b", "a:b", "x\x1b"}) {
    event.name = name;
    EXPECT_EQ(events::raw_perf_event(event, "cpu"), "cpu/config=0x1,config1=0x2/") << name;
  }
}

/// The first measurement of one event on a Skylake.
run::PlannedMeasurement planned(const std::string& event, const std::string& machine = "skylake") {
  const machine::Machine here = tree(machine);
  const auto catalogue = events::find_catalogue(here);
  PlanOptions options;
  options.events = {event};
  const RecordRequest request =
      resolve_request(options, here, installed_perf(), catalogue ? &*catalogue : nullptr);
  return plan_measurements(options, request, targets()).front();
}

TEST(NamedEvent, IsPassedRawIfTheCatalogueHasIt) {
  SKIP_WITHOUT_X86_TABLES();
  for (const char* spelling : {"MEM_LOAD_RETIRED.L3_MISS", "skl::MEM_LOAD_RETIRED:L3_MISS",
                               "mem_load_retired:l3_miss", "kbl::MEM_LOAD_RETIRED.L3_MISS"}) {
    const auto measurement = planned(spelling);
    EXPECT_EQ(measurement.perf_event, "cpu/config=0x20d1,name=MEM_LOAD_RETIRED.L3_MISS/");
    EXPECT_EQ(measurement.event, spelling);
    EXPECT_EQ(measurement.trigger, "load-dram");
    EXPECT_EQ(measurement.period, 1009U);
  }
  EXPECT_EQ(planned("MEM_LOAD_RETIRED:L3_MISS:upp").perf_event,
            "cpu/config=0x20d1,name=MEM_LOAD_RETIRED.L3_MISS/upp");
  EXPECT_EQ(planned("INST_RETIRED:ANY_P:c=1:i").perf_event, "cpu/config=0x18000c0/");
}

TEST(NamedEvent, IsPassedByNameIfOnlyPerfHasIt) {
  SKIP_WITHOUT_X86_TABLES();
  for (const char* event : {"cycles", "cache-misses", "r20d1", "cpu/event=0xd1,umask=0x20/",
                            "LLC-load-misses", "sched:sched_switch", "context-switches",
                            "mem:0x1000:rw", "cpu/cache-misses/", "no_such_event"}) {
    EXPECT_EQ(planned(event).perf_event, event);
    EXPECT_EQ(planned(event, "alder-lake").perf_event, event);
  }
  EXPECT_EQ(planned("MEM_LOAD_RETIRED.L3_MISS", "alder-lake").perf_event,
            "cpu_core/config=0x20d1,name=MEM_LOAD_RETIRED.L3_MISS/");
}

TEST(NamedEvent, IsRecordedWithATriggerThatCausesIt) {
  SKIP_WITHOUT_X86_TABLES();
  const auto trigger = [](const char* event) { return planned(event).trigger; };
  EXPECT_EQ(trigger("r20d1"), "load-dram");
  EXPECT_EQ(trigger("cpu/event=0xd0,umask=0x82/pp"), "store");
  EXPECT_EQ(trigger("branch-misses"), "branch-mispredict");
  EXPECT_EQ(trigger("branches"), "branch-taken");
  EXPECT_EQ(trigger("cache-misses"), "load-dram");
  EXPECT_EQ(trigger("ARITH.DIVIDER_ACTIVE"), "div");
  EXPECT_EQ(trigger("cycles"), "load-dram");
  EXPECT_EQ(trigger("no_such_event"), "load");
  EXPECT_EQ(planned("cycles", "vm-without-pmu").trigger, "load") << "perf records a timer";
}

TEST(NamedEvent, IsRefusedForAnotherCpuOrWithoutAPmu) {
  SKIP_WITHOUT_X86_TABLES();
  const auto message = [](const char* event, const char* machine) {
    try {
      planned(event, machine);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no fault");
  };
  EXPECT_THAT(message("hsw::MEM_UOPS_RETIRED:ALL_LOADS", "skylake"),
              HasSubstr("is an event of hsw, and this CPU is skylake"));
  EXPECT_THAT(message("MEM_LOAD_RETIRED.L3_MISS", "vm-without-pmu"),
              HasSubstr("this machine has no PMU of the CPU; 'skidscan doctor' reports why"));
}

}  // namespace
}  // namespace skid::record
