#include "src/record/plan.h"
#include "src/support/error.h"

#include <chrono>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::record {
namespace {

using runway::TriggerKind;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

machine::Machine without_pmu() {
  machine::Machine machine;
  machine.cpu.arch = "x86_64";
  machine.cpu.vendor = "GenuineIntel";
  machine.allowed_cpus = {0, 1, 2, 5};
  return machine;
}

machine::Machine with_pmu() {
  machine::Machine machine = without_pmu();
  machine.core_pmus = {{.name = "cpu", .type = 4, .max_precise = 3, .cpus = {}}};
  return machine;
}

machine::Machine hybrid() {
  machine::Machine machine = without_pmu();
  machine.core_pmus = {{.name = "cpu_atom", .type = 10, .max_precise = 3, .cpus = {2, 5, 9}},
                       {.name = "cpu_core", .type = 4, .max_precise = 3, .cpus = {0, 1}}};
  return machine;
}

machine::PerfTool perf(int major = 6, int minor = 1) {
  machine::PerfTool tool;
  tool.version = std::to_string(major) + "." + std::to_string(minor) + ".0";
  tool.major = major;
  tool.minor = minor;
  return tool;
}

PlanOptions options(std::vector<std::string> events) {
  PlanOptions result;
  result.events = std::move(events);
  return result;
}

std::map<TriggerKind, runway::TargetDescription> targets() {
  std::map<TriggerKind, runway::TargetDescription> result;
  for (const TriggerKind kind : runway::trigger_kinds_of(Arch::x86_64)) {
    runway::TargetDescription target;
    target.specification.trigger = kind;
    target.layout.datum = 0x403000;
    target.layout.trigger = {0x401010, 0x401014};
    target.expectations = {
        {.event = "access", .offset = 1, .events_per_iteration = 1.0},
        {.event = "execute", .offset = 0, .events_per_iteration = 2.0},
        {.event = "faults", .offset = {}, .events_per_iteration = 0.0},
    };
    result.emplace(kind, target);
  }
  return result;
}

std::vector<run::PlannedMeasurement> plan(const PlanOptions& asked,
                                          const machine::Machine& machine = without_pmu()) {
  return plan_measurements(asked, resolve_request(asked, machine, perf(), nullptr), targets());
}

std::vector<std::string> requested(const std::vector<run::PlannedMeasurement>& plan) {
  std::vector<std::string> result;
  result.reserve(plan.size());
  for (const auto& measurement : plan) result.push_back(measurement.requested);
  return result;
}

std::vector<std::string> files(const std::vector<run::PlannedMeasurement>& plan) {
  std::vector<std::string> result;
  result.reserve(plan.size());
  for (const auto& measurement : plan) result.push_back(measurement.file);
  return result;
}

std::string fault(const PlanOptions& asked, const machine::Machine& machine = without_pmu()) {
  try {
    plan(asked, machine);
  } catch (const Error& error) {
    return error.what();
  }
  return "no fault";
}

std::uint64_t iterations(const run::PlannedMeasurement& measurement) {
  return std::get<std::uint64_t>(measurement.length);
}

double seconds(const run::PlannedMeasurement& measurement) {
  return std::chrono::duration<double>(std::get<std::chrono::nanoseconds>(measurement.length))
      .count();
}

TEST(RecordPlan, WithoutEventsOnAMachineWithoutPmuIsTheBuiltInLadder) {
  EXPECT_THAT(
      requested(plan(options({}))),
      ElementsAre("access", "access:p", "access:pp", "access:ppp", "execute", "execute:p",
                  "execute:pp", "execute:ppp", "faults", "faults:p", "faults:pp", "faults:ppp",
                  "cpu-clock", "cpu-clock:p", "cpu-clock:pp", "cpu-clock:ppp"));
  EXPECT_THAT(resolve_request(options({}), without_pmu(), perf(), nullptr).notes,
              ElementsAre(HasSubstr("says nothing of PEBS")));
}

TEST(RecordPlan, WithoutEventsOnAMachineWithPmuAddsCyclesAndBranches) {
  const auto measurements = plan(options({}), with_pmu());
  EXPECT_EQ(measurements.size(), 24U);
  EXPECT_THAT(requested(measurements), Contains("cycles:ppp"));
  EXPECT_THAT(requested(measurements), Contains("branches"));
  const RecordRequest request = resolve_request(options({}), with_pmu(), perf(), nullptr);
  EXPECT_THAT(request.notes,
              ElementsAre(HasSubstr("no event was named"), HasSubstr("generic cycles and branches"),
                          HasSubstr("load-dram: the sizes of this CPU's caches")));
  EXPECT_EQ(request.targets.size(), 4U);  // load, fault, load-dram, branch-taken
}

TEST(RecordPlan, WithEventsHasNoNoteOnTheChoiceOfEvents) {
  EXPECT_THAT(resolve_request(options({"access"}), without_pmu(), perf(), nullptr).notes,
              IsEmpty());
}

TEST(RecordPlan, KeepsTheRequestedOrderOfLevels) {
  PlanOptions asked = options({"access:u"});
  asked.levels = {2, 0};
  const auto measurements = plan(asked);
  EXPECT_THAT(requested(measurements), ElementsAre("access:upp", "access:u"));
  EXPECT_EQ(measurements[0].event, "access:u");
  EXPECT_EQ(measurements[0].level, 2);
  EXPECT_EQ(measurements[0].perf_event, "mem:0x403000/8:rw:upp");
}

TEST(RecordPlan, RecordsAnEventWithALevelAtThatOnly) {
  EXPECT_THAT(requested(plan(options({"cycles:pp", "access"}))),
              ElementsAre("cycles:pp", "access", "access:p", "access:pp", "access:ppp"));
  PlanOptions asked = options({"cycles:pp"});
  asked.levels = {1};
  EXPECT_THAT(fault(asked), HasSubstr("-e cycles:pp: names its precise level itself"));
}

TEST(RecordPlan, RepeatsTheWholeLadderInterleaved) {
  PlanOptions asked = options({"access", "execute"});
  asked.levels = {0, 2};
  asked.repeat = 2;
  const auto measurements = plan(asked);
  EXPECT_THAT(files(measurements),
              ElementsAre("access.none.1.data", "access.pp.1.data", "execute.none.1.data",
                          "execute.pp.1.data", "access.none.2.data", "access.pp.2.data",
                          "execute.none.2.data", "execute.pp.2.data"));
  EXPECT_EQ(measurements[3].repeat, 1);
  EXPECT_EQ(measurements[4].repeat, 2);
}

TEST(RecordPlan, NamesFilesPortably) {
  EXPECT_THAT(files(plan(options({"cpu/event=0xd1,umask=0x20/pp", "access:pp"}))),
              ElementsAre("cpu_event_0xd1_umask_0x20.pp.data", "access.pp.data"));
}

TEST(RecordPlan, NamesFilesDifferentlyThatWouldBeOne) {
  const auto names = files(plan(options({"a:b_c:p", "a_b:c_c:p", "a_b_c:p", "../x/p"})));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_THAT(names, Each(Not(HasSubstr("/"))));
  EXPECT_THAT(names, Each(Not(HasSubstr(".."))));
}

TEST(RecordPlan, ChoosesTheTriggerThatTheEventNeeds) {
  const auto trigger = [](const char* event) { return plan(options({event})).front().trigger; };
  EXPECT_EQ(trigger("access"), "load");
  EXPECT_EQ(trigger("cycles"), "load");
  EXPECT_EQ(trigger("faults"), "fault");
  EXPECT_EQ(trigger("page-faults"), "fault");
  EXPECT_EQ(trigger("branches:u"), "branch-taken");
  EXPECT_EQ(trigger("r00c4"), "branch-taken");
}

machine::Machine with_caches() {
  machine::Machine machine = without_pmu();
  machine.cpu_flags = {"sse", "sse2", "avx"};
  machine.memory_bytes = std::uint64_t{16} << 30;
  for (const int cpu : machine.allowed_cpus) {
    machine.data_caches[cpu] = {{1, 32U << 10}, {2, 256U << 10}, {3, 8U << 20}};
  }
  return machine;
}

PlanOptions with_trigger(TriggerKind kind) {
  PlanOptions result = options({"access"});
  result.trigger = kind;
  return result;
}

TEST(RecordPlan, SizesThePointerChaseForTheCachesOfTheCpu) {
  const auto working_set = [](TriggerKind kind) {
    return resolve_request(with_trigger(kind), with_caches(), perf(), nullptr)
        .targets.front()
        .working_set_bytes;
  };
  EXPECT_EQ(working_set(TriggerKind::load_l2), 128U << 10);
  EXPECT_EQ(working_set(TriggerKind::load_l3), 4U << 20);
  EXPECT_EQ(working_set(TriggerKind::load_dram), 64U << 20);
  EXPECT_EQ(working_set(TriggerKind::load), 0U);
}

TEST(RecordPlan, UsesTheRequestedWorkingSet) {
  PlanOptions asked = with_trigger(TriggerKind::load_dram);
  asked.working_set = 1U << 20;
  const RecordRequest request = resolve_request(asked, with_caches(), perf(), nullptr);
  EXPECT_EQ(request.targets.front().working_set_bytes, 1U << 20);
  EXPECT_THAT(request.notes, ::testing::Contains(HasSubstr("one of the 8192 elements")));
  asked.working_set = 1000;
  EXPECT_THROW(resolve_request(asked, with_caches(), perf(), nullptr), UsageError);
  asked.trigger = TriggerKind::load;
  asked.working_set = 1U << 20;
  EXPECT_THROW(resolve_request(asked, with_caches(), perf(), nullptr), UsageError);
}

TEST(RecordPlan, NotesTheUsualWorkingSetForUnknownCaches) {
  const RecordRequest request =
      resolve_request(with_trigger(TriggerKind::load_l3), without_pmu(), perf(), nullptr);
  EXPECT_EQ(request.targets.front().working_set_bytes, 4U << 20);
  EXPECT_THAT(request.notes, ::testing::Contains(HasSubstr("caches are not known")));
}

TEST(RecordPlan, RefusesAKindThatTheCpuCannotRun) {
  const auto refusal_of = [](TriggerKind kind, const machine::Machine& machine) {
    try {
      resolve_request(with_trigger(kind), machine, perf(), nullptr);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal_of(TriggerKind::ymm_load, with_caches()), "");
  EXPECT_THAT(refusal_of(TriggerKind::zmm_load, with_caches()), HasSubstr("lacks avx512f"));
  machine::Machine small = with_caches();
  for (auto& [cpu, caches] : small.data_caches) caches.pop_back();
  EXPECT_THAT(refusal_of(TriggerKind::load_l3, small),
              HasSubstr("no level 3 cache; --working-set names a size"));
}

TEST(RecordPlan, AlwaysUsesTheFaultTriggerForFaults) {
  PlanOptions asked = options({"access", "branches", "page-faults", "faults"});
  asked.trigger = TriggerKind::store;
  asked.levels = {0};
  const auto measurements = plan(asked);
  EXPECT_EQ(measurements[0].trigger, "store");
  EXPECT_EQ(measurements[1].trigger, "store");
  EXPECT_EQ(measurements[2].trigger, "store");
  EXPECT_EQ(measurements[3].trigger, "fault");
  EXPECT_THAT(resolve_request(asked, without_pmu(), perf(), nullptr).notes,
              ElementsAre("faults: with the trigger fault, since store does not cause it"));
}

TEST(RecordPlan, ChoosesPeriodsThatSuitTheEvent) {
  const auto period = [](const char* event, const machine::Machine& machine) {
    return plan(options({event}), machine).front().period;
  };
  EXPECT_EQ(period("access", without_pmu()), 7U);
  EXPECT_EQ(period("faults", without_pmu()), 7U);
  EXPECT_EQ(period("cpu-clock", without_pmu()), 99'991U);
  EXPECT_EQ(period("cycles", with_pmu()), 400'009U) << "comes often";
  EXPECT_EQ(period("branches", with_pmu()), 1'009U) << "comes once an iteration";
  EXPECT_EQ(period("r1234", with_pmu()), 10'007U) << "nobody knows";
  machine::Machine amd = with_pmu();
  amd.cpu.vendor = "AuthenticAMD";
  EXPECT_EQ(period("cycles", amd) % 16, 0U);
  EXPECT_EQ(period("access", amd), 7U);
  machine::Machine unknown = with_pmu();
  unknown.cpu.vendor.clear();
  EXPECT_EQ(period("cycles", unknown) % 16, 0U) << "it may be AMD's";
  unknown.cpu.arch = "aarch64";
  EXPECT_EQ(period("cycles", unknown), 400'009U) << "AMD has none";
}

TEST(RecordPlan, UsesTheRequestedPeriodForEveryEvent) {
  PlanOptions asked = options({"access", "cycles"});
  asked.period = 1009;
  for (const auto& measurement : plan(asked)) EXPECT_EQ(measurement.period, 1009U);
}

TEST(RecordPlan, AddsTheCrossCheckOfPageFaultsWhenAsked) {
  PlanOptions asked = options({"access", "faults:u", "minor-faults"});
  asked.levels = {0};
  const auto cross_check_of = [](const PlanOptions& all, std::size_t index) {
    const RecordRequest request = resolve_request(all, without_pmu(), perf(), nullptr);
    return plan_measurements(all, request, targets()).at(index).cross_check;
  };
  EXPECT_EQ(cross_check_of(asked, 1), "");
  asked.check_ip = true;
  EXPECT_EQ(cross_check_of(asked, 0), "");
  EXPECT_EQ(cross_check_of(asked, 1), "exceptions:page_fault_user");
  EXPECT_EQ(cross_check_of(asked, 2), "exceptions:page_fault_user");
}

TEST(RecordPlan, RefusesToCheckPageFaultsThatAreNotRecorded) {
  PlanOptions asked = options({"access"});
  asked.check_ip = true;
  EXPECT_THROW(resolve_request(asked, without_pmu(), perf(), nullptr), UsageError);
}

TEST(RecordPlan, ComputesIterationsFromTheRequestedSamples) {
  PlanOptions asked = options({"access", "execute", "faults"});
  asked.levels = {0};
  asked.samples = 10'000;
  const auto measurements = plan(asked);
  EXPECT_GE(iterations(measurements[0]), 70'000U);
  EXPECT_LE(iterations(measurements[0]), 75'000U);
  EXPECT_GE(iterations(measurements[1]), 35'000U);  // two events an iteration
  EXPECT_LE(iterations(measurements[1]), 37'500U);
  EXPECT_GE(iterations(measurements[2]), 70'000U);  // no event to reckon with
}

TEST(RecordPlan, ComputesTheTimeOfClocksFromTheirSamples) {
  PlanOptions asked = options({"cpu-clock"});
  asked.samples = 10'000;
  EXPECT_NEAR(seconds(plan(asked).front()), 1.0, 0.1);
  asked.period = 7;  // which the kernel raises to 10,000
  EXPECT_NEAR(seconds(plan(asked).front()), 0.12, 0.03);
  EXPECT_THAT(resolve_request(asked, without_pmu(), perf(), nullptr).notes,
              ElementsAre(HasSubstr("every 10000 ns at most, not every 7 ns")));
}

TEST(RecordPlan, UsesTheRequestedDurationForEveryEvent) {
  PlanOptions asked = options({"access", "cpu-clock", "cycles"});
  asked.duration_seconds = 0.25;
  for (const auto& measurement : plan(asked)) EXPECT_EQ(seconds(measurement), 0.25);
}

TEST(RecordPlan, UsesTheRequestedIterationsForEveryEvent) {
  PlanOptions asked = options({"access", "cpu-clock", "cycles"});
  asked.iterations = 30'000;
  for (const auto& measurement : plan(asked)) EXPECT_EQ(iterations(measurement), 30'000);
}

TEST(RecordPlan, RefusesMoreIterationsThanCanBeCounted) {
  PlanOptions asked = options({"access"});
  asked.period = 9'000'000'000'000'000'000U;
  EXPECT_THAT(fault(asked), HasSubstr("-c 9000000000000000000: 5000 samples would take"));
}

TEST(RecordPlan, WarnsOfBreakpointsThatTakeMinutes) {
  PlanOptions asked = options({"access"});
  asked.period = 100'003;
  EXPECT_THAT(resolve_request(asked, without_pmu(), perf(), nullptr).notes,
              ElementsAre(HasSubstr("use a smaller -c")));
  asked.iterations = 1000;
  EXPECT_THAT(resolve_request(asked, without_pmu(), perf(), nullptr).notes, IsEmpty());
}

TEST(RecordPlan, NotesThatCyclesMayBecomeCpuClock) {
  EXPECT_THAT(resolve_request(options({"cycles:u"}), without_pmu(), perf(), nullptr).notes,
              ElementsAre(HasSubstr("cycles:u: no core PMU here")));
  EXPECT_THAT(resolve_request(options({"cycles:u"}), with_pmu(), perf(), nullptr).notes, IsEmpty());
}

TEST(RecordPlan, NotesThatAnOldPerfRecordsTheWarmUp) {
  EXPECT_THAT(resolve_request(options({"access"}), without_pmu(), perf(5, 4), nullptr).notes,
              ElementsAre(HasSubstr("perf 5.4.0 has no --control")));
}

TEST(RecordPlan, PinsToTheHighestAllowedCpuByDefault) {
  EXPECT_EQ(resolve_request(options({"access"}), without_pmu(), perf(), nullptr).cpu, 5);
  PlanOptions asked = options({"access"});
  asked.cpu = 1;
  EXPECT_EQ(resolve_request(asked, without_pmu(), perf(), nullptr).cpu, 1);
  asked.cpu = 3;
  EXPECT_THAT(fault(asked),
              HasSubstr("--cpu 3: this process may not run there, allowed 0, 1, 2, 5"));
}

TEST(RecordPlan, PinsToACpuThatHasTheNamedPmu) {
  EXPECT_EQ(resolve_request(options({"cpu_atom/cycles/"}), hybrid(), perf(), nullptr).cpu, 5);
  EXPECT_EQ(resolve_request(options({"cpu_core/cycles/u"}), hybrid(), perf(), nullptr).cpu, 1);
  EXPECT_EQ(resolve_request(options({"cycles"}), hybrid(), perf(), nullptr).cpu, 1);
  EXPECT_THAT(fault(options({"cpu_atom/cycles/", "cpu_core/cycles/"}), hybrid()),
              HasSubstr("the PMU cpu_core is on the CPUs 0, 1 only"));
}

TEST(RecordPlan, HandsTheRunwayOptionsToTheTargets) {
  PlanOptions asked = options({"access", "faults"});
  asked.nops = 300;
  asked.nop_bytes = 4;
  const RecordRequest request = resolve_request(asked, without_pmu(), perf(), nullptr);
  ASSERT_EQ(request.targets.size(), 2U);
  EXPECT_EQ(request.targets[0].trigger, TriggerKind::load);
  EXPECT_EQ(request.targets[1].trigger, TriggerKind::fault);
  for (const auto& target : request.targets) {
    EXPECT_EQ(target.nops, 300U);
    EXPECT_EQ(target.nop_bytes, 4U);
  }
  asked.nops = 1;
  EXPECT_THROW(resolve_request(asked, without_pmu(), perf(), nullptr), UsageError);
}

TEST(RecordPlan, RefusesAMachineThatNoTargetIsFor) {
  machine::Machine machine = without_pmu();
  machine.cpu.arch = "riscv64";
  EXPECT_THAT(fault(options({"access"}), machine), HasSubstr("riscv64"));
}

}  // namespace
}  // namespace skid::record
