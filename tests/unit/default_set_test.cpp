// What is recorded of a machine when nothing is named. Of the trees of tests/machines, which are
// written by hand from the kernel's documentation, texts beside them show it.

#include "src/events/default_set.h"

#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/error_message.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"
#include "tests/support/trigger_kinds.h"

#include <cstdint>
#include <ios>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::record {
namespace {

using events::Catalogue;
using events::Event;

/// A machine of tests/machines, of which fields may be changed, and the catalogue of its CPU.
struct Tree {
  explicit Tree(const std::string& name)
      : machine(machine::inspect(SKIDSCAN_TEST_DATA "/machines/" + name)),
        found(events::find_catalogue(machine)),
        catalogue(found ? &*found : nullptr) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  RecordRequest request(const PlanOptions& options = {}) const {
    return resolve_request(options, machine, *machine::parse_perf_version("perf version 6.1.76"),
                           catalogue);
  }
  events::DefaultSet default_set() const { return events::default_set(machine, catalogue); }

  machine::Machine machine;
  std::optional<Catalogue> found;
  const Catalogue* catalogue;  ///< of `found` or another one; null: none covers the CPU
};

/// The measurements on the targets of the request, all with the same addresses.
std::vector<run::PlannedMeasurement> planned(const PlanOptions& options,
                                             const RecordRequest& request) {
  Targets targets;
  for (const auto& [file, specification] : request.targets) {
    runway::TargetDescription& target = targets[file].description;
    target.specification.trigger = specification.trigger;
    target.layout.datum = 0x403000;
    target.layout.trigger = {0x401010, 0x401014};
  }
  return plan_measurements(options, request, targets);
}

/// The CPU, the notes, and of each measurement the event as perf's -e takes it, its period, file
/// and target.
std::string plan_of(const Tree& tree, const PlanOptions& options = {}) {
  const RecordRequest request = tree.request(options);
  std::string text = fmt::format("CPU {}\n\n{}\n\n", request.cpu, fmt::join(request.notes, "\n"));
  for (const auto& measurement : planned(options, request)) {
    const std::string cpu = measurement.cpu ? fmt::format(" on CPU {}", *measurement.cpu) : "";
    text += fmt::format("-e {} -c {} -o {} {}{}\n", measurement.perf_event, measurement.period,
                        measurement.file, measurement.target, cpu);
  }
  return text;
}

/// Of Arm's Neoverse N1 Technical Reference Manual, the events that are looked for; libpfm4 has
/// them where it is built for Arm.
Catalogue neoverse_n1() {
  std::istringstream table(
      "L1D_CACHE_REFILL 03 INST_RETIRED 08 BR_MIS_PRED 10 CPU_CYCLES 11 BR_RETIRED 21 "
      "BR_MIS_PRED_RETIRED 22 LL_CACHE_MISS_RD 37 MEM_ACCESS_RD 66 MEM_ACCESS_WR 67 LD_SPEC 70 "
      "ST_SPEC 71");
  std::vector<Event> events;
  for (Event event; table >> event.name >> std::hex >> event.config;) {
    event.pmu = "armv8_pmuv3_0";
    event.precise = false;
    events.push_back(event);
  }
  return {{.name = "arm_n1",
           .description = "ARM Neoverse N1",
           .source = "libpfm4",
           .layout = events::ConfigLayout::arm,
           .core = events::Core::other,
           .at_hand = true},
          std::move(events)};
}

void expect_plan_of_text(const std::string& name, const Tree& tree) {
  test::expect_golden(name + ".record.txt", plan_of(tree), "machines");
}

TEST(DefaultSet, IsThatOfEachMachinesText) {
  for (const char* name : {"zen4", "zen4-user", "vm-without-pmu"})
    expect_plan_of_text(name, Tree(name));
  Tree generic("alder-lake");
  generic.catalogue = nullptr;
  expect_plan_of_text("alder-lake-without-table", generic);
  Tree neoverse("neoverse-n1");
  const Catalogue catalogue = neoverse_n1();
  neoverse.catalogue = &catalogue;
  expect_plan_of_text("neoverse-n1", neoverse);
}

TEST(DefaultSet, OfIntelsTablesIsThatOfEachMachinesText) {
  SKIP_WITHOUT("x86-64");
  for (const char* name : {"skylake", "alder-lake", "container"}) {
    expect_plan_of_text(name, Tree(name));
  }
}

TEST(DefaultSet, HasNoLevelsOfAZen4WithoutIbs) {
  Tree zen4("zen4");
  zen4.machine.other_pmus.clear();
  zen4.machine.ibs_op.reset();
  for (const auto& event : zen4.default_set().events) {
    EXPECT_THAT(event.levels, ElementsAre(0)) << event.name;
  }
  EXPECT_THAT(zen4.default_set().notes,
              ElementsAre(HasSubstr("ibs_op, which samples them, does not exist")));
}

TEST(NamedEvents, OfSpeHaveTheTriggerThatPassesTheirFilterAndAShortRunway) {
  const Tree neoverse("neoverse-n1");
  const auto plan =
      [&](const char* event) {  // trigger, NOPs, whether more samples are read than asked for
        const PlanOptions options{.events = {event}, .levels = std::vector{0}};
        const RecordRequest request = neoverse.request(options);
        const auto& target = request.targets.at(target_file(request.events.at(0), options));
        return fmt::format("{} {} {} {}", runway::name_of(target.trigger), target.nops,
                           request.events.at(0).period,
                           planned(options, request).at(0).samples > options.samples);
      };
  EXPECT_EQ(plan("arm_spe_0/load_filter=1,jitter=1/u"), "load 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/jitter=1,store_filter=1/u"), "store 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/branch_filter=1/"), "branch-taken 20 1024 true");  // and the loop's own
  EXPECT_EQ(plan("arm_spe_0/load_filter=1,store_filter=1/"), "load 20 1024 true");
  EXPECT_EQ(plan("arm_spe_0/load_filter=1,event_filter=0x200/"), "load-dram 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/event_filter=8,load_filter/"), "load-l2 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/load_filter=1,event_filter=0x20/"), "load 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/load_filter=1,inv_event_filter=0x8/"), "load 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0/branch_filter=1,event_filter=0x80/"),
            "branch-mispredict 20 1024 false");
  EXPECT_EQ(plan("arm_spe_0//"), "load 20 1024 true");
  EXPECT_EQ(plan("arm_spe_0/load_filter=1/,MEM_ACCESS_RD"), "load 20 1024 false");
}

