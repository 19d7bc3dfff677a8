// Which skid is taken out of which event, and how samples with several candidates are split.
#include "src/correct/correct.h"

#include "src/correct/model_fit.h"
#include "src/correct/places.h"
#include "src/correct/skid.h"
#include "src/correct/splits.h"
#include "src/measure/event_description.h"
#include "src/perfdata/format.h"
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::correct {
namespace {

using measure::Compared;
using measure::ProfiledEvent;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLoads = 0x81d0;

/// An event of a Skylake at level 1, and a run's measurement of it.
struct Profile {
  Profile() {
    attribute.type = PERF_TYPE_RAW;
    attribute.config = kLoads;
    attribute.precise_ip = 1;
    knowledge.core_pmu = true;
    knowledge.core = measure::CoreEvent{.config = kLoads};
    knowledge.catalogue = "a catalogue";
    knowledge.cpu.core = events::Core::skylake;
    knowledge.event =
        events::Event{.name = "MEM_INST_RETIRED.ALL_LOADS", .config = kLoads, .precise = true};
    machine.cpu.arch = "x86_64";
    machine.cpu.vendor = "GenuineIntel";
    machine.cpu.family = 6;
    machine.cpu.model = 94;
    machine.cpu.stepping = 3;
    machine.cpu.microcode = "0xf0";
    machine.kernel = "6.1.0";
    run.run = "a.run";
    run.event.type = attribute.type;
    run.event.config = kLoads;
    run.precise.recorded = 1;
    run.cpu = {"GenuineIntel", "", 6, 94, 3, "0xf0", "x86_64", std::nullopt};
    run.kernel = "6.1.0";
    attribute.frequency = true;
    attribute.period_or_frequency = 4000;
    run.path = measure::recording_path(attribute, knowledge, machine);
    run.path->frequency = 1000;
    run.contract.verdict = analysis::Verdict::kept;
    run.constant_skid = analysis::ConstantSkid{1, {}, analysis::Verdict::kept};
  }

  Skid skid(bool with_run = true) const {
    const ProfiledEvent event{.attribute = attribute,
                              .pmu_name = pmu,
                              .knowledge = knowledge,
                              .machine = machine,
                              .of_run = true,
                              .exact = exact};
    if (!with_run) return skid_of(event, std::nullopt);
    const std::vector<analysis::Measurement> runs{run};
    return skid_of(event, runs);
  }
  std::string refusal() const {
    const Skid found = skid();
    EXPECT_EQ(found.verdict, Verdict::refused);
    return found.reason;
  }

  perfdata::Attribute attribute;
  measure::EventKnowledge knowledge;
  machine::Machine machine;
  std::string pmu = "cpu";
  std::uint64_t exact = 0;
  analysis::Measurement run;
};

TEST(SkidOfAnEvent, IsTheMeasuredOneOfTheSameMachine) {
  Profile profile;
  Skid skid = profile.skid();
  EXPECT_EQ(skid.verdict, Verdict::corrected) << skid.reason;
  EXPECT_EQ(skid.instructions, 1u);
  EXPECT_EQ(skid.source, SkidSource::measured);
  for (const Compared& one : skid.compared) EXPECT_EQ(one.match, Compared::Match::same) << one.what;
  profile.run.constant_skid->offset = 4;
  EXPECT_EQ(profile.skid().instructions, 4u);
  EXPECT_EQ(profile.skid(false).verdict, Verdict::refused) << "without --skid";
}

TEST(SkidOfAnEvent, IsRefusedWhereTheRunIsOfAnotherMachine) {
  const auto differs = [](const auto& change, const std::string& what) {
    Profile profile;
    change(profile);
    EXPECT_THAT(profile.refusal(), HasSubstr(what));
  };
  differs([](Profile& p) { p.run.cpu.model = 85; }, "CPU model");
  differs([](Profile& p) { p.run.cpu.stepping.reset(); }, "CPU stepping");
  differs([](Profile& p) { p.run.cpu.microcode = "0xf1"; }, "microcode");
  differs([](Profile& p) { p.run.kernel = "6.2.0"; }, "kernel");
  differs([](Profile& p) { p.run.cpu.hypervisor = "KVM"; }, "hypervisor");
  differs([](Profile& p) { p.run.synthetic = true; }, "samples");
  differs([](Profile& p) { p.run.event.excluded = {"kernel"}; }, "counted modes");
  Profile other_path;
  other_path.run.path->frequency.reset();
  const Skid skid = other_path.skid();
  EXPECT_EQ(skid.verdict, Verdict::corrected) << "stated, and not refused";
  EXPECT_EQ(skid.compared.back().what, "recording path");
  EXPECT_EQ(skid.compared.back().match, Compared::Match::differs);
  EXPECT_THAT(skid.compared.back().profile, HasSubstr("4000 samples a second"));
  Profile unknown;
  unknown.machine.cpu.microcode.clear();
  EXPECT_EQ(unknown.skid().verdict, Verdict::corrected) << "stated, and not refused";
}

TEST(SkidOfAnEvent, IsRefusedWhereItIsNoConstant) {
  Profile profile;
  profile.run.contract.verdict = analysis::Verdict::broken;
  EXPECT_THAT(profile.refusal(), HasSubstr("contract broken"));
  profile = {};
  profile.run.constant_skid->offset = 5;
  EXPECT_THAT(profile.refusal(), HasSubstr("the skid is +5"));
  profile.run.constant_skid->offset = 0;
  EXPECT_THAT(profile.refusal(), HasSubstr("the skid is +0"));
  profile = {};
  profile.run.event.config = 0x20d1;
  EXPECT_THAT(profile.refusal(), HasSubstr("no measurement of this event at level 1"));
}

TEST(SkidOfAnEvent, IsRefusedForWhatHasNone) {
  const auto refused = [](const auto& change, const std::string& what) {
    Profile profile;
    change(profile);
    EXPECT_THAT(profile.refusal(), HasSubstr(what));
  };
  refused(
      [](Profile& p) {
        p.attribute.type = PERF_TYPE_SOFTWARE, p.attribute.config = PERF_COUNT_SW_CPU_CLOCK;
      },
      "timer");
  refused([](Profile& p) { p.attribute.type = PERF_TYPE_HARDWARE, p.attribute.config = 0; },
          "every instruction takes cycles");
  refused([](Profile& p) { p.knowledge.core->cycles = true; }, "every instruction takes cycles");
  refused([](Profile& p) { p.pmu = "ibs_op"; }, "IBS");
  refused([](Profile& p) { p.machine.cpu.vendor = "AuthenticAMD"; }, "IBS");
  refused([](Profile& p) { p.pmu = "arm_spe_0"; }, "SPE");
  refused([](Profile& p) { p.knowledge.of_arm = true; }, "Arm core PMU");
  refused([](Profile& p) { p.exact = 1; }, "EXACT_IP");
  refused([](Profile& p) { p.knowledge.event.reset(); }, "what can cause this event is not known");
  refused([](Profile& p) { p.attribute.precise_ip = 0; }, "level 0");
  refused([](Profile& p) { p.attribute.precise_ip = 2; }, "level 2");
  refused([](Profile& p) { p.attribute.type = PERF_TYPE_TRACEPOINT, p.knowledge = {}; }, "no rule");
}

TEST(SkidOfAnEvent, IsKnownOfBreakpointsAndFaults) {
  Profile profile;
  profile.attribute.type = PERF_TYPE_BREAKPOINT;
  profile.attribute.bp_type = 3;
  for (const unsigned level : {0u, 3u}) {
    profile.attribute.precise_ip = level;
    EXPECT_EQ(profile.skid(false).instructions, 1u);
    EXPECT_EQ(profile.skid(false).source, SkidSource::known);
  }
  profile.attribute.bp_type = 4;
  EXPECT_EQ(profile.skid(false).verdict, Verdict::nothing_to_correct) << "on execution";
  profile.attribute.bp_type = 2;
  profile.machine.cpu.arch = "aarch64";
  EXPECT_EQ(profile.skid(false).verdict, Verdict::nothing_to_correct) << "a watchpoint";
  profile.attribute.type = PERF_TYPE_SOFTWARE;
  profile.attribute.config = 2;
  EXPECT_EQ(profile.skid(false).verdict, Verdict::nothing_to_correct) << "page faults";
}

TEST(VerdictOnACorrection, IsInPartWhereManySamplesStay) {
  std::uint64_t may_be_elsewhere = 0;
  const auto judged = [&](const auto& set) {
    CorrectedEvent event;
    event.may_be_elsewhere = may_be_elsewhere;
    event.correction.skid.verdict = Verdict::corrected;
    set(event.correction);
    judge_fit(event);
    return event.correction.skid;
  };
  const auto counts = [](std::uint64_t moved, std::uint64_t unexplained, std::uint64_t unknown,
                         std::uint64_t kernel) {
    return [=](EventCorrection& event) {
      event.moved = moved, event.unexplained = unexplained, event.unknown = unknown;
      event.not_placed[static_cast<std::size_t>(analysis::NotJudged::kernel)] = kernel;
      event.samples = moved + unexplained + unknown + kernel;
    };
  };
  EXPECT_EQ(judged(counts(950, 10, 20, 20)).verdict, Verdict::corrected);
  EXPECT_EQ(judged(counts(950, 10, 21, 20)).verdict, Verdict::corrected_in_part);
  EXPECT_EQ(judged(counts(1, 0, 100, 0)).reason,
            "the cause of 100 of 101 samples is open: 100 stay where they were recorded, 0 have a "
            "candidate that is not known");
  EXPECT_EQ(judged(counts(10, 0, 0, 100)).verdict, Verdict::corrected_in_part);
  EXPECT_EQ(judged(counts(94, 6, 0, 0)).verdict, Verdict::refused);
  EXPECT_EQ(judged(counts(0, 0, 100, 0)).verdict, Verdict::refused) << "none was placed";
  EXPECT_EQ(judged(counts(0, 0, 0, 100)).verdict, Verdict::refused);
  EXPECT_EQ(judged(counts(0, 0, 0, 0)).verdict, Verdict::nothing_to_correct);
  EXPECT_EQ(judged(counts(0, 0, 0, 0)).reason, "no samples");
  may_be_elsewhere = 100;
  EXPECT_EQ(judged(counts(101, 0, 0, 0)).reason,
            "the cause of 100 of 101 samples is open: 0 stay where they were recorded, 100 have a "
            "candidate that is not known");
}

TEST(Apportion, KeepsTheSum) {
  const auto parts = [](std::uint64_t samples, const std::vector<double>& weights) {
    auto found = apportion(samples, weights);
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::uint64_t{0}), samples);
    return found;
  };
  EXPECT_THAT(parts(10, {1, 1, 1}), ElementsAre(4, 3, 3));
  EXPECT_THAT(parts(10, {0, 1, 3}), ElementsAre(0, 3, 7));
  EXPECT_THAT(parts(1, {0, 5}), ElementsAre(0, 1));
  EXPECT_THAT(parts(0, {2, 5}), ElementsAre(0, 0));
  parts(UINT64_MAX, {1, 1, 1});
  parts(UINT64_MAX, {0, 1e300, 1});
}

