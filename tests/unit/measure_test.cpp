// What measurements of a recording say of it beside numbers: the files that were looked at, damage.
#include "src/measure/measure.h"

#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/output/report/evidence.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "tests/support/facts.h"
#include "tests/support/recorded_program.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::measure {
namespace {

constexpr std::int32_t kPid = 7;
constexpr std::uint64_t kTargetAt = 0x10000000, kOtherAt = 0x20000000;
constexpr const char* kAnotherId = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

class Measure : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(runway::kHost);
    for (const char* name : {"target", "other"}) {
      (void)runway::build_target(runway::specification_of("load"_trigger), directory_ / name);
    }
    for (const std::uint64_t id : {5U, 6U}) builder_.event({.ids = {id}});
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }
  void map_and_sample(const std::string& path, std::uint64_t address) {
    test::map_file(path, address, kPid, builder_);
    builder_.sample(address + 0x1000, kPid, 2);
  }
  Measured measured(const Choices& choices = {}) const {
    builder_.write(directory_ / "perf.data");
    return measure({.file = directory_ / "perf.data"}, choices);
  }
  /// Of the recording as a whole; all of its measurements have the same ones.
  static std::vector<std::string> warnings_of(const Measured& measured) {
    EXPECT_THAT(measured.measurements, SizeIs(2));
    for (const auto& measurement : measured.measurements) {
      EXPECT_EQ(measurement.recording_warnings, measured.measurements[0].recording_warnings)
          << "a list of its own";
      EXPECT_THAT(measurement.warnings, Each(Not(HasSubstr("build-id"))));
    }
    return *measured.measurements.at(0).recording_warnings;
  }

  test::TemporaryDirectory directory_;
  test::RecordingBuilder builder_;
};

TEST(MeasureOffCpu, CountsNoRecordOfBpfOutput) {
  const test::TemporaryDirectory directory;
  test::RecordingBuilder::with_off_cpu_times().write(directory / "perf.data");
  const Measured all = measure({.file = directory / "perf.data"}, {});
  ASSERT_THAT(all.measurements, SizeIs(1));
  EXPECT_EQ(all.measurements[0].samples.read(), 2u);
  EXPECT_EQ(all.measurements[0].basis.period_sum, 2000u);
}

TEST_F(Measure, ReportsOnlyTheTargetAsUnverified) {
  map_and_sample(in_directory("target"), kTargetAt);
  map_and_sample("/proc/self/exe", kOtherAt);
  map_and_sample(in_directory("missing"), 2 * kOtherAt);
  const auto result = measured();
  EXPECT_TRUE(result.measurements.at(0).trigger);
  EXPECT_THAT(warnings_of(result), ElementsAre(AllOf(HasSubstr(in_directory("target") + ": "),
                                                     HasSubstr("holds no build-id of it"))));
}

TEST_F(Measure, ReportsARebuiltFileNextToATarget) {
  map_and_sample(in_directory("target"), kTargetAt);
  map_and_sample(in_directory("other"), kOtherAt);
  builder_.feature(perfdata::HEADER_BUILD_ID,
                   builder_.build_id_entry(in_directory("other"), std::string(20, '\x5a')));
  const auto rebuilt = AllOf(HasSubstr(in_directory("other") + ": "), HasSubstr(kAnotherId),
                             HasSubstr("is not the recorded"));
  const auto result = measured();
  EXPECT_TRUE(result.measurements.at(0).trigger);
  EXPECT_THAT(warnings_of(result), Contains(rebuilt));
  const auto of_functions = measured({{}, "skid_trigger", "skid_runway"});
  EXPECT_TRUE(of_functions.measurements.at(0).trigger);
  EXPECT_THAT(warnings_of(of_functions), Contains(rebuilt));
}

TEST_F(Measure, WithoutATargetReportsTheProblemsOfFiles) {
  constexpr int kFiles = 30;
  for (int i = 0; i < kFiles; ++i) {
    map_and_sample(in_directory("missing-" + std::to_string(i)),
                   kTargetAt + static_cast<std::uint64_t>(i) * 0x100000);
  }
  const auto warnings = warnings_of(measured());
  EXPECT_THAT(warnings, Contains(HasSubstr("No generated target")));
  EXPECT_THAT(warnings, Contains(AllOf(HasSubstr("missing-0"), HasSubstr("no such file"))));
  EXPECT_THAT(warnings, Contains(HasSubstr("22 more: 'skidscan samples'")));
  EXPECT_LT(warnings.size(), 15u);
  EXPECT_THAT(
      [&] {
        (void)measured({{}, "hit", "runway"});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("missing-0"), HasSubstr("and 14 more"))));
}

