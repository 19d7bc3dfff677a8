// SPE on a runway: what a report concludes from records of the trigger and of the NOPs around it.
#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/measure.h"
#include "src/output/report/report.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/spe_to_build.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trigger_kinds.h"
#include "tests/unit/runway_fixture.h"

#include <cstdint>
#include <optional>
#include <string>

namespace skid::measure {
namespace {

using analysis::Verdict;
using test::SpePackets;

/// Operations of a loop around a load, as SPE samples them.
class SpeOnARunway : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(Arch::aarch64);
    if (!built_) build("load"_trigger);
  }
  static void build(runway::TriggerKind kind) {
    built_.emplace();
    auto specification = runway::specification_of(kind, Arch::aarch64);
    specification.nops = specification.lead_in_nops = 20;
    layout_ = runway::build_target(specification, *built_ / "target").description.layout;
  }
  static void TearDownTestSuite() { built_.reset(); }

  /// So many records of the load, so many instructions late, with this distance from its address.
  void loads(int count, std::uint64_t late = 0, std::uint64_t distance = 0) {
    loads_of(layout_.datum + distance, count, late);
  }
  void loads_of(std::uint64_t address, int count, std::uint64_t late = 0) {
    constexpr std::uint64_t kInstruction = 4;
    for (int i = 0; i < count; ++i) {
      packets_.pc(layout_.trigger.begin + late * kInstruction).load().events(kRetired);
      packets_.data(address).context(1).timestamp(++time_);
    }
  }
  void nops(int count) {
    for (int i = 0; i < count; ++i) {
      packets_.pc(layout_.runway.begin).other().events(kRetired).context(1).timestamp(++time_);
    }
  }
  analysis::Measurement measured() {
    test::SpeRecording built;
    built.comm(1, 1, 1).map_program(*built_ / "target");
    built.trace(packets_).finished().write(directory_ / "perf.data");
    run_.machine.cpu = {.arch = "aarch64", .vendor = "0x41", .model = 0xd0c};
    return measure({directory_ / "perf.data", directory_.path(), &run_, &planned_}, {})
        .measurements.at(0);
  }

  static constexpr std::uint64_t kRetired = 2;
  static inline std::optional<test::TemporaryDirectory> built_;  // by all tests once
  static inline runway::Layout layout_;
  test::TemporaryDirectory directory_;
  SpePackets packets_;
  std::uint64_t time_ = 100;
  run::Run run_;
  run::PlannedMeasurement planned_;
};

TEST_F(SpeOnARunway, IsSoundIfEachLoadIsAtTheTrigger) {
  loads(4000);
  nops(400);  // tagged as well, and no skid
  const auto m = measured();
  EXPECT_EQ(m.samples.read(), 4400u);
  EXPECT_EQ(m.contract.constraint, analysis::Constraint::tagged);
  EXPECT_EQ(m.contract.verdict, Verdict::kept);
  EXPECT_EQ(m.contract.share.total, 4000u);
  EXPECT_THAT(
      output::report_answer({m}),
      StartsWith("the skid constraint of precise_ip is met by the one judged measurement: "));
}

TEST_F(SpeOnARunway, IsBrokenByRecordsOneInstructionLate) {
  loads(3600);
  loads(400, 1);
  const auto m = measured();
  EXPECT_EQ(m.contract.verdict, Verdict::broken);
  EXPECT_EQ(m.contract.share.count, 3600u);
  EXPECT_EQ(m.contract.share.total, 4000u);
  EXPECT_THAT(
      output::report_answer({m}),
      StartsWith("the skid constraint of precise_ip is not met by 1 of 1 judged measurement: "));
}

TEST_F(SpeOnARunway, IsNotJudgedByLoadsOfOtherData) {
  loads(4000, 0, 64);
  const auto m = measured();
  EXPECT_EQ(m.contract.share.total, 0u);
  EXPECT_EQ(m.contract.verdict, Verdict::undecided);
  EXPECT_THAT(
      output::report_answer({m}),
      StartsWith("the samples do not decide whether the skid constraint of precise_ip is met; "));
}

TEST_F(SpeOnARunway, JudgesLoadsOfAPointerChaseByItsElements) {
  build("load-dram"_trigger);
  const AddressRange chase{0x7f0000000000, 0x7f0010000000};
  planned_.trigger = "load-dram";
  planned_.target_report = runway::TargetReport{.chase = chase};
  loads_of(chase.begin + 0x1000, 3900);
  loads_of(chase.end, 100);  // something else's
  const auto sound = measured();
  EXPECT_EQ(sound.contract.share.total, 3900u);
  EXPECT_EQ(sound.contract.verdict, Verdict::kept);
  loads_of(chase.begin + 0x2000, 390, 1);
  EXPECT_EQ(measured().contract.verdict, Verdict::broken);
  built_.reset();
}

}  // namespace
}  // namespace skid::measure