TEST(Bounds, LeaveOpenWhatHasNoKnownCause) {
  const SpreadPlace here{0, 0x10, true}, there{0, 0x20, true};
  // Of the first the cause is not known; of the second one of several is not, in the same place.
  const std::vector<Spread> spreads{{here, 100, {here}, {100}, true},
                                    {here, 10, {there, here}, {4, 6}, true},
                                    {here, 1, {there}, {1}, false}};
  std::map<SpreadPlace, Counts> by_instruction;
  add_up(spreads, [&](const SpreadPlace& place) -> Counts& { return by_instruction[place]; });
  EXPECT_EQ(by_instruction[here].low, 0u);
  EXPECT_EQ(by_instruction[here].corrected, 106u);
  EXPECT_EQ(by_instruction[here].high, 110u);
  EXPECT_EQ(by_instruction[there].low, 1u);
  EXPECT_EQ(by_instruction[there].high, 11u);
  Counts whole;
  add_up(spreads, [&](const SpreadPlace&) -> Counts& { return whole; });
  EXPECT_EQ(whole.low, 1u);
  EXPECT_EQ(whole.high, 111u);
}

/// Loads before one instruction: of a fused pair whose jump goes there, and of one that falls
/// there.
constexpr const char* kJoin = R"(
  .text
  .globl join
  .type join, @function