TEST_F(Measure, LimitsTheFaultsOfEveryMeasurement) {
  map_and_sample(in_directory("target"), kTargetAt);
  for (int i = 0; i < 50; ++i) builder_.record(PERF_RECORD_MMAP, 2, "short");
  const auto result = measured();
  EXPECT_THAT(result.faults, SizeIs(50));
  const auto warnings = warnings_of(result);
  EXPECT_THAT(warnings, Contains(HasSubstr("ends inside its fields")));
  EXPECT_THAT(warnings, Contains(HasSubstr("41 more: 'skidscan inspect'")));
  EXPECT_LT(warnings.size(), 15u);
}

TEST_F(Measure, WarnsOfSamplesThatPerfWroteTwice) {
  map_and_sample(in_directory("target"), kTargetAt);
  for (int copy = 0; copy < 2; ++copy) {
    for (const std::uint64_t time : {3U, 4U}) builder_.sample(kTargetAt + 0x1000, kPid, time);
    builder_.record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "");
  }
  EXPECT_THAT(warnings_of(measured()), Contains(HasSubstr("wrote 2 samples twice")));
}

/// A load of each iteration, recorded on a Skylake every 1000 loads, with one sample.
class CatalogueEvent : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT("x86-64");
    SKIP_WITHOUT_COMPILER(runway::kHost);
    (void)runway::build_target(runway::specification_of("load"_trigger), directory_ / "target");
    run_.machine.cpu.vendor = "GenuineIntel";
    run_.machine.cpu.family = 6;
    run_.machine.cpu.model = 94;
    run_.machine.smt_active = false;
    planned_.requested = planned_.event = "MEM_INST_RETIRED.ALL_LOADS:pp";
    planned_.perf_event = "cpu/config=0x81d0,name=MEM_INST_RETIRED.ALL_LOADS/pp";
    planned_.level = 2;
    planned_.period = 1000;
    planned_.trigger = "load";
    planned_.target_report.emplace();
  }
  analysis::Measurement measured(std::uint64_t config, std::uint64_t iterations,
                                 bool is_sampled = true) {
    auto builder =
        test::RecordingBuilder().event({.type = PERF_TYPE_RAW, .config = config, .precise_ip = 2});
    if (is_sampled) {
      test::map_file((directory_ / "target").string(), kTargetAt, kPid, builder);
      builder.sample(kTargetAt + 0x1000, kPid, 2);
    }
    builder.write(directory_ / "perf.data");
    planned_.target_report->iterations = iterations;
    return measure({directory_ / "perf.data", directory_.path(), &run_, &planned_}, {})
        .measurements.at(0);
  }

  test::TemporaryDirectory directory_;
  run::Run run_;
  run::PlannedMeasurement planned_;
};

