#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"
#include "tests/support/trigger_kinds.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skid::record {
namespace {

using runway::TriggerKind;

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
  return {.version = std::to_string(major) + "." + std::to_string(minor) + ".0",
          .major = major,
          .minor = minor};
}

PlanOptions options(std::vector<std::string> events) {
  return {.events = std::move(events)};
}

Targets targets_of_x86() {
  Targets result;
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
    result[fmt::format("target.{}", runway::name_of(kind))].description = target;
  }
  return result;
}

RecordRequest resolve(const PlanOptions& asked, const machine::Machine& machine = without_pmu()) {
  return resolve_request(asked, machine, perf(), nullptr);
}

std::vector<run::PlannedMeasurement> plan(const PlanOptions& asked,
                                          const machine::Machine& machine = without_pmu()) {
  return plan_measurements(asked, resolve(asked, machine), targets_of_x86());
}

using Texts = std::vector<std::string>;

Texts requested(const std::vector<run::PlannedMeasurement>& plan) {
  return test::mapped(plan, &run::PlannedMeasurement::requested);
}
Texts files(const std::vector<run::PlannedMeasurement>& plan) {
  return test::mapped(plan, &run::PlannedMeasurement::file);
}

std::string fault(const PlanOptions& asked, const machine::Machine& machine = without_pmu()) {
  return test::message_of([&] { plan(asked, machine); });
}

std::uint64_t iterations(const run::PlannedMeasurement& measurement) {
  return std::get<std::uint64_t>(measurement.length);
}

double seconds(const run::PlannedMeasurement& measurement) {
  return std::chrono::duration<double>(std::get<std::chrono::nanoseconds>(measurement.length))
      .count();
}

/// A kernel that accepts breakpoints, of which none fires.
int without_breakpoints(const machine::EventAttempt& attempt) {
  return attempt.breakpoint != 0 ? machine::kNoSamples : machine::kAccepted;
}

RecordRequest sampled(const PlanOptions& asked, const machine::EventTrial& kernel) {
  machine::SamplingSupport support;
  support.machine = without_pmu();
  RecordRequest request = resolve(asked);
  ask_kernel(request.events, asked, support, kernel);
  leave_out_unsampled(request, asked);
  return request;
}

TEST(RecordPlan, LeavesOutDefaultEventsThatNeverHaveASample) {
  const RecordRequest request = sampled(options({}), without_breakpoints);
  EXPECT_THAT(test::mapped(request.events, [](const auto& event) { return event.event.text(); }),
              ElementsAre("faults", "cpu-clock"));
  EXPECT_THAT(request.notes, Contains(StartsWith("access, execute: left out; accepted, but no "
                                                 "breakpoint fires")));
  EXPECT_THAT(request.targets, SizeIs(2)) << "for faults, and for the clock";
  EXPECT_THAT(test::message_of(
                  [] { sampled(options({}), [](const auto&) { return machine::kNoSamples; }); }),
              StartsWith("access, execute: left out; "));
  EXPECT_THAT(sampled(options({}), [](const auto&) { return machine::kAccepted; }).events,
              SizeIs(4));
}

TEST(RecordPlan, RefusesANamedEventThatNeverHasASample) {
  EXPECT_THAT(test::message_of([] {
                sampled(options({"faults", "access:u"}), without_breakpoints);
              }),
              AllOf(StartsWith("access:u: accepted, but no breakpoint fires"),
                    HasSubstr("; record on another machine; without -e, record takes ")));
}

TEST(RecordPlan, WithoutEventsOnAMachineWithPmuAddsCyclesAndBranches) {
  const auto measurements = plan(options({}), with_pmu());
  EXPECT_EQ(measurements.size(), 25U);
  EXPECT_EQ(measurements.back().requested, "cycles:P") << "what perf records by default";
  EXPECT_EQ(measurements.back().file, "cycles.P.data");
  EXPECT_THAT(requested(measurements), Contains("cycles:ppp"));
  EXPECT_THAT(requested(measurements), Contains("branches"));
  const RecordRequest request = resolve(options({}), with_pmu());
  EXPECT_THAT(request.notes,
              ElementsAre(HasSubstr("no event was named"), HasSubstr("generic cycles and branches"),
                          HasSubstr("load-dram: the sizes of this CPU's caches")));
  EXPECT_EQ(request.targets.size(), 4U);  // load, fault, load-dram, branch-taken
}