TEST(DefaultSet, HasAShortRunwayForSpeAndALongOneForOtherEvents) {
  Tree neoverse("neoverse-n1");
  const Catalogue catalogue = neoverse_n1();
  neoverse.catalogue = &catalogue;
  const auto nops = [&](const PlanOptions& options) {  // by target
    std::map<std::string, std::uint32_t> nops;
    for (const auto& [file, target] : neoverse.request(options).targets) nops[file] = target.nops;
    return nops;
  };
  const auto usual = nops({});
  EXPECT_EQ(usual.at("target.load"), 5000U) << "of access";
  EXPECT_EQ(usual.at("target.load.short"), 20U);
  EXPECT_EQ(usual.at("target.store.short"), 20U);
  EXPECT_EQ(usual.at("target.store"), 5000U) << "of MEM_ACCESS_WR";
  EXPECT_EQ(nops({.triggers = 2}).at("target.load.short"), 40U);
  const auto chosen = nops({.nops = 300});
  EXPECT_EQ(chosen.at("target.load"), 300U);
  EXPECT_FALSE(chosen.contains("target.load.short"));
}

TEST(DefaultSet, HasTheKindsOfCoresThatMayBeUsed) {
  Tree hybrid("alder-lake");
  hybrid.catalogue = nullptr;
  const auto pmus = [&](const PlanOptions& options) {
    std::set<std::string> names;
    for (const ChosenEvent& chosen : hybrid.request(options).events) {
      if (chosen.event.kind == EventKind::other) names.insert(chosen.event.name.substr(0, 8));
    }
    return names;
  };
  PlanOptions options{.cpu = 13};
  EXPECT_THAT(pmus(options), ElementsAre("cpu_atom"));
  EXPECT_THAT(hybrid.request(options).notes,
              Contains(HasSubstr("cpu_core: left out, it is on other CPUs")));
  options.cpu.reset();
  options.pmu = "cpu_atom";
  EXPECT_THAT(pmus(options), ElementsAre("cpu_atom"));
  EXPECT_EQ(hybrid.request(options).cpu, 15);
  options.events = {"cycles", "r00c4", "branches:u"};
  std::vector<std::string> names;
  for (const ChosenEvent& chosen : hybrid.request(options).events) {
    names.push_back(chosen.event.for_perf(0, {}));
    EXPECT_EQ(chosen.cpu, 15);
  }
  EXPECT_THAT(names, ElementsAre("cpu_atom/cycles/", "cpu_atom/config=0xc4/",
                                 "cpu_atom/branch-instructions/u"));
  options.pmu = "cpu";
  EXPECT_THROW(hybrid.request(options), Error);
}

TEST(DefaultSet, LeavesOutWhatTheTableOfACoreLacks) {
  Tree hybrid("alder-lake");
  const Catalogue loads_alone(
      {.name = "adl", .description = {}, .source = "perfmon V1"},
      {test::find_events(*hybrid.catalogue, "cpu_atom/MEM_UOPS_RETIRED.ALL_LOADS/").front()});
  hybrid.catalogue = &loads_alone;
  EXPECT_THAT(
      hybrid.default_set().notes,
      Contains(
          "a store of cpu_atom: left out, the catalogue (perfmon V1, adl) has no event for it"));
}