TEST_F(CatalogueEvent, OfMissesIsHeldAgainstWhatTheCachesLeave) {
  runway::Specification chase = runway::specification_of("load-dram"_trigger);
  chase.working_set_bytes = std::uint64_t{256} << 20;  // 2^21 elements
  (void)runway::build_target(chase, directory_ / "target");
  planned_.trigger = "load-dram";
  const std::uint64_t kMisses = 0x20d1;
  const auto warnings = [&](double events) {
    return output::count_warnings(measured(kMisses, static_cast<std::uint64_t>(1000 / events)));
  };
  const auto too_many = Contains(HasSubstr("something else causes the event too"));
  const auto none = Each(Not(HasSubstr("per iteration")));
  // Older runs do not have the sizes of caches.
  EXPECT_THAT(warnings(0.1), none);
  EXPECT_THAT(warnings(1.2), too_many);
  run_.machine.data_caches[0] = {{1, 32 << 10}, {2, 256 << 10}};
  EXPECT_THAT(warnings(0.1), none) << "no level 3";
  run_.machine.data_caches[0].push_back({3, 32 << 20});  // all hold 529,000 of the elements
  const auto inside = measured(kMisses, 1250);
  EXPECT_NEAR(*inside.events_per_iteration.cached_share, 0.2522, 1e-4);
  EXPECT_NEAR(*inside.events_per_iteration.fewest(), 0.7478, 1e-4);
  EXPECT_EQ(inside.events_per_iteration.expected, 1);
  EXPECT_THAT(output::count_warnings(inside), none);
  EXPECT_THAT(warnings(0.72), none) << "within 5%";
  EXPECT_THAT(warnings(0.6), Contains(AllOf(HasSubstr("gives 0.7478 to 1, as the caches can hold"),
                                            HasSubstr("up to 25.22% of what the chase"),
                                            HasSubstr("did not cause the event each time"))));
  EXPECT_THAT(warnings(1.2), too_many);
  planned_.cpu = 7;
  EXPECT_THAT(warnings(0.1), none) << "a CPU whose caches are not known";
  // All loads are expected, wherever they hit.
  planned_.cpu.reset();
  EXPECT_EQ(measured(0x81d0, 1000).events_per_iteration.cached_share, std::nullopt);
  EXPECT_THAT(output::count_warnings(measured(0x81d0, 1250)),
              Contains(HasSubstr("trigger gives 1:")));
}

TEST_F(CatalogueEvent, IsHeldAgainstWhatTheTriggerGives) {
  const auto once = measured(0x81d0, 1000);
  EXPECT_EQ(once.events_per_iteration.expected, 1);
  // At level 2 each sample is of the event after 1000.
  EXPECT_EQ(once.events_per_iteration.measured, 1.001);
  EXPECT_THAT(output::count_warnings(once), Each(Not(HasSubstr("per iteration"))));
  EXPECT_THAT(output::count_warnings(measured(0x81d0, 500)),
              Contains(HasSubstr("2 events were counted per iteration where the trigger gives 1")));
  EXPECT_THAT(output::count_warnings(measured(0x81d0, 960)), Each(Not(HasSubstr("per iteration"))))
      << "within 5%";
  EXPECT_EQ(measured(0x10114, 1000).events_per_iteration.expected, std::nullopt) << "not known";
}

/// NEAR_TAKEN of a Skylake that samples the instruction executed next, as `level` 1 does, or the
/// branch itself; by address, as often as branches of that target do.
TEST(BranchEvent, OfASoundCpuIsKeptAtEachLevel) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  test::TemporaryDirectory directory;
  for (const char* kind : {"branch-taken", "call", "ret"}) {
    SCOPED_TRACE(kind);
    auto specification = runway::specification_of(runway::trigger_kind_from(kind), Arch::x86_64);
    specification.nops = specification.lead_in_nops = 20;
    const auto target = runway::build_target(specification, directory / kind);
    const auto& layout = target.description.layout;
    const bool is_ret = kind == std::string_view("ret");
    // Of the head of `ret`: CALL, INT3, MOV.
    constexpr std::uint64_t kCallAndInt3 = 5 + 1;
    for (const unsigned level : {1U, 2U}) {
      const bool next = level == 1;
      std::vector<std::uint64_t> sampled{next ? layout.runway.begin : layout.trigger.begin,
                                         next ? layout.loop.begin : layout.loop.end - 2};
      if (is_ret) {
        const auto call = std::find_if(
            layout.other_triggers.begin(), layout.other_triggers.end(),
            [&](const AddressRange& other) { return other.begin < layout.trigger.begin; });
        ASSERT_NE(call, layout.other_triggers.end());
        sampled.push_back(call->begin + (next ? kCallAndInt3 : 0));
      }
      auto builder = test::RecordingBuilder().event(
          {.type = PERF_TYPE_RAW, .config = 0x20c4, .precise_ip = level});
      test::name_machine("x86_64", "GenuineIntel,6,94,3", builder);
      test::map_file(target.path.string(), (layout.loop.begin & ~0xfffULL) - 0x1000, kPid, builder);
      for (std::uint64_t i = 0; i < sampled.size() * 3838; ++i) {
        builder.sample(sampled[i % sampled.size()], kPid, 2 + i);
      }
      builder.write(directory / "perf.data");
      const auto measured = measure({.file = directory / "perf.data"}, {});
      const auto& found = measured.measurements.at(0);
      EXPECT_EQ(found.contract.verdict, analysis::Verdict::kept)
          << output::contract_evidence(found);
      EXPECT_EQ(found.samples.judged(), 3838U);
      EXPECT_EQ(found.samples[analysis::SampleClass::other_trigger], (sampled.size() - 1) * 3838U);
    }
  }
}