TEST(RecordPlan, ReadsMoreSamplesWhereOtherTriggersHaveSome) {
  PlanOptions asked{.events = {"branches", "branch-misses", "access", "cycles", "cpu-clock"},
                    .levels = std::vector{2}};
  const auto samples = [&] {
    return test::mapped(plan(asked, with_pmu()), &run::PlannedMeasurement::samples);
  };
  EXPECT_THAT(samples(), ElementsAre(10'000, 5000, 5000, 5000, 5000));
  asked.duration_seconds = 1.5;
  EXPECT_THAT(samples(), Each(0));
}

TEST(RecordPlan, KeepsTheRequestedOrderOfLevels) {
  PlanOptions asked{.events = {"access:u"}, .levels = std::vector{2, 0}};
  const auto measurements = plan(asked);
  EXPECT_THAT(requested(measurements), ElementsAre("access:upp", "access:u"));
  EXPECT_EQ(measurements[0].event, "access:u");
  EXPECT_EQ(measurements[0].level, 2);
  EXPECT_EQ(measurements[0].perf_event, "mem:0x403000/8:rw:upp");
}

TEST(RecordPlan, RecordsCounterValuesAtLevel0Alone) {
  PlanOptions asked{.events = {"access", "cycles:u", "r20d1:S", "cpu-clock"},
                    .levels = std::vector{0, 2},
                    .skid_in_events = true};
  EXPECT_THAT(test::mapped(plan(asked, with_pmu()), &run::PlannedMeasurement::perf_event),
              ElementsAre("mem:0x403000/8:rw:S", "mem:0x403000/8:rw:pp", "cycles:uS", "cycles:upp",
                          "r20d1:S", "r20d1:Spp", "cpu-clock", "cpu-clock:pp"));
  asked.levels = std::vector{2};
  EXPECT_THAT(fault(asked), HasSubstr("add level none"));
  asked = options({"cycles:P", "access"});
  asked.skid_in_events = true;
  EXPECT_EQ(plan(asked, with_pmu()).front().perf_event, "cycles:P");
}

TEST(RecordPlan, RecordsAnEventWithALevelAtThatOnly) {
  EXPECT_THAT(requested(plan(options({"cycles:pp", "access"}))),
              ElementsAre("cycles:pp", "access", "access:p", "access:pp", "access:ppp"));
  PlanOptions asked{.events = {"cycles:pp"}, .levels = std::vector{1}};
  EXPECT_THAT(fault(asked), HasSubstr("cycles:pp: names its precise level itself"));
}

TEST(RecordPlan, RepeatsAllLevelsInterleaved) {
  PlanOptions asked{.events = {"access", "execute"}, .levels = std::vector{0, 2}, .repeat = 2};
  const auto measurements = plan(asked);
  EXPECT_THAT(files(measurements),
              ElementsAre("access.none.1.data", "access.pp.1.data", "execute.none.1.data",
                          "execute.pp.1.data", "access.none.2.data", "access.pp.2.data",
                          "execute.none.2.data", "execute.pp.2.data"));
  EXPECT_EQ(measurements[3].repeat, 1);
  EXPECT_EQ(measurements[4].repeat, 2);
}

TEST(RecordPlan, NamesFilesPortablyAndDifferently) {
  const auto names = files(plan(options({"a:b_c:p", "a_b:c_c:p", "a_b_c:p", "../x/p"})));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_THAT(names, Each(Not(HasSubstr("/"))));
  EXPECT_THAT(names, Each(Not(HasSubstr(".."))));
  EXPECT_THAT(files(plan(options({"cpu/event=0xd1,umask=0x20/pp", "access:pp"}))),
              ElementsAre("cpu_event_0xd1_umask_0x20.pp.data", "access.pp.data"));
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
  return {.events = {"access"}, .trigger = kind};
}

TEST(RecordPlan, SizesThePointerChaseForTheCachesOfTheCpu) {
  const auto working_set = [](TriggerKind kind) {
    return resolve(with_trigger(kind), with_caches()).targets.begin()->second.working_set_bytes;
  };
  EXPECT_EQ(working_set("load-l2"_trigger), 128U << 10);
  EXPECT_EQ(working_set("load-l3"_trigger), 4U << 20);
  EXPECT_EQ(working_set("load-dram"_trigger), 64U << 20);
  EXPECT_EQ(working_set("load"_trigger), 0U);
  const RecordRequest unknown = resolve(with_trigger("load-l3"_trigger));
  EXPECT_EQ(unknown.targets.at("target.load-l3").working_set_bytes, 4U << 20);
  EXPECT_THAT(unknown.notes, Contains(HasSubstr("caches are not known")));
}

TEST(RecordPlan, UsesTheRequestedWorkingSet) {
  PlanOptions asked = with_trigger("load-dram"_trigger);
  asked.working_set = 1U << 20;
  const RecordRequest request = resolve(asked, with_caches());
  EXPECT_EQ(request.targets.at("target.load-dram").working_set_bytes, 1U << 20);
  EXPECT_THAT(request.notes, Contains(HasSubstr("one of the 8192 elements")));
  asked.working_set = 1000;
  EXPECT_THROW(resolve(asked, with_caches()), ValueError);
  asked.trigger = "load"_trigger;
  asked.working_set = 1U << 20;
  EXPECT_THROW(resolve(asked, with_caches()), ValueError);
}

TEST(RecordPlan, RefusesAKindThatTheCpuCannotRunAndOtherCpus) {
  const auto refusal_of = [](TriggerKind kind, const machine::Machine& machine) {
    return fault(with_trigger(kind), machine);
  };
  EXPECT_EQ(refusal_of("ymm-load"_trigger, with_caches()), "no error");
  EXPECT_THAT(refusal_of("zmm-load"_trigger, with_caches()), HasSubstr("lacks avx512f"));
  machine::Machine small = with_caches();
  for (auto& [cpu, caches] : small.data_caches) caches.pop_back();
  EXPECT_THAT(refusal_of("load-l3"_trigger, small),
              HasSubstr("no level 3 cache; name the size of the working set"));
  machine::Machine other = without_pmu();
  other.cpu.arch = "riscv64";
  EXPECT_THAT(refusal_of("load"_trigger, other), HasSubstr("riscv64"));
}

TEST(RecordPlan, AlwaysUsesTheFaultTriggerForFaults) {
  PlanOptions asked{.events = {"access", "branches", "page-faults", "faults"},
                    .levels = std::vector{0},
                    .trigger = "store"_trigger};
  EXPECT_THAT(test::mapped(plan(asked), &run::PlannedMeasurement::trigger),
              ElementsAre("store", "store", "store", "fault"));
  EXPECT_THAT(resolve(asked).notes,
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
  EXPECT_EQ(period("r1234", with_pmu()), 10'007U) << "an unknown event";
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

TEST(RecordPlan, AddsTheCrossCheckOfPageFaultsWhenAsked) {
  PlanOptions asked{.events = {"access", "faults:u", "minor-faults"}, .levels = std::vector{0}};
  const auto cross_check_of = [](const PlanOptions& all, std::size_t index) {
    const RecordRequest request = resolve(all);
    return plan_measurements(all, request, targets_of_x86()).at(index).cross_check;
  };
  EXPECT_EQ(cross_check_of(asked, 1), "");
  asked.check_ip = true;
  EXPECT_EQ(cross_check_of(asked, 0), "");
  EXPECT_EQ(cross_check_of(asked, 1), "exceptions:page_fault_user");
  EXPECT_EQ(cross_check_of(asked, 2), "exceptions:page_fault_user");
  asked.events = {"access"};
  EXPECT_THROW(resolve(asked), ValueError) << "no page faults are recorded";
}

TEST(RecordPlan, ComputesIterationsFromTheRequestedSamples) {
  PlanOptions asked{
      .events = {"access", "execute", "faults"}, .levels = std::vector{0}, .samples = 10'000};
  const auto measurements = plan(asked);
  EXPECT_GE(iterations(measurements[0]), 70'000U);
  EXPECT_LE(iterations(measurements[0]), 75'000U);
  EXPECT_GE(iterations(measurements[1]), 35'000U);  // two events an iteration
  EXPECT_LE(iterations(measurements[1]), 37'500U);
  EXPECT_GE(iterations(measurements[2]), 70'000U);  // no event to reckon with
  asked.period = 9'000'000'000'000'000'000U;
  EXPECT_THAT(fault(asked), HasSubstr("period 9000000000000000000: 10000 samples would take"));
}

TEST(RecordPlan, ComputesTheTimeOfClocksFromTheirSamples) {
  PlanOptions asked{.events = {"cpu-clock"}, .samples = 10'000};
  EXPECT_NEAR(seconds(plan(asked).front()), 1.0, 0.1);
  asked.period = 7;  // which the kernel raises to 10,000
  EXPECT_NEAR(seconds(plan(asked).front()), 0.12, 0.03);
  EXPECT_THAT(resolve(asked).notes,
              ElementsAre(HasSubstr("every 10000 ns at most, not every 7 ns")));
}

TEST(RecordPlan, UsesTheRequestedPeriodAndLengthForEveryEvent) {
  PlanOptions asked{
      .events = {"access", "cpu-clock", "cycles"}, .period = 1009, .duration_seconds = 0.25};
  for (const auto& measurement : plan(asked)) {
    EXPECT_EQ(measurement.period, 1009U);
    EXPECT_EQ(seconds(measurement), 0.25);
  }
  asked.duration_seconds.reset();
  asked.iterations = 30'000;
  for (const auto& measurement : plan(asked)) EXPECT_EQ(iterations(measurement), 30'000);
}

TEST(RecordPlan, VariesThePeriodOverTheRepetitions) {
  PlanOptions asked{
      .events = {"access"}, .levels = std::vector{0, 2}, .samples = 4000, .vary_period = true};
  std::map<int, std::set<std::uint64_t>> periods;
  for (const auto& measurement : plan(asked)) {
    periods[measurement.level].insert(measurement.period);
    EXPECT_LT(iterations(measurement), 1100 * measurement.period) << "a fourth of the samples";
  }
  EXPECT_THAT(periods[0], SizeIs(4));
  EXPECT_EQ(periods[0], periods[2]);
  asked.repeat = 6;
  EXPECT_THAT(plan(asked), SizeIs(12));
}

TEST(RecordPlan, VariesThePeriodSoThatOverflowsAreAtOtherTriggers) {
  runway::Specification seven{.gaps = {1, 1, 1, 1, 1, 1}};
  PlanOptions asked{.events = {"r81d0:u"}, .repeat = 5, .vary_period = true};
  ChosenEvent chosen;
  chosen.event.kind = EventKind::other;
  chosen.levels = std::vector{0, 2};
  for (const std::uint64_t period : {1009U, 1010U, 1013U, 10'007U}) {
    chosen.period = period;
    std::set<std::uint64_t> remainders;
    for (const std::uint64_t varied : periods_of(chosen, asked, seven)) {
      EXPECT_GE(varied, period);
      remainders.insert(varied % 7);
    }
    // Not 0, which is always the same trigger, nor 6: with PEBS so is the period and one.
    EXPECT_THAT(remainders, ElementsAre(1, 2, 3, 4, 5)) << period;
  }
}

TEST(RecordPlan, WarnsOfBreakpointsThatTakeMinutes) {
  PlanOptions asked{.events = {"access"}, .period = 100'003};
  EXPECT_THAT(resolve(asked).notes, ElementsAre(HasSubstr("use a smaller -c")));
  asked.iterations = 1000;
  EXPECT_THAT(resolve(asked).notes, IsEmpty());
}

TEST(RecordPlan, NotesWhatPerfDoesDifferently) {
  EXPECT_THAT(resolve(options({"cycles:u"}), with_pmu()).notes, IsEmpty());
  EXPECT_THAT(resolve_request(options({"access"}), without_pmu(), perf(5, 4), nullptr).notes,
              ElementsAre(HasSubstr("perf 5.4.0 has no --control")));
}

TEST(RecordPlan, PinsToTheHighestAllowedCpuByDefault) {
  EXPECT_EQ(resolve(options({"access"})).cpu, 5);
  PlanOptions asked{.events = {"access"}, .cpu = 1};
  EXPECT_EQ(resolve(asked).cpu, 1);
  asked.cpu = 3;
  EXPECT_THAT(fault(asked),
              HasSubstr("CPU 3: this process may not run there; expected one of 0, 1, 2, 5"));
}

TEST(RecordPlan, PinsToACpuThatHasTheNamedPmu) {
  EXPECT_EQ(resolve(options({"cpu_atom/cycles/"}), hybrid()).cpu, 5);
  EXPECT_EQ(resolve(options({"cpu_core/cycles/u"}), hybrid()).cpu, 1);
  EXPECT_EQ(resolve(options({"cycles"}), hybrid()).cpu, 1);
  PlanOptions pinned{.events = {"cpu_core/cycles/"}, .cpu = 2};
  EXPECT_THAT(fault(pinned, hybrid()), HasSubstr("the PMU cpu_core is on the CPUs 0, 1 only"));
  const auto both = plan(options({"cpu_atom/cycles/pp", "cpu_core/cycles/pp"}), hybrid());
  EXPECT_EQ(both.at(0).cpu, 5);
  EXPECT_EQ(both.at(1).cpu, std::nullopt) << "the run's, which is of cpu_core";
}

TEST(RecordPlan, HasTheUsersOwnWayOfRecording) {
  PlanOptions asked{.events = {"access", "cycles:P"},
                    .extras = {.frequency = 2000, .call_graph = "fp", .branch_filter = "any"}};
  const auto measurements = plan(asked, with_pmu());
  ASSERT_EQ(measurements.size(), 5U);
  for (const auto& measurement : measurements) {
    EXPECT_EQ(measurement.extras, asked.extras);
    EXPECT_EQ(measurement.period, 0U);
    EXPECT_NEAR(seconds(measurement), 2.645, 1e-6) << "5000 samples and 5% more";
  }
  asked.levels = std::vector{2};
  EXPECT_THAT(fault(asked, with_pmu()), HasSubstr("leave out -p or the P"));
}

TEST(RecordPlan, AsksForRegistersThatCostNothing) {
  machine::Machine machine = with_pmu();
  machine.cpu.arch = "x86_64";
  machine.cpu.vendor = "GenuineIntel";
  machine.cpu.family = 6;
  machine.cpu.model = 94;  // Skylake
  machine.kernel = "6.1.0";
  PlanOptions asked{.events = {"faults", "r81d0", "cycles", "access"}, .levels = {{0, 1, 2}}};
  asked.trigger = "load"_trigger;
  const auto registers = [&] {
    return test::mapped(plan(asked, machine), &run::PlannedMeasurement::registers);
  };
  const auto all = [](bool faults, bool none, bool precise) {
    return ElementsAre(faults, faults, faults, none, precise, precise, false, false, false, false,
                       false, false);
  };
  EXPECT_THAT(registers(), all(true, false, true)) << "PEBS records have them";
  asked.check_ip = true;
  EXPECT_THAT(registers(), all(false, false, true)) << "a tracepoint would have them, too";
  asked.check_ip = false;
  machine.kernel = "4.15.0";
  EXPECT_THAT(registers(), all(true, false, false)) << "they end batches";
  machine.kernel = "6.1.0";
  machine.cpu.vendor = "AuthenticAMD";
  EXPECT_THAT(registers(), all(true, false, false)) << "IBS has those of the interrupt";
  machine.cpu.arch = "aarch64";
  EXPECT_THAT(registers(), Each(false));
}

TEST(RecordPlan, LeavesOutWhatTheKernelRefuses) {
  RecordRequest request = resolve(options({"cycles"}), with_pmu());
  request.events.at(0).answers = {
      {.level = 0},
      {.level = 1, .acceptance = machine::Acceptance::per_cpu, .error = EINVAL},
      {.level = 2,
       .acceptance = machine::Acceptance::refused,
       .error = EINVAL,
       .reason = {"IBS takes periods from 144", "-c 144"}},
      {.level = 3, .acceptance = machine::Acceptance::refused, .error = EACCES}};
  const auto measurements = plan_measurements(options({"cycles"}), request, targets_of_x86());
  EXPECT_FALSE(measurements.at(0).extras.per_cpu);
  EXPECT_TRUE(measurements.at(1).extras.per_cpu);
  EXPECT_EQ(measurements.at(2).state, run::State::refused);
  EXPECT_EQ(measurements.at(2).reason, "IBS takes periods from 144; -c 144");
  EXPECT_EQ(measurements.at(3).state, run::State::pending) << "permissions are perf's to report";
}

TEST(RecordPlan, HandsTheRunwayOptionsToTheTargets) {
  PlanOptions asked{.events = {"access", "faults"}, .nops = 300, .nop_bytes = 4};
  const RecordRequest request = resolve(asked);
  EXPECT_THAT(request.targets,
              ElementsAre(testing::Key("target.fault"), testing::Key("target.load")));
  for (const auto& [file, target] : request.targets) {
    EXPECT_EQ(target.nops, 300U);
    EXPECT_EQ(target.nop_bytes, 4U);
  }
  asked.nops = 1;
  EXPECT_THROW(resolve(asked), ValueError);
}

}  // namespace
}  // namespace skid::record