join:
  cmpq (%rdi), %rax
  je .Ljoin
  movq 8(%rdi), %rcx
.Ljoin:
  addq %rbx, %rax
  ret
  .size join, . - join
  .section .note.GNU-stack,"",@progbits
)";

class SplitSamples : public ::testing::Test {
 protected:
  static constexpr std::int32_t kPid = 7;
  static constexpr std::uint64_t kCode = 0x7f0000000000;
  // Of the instructions, from the function's first byte.
  static constexpr std::uint64_t kCompare = 0, kJump = 3, kLoad = 5, kAdd = 9, kRet = 12;

  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "assembles x86-64 code";
#endif
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    std::ofstream(directory_ / "code.s") << kJoin;
    const std::string binary = (directory_ / "code.so").string();
    const auto compiled =
        run_program({"cc", "-shared", "-o", binary, (directory_ / "code.s").string()});
    ASSERT_TRUE(compiled.code.success()) << compiled.err;
    const auto module = symbols::Module::open(binary);
    const auto function = module.functions_named("join").front().range;
    const auto mapping = module.executable_mapping_at(function.begin).value();
    at_ = kCode + (function.begin - mapping.range.begin);
    offset_ = mapping.file_offset;
    size_ = mapping.range.size();
  }

  /// `add` adds the samples of events that record IP, TID, TIME, ID and maybe branches.
  EventCorrection correct_with(std::vector<test::EventToBuild> events, const auto& add,
                               Verdict expected = Verdict::corrected) {
    test::RecordingBuilder builder;
    for (auto& event : events) {
      event.sample_type |=
          PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
      builder.event(event);
    }
    auto mapping = builder.writer();
    mapping.i32(kPid).i32(kPid).u64(kCode).u64(size_).u64(offset_);
    mapping.text((directory_ / "code.so").string()).i32(kPid).i32(kPid).u64(1).u64(1);
    builder.record(PERF_RECORD_MMAP, 2, mapping.bytes());
    add(builder);
    const auto text = [&](std::string_view value) {
      return builder.writer().counted_text(value).bytes();
    };
    builder.feature(perfdata::HEADER_OSRELEASE, text("6.1.0"));
    builder.feature(perfdata::HEADER_ARCH, text("x86_64"));
    builder.feature(perfdata::HEADER_CPUID, text("GenuineIntel,6,94,3"));
    const auto file = directory_ / "perf.data";
    builder.write(file);
    const std::vector<analysis::Measurement> runs{Profile().run};
    Choices choices;
    choices.measured = runs;
    Correction correction = correct({.file = file}, choices);
    EXPECT_TRUE(correction.faults.empty());
    EXPECT_EQ(correction.events.front().skid.verdict, expected)
        << correction.events.front().skid.reason;
    return correction.events.front();
  }

  /// One sample of the event of that id, with branch records, newest first, unless `branches` is
  /// null.
  void add_sample(test::RecordingBuilder& builder, std::uint64_t id, std::uint64_t offset,
                  const std::vector<std::pair<std::uint64_t, std::uint64_t>>* branches) const {
    auto body = builder.writer();
    body.u64(id).u64(at_ + offset).i32(kPid).i32(kPid).u64(2);
    if (branches != nullptr) {
      body.u64(branches->size());
      for (const auto& [from, to] : *branches) body.u64(at_ + from).u64(at_ + to).u64(0);
    }
    builder.record(PERF_RECORD_SAMPLE, 2, body.bytes());
  }
  static std::uint64_t corrected_at(const EventCorrection& event, std::uint64_t offset) {
    for (const Place& place : event.places) {
      if (place.symbol == "join" && place.offset == offset) return place.corrected;
    }
    return 0;
  }
  static test::EventToBuild loads(std::uint64_t sample_type = 0,
                                  std::uint64_t branches = PERF_SAMPLE_BRANCH_ANY) {
    return {.type = PERF_TYPE_RAW,
            .config = kLoads,
            .sample_type = sample_type,
            .branch_sample_type = branches,
            .precise_ip = 1,
            .ids = {1}};
  }

  test::TemporaryDirectory directory_;
  std::uint64_t at_ = 0, offset_ = 0, size_ = 0;
};