TEST_F(CatalogueEvent, OfATriggerThatDoesNotCauseItIsNotJudged) {
  planned_.perf_event = "r20c4";
  const auto branches = measured(0x20c4, 1000);
  EXPECT_EQ(branches.contract.verdict, analysis::Verdict::not_judged);
  EXPECT_THAT(output::contract_evidence(branches), HasSubstr("not known to cause this event"));
  EXPECT_EQ(branches.events_per_iteration.expected, 1) << "the back-edge";
}

TEST_F(CatalogueEvent, WithoutASampleIsOfTheTargetThatTheRunNames) {
  const runway::Target target = *runway::read_target(directory_ / "target");
  const std::string none(40, '5');
  run_.targets = {{"load", "missing", none}, {"load", "target", target.build_id}};
  planned_.target = "target";
  const auto stores = measured(0x82d0, 1000, false);
  ASSERT_TRUE(stores.trigger);
  EXPECT_EQ(stores.trigger->address, target.description.layout.trigger.begin);
  EXPECT_EQ(stores.events_per_iteration.measured, std::nullopt) << "fewer than a period";
  EXPECT_EQ(stores.events_per_iteration.expected, 0);
  EXPECT_THAT(output::contract_evidence(stores), HasSubstr("not known to cause this event"));
  EXPECT_THAT(*stores.recording_warnings, Each(Not(HasSubstr("No generated target"))));
  run_.targets[1].build_id = none;
  EXPECT_FALSE(measured(0x82d0, 1000, false).trigger) << "another target of that name";
}

TEST_F(CatalogueEvent, OfTheKernelTooIsNotExpectedOfAFault) {
  (void)runway::build_target(runway::specification_of("fault"_trigger), directory_ / "target");
  planned_.trigger = "fault";
  EXPECT_EQ(measured(0x82d0, 1000).events_per_iteration.expected, std::nullopt)
      << "stores, none of which are of user mode";
}

TEST_F(CatalogueEvent, ThatIsImpreciseIsWarnedOfAndNotJudged) {
  planned_.perf_event = "r412e";
  const auto misses = measured(0x412e, 1000);
  EXPECT_EQ(misses.contract.verdict, analysis::Verdict::not_judged);
  EXPECT_THAT(output::contract_evidence(misses), HasSubstr("not a precise event on this CPU"));
  EXPECT_THAT(misses.warnings, Contains(HasSubstr("LONGEST_LAT_CACHE.MISS is not precise")));
  run_.machine.cpu.model = 254;
  const auto unknown = measured(0x412e, 1000);
  EXPECT_EQ(unknown.contract.verdict, analysis::Verdict::not_judged);
  EXPECT_THAT(output::contract_evidence(unknown), HasSubstr("no catalogue covers this CPU"));
}

TEST_F(CatalogueEvent, WithAnotherCodeThanRequestedIsSubstituted) {
  EXPECT_FALSE(measured(0x81d0, 1000).event.substituted);
  const auto substituted = measured(0x82d0, 1000);
  EXPECT_TRUE(substituted.event.substituted);
  EXPECT_THAT(substituted.warnings,
              Contains(HasSubstr("instead of MEM_INST_RETIRED.ALL_LOADS:pp")));
}

TEST_F(CatalogueEvent, OfPerfsOwnNameIsTheSameWithEveryPerf) {
  // perf 7 takes the code from sysfs, as of a raw event.
  planned_.requested = planned_.event = "instructions:u";
  planned_.perf_event = "instructions:upp";
  const auto recorded = measured(0xc0, 1000).event;
  EXPECT_FALSE(recorded.substituted);
  EXPECT_EQ(recorded.type, std::uint32_t{PERF_TYPE_HARDWARE});
  EXPECT_EQ(recorded.config, std::uint64_t{PERF_COUNT_HW_INSTRUCTIONS});
  EXPECT_EQ(recorded.name, "INST_RETIRED.ANY");
}

}  // namespace
}  // namespace skid::measure