TEST(DefaultSet, DoesNotResonateWithItsTargets) {
  for (const char* name : {"skylake", "alder-lake"}) {
    const Tree tree(name);
    ASSERT_TRUE(tree.found) << name;
    const RecordRequest request = tree.request();
    bool two_triggers = false;
    for (const ChosenEvent& chosen : request.events) {
      if (chosen.event.kind != EventKind::other) continue;
      const auto& target = request.targets.at(target_file(chosen, {}));
      two_triggers = two_triggers || runway::triggers_of(target) == 2;
      EXPECT_FALSE(resonates(chosen, target)) << name << ": " << chosen.event.text();
    }
    EXPECT_TRUE(two_triggers) << "of which the loop's own branch makes three";
  }
  // One trigger and the back edge: two events, of which each period or the next number has half.
  PlanOptions options{.triggers = 1};
  EXPECT_THAT(Tree("skylake").request(options).notes,
              Contains(HasSubstr("resonates with the loop")));
}

TEST(DefaultSet, IsDocumented) {
  SKIP_WITHOUT("x86-64");
  const std::string document = read_file(SKIDSCAN_TEST_DATA "/../docs/events.md", 1 << 20);
  const Catalogue arm = neoverse_n1();
  for (const std::string name : {"skylake", "alder-lake", "zen4", "zen4-user", "neoverse-n1",
                                 "vm-without-pmu", "container"}) {
    Tree tree(name);
    if (name == "neoverse-n1") tree.catalogue = &arm;
    for (const auto& event : tree.default_set().events) {
      const auto levels = test::mapped(event.levels, machine::level_name);
      const std::string row =
          fmt::format("| `{}` | {} | `{}` | {} | {} |\n", name, event.stands_for, event.perf_event,
                      runway::name_of(event.trigger), fmt::join(levels, " "));
      EXPECT_NE(document.find(row), std::string::npos) << row;
    }
  }
}

TEST(DefaultSet, HasTheLevelsOfTheMachine) {
  SKIP_WITHOUT("x86-64");
  Tree skylake("skylake");
  skylake.machine.core_pmus.at(0).max_precise = 2;
  const events::DefaultSet set = skylake.default_set();
  for (const auto& event : set.events) EXPECT_THAT(event.levels, ElementsAre(0, 1, 2));
  EXPECT_THAT(set.notes, ElementsAre("cpu: levels above pp are left out: caps/max_precise is 2"));
  PlanOptions options{.levels = std::vector{3}};
  EXPECT_THAT(plan_of(skylake, options), HasSubstr("name=MEM_LOAD_RETIRED.L3_MISS/ppp "))
      << "what is asked for is tried";
}

TEST(DefaultSet, RecordsAnImpreciseEventAtLevelZeroOnly) {
  SKIP_WITHOUT("x86-64");
  Tree skylake("skylake");
  Event misses{.name = "MEM_LOAD_RETIRED.L3_MISS", .config = 0x20d1, .precise = false};
  const Catalogue catalogue({.name = "skl", .description = {}, .source = "libpfm4"}, {misses});
  skylake.catalogue = &catalogue;
  const events::DefaultSet set = skylake.default_set();
  ASSERT_EQ(set.events.size(), 1U);
  EXPECT_THAT(set.events[0].levels, ElementsAre(0));
  EXPECT_THAT(set.notes, Contains(HasSubstr("MEM_LOAD_RETIRED.L3_MISS is not precise here")));
}

TEST(DefaultSet, LeavesOutEventsWithoutATriggerOnThisMachine) {
  SKIP_WITHOUT("x86-64");
  Tree skylake("skylake");
  skylake.machine.memory_bytes = std::uint64_t{64} << 20;
  for (const int cpu : skylake.machine.allowed_cpus) {
    skylake.machine.data_caches[cpu] = {{1, 32 << 10}, {2, 256 << 10}, {3, 32 << 20}};
  }
  const RecordRequest request = skylake.request();
  for (const ChosenEvent& chosen : request.events) {
    EXPECT_NE(chosen.event.name, "MEM_LOAD_RETIRED.L3_MISS");
    EXPECT_NE(chosen.trigger, "load-dram"_trigger);
  }
  EXPECT_EQ(request.events.back().trigger, "div"_trigger);
  EXPECT_THAT(request.notes, Contains(HasSubstr("MEM_LOAD_RETIRED.L3_MISS: left out; load-dram: a "
                                                "quarter of the memory (64 MiB)")));
  EXPECT_THAT(request.notes, Contains(HasSubstr("THREAD_P: with the trigger div; load-dram")));
  PlanOptions named{.events = {"MEM_LOAD_RETIRED.L3_MISS"}};
  EXPECT_THROW(skylake.request(named), Error);
  named.working_set = std::uint64_t{16} << 20;
  EXPECT_NO_THROW(skylake.request(named));
}