TEST_F(SplitSamples, AreRefusedWithTheReasonWhereNoneHasCode) {
  const auto event = correct_with(
      {loads()}, [&](auto& builder) { add_sample(builder, 1, std::uint64_t{1} << 32, nullptr); },
      Verdict::refused);
  EXPECT_THAT(event.skid.reason, ::testing::HasSubstr("no known mapping at the address"));
  EXPECT_TRUE(event.skid.advice.empty()) << "no sample contradicts the event";
  EXPECT_TRUE(event.places.empty());
}

TEST_F(SplitSamples, FollowsTheNewestBranchRecordOfEachSample) {
  const auto event = correct_with({loads(PERF_SAMPLE_BRANCH_STACK)}, [&](auto& builder) {
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> jumped{{kJump, kAdd}};
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> fell{
        {0x200, kCompare}, {kJump, kAdd}, {kJump, kAdd}};
    for (int i = 0; i < 10; ++i) add_sample(builder, 1, kAdd, &jumped);
    for (int i = 0; i < 30; ++i) add_sample(builder, 1, kAdd, &fell);
  });
  EXPECT_EQ(event.split_by[static_cast<std::size_t>(SplitBy::branch_records)], 40u);
  EXPECT_EQ(corrected_at(event, kCompare), 10u);
  EXPECT_EQ(corrected_at(event, kLoad), 30u);
}

