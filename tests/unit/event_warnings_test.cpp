// Warnings about events that the kernel or the CPU does not treat as requested.
#include "src/measure/event_warnings.h"

#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "runway/kinds/kind.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/instructions/category.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/event_selection.h"
#include "src/measure/precision.h"
#include "src/measure/recorded_event.h"
#include "src/measure/requested_event.h"
#include "src/output/page.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/known_event.h"
#include "tests/support/prelude.h"
#include "tests/support/trigger_kinds.h"

#include <cstddef>
#include <cstdint>
#include <ios>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace skid::measure {
namespace {

using analysis::NotJudged;
using perfdata::Attribute;

constexpr int kNehalem = 26, kSandyBridge = 42, kIvyBridge = 58, kHaswell = 60, kBroadwell = 61,
              kSkylake = 94, kIceLake = 125, kSapphireRapids = 143, kEmeraldRapids = 207,
              kSierraForest = 175, kAlderLake = 151, kArrowLake = 198, kUnknown = 255;

machine::Machine intel(int model) {
  return {.cpu = test::intel_cpu(model, 3), .smt_active = false};
}

machine::Machine zen4() {
  return {.cpu = {.arch = "x86_64", .vendor = "AuthenticAMD", .family = 25, .model = 17},
          .smt_active = true};
}

Attribute raw(std::uint64_t config, unsigned level = 0) {
  return {.type = PERF_TYPE_RAW, .config = config, .precise_ip = level, .name = "the-event"};
}

Attribute cycles(unsigned level) {
  Attribute attribute = raw(0, level);
  attribute.type = PERF_TYPE_HARDWARE;
  return attribute;
}

std::vector<std::string> warnings(const Attribute& attribute, const machine::Machine& machine,
                                  std::optional<std::uint64_t> period = 10'007,
                                  std::size_t counters = 1) {
  RecordedEvent event = test::known_event(attribute, machine);
  event.period = period;
  event.counters = counters;
  return event_warnings(event);
}

NotJudged judged(const Attribute& attribute, const machine::Machine& machine) {
  return reason_not_judged(test::known_event(attribute, machine), nullptr, {});
}

std::string remark(const Attribute& attribute, const machine::Machine& machine) {
  return remark_on(test::known_event(attribute, machine), judged(attribute, machine));
}

/// A precise event with a fixed period, as `perf record` samples it.
struct SampledAttribute : Attribute {
  explicit SampledAttribute(std::uint64_t more = 0) : Attribute(raw(0x20d1, 2)) {
    sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | more;
  }
};

/// "batched", "per record" or "unknown": the path of an event on a CPU and kernel.
std::string path_on(int model, const Attribute& attribute = SampledAttribute(),
                    const std::string& kernel = "6.12.0", bool guest = false) {
  machine::Machine machine = intel(model);
  machine.kernel = kernel;
  if (guest) machine.cpu.hypervisor = "KVM";
  const auto path = recording_path(test::known_event(attribute, machine));
  return !path.batched ? "unknown" : *path.batched ? "batched" : "per record";
}

TEST(RecordingPath, FollowsFromTheAttributesAndTheCpu) {
  SKIP_WITHOUT("x86-64");
  const SampledAttribute branches(PERF_SAMPLE_BRANCH_STACK),
      address(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC);
  EXPECT_EQ(path_on(kSkylake), "batched");
  EXPECT_EQ(path_on(kSkylake, address), "batched");
  SampledAttribute frequency;
  frequency.frequency = true;
  EXPECT_EQ(path_on(kSkylake, frequency), "per record");
  EXPECT_EQ(path_on(kSkylake, SampledAttribute(PERF_SAMPLE_CALLCHAIN)), "per record");
  EXPECT_EQ(path_on(kSkylake, branches), "per record");
  EXPECT_EQ(path_on(kBroadwell), "per record") << "its records have no time";
  EXPECT_EQ(path_on(kSapphireRapids, branches), "batched") << "its records have branches";
  EXPECT_EQ(path_on(kSapphireRapids, SampledAttribute(), "6.12.0", true), "unknown")
      << "a guest without the baseline";
  EXPECT_EQ(path_on(0xdd, branches), "batched") << "Clearwater Forest";
}

TEST(RecordingPath, HasAnInterruptPerRecordWhereTheKernelExcludesBatches) {
  SKIP_WITHOUT("x86-64");
  SampledAttribute clock, wakeups, pausing, output;
  clock.use_clockid = true;
  wakeups.wakeup_events = 1;
  pausing.aux_action = true;
  output.aux_output = true;
  EXPECT_EQ(path_on(kSkylake, clock), "per record") << "perf record -k";
  clock.sample_type &= ~std::uint64_t{PERF_SAMPLE_TIME};
  EXPECT_EQ(path_on(kSkylake, clock), "batched") << "no time, whatever its clock";
  EXPECT_EQ(path_on(kSkylake, wakeups), "per record") << "perf record --no-buffering";
  EXPECT_EQ(path_on(kSkylake, wakeups, "4.19.0"), "unknown") << "stable kernels have it, too";
  EXPECT_EQ(path_on(kSkylake, pausing), "per record");
  EXPECT_EQ(path_on(kSkylake, output), "unknown") << "its records are in the AUX area";
  EXPECT_EQ(path_on(kSkylake, SampledAttribute(PERF_SAMPLE_DATA_PAGE_SIZE)), "per record");
}

TEST(RecordingPath, DependsOnTheKernel) {
  SKIP_WITHOUT("x86-64");
  constexpr int kLionCove = 189;
  const SampledAttribute weight(PERF_SAMPLE_WEIGHT), values(PERF_SAMPLE_READ);
  EXPECT_EQ(path_on(kSkylake, weight, "5.19.0"), "per record");
  EXPECT_EQ(path_on(kSkylake, weight, "6.0.0"), "batched");
  EXPECT_EQ(path_on(kSkylake, weight, ""), "unknown") << "by kernel";
  EXPECT_EQ(path_on(kSapphireRapids, values, "6.15.0"), "per record") << "format 4";
  EXPECT_EQ(path_on(kLionCove, values, "6.14.0"), "per record");
  EXPECT_EQ(path_on(kLionCove, values, "6.15.0"), "unknown") << "format 6 has counters";
  SampledAttribute registers(PERF_SAMPLE_REGS_INTR), of_user(PERF_SAMPLE_REGS_USER);
  registers.sample_regs_intr = of_user.sample_regs_user = 0x1ff;  // AX to IP
  EXPECT_EQ(path_on(kSkylake, registers), "batched");
  EXPECT_EQ(path_on(kSkylake, registers, "4.15.0"), "per record");
  EXPECT_EQ(path_on(kSkylake, of_user), "per record") << "the kernel's are not the user's";
  of_user.exclude_kernel = true;
  EXPECT_EQ(path_on(kSkylake, of_user), "batched");
  registers.sample_regs_intr |= 0x400;  // CS
  EXPECT_EQ(path_on(kSkylake, registers), "per record");
}

TEST(RecordingPath, IsOfPebsOnlyWithPebs) {
  Attribute attribute = raw(0x20d1, 0);
  attribute.frequency = true;
  attribute.period_or_frequency = 4000;
  attribute.sample_type = PERF_SAMPLE_CALLCHAIN;
  const machine::Machine machine = intel(kSkylake);
  const auto path = recording_path(test::known_event(attribute, machine));
  EXPECT_EQ(
      path,
      (analysis::RecordingPath{
          .frequency = 4000, .call_graph = true, .branch_stack = false, .batched = std::nullopt}));
  EXPECT_EQ(analysis::describe(path), "4000 samples a second with call graphs");
}

TEST(EventWarnings, ReportAnImpreciseEventAtALevel) {
  SKIP_WITHOUT("x86-64");
  EXPECT_THAT(warnings(raw(0x412e, 2), intel(kSkylake)),
              ElementsAre(AllOf(HasSubstr("LONGEST_LAT_CACHE.MISS is not precise"),
                                HasSubstr("Intel's event file skylake V"), HasSubstr("level 2"))));
  EXPECT_THAT(warnings(raw(0x412e, 0), intel(kSkylake)), IsEmpty()) << "nothing was asked";
  EXPECT_THAT(warnings(raw(0x20d1, 2), intel(kSkylake)), IsEmpty()) << "precise";
  EXPECT_THAT(warnings(raw(0x412e, 2), intel(kUnknown)), IsEmpty()) << "unknown";
}

TEST(EventWarnings, ReportTheCodeOfAGenericEvent) {
  SKIP_WITHOUT("x86-64");
  Attribute cache_misses = cycles(2);
  cache_misses.config = 3;
  EXPECT_THAT(warnings(cache_misses, intel(kSkylake)),
              ElementsAre(HasSubstr("LONGEST_LAT_CACHE.MISS is not precise")));
}

TEST(EventWarnings, ReportTheEventCountedForCycles) {
  for (const int model : {kSandyBridge, kIvyBridge, kHaswell, kBroadwell}) {
    EXPECT_THAT(warnings(cycles(2), intel(model)),
                ElementsAre(HasSubstr("UOPS_RETIRED.ALL, inverted")))
        << model;
  }
  for (const Attribute& event : {cycles(1), raw(0x3c, 1)}) {
    EXPECT_THAT(warnings(event, intel(kSkylake)),
                ElementsAre(HasSubstr("INST_RETIRED.ANY_P, inverted")));
  }
  EXPECT_THAT(warnings(cycles(3), intel(kSkylake)),
              ElementsAre(HasSubstr("INST_RETIRED.PREC_DIST, inverted")));
  EXPECT_THAT(warnings(cycles(0), intel(kSkylake)), IsEmpty());
  EXPECT_THAT(warnings(cycles(2), intel(kIceLake)), IsEmpty()) << "cycles can be precise there";
  EXPECT_THAT(warnings(cycles(2), zen4(), 10'096), IsEmpty());
  EXPECT_THAT(warnings(raw(0x20d1, 2), intel(kHaswell)), IsEmpty()) << "no cycles";
}

TEST(EventWarnings, ReportTheErrataOfCountingOneMode) {
  SKIP_WITHOUT("x86-64");
  Attribute user = raw(0x20d1, 2);
  user.exclude_kernel = true;
  EXPECT_THAT(warnings(user, intel(kSkylake)),
              ElementsAre(AllOf(HasSubstr("SKL128"), HasSubstr("MEM_LOAD_RETIRED.L3_MISS"))));
  EXPECT_THAT(warnings(user, intel(kHaswell)), ElementsAre(HasSubstr("HSD169")));
  Attribute kernel = raw(0x20d1, 2);
  kernel.exclude_user = true;
  EXPECT_THAT(warnings(kernel, intel(kSkylake)), ElementsAre(HasSubstr("SKL128")));
  EXPECT_THAT(warnings(raw(0x20d1, 2), intel(kSkylake)), IsEmpty()) << "both modes";
  user.config = 0x81d0;
  EXPECT_THAT(warnings(user, intel(kSkylake)), IsEmpty()) << "another event";
  user.config = 0x20d1;
  EXPECT_THAT(warnings(user, intel(kSapphireRapids)), IsEmpty()) << "another CPU";
}

TEST(EventWarnings, ReportTheErrataOfSmtUnlessItIsOff) {
  SKIP_WITHOUT("x86-64");
  machine::Machine machine = intel(kIvyBridge);
  EXPECT_THAT(warnings(raw(0x81d0, 2), machine), IsEmpty());
  machine.smt_active = true;
  EXPECT_THAT(warnings(raw(0x81d0, 2), machine), ElementsAre(HasSubstr("BV98")));
  EXPECT_THAT(warnings(raw(0x08d1, 2), machine), IsEmpty()) << "L1_MISS has none";
  machine.smt_active.reset();
  EXPECT_THAT(warnings(raw(0x81d0, 2), machine),
              ElementsAre(HasSubstr("whether it was on is not known")));
}

TEST(EventWarnings, ReportPeriodsThatTheKernelRoundsOrRefuses) {
  EXPECT_THAT(warnings(raw(0x01c0, 2), intel(kBroadwell), 10'007),
              ElementsAre(AllOf(HasSubstr("period of 10007"),
                                HasSubstr("silently rounds periods of INST_RETIRED.PREC_DIST"),
                                HasSubstr("multiples of 64"))));
  EXPECT_THAT(
      warnings(raw(0x01c0, 2), intel(kBroadwell), 64),
      ElementsAre(AllOf(HasSubstr("kernels that check it refuse"), HasSubstr("periods from 128"))));
  EXPECT_THAT(warnings(raw(0x01c0, 2), intel(kBroadwell), 10'048), IsEmpty());
  EXPECT_THAT(warnings(raw(0x20c4, 2), intel(kBroadwell), 10'007), IsEmpty());
  EXPECT_THAT(
      warnings(cycles(3), intel(kBroadwell), 400'009),
      ElementsAre(HasSubstr("INST_RETIRED.PREC_DIST, inverted"), HasSubstr("multiples of 64")));
  EXPECT_THAT(warnings(cycles(2), intel(kBroadwell), 400'009),
              ElementsAre(HasSubstr("UOPS_RETIRED.ALL, inverted")));
  EXPECT_THAT(warnings(raw(0x01c0, 2), intel(kSkylake), 10'007), IsEmpty());
  EXPECT_THAT(warnings(raw(0x010b), intel(kNehalem), 31), ElementsAre(HasSubstr("from 32")));
  EXPECT_THAT(warnings(raw(0x010b), intel(kNehalem), 32), IsEmpty());
  for (const int model : {kSapphireRapids, kEmeraldRapids}) {
    EXPECT_THAT(warnings(raw(0x20d1, 3), intel(model), 127),
                ElementsAre(HasSubstr("precise distribution")));
    EXPECT_THAT(warnings(raw(0x20d1, 3), intel(model), 128), IsEmpty());
    EXPECT_THAT(warnings(raw(0x20d1, 2), intel(model), 127), IsEmpty());
  }
  EXPECT_THAT(warnings(raw(0x76, 1), zen4(), 10'007),
              ElementsAre(AllOf(HasSubstr("IBS"), HasSubstr("multiples of 16"))));
  EXPECT_THAT(warnings(raw(0x76, 1), zen4(), 10'096), IsEmpty());
  EXPECT_THAT(warnings(raw(0x76, 1), zen4(), 128), ElementsAre(HasSubstr("periods from 144")));
  EXPECT_THAT(warnings(raw(0x76, 0), zen4(), 10'007), IsEmpty()) << "not through IBS";
  EXPECT_THAT(warnings(raw(0x76, 1), zen4(), std::nullopt), IsEmpty()) << "a frequency";
}

TEST(EventWarnings, ReportCountersThatMayHaveBeenShared) {
  const machine::Machine machine = intel(kUnknown);
  EXPECT_THAT(warnings(raw(0x20d1), machine, 10'007, 5),
              ElementsAre(AllOf(HasSubstr("5 events"), HasSubstr("multiplexing"))));
  EXPECT_THAT(warnings(raw(0x20d1), machine, 10'007, 4), IsEmpty());
  EXPECT_THAT(warnings(cycles(0), machine, 10'007, 5), IsEmpty()) << "has a counter of its own";
  EXPECT_TRUE(takes_counter(raw(0x20d1), "cpu"));
  EXPECT_FALSE(takes_counter(cycles(0), "cpu"));
  Attribute clock{.type = PERF_TYPE_SOFTWARE};
  EXPECT_FALSE(takes_counter(clock, "software"));
  clock.type = 40;
  EXPECT_FALSE(takes_counter(clock, "uncore_imc_0"));
  EXPECT_TRUE(takes_counter(clock, "cpu_core"));
}

TEST(NotJudgedReason, FollowsFromTheCatalogue) {
  SKIP_WITHOUT("x86-64");
  for (const auto& [machine, config, level, reason] :
       std::vector<std::tuple<machine::Machine, std::uint64_t, unsigned, NotJudged>>{
           {intel(kSkylake), 0x412e, 2, NotJudged::imprecise},
           {intel(kSkylake), 0x20d1, 2, NotJudged::none},
           {intel(kSkylake), 0x01c0, 2, NotJudged::every_instruction},
           {intel(kUnknown), 0x412e, 2, NotJudged::unknown_cpu},
           {zen4(), 0x76, 2, NotJudged::every_instruction},
           {zen4(), 0xc4, 0, NotJudged::imprecise},
           // NOPs cause UOPS_RETIRED.RETIRE_SLOTS and TOPDOWN_RETIRING.ALL among others.
           {intel(kHaswell), 0x02c2, 2, NotJudged::every_instruction},
           {intel(kSierraForest), 0x0072, 2, NotJudged::every_instruction},
           // INST_RETIRED.NOP and UOPS_RETIRED.X87 are judged by their causes.
           {intel(kSkylake), 0x02c0, 2, NotJudged::none},
           {intel(kSierraForest), 0x02c2, 2, NotJudged::none},
           {intel(kSkylake), 0x40c4, 2, NotJudged::unknown_cause},  // FAR_BRANCH
           // Cycles without a load, and a code without a name.
           {intel(kSkylake), 0x18081d0, 2, NotJudged::unknown_precision},
           {intel(kSkylake), 0xf1d0, 2, NotJudged::unknown_precision},
           // Level 0 has no skid constraint, whatever the event.
           {intel(kSkylake), 0x01ff, 2, NotJudged::unknown_event},
           {intel(kSkylake), 0x01ff, 0, NotJudged::none}}) {
    EXPECT_EQ(judged(raw(config, level), machine), reason) << std::hex << config;
  }
  for (const std::uint64_t threshold : {0x400306U, 0x600306U, 0x500106U}) {
    Attribute frontend = raw(0x01c6, 2);
    frontend.config1 = threshold;
    EXPECT_EQ(judged(frontend, intel(kSkylake)), NotJudged::every_instruction) << threshold;
  }
  Attribute misses = raw(0x10002, 2);  // LLC-load-misses, of offcore responses
  misses.type = PERF_TYPE_HW_CACHE;
  EXPECT_EQ(judged(misses, intel(kSkylake)), NotJudged::unknown_event);
  misses.config = 0x10000;  // L1-dcache-load-misses is L1D.REPLACEMENT, which is not precise.
  EXPECT_EQ(judged(misses, intel(kSkylake)), NotJudged::imprecise);
  Attribute loads = misses;  // L1-dcache-loads is MEM_INST_RETIRED.ALL_LOADS.
  loads.config = 0;
  EXPECT_EQ(judged(loads, intel(kSkylake)), judged(raw(0x81d0, 2), intel(kSkylake)));
  EXPECT_EQ(judged(loads, intel(kSkylake)), NotJudged::none);
}

TEST(NotJudgedReason, AppliesToEventsThatTheTriggerDoesNotCause) {
  SKIP_WITHOUT("x86-64");
  using instructions::Category;
  instructions::Categories others{Category::nop, Category::no_memory, Category::cond_branch};
  const auto with = [&](runway::TriggerKind kind, const Attribute& attribute, int model) {
    runway::TargetDescription target;
    target.specification.trigger = kind;
    instructions::Categories trigger{runway::kind_of(kind).category};
    if (trigger.contains(Category::branch)) trigger.insert(Category::jump);
    const machine::Machine machine = intel(model);
    return reason_not_judged(test::known_event(attribute, machine), &target, {trigger, others});
  };
  using runway::TriggerKind;
  // The back-edge of the loop is a taken branch, which no other trigger declares.
  EXPECT_EQ(with("load"_trigger, raw(0x20c4, 2), kSkylake), NotJudged::not_caused);
  EXPECT_EQ(with("branch-taken"_trigger, raw(0x20c4, 2), kSkylake), NotJudged::other_causes);
  EXPECT_EQ(with("store"_trigger, raw(0x81d0, 2), kSkylake), NotJudged::not_caused);
  EXPECT_EQ(with("load"_trigger, raw(0x81d0, 2), kSkylake), NotJudged::none);
  EXPECT_EQ(with("load"_trigger, raw(0x20d1, 2), kSkylake), NotJudged::not_caused)
      << "it hits the L1";
  EXPECT_EQ(with("load"_trigger, raw(0x11d0, 2), kSkylake), NotJudged::none)
      << "of STLB_MISS_LOADS no trigger is known";
  EXPECT_EQ(with("load"_trigger, raw(0x11c5, 2), kSkylake), NotJudged::unknown_precision);
  EXPECT_EQ(with("load"_trigger, raw(0x08c4, 2), kSkylake), NotJudged::not_caused);
  EXPECT_EQ(with("load"_trigger, raw(0x20c4, 2), kUnknown), NotJudged::unknown_cpu);
  others = {Category::nop, Category::no_memory};  // targets of branches declare the back-edge
  EXPECT_EQ(with("branch-taken"_trigger, raw(0x20c4, 2), kSkylake), NotJudged::none);
  others.insert(Category::gp_load);
  EXPECT_EQ(with("load"_trigger, raw(0x81d0, 2), kSkylake), NotJudged::other_causes);
}

TEST(NotJudgedReason, IsGivenForEachTriggerThatDoesNotCauseEachOfItsEvents) {
  SKIP_WITHOUT("x86-64");
  using instructions::Category;
  struct Case {
    int model;
    std::string pmu, event;
    std::set<std::string> judged;  // kinds of triggers that cause the event, at each iteration
  };
  // Of the others the instruction is not counted, or only its width, direction or address decides.
  for (const auto& [model, pmu, name, wanted] :
       std::vector<Case>{{kSapphireRapids, "cpu", "INST_RETIRED.NOP", {}},
                         {kSapphireRapids, "cpu", "INST_RETIRED.REP_ITERATION", {}},
                         {kSapphireRapids, "cpu", "INST_RETIRED.MACRO_FUSED", {}},
                         {kSapphireRapids, "cpu", "FRONTEND_RETIRED.UNKNOWN_BRANCH", {}},
                         {kNehalem, "cpu", "INST_RETIRED.X87", {}},
                         {kAlderLake, "cpu_atom", "UOPS_RETIRED.IDIV", {"div"}},
                         {kAlderLake, "cpu_atom", "UOPS_RETIRED.FPDIV", {}},
                         {kAlderLake, "cpu_atom", "UOPS_RETIRED.X87", {}},
                         {kArrowLake, "cpu_core", "BR_INST_RETIRED.COND_TAKEN_BWD", {}},
                         {kArrowLake, "cpu_core", "BR_INST_RETIRED.COND_TAKEN_FWD", {}},
                         {kSkylake, "cpu", "MEM_INST_RETIRED.SPLIT_LOADS", {}},
                         {kSkylake, "cpu", "MEM_INST_RETIRED.SPLIT_STORES", {}}}) {
    const machine::Machine machine = intel(model);
    const auto catalogue = events::find_catalogue(machine).value();
    const auto found = catalogue.find_name(name);
    const auto* event = find_by(found, &events::Event::pmu, pmu);
    ASSERT_NE(event, nullptr) << name;
    Attribute attribute = raw(event->config, 2);
    attribute.config1 = event->config1;
    const RecordedEvent known = test::known_event(attribute, machine, pmu);
    std::set<std::string> judged;
    for (const runway::TriggerKind trigger : runway::trigger_kinds_of(Arch::x86_64)) {
      const runway::Kind& kind = runway::kind_of(trigger);
      runway::TargetDescription target;
      target.specification.trigger = trigger;
      const auto reason = reason_not_judged(
          known, &target,
          {{kind.category}, {Category::nop, Category::no_memory, Category::cond_branch}});
      if (reason == NotJudged::none) judged.emplace(kind.name);
    }
    EXPECT_EQ(judged, wanted) << name;
  }
}

TEST(NotJudgedReason, RemarkNamesUnknownPrecision) {
  SKIP_WITHOUT("x86-64");
  EXPECT_THAT(remark(raw(0x20d1, 0), intel(kUnknown)), IsEmpty()) << "not judged anyway";
  EXPECT_THAT(remark(raw(0x20d1, 2), intel(kSkylake)), IsEmpty());
  EXPECT_THAT(remark(raw(0x00ff, 2), intel(kSkylake)), HasSubstr("Intel's event file skylake V"));
  Attribute fault{.type = PERF_TYPE_SOFTWARE, .config = 2, .precise_ip = 2};
  EXPECT_THAT(remark(fault, intel(kUnknown)), IsEmpty());
}

TEST(CatalogueEntry, IsOfTheRecordedCoreTypeOfAHybridCpu) {
  perfdata::Features features;
  features.cpuid = "GenuineIntel,6,151,2";  // Alder Lake
  features.pmu_mappings = {{4, "cpu_core"}, {10, "cpu_atom"}};
  const auto known = [&features](const Attribute& attribute) {
    const auto machine = recorded_machine(features, nullptr);
    const auto of = test::known_event(attribute, machine, pmu_name(features, attribute));
    return of.entry ? of.entry->name + ", " + of.catalogue : "unknown";
  };
  Attribute event = raw(0x20d1, 2);
  EXPECT_THAT(known(event), HasSubstr("MEM_LOAD_RETIRED.L3_MISS, Intel's event file alderlake_g"));
  event.type = 10;
  EXPECT_THAT(known(event),
              HasSubstr("MEM_LOAD_UOPS_RETIRED.HITM, Intel's event file alderlake_g"));
  event.config = 0x0e11;
  EXPECT_EQ(known(event), "unknown") << "ITLB_MISSES.WALK_COMPLETED, which the other core type has";
  Attribute branches = cycles(2);
  branches.config = std::uint64_t{10} << 32 | 4;
  EXPECT_THAT(known(branches), HasSubstr("alderlake_gracemont"));
  branches.config = std::uint64_t{4} << 32 | 4;
  EXPECT_THAT(known(branches), HasSubstr("alderlake_goldencove"));
}

/// A recording of an Arm machine, with what its perf recorded of it.
machine::Machine arm(const std::string& arch, const std::string& cpuid = "") {
  perfdata::Features features{.arch = arch, .cpuid = cpuid};
  return recorded_machine(features, nullptr);
}

TEST(NotJudgedReason, AppliesToCoreEventsOfArm) {
  // Whether by its architecture, by its CPU or by its PMU, and whatever libpfm4 has tables of here.
  for (const machine::Machine& machine :
       {arm("aarch64"), arm("aarch64", "0x00000000413fd0c1"), arm("", "0x00000000413fd0c1"),
        arm("aarch64_be"), arm("armv7l")}) {
    for (const unsigned level : {0U, 1U, 2U, 3U}) {
      EXPECT_EQ(judged(raw(0x03, level), machine), NotJudged::no_precise_levels) << level;
      EXPECT_EQ(judged(raw(0x81d0, level), machine), NotJudged::no_precise_levels);
      EXPECT_EQ(judged(cycles(level), machine), NotJudged::every_instruction);
    }
    EXPECT_THAT(remark(cycles(2), machine), HasSubstr("no precise levels and ignore one"));
    EXPECT_THAT(remark(cycles(0), machine), IsEmpty());
    EXPECT_THAT(warnings(raw(0x03, 2), machine), IsEmpty());
    const Attribute precise = raw(0x03, 2);
    EXPECT_EQ(test::known_event(precise, machine).unknown_causes, NotJudged::no_precise_levels);
  }
  const machine::Machine unnamed = arm("");
  Attribute of_pmu = raw(0x03, 2);
  EXPECT_FALSE(is_of_arm(test::known_event(of_pmu, unnamed)));
  of_pmu.type = 8;
  for (const char* pmu : {"armv8_pmuv3_0", "armv9_cortex_a510", "apple_icestorm_pmu"}) {
    EXPECT_TRUE(is_core_event(of_pmu, pmu)) << pmu;
    EXPECT_TRUE(is_of_arm(test::known_event(of_pmu, unnamed, pmu))) << pmu;
  }
  EXPECT_FALSE(is_core_event(of_pmu, "arm_spe_0"));
  EXPECT_FALSE(is_core_event(of_pmu, "arm_cmn_0"));
}

TEST(NotJudgedReason, DependsOnTheRecordedArchitecture) {
  constexpr unsigned kPcWriteSpec = 0x76, kCyclesOfAmd = 0x76, kInstructions = 0x08;
  EXPECT_EQ(judged(raw(kPcWriteSpec, 0), arm("aarch64")), NotJudged::no_precise_levels);
  EXPECT_EQ(judged(raw(kCyclesOfAmd, 0), zen4()), NotJudged::every_instruction);
  EXPECT_EQ(judged(raw(kInstructions, 0), arm("aarch64")), NotJudged::every_instruction);
  EXPECT_NE(judged(raw(kInstructions, 0), intel(kSkylake)), NotJudged::every_instruction);
}

TEST(RecordedArch, IsThatOfTheCpu) {
  EXPECT_EQ(arch_of_kernel(arm("aarch64").cpu.arch), Arch::aarch64);
  EXPECT_EQ(arch_of_kernel(arm("aarch64_be").cpu.arch), Arch::aarch64);
  EXPECT_EQ(arch_of_kernel(arm("x86_64").cpu.arch), Arch::x86_64);
  EXPECT_EQ(arch_of_kernel(arm("i686").cpu.arch), std::nullopt);
  EXPECT_EQ(arch_of_kernel(arm("").cpu.arch), std::nullopt);
}

TEST(RecordedMachine, FollowsFromTheRecordingWithoutARun) {
  perfdata::Features features{.cpuid = "GenuineIntel,6,94,3", .cores = {"0,4", "1,5"}};
  const machine::Machine smt = recorded_machine(features, nullptr);
  EXPECT_EQ(smt.cpu.vendor, "GenuineIntel");
  EXPECT_EQ(smt.cpu.family, 6);
  EXPECT_EQ(smt.cpu.model, 94);
  EXPECT_EQ(smt.cpu.stepping, 3);
  EXPECT_EQ(smt.smt_active, true);
  features.cores = {"0", "1"};
  EXPECT_EQ(recorded_machine(features, nullptr).smt_active, false);
  features.cores.clear();
  features.cpuid = "0x00000000413fd0c1";
  const machine::Machine arm = recorded_machine(features, nullptr);
  EXPECT_EQ(arm.cpu.vendor, "0x41");
  EXPECT_EQ(arm.cpu.model, 0xd0c);
  EXPECT_EQ(arm.smt_active, std::nullopt);
  EXPECT_EQ(events::pfm_name_of(arm.cpu), "arm_n1");
  run::Run run{.machine = zen4()};
  EXPECT_EQ(recorded_machine(features, &run).cpu.vendor, "AuthenticAMD");
}

struct Case {
  std::uint32_t type = PERF_TYPE_HARDWARE;
  unsigned level = 0;
  std::optional<std::string> requested = {};
  std::optional<int> requested_level = {};
  bool substituted = false;
  ExactIp exact_ip = ExactIp::unknown;
  std::uint64_t exact = 0;
};

EventPrecision of(const Case& one) {
  perfdata::Attribute attribute{.type = one.type, .precise_ip = one.level};
  const machine::Machine machine;
  RecordedEvent recorded{.attribute = attribute,
                         .pmu_name = {},
                         .machine = machine,
                         .exact_ip = one.exact_ip,
                         .samples = 21'095,
                         .exact = one.exact};
  recorded.identity.recorded = "recorded";
  recorded.identity.requested = one.requested;
  recorded.identity.substituted = one.substituted;
  recorded.precise.requested = one.requested_level;
  recorded.precise.recorded = static_cast<int>(one.level);
  return {precision_lost(recorded), why_not_precise(recorded)};
}

TEST(PrecisionLost, NamesWhatWasRecordedInstead) {
  EXPECT_THAT(
      of({.type = PERF_TYPE_SOFTWARE, .requested = "cycles:P", .substituted = true}).lost,
      HasSubstr("recorded recorded instead of cycles:P: this machine does not have the requested "
                "event. Its samples are where a timer interrupted."));
  EXPECT_THAT(of({.requested = "cycles:P", .requested_level = 0}).lost,
              HasSubstr("cycles:P requests the highest precise level, level 0 was recorded"));
  EXPECT_EQ(of({.level = 1, .requested = "cycles:pp", .requested_level = 2}).lost,
            "Precise level 2 was requested, 1 was recorded.");
}

TEST(PrecisionLost, IsNotOfAClockThatWasRequested) {
  EXPECT_EQ(of({.type = PERF_TYPE_SOFTWARE}).lost, "");
  EXPECT_EQ(of({.type = PERF_TYPE_SOFTWARE,
                .level = 2,
                .requested = "cpu-clock:pp",
                .requested_level = 2})
                .lost,
            "");
}

TEST(PrecisionLost, CountsSamplesOfIbsWithoutTheirAddress) {
  const machine::Machine machine = zen4();
  const Attribute attribute = cycles(2);
  RecordedEvent event{.attribute = attribute, .pmu_name = {}, .machine = machine, .samples = 300};
  EXPECT_THAT(precision_lost(event), HasSubstr("All 300 samples have no EXACT_IP"));
  EXPECT_EQ(why_not_precise(event), precision_lost(event));
  event.exact = 288;
  EXPECT_THAT(precision_lost(event), HasSubstr("12 of 300 samples have no EXACT_IP"));
  EXPECT_EQ(why_not_precise(event), "") << "the others are precise";
  event.exact = 300;
  EXPECT_EQ(precision_lost(event), "");
}

TEST(PrecisionLost, NamesALevelThatNoSampleShows) {
  const auto lost = [](unsigned level, ExactIp exact_ip, std::uint64_t exact = 0) {
    return of({.level = level, .exact_ip = exact_ip, .exact = exact}).lost;
  };
  EXPECT_EQ(lost(3, ExactIp::never),
            "Precise level 3 was recorded but not honoured: none of 21095 samples has EXACT_IP; "
            "the PMU of this CPU has no precise levels.");
  EXPECT_THAT(lost(2, ExactIp::request), HasSubstr("the kernel sets it at this level"));
  EXPECT_EQ(lost(2, ExactIp::evidence), "") << "set where a sample could be rewound";
  EXPECT_THAT(lost(2, ExactIp::unknown), IsEmpty());
  EXPECT_THAT(lost(1, ExactIp::never), HasSubstr("no precise levels"));
  EXPECT_THAT(lost(1, ExactIp::request), IsEmpty()) << "level 1 has no EXACT_IP";
  EXPECT_THAT(lost(2, ExactIp::evidence, 1), IsEmpty());
  EXPECT_THAT(lost(0, ExactIp::request), IsEmpty());
}

TEST(PrecisionLost, OfLevelZeroAndTimersIsNothingButTheyAreNotPrecise) {
  EXPECT_THAT(of({}).lost, IsEmpty());
  EXPECT_EQ(of({}).not_precise, "Level 0: arbitrary skid.");
  const Case timer{.type = PERF_TYPE_SOFTWARE};
  EXPECT_THAT(of(timer).lost, IsEmpty());
  EXPECT_EQ(of(timer).not_precise, "A timer samples whatever runs.");
  EXPECT_THAT(of({.type = PERF_TYPE_BREAKPOINT, .level = 2}).not_precise, IsEmpty());
  EXPECT_THAT(of({.level = 2, .exact_ip = ExactIp::request, .exact = 21'095}).not_precise,
              IsEmpty());
}

}  // namespace
}  // namespace skid::measure