TEST(DefaultSet, CountsCyclesByTheirCodeOnEveryIntelCpu) {
  SKIP_WITHOUT("x86-64");
  const Tree skylake("skylake");
  for (const char* cpu : {"nhm", "wsm", "snb", "ivb", "hsw", "bdw", "skl", "skx", "icl", "icx",
                          "spr", "slm", "glm", "tmt", "knl"}) {
    const Catalogue catalogue =
        events::open_catalogue({.cpu = cpu, .perfmon = {}}, skylake.machine);
    const events::DefaultSet set = events::default_set(skylake.machine, &catalogue);
    ASSERT_FALSE(set.events.empty()) << cpu;
    EXPECT_EQ(set.events.back().stands_for, "cycles") << cpu;
    EXPECT_THAT(set.events.back().perf_event, HasSubstr("/config=0x3c,")) << cpu;
  }
}

TEST(DefaultSet, HasTheEventsThatTheTriggerCauses) {
  SKIP_WITHOUT("x86-64");
  const Tree skylake("skylake");
  const auto names = [](const RecordRequest& request) {
    return test::mapped(request.events, [](const auto& chosen) { return chosen.event.name; });
  };
  PlanOptions options{.trigger = "div"_trigger};
  const RecordRequest of_div = skylake.request(options);
  EXPECT_THAT(names(of_div),
              ElementsAre("access", "execute", "faults", "cpu-clock", "INST_RETIRED.ANY_P",
                          "CPU_CLK_UNHALTED.THREAD_P", "cycles"));
  EXPECT_THAT(of_div.notes,
              Contains("MEM_LOAD_RETIRED.L3_MISS: left out, the trigger div does not cause it"));
  options.trigger = "load-dram"_trigger;
  const RecordRequest of_load = skylake.request(options);
  EXPECT_THAT(names(of_load),
              ElementsAre("execute", "faults", "cpu-clock", "MEM_INST_RETIRED.ALL_LOADS",
                          "MEM_LOAD_RETIRED.L3_MISS", "INST_RETIRED.ANY_P",
                          "CPU_CLK_UNHALTED.THREAD_P", "cycles"));
  EXPECT_THAT(of_load.notes, Contains(HasSubstr("access: left out, load-dram's chase")));
}

TEST(DefaultSet, LeavesOutNamesThatPerfMisreads) {
  Event event{.config = 0x1, .config1 = 0x2};
  for (const char* name : {"a/b", "a,b", "1st", "", "a b", "a:b", "x\x1b"}) {
    event.name = name;
    EXPECT_EQ(events::raw_perf_event(event, "cpu"), "cpu/config=0x1,config1=0x2/") << name;
  }
}

/// What is recorded of one event on a machine of tests/machines.
RecordRequest request_of(const std::string& event, const std::string& machine = "skylake") {
  PlanOptions options{.events = {event}};
  return Tree(machine).request(options);
}

/// The first measurement of it.
run::PlannedMeasurement planned(const std::string& event, const std::string& machine = "skylake") {
  return planned({}, request_of(event, machine)).front();
}

TEST(NamedEvent, IsWarnedOfErrataOfOneMode) {
  SKIP_WITHOUT("x86-64");
  EXPECT_THAT(request_of("MEM_LOAD_RETIRED.L3_MISS:u").notes,
              Contains(AllOf(HasSubstr("erratum SKL128"), HasSubstr("record it without :u"))));
  for (const char* event : {"MEM_LOAD_RETIRED.L3_MISS", "BR_INST_RETIRED.NEAR_TAKEN:u"}) {
    EXPECT_THAT(request_of(event).notes, Not(Contains(HasSubstr("erratum"))));
  }
}

TEST(NamedEvent, IsPassedRawIfTheCatalogueHasIt) {
  SKIP_WITHOUT("x86-64");
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
  SKIP_WITHOUT("x86-64");
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
  SKIP_WITHOUT("x86-64");
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
  SKIP_WITHOUT("x86-64");
  const auto message = [](const char* event, const char* machine) {
    return test::message_of([&] { return planned(event, machine); });
  };
  EXPECT_THAT(message("hsw::MEM_UOPS_RETIRED:ALL_LOADS", "skylake"),
              HasSubstr("is an event of hsw, and this CPU is skylake"));
  EXPECT_THAT(message("MEM_LOAD_RETIRED.L3_MISS", "vm-without-pmu"),
              HasSubstr("this machine has no PMU of the CPU; 'skidscan doctor' reports why"));
}

}  // namespace
}  // namespace skid::record