TEST_F(SplitSamples, IgnoresBranchRecordsThatAreNotAllBranches) {
  using namespace perfdata;
  for (const std::uint64_t branches :
       {std::uint64_t{PERF_SAMPLE_BRANCH_ANY_CALL},
        std::uint64_t{PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY}}) {
    const auto event =
        correct_with({loads(PERF_SAMPLE_BRANCH_STACK, branches)}, [&](auto& builder) {
          const std::vector<std::pair<std::uint64_t, std::uint64_t>> called{{0x200, kCompare}};
          for (int i = 0; i < 40; ++i) add_sample(builder, 1, kAdd, &called);
        });
    EXPECT_EQ(event.split_by[static_cast<std::size_t>(SplitBy::equal_shares)], 40u);
    EXPECT_EQ(corrected_at(event, kCompare), 20u);
  }
}

TEST_F(SplitSamples, HasEqualSharesWhereRecordsAreNewerThanTheirSamples) {
  const auto event = correct_with({loads(PERF_SAMPLE_BRANCH_STACK)}, [&](auto& builder) {
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> jumped{{kJump, kAdd}};
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> newer{{kRet, 0x100}};
    for (int i = 0; i < 39; ++i) add_sample(builder, 1, kAdd, &jumped);
    add_sample(builder, 1, kAdd, &newer);
  });
  EXPECT_EQ(event.split_by[static_cast<std::size_t>(SplitBy::equal_shares)], 40u);
}

TEST_F(SplitSamples, HasEqualSharesWithoutBranchRecords) {
  const auto event = correct_with({loads()}, [&](auto& builder) {
    for (int i = 0; i < 40; ++i) add_sample(builder, 1, kAdd, nullptr);
    for (int i = 0; i < 10; ++i) add_sample(builder, 1, kLoad, nullptr);
  });
  EXPECT_EQ(event.split_by[static_cast<std::size_t>(SplitBy::equal_shares)], 40u);
  EXPECT_EQ(corrected_at(event, kCompare), 10u + 20u);
  EXPECT_EQ(corrected_at(event, kLoad), 20u);
}

}  // namespace
}  // namespace skid::correct
