// Which skid is taken out of which event, and which of several candidates caused a sample.
#include "src/correct/correct.h"

#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/rates.h"
#include "src/code/file_code.h"
#include "src/correct/fit.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/correct/spread.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/locate/digest.h"
#include "src/locate/visit_records.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/measure/run_comparison.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/staged_file.h"
#include "tests/support/assembled_program.h"
#include "tests/support/known_event.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace skid::correct {
namespace {

using measure::Compared;
using measure::RecordedEvent;

constexpr std::uint64_t kLoads = 0x81d0;

/// An event of a Skylake at level 1, and a run's measurement of it.
struct Profile {
  Profile() {
    attribute.type = PERF_TYPE_RAW;
    attribute.config = kLoads;
    attribute.precise_ip = 1;
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
    run.cpu = machine.cpu;
    run.kernel = "6.1.0";
    attribute.frequency = true;
    attribute.period_or_frequency = 4000;
    run.path = measure::recording_path(test::known_event(attribute, machine, pmu));
    run.path->frequency = 1000;
    run.contract.verdict = analysis::Verdict::kept;
    run.constant_skid = analysis::ConstantSkid{1, {}, analysis::Verdict::kept};
  }

  Skid skid(bool with_run = true) const {
    RecordedEvent event = test::known_event(attribute, machine, pmu);
    event.of_run = true;
    event.exact = exact;
    if (!with_run) return skid_of(event, std::nullopt);
    const std::vector<analysis::Measurement> runs{run};
    return skid_of(event, runs);
  }
  perfdata::Attribute attribute;
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
  EXPECT_EQ(profile.skid(false).verdict, Verdict::refused) << "without --skid";
}

TEST(SkidOfAnEvent, IsRefusedWithTheReason) {
  const auto refused = [](const auto& change, const std::string& reason) {
    Profile profile;
    change(profile);
    const Skid found = profile.skid();
    EXPECT_EQ(found.verdict, Verdict::refused) << reason;
    EXPECT_THAT(found.reason, HasSubstr(reason));
  };
  using P = Profile&;
  // The run is of another machine.
  refused([](P p) { p.run.cpu.model = 85; }, "CPU model");
  refused([](P p) { p.run.cpu.stepping.reset(); }, "CPU stepping");
  refused([](P p) { p.run.cpu.microcode = "0xf1"; }, "microcode");
  refused([](P p) { p.run.kernel = "6.2.0"; }, "kernel");
  refused([](P p) { p.run.cpu.hypervisor = "KVM"; }, "hypervisor");
  refused([](P p) { p.run.synthetic = true; }, "samples");
  refused([](P p) { p.run.event.excluded = {"kernel"}; }, "counted modes");
  // The skid is no constant, or not that of the event.
  refused([](P p) { p.run.contract.verdict = analysis::Verdict::broken; }, "contract broken");
  refused([](P p) { p.run.constant_skid->offset = 2; }, "the skid is +2; +1 can be taken out");
  refused([](P p) { p.run.constant_skid->offset = 0; }, "the skid is +0");
  refused([](P p) { p.run.event.config = 0x20d1; }, "no measurement of this event at level 1");
  // The event has none, or nothing is known of its cause.
  const auto of_type = [](std::uint32_t type, std::uint64_t config) {
    return [=](P p) { p.attribute.type = type, p.attribute.config = config; };
  };
  refused(of_type(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK), "timer");
  refused(of_type(PERF_TYPE_HARDWARE, 0), "every instruction takes cycles");
  refused([](P p) { p.attribute.config = 0x3c; }, "every instruction takes cycles");
  refused([](P p) { p.pmu = "ibs_op"; }, "IBS");
  refused([](P p) { p.machine.cpu.vendor = "AuthenticAMD"; }, "IBS");
  refused([](P p) { p.pmu = "arm_spe_0"; }, "SPE");
  refused([](P p) { p.pmu = "armv8_pmuv3_0"; }, "Arm core PMU");
  refused([](P p) { p.exact = 1; }, "EXACT_IP");
  refused([](P p) { p.attribute.config = 0xff; }, "what can cause this event is not known");
  refused([](P p) { p.attribute.precise_ip = 0; }, "level 0");
  refused([](P p) { p.attribute.precise_ip = 2; }, "level 2");
  refused([](P p) { p.attribute.type = PERF_TYPE_TRACEPOINT; }, "no rule");
}

TEST(SkidOfAnEvent, NamesTheCommandThatMeasuresIt) {
  Profile profile;
  profile.attribute.name = "lat";
  const auto advice = [&profile] { return profile.skid(false).advice; };
  EXPECT_THAT(advice(), HasSubstr(": skidscan record -e r81d0:p, "));
  profile.attribute.config = 0x1cd;  // load latency
  profile.attribute.config1 = 3;
  profile.attribute.exclude_kernel = true;
  EXPECT_THAT(advice(), HasSubstr(": skidscan record -e cpu/config=0x1cd,config1=0x3/up, "));
  profile.pmu = "cpu core";
  EXPECT_THAT(advice(), HasSubstr("-e 'cpu core/config=0x1cd,config1=0x3/up', "));
  profile.pmu.clear();
  EXPECT_THAT(advice(), HasSubstr(": skidscan record -e EVENT, as it was requested, "));
}

TEST(SkidOfAnEvent, StatesOtherDifferencesOfTheRun) {
  Profile other_path;
  other_path.run.path->frequency.reset();
  const Skid skid = other_path.skid();
  EXPECT_EQ(skid.verdict, Verdict::corrected);
  EXPECT_EQ(skid.compared.back().what, "recording path");
  EXPECT_EQ(skid.compared.back().match, Compared::Match::differs);
  EXPECT_THAT(skid.compared.back().profile, HasSubstr("4000 samples a second"));
  Profile unknown;
  unknown.machine.cpu.microcode.clear();
  EXPECT_EQ(unknown.skid().verdict, Verdict::corrected);
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
  using enum Verdict;
  struct Case {
    std::uint64_t moved, unexplained, unknown, kernel, undecided;
    Verdict verdict;
    std::string reason = {};  ///< empty: any
  };
  const std::string open = " samples is open: they stay where they were recorded";
  for (const auto& [moved, unexplained, unknown, kernel, undecided, verdict, reason] :
       {Case{950, 10, 20, 20, 0, corrected},
        {950, 10, 21, 20, 0, corrected_in_part, "the cause of 51 of 1,001" + open},
        {950, 10, 11, 20, 10, corrected_in_part, "the cause of 51 of 1,001" + open},
        {1, 0, 100, 0, 0, corrected_in_part, "the cause of 100 of 101" + open},
        {0, 0, 0, 0, 100, corrected_in_part, "the cause of 100 of 100" + open},
        {10, 0, 0, 100, 0, corrected_in_part},
        {94, 6, 0, 0, 0, refused},
        {0, 0, 100, 0, 0, refused},  // none was placed
        {0, 0, 0, 100, 0, refused},
        {0, 0, 0, 0, 0, nothing_to_correct, "no samples"}}) {
    CorrectedEvent event;
    EventCorrection& correction = event.correction;
    correction.skid.verdict = corrected;
    correction.moved = moved, correction.unexplained = unexplained, correction.unknown = unknown;
    correction.undecided = undecided;
    correction.not_placed[static_cast<std::size_t>(analysis::NotJudged::kernel)] = kernel;
    correction.samples = moved + unexplained + unknown + kernel + undecided;
    judge_fit(event);
    EXPECT_EQ(correction.skid.verdict, verdict) << correction.skid.reason;
    if (!reason.empty()) EXPECT_EQ(correction.skid.reason, reason);
  }
}

TEST(Bounds, LeaveOpenWhatHasNoKnownCause) {
  const SpreadPlace here{0, true, 0x10}, there{0, true, 0x20};
  const std::vector<Spread> spreads{{here, 100, {}, true},  // the cause is not known
                                    {here, 10, {there, here}},
                                    {here, 5, {there}, true},  // or one that is not known
                                    {here, 1, {there}}};
  std::map<SpreadPlace, Counts> by_instruction;
  add_up(spreads, [&](const SpreadPlace& place) -> Counts& { return by_instruction[place]; });
  EXPECT_EQ(by_instruction[here].low, 0u);
  EXPECT_EQ(by_instruction[here].corrected, 115u) << "what is not decided stays";
  EXPECT_EQ(by_instruction[here].high, 115u);
  EXPECT_EQ(by_instruction[there].low, 1u);
  EXPECT_EQ(by_instruction[there].corrected, 1u);
  EXPECT_EQ(by_instruction[there].high, 16u);
  Counts whole;
  add_up(spreads, [&](const SpreadPlace&) -> Counts& { return whole; });
  EXPECT_EQ(whole.low, 11u) << "both candidates of ten samples are here";
  EXPECT_EQ(whole.corrected, 116u);
  EXPECT_EQ(whole.high, 116u);
}

/// Loads before one instruction: of a fused pair whose jump goes there, and of one that falls
/// there.
constexpr const char* kJoin = R"(
  function join
  cmpq (%rdi), %rax         # compare
  je .Ljoin                 # jump
  movq 8(%rdi), %rcx        # load
.Ljoin:
  addq %rbx, %rax           # add
  ret                       # return
  end join
)";

/// The addresses that a branch record leads from and to, from the function's first byte.
using Branches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class SamplesOfSeveral : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    program_.emplace(directory_ / "code.so", kJoin, Arch::x86_64,
                     std::vector<std::string>{"-shared"});
    begin_ = program_->module().functions_named("join").front().range.begin;
    jump_ = offset_of("jump"), add_ = offset_of("add");
  }
  std::uint64_t offset_of(std::string_view note) const { return program_->at(note) - begin_; }

  /// Corrects the loads of a recording with `samples` of them. `branches`: what is recorded of
  /// branches, 0 for nothing.
  EventCorrection corrected(const std::vector<test::SampleToBuild>& samples,
                            std::uint64_t branches = 0, Verdict expected = Verdict::corrected) {
    test::EventToBuild event{
        .type = PERF_TYPE_RAW, .config = kLoads, .branch_sample_type = branches, .precise_ip = 1};
    if (branches != 0) event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    return corrected(samples, event, expected);
  }
  EventCorrection corrected(const std::vector<test::SampleToBuild>& samples,
                            const test::EventToBuild& event, Verdict expected) {
    auto builder = test::RecordingBuilder().event(event);
    test::map_program(program_->module(), {.bias = kBias, .file = directory_ / "code.so"}, builder);
    for (const auto& sample : samples) test::add_sample(sample, event, builder);
    builder.feature(perfdata::HEADER_OSRELEASE, builder.writer().counted_text("6.1.0").bytes());
    test::name_machine("x86_64", "GenuineIntel,6,94,3", builder);
    builder.write(directory_ / "perf.data");
    const std::vector<analysis::Measurement> runs{Profile().run};
    Choices choices;
    choices.measured = runs;
    Correction correction = correct({.file = directory_ / "perf.data"}, choices);
    EXPECT_TRUE(correction.faults.empty());
    EXPECT_EQ(correction.events.front().skid.verdict, expected)
        << correction.events.front().skid.reason;
    return correction.events.front();
  }

  /// So many samples at an instruction.
  std::vector<test::SampleToBuild> samples(int count, std::string_view note,
                                           const Branches& branches = {}) const {
    const std::uint64_t begin = begin_ + kBias;
    test::SampleToBuild sample{.ip = program_->at(note) + kBias, .misc = PERF_RECORD_MISC_USER};
    for (const auto& [from, to] : branches)
      sample.branches.push_back({begin + from, begin + to, 0});
    return std::vector(static_cast<std::size_t>(count), sample);
  }
  static std::vector<test::SampleToBuild> both(std::vector<test::SampleToBuild> first,
                                               const std::vector<test::SampleToBuild>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  std::uint64_t corrected_at(const EventCorrection& event, std::string_view note) const {
    for (const Place& place : event.places) {
      if (place.symbol == "join" && place.offset == offset_of(note)) return place.corrected;
    }
    return 0;
  }
  static std::uint64_t decided(const EventCorrection& event, DecidedBy by) {
    return event.decided_by[static_cast<std::size_t>(by)];
  }
  /// Expects that no sample at the ADD moved.
  void expect_undecided(const EventCorrection& event, std::uint64_t samples) const {
    EXPECT_EQ(event.undecided, samples);
    EXPECT_EQ(corrected_at(event, "add"), samples);
    EXPECT_EQ(decided(event, DecidedBy::branch_records), 0u);
  }

  static constexpr std::uint64_t kBias = 0x7f0000000000;
  test::TemporaryDirectory directory_;
  std::optional<test::AssembledProgram> program_;
  std::uint64_t begin_ = 0, jump_ = 0, add_ = 0;
};

TEST_F(SamplesOfSeveral, AreRefusedWithTheReasonWhereNoneHasCode) {
  const auto event =
      corrected({{.ip = 1ull << 32, .misc = PERF_RECORD_MISC_USER}}, 0, Verdict::refused);
  EXPECT_THAT(event.skid.reason, HasSubstr("no known mapping at the address"));
  EXPECT_TRUE(event.skid.advice.empty()) << "no sample contradicts the event";
  EXPECT_TRUE(event.places.empty());
}

TEST_F(SamplesOfSeveral, FollowsTheNewestBranchRecordOfEachSample) {
  const Branches fell{{0x200, 0}, {jump_, add_}, {jump_, add_}};
  const auto event = corrected(both(samples(10, "add", {{jump_, add_}}), samples(30, "add", fell)),
                               PERF_SAMPLE_BRANCH_ANY);
  EXPECT_EQ(decided(event, DecidedBy::branch_records), 40u);
  EXPECT_EQ(event.moved, 40u);
  EXPECT_EQ(corrected_at(event, "compare"), 10u);
  EXPECT_EQ(corrected_at(event, "load"), 30u);
}

TEST_F(SamplesOfSeveral, IgnoresBranchRecordsThatAreNotAllBranches) {
  using namespace perfdata;
  for (const std::uint64_t branches :
       {std::uint64_t{PERF_SAMPLE_BRANCH_ANY_CALL},
        std::uint64_t{PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY}}) {
    expect_undecided(
        corrected(samples(40, "add", {{0x200, 0}}), branches, Verdict::corrected_in_part), 40);
  }
}

TEST_F(SamplesOfSeveral, StayWhereRecordsAreNewerThanTheSamples) {
  const Branches newer{{offset_of("return"), 0x100}};
  const auto event = corrected(both(samples(39, "add", {{jump_, add_}}), samples(1, "add", newer)),
                               PERF_SAMPLE_BRANCH_ANY, Verdict::corrected_in_part);
  expect_undecided(event, 40);
}

TEST_F(SamplesOfSeveral, StayWithoutEvidence) {
  const auto event =
      corrected(both(samples(40, "add"), samples(10, "load")), 0, Verdict::corrected_in_part);
  expect_undecided(event, 40);
  EXPECT_EQ(corrected_at(event, "compare"), 10u) << "the jump has one predecessor";
}

TEST_F(SamplesOfSeveral, MoveByBranchRecordsWithoutCertainty) {
  const auto event = corrected(samples(40, "add", {{jump_, add_}}), PERF_SAMPLE_BRANCH_ANY);
  for (const Place& place : event.places) {
    EXPECT_EQ(place.low, 0u) << "records that are read late, in a loop, cannot be told";
    EXPECT_EQ(place.high, place.recorded > 0 ? 0u : 40u) << place.offset;
  }
  EXPECT_EQ(corrected_at(event, "compare"), 40u);
}

TEST_F(SamplesOfSeveral, FollowTheirDataAddressAndRegisters) {
  constexpr std::uint64_t kDi = 1U << 5U;  // PERF_REG_X86_DI
  test::EventToBuild event{
      .type = PERF_TYPE_RAW, .config = kLoads, .sample_regs_intr = kDi, .precise_ip = 1};
  event.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_INTR;
  const auto at = [&](int count, std::uint64_t address, std::vector<std::uint64_t> registers) {
    auto all = samples(count, "add");
    for (auto& sample : all) sample.address = address, sample.registers = registers;
    return all;
  };
  const auto known = both(at(30, 0x7008, {0x7000}), at(60, 0x7000, {0x7000}));
  auto found = corrected(both(known, at(2, 0x9000, {0x7000})), event, Verdict::corrected);
  EXPECT_EQ(decided(found, DecidedBy::address), 90u);
  EXPECT_EQ(found.moved, 90u);
  EXPECT_EQ(found.unexplained, 2u) << "neither has this address";
  EXPECT_EQ(corrected_at(found, "load"), 30u);
  EXPECT_EQ(corrected_at(found, "compare"), 60u);
  found = corrected(both(known, at(20, 0x9000, {0x7000})), event, Verdict::refused);
  EXPECT_THAT(found.skid.reason, HasSubstr("20 of 110 samples follow no instruction"));
  found = corrected(both(known, at(20, 0x7000, {})), event, Verdict::corrected_in_part);
  EXPECT_EQ(found.undecided, 20u) << "without registers";
  constexpr std::uint64_t kOfKernel = 0xffff888000000000;
  found = corrected(both(known, at(20, kOfKernel, {0x7000})), event, Verdict::corrected_in_part);
  EXPECT_EQ(found.unknown, 20u) << "the kernel's last instruction";
}

class CorrectedCopy : public ::testing::Test {
 protected:
  static std::string recorded_at(std::uint64_t ip) {
    auto recording = test::RecordingBuilder().event({}).sample(ip, 7, 1);
    const auto version = recording.writer().counted_text("6.1.187").bytes();
    return recording.feature(perfdata::HEADER_VERSION, version).bytes();
  }
  static std::optional<std::uint64_t> stay(const locate::VisitedRecord&) { return std::nullopt; }
  /// Writes a copy without corrections of what `path_` was when it was opened.
  std::string copied() {
    write_corrected(*recording_, *digest_, stay, copy_);
    return read_file(copy_, 1 << 20);
  }
  void open(const std::string& bytes) {
    write_file_atomically(path_, bytes);
    recording_.emplace(perfdata::Recording::open(path_));
    digest_.emplace(locate::digest(*recording_));
  }
  /// The copy's records are the original's; perf's version, which the header refers to, is marked.
  static void expect_copy(const std::string& copy, const std::string& original) {
    const auto records = test::RecordingBuilder().event({}).data_offset();
    EXPECT_EQ(copy.substr(records, 32), original.substr(records, 32));
    EXPECT_THAT(copy.substr(original.size()),
                HasSubstr("6.1.187" + std::string(perfdata::kCorrectedMark)));
  }

  const test::TemporaryDirectory directory_;
  const fs::path path_ = directory_ / "perf.data", copy_ = directory_ / "copy.data";
  std::optional<perfdata::Recording> recording_;
  std::optional<locate::Digest> digest_;
};

TEST_F(CorrectedCopy, IsOfWhatWasReadThoughAnotherRecordingTookTheName) {
  const std::string original = recorded_at(0x1000);
  open(original);
  write_file_atomically(path_, recorded_at(0x2000) + std::string(1000, 'x'));
  expect_copy(copied(), original);
}

TEST_F(CorrectedCopy, IsNotMadeOfAFileThatBecameShorter) {
  open(recorded_at(0x1000));
  fs::resize_file(path_, 200);
  EXPECT_THROW(write_corrected(*recording_, *digest_, stay, copy_), Error);
  EXPECT_FALSE(fs::exists(copy_));
}

TEST_F(CorrectedCopy, OfASparseFileIsSparse) {
  constexpr off_t kSize = off_t{64} << 20;
  const std::string original = recorded_at(0x1000);
  open(original);
  fs::resize_file(path_, kSize);
  write_corrected(*recording_, *digest_, stay, copy_);
  struct stat status {};
  ASSERT_EQ(::stat(copy_.c_str(), &status), 0);
  EXPECT_GT(status.st_size, kSize);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

TEST_F(CorrectedCopy, HasTheNewAddressInCallChainsThatWereUnwoundLater) {
  constexpr auto context = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  constexpr std::int64_t kUser = -512, kUserDeferred = -640;
  constexpr std::uint64_t kIp = 0x401010, kCookie = 42;
  auto builder = test::RecordingBuilder().event(
      {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN});
  builder.mmap(7, 0x401000, 0x1000, 0x1000, "/bin/x", 1);
  const auto chain = [&](std::uint64_t cookie) {
    const auto trailer = builder.trailer(7, 4);
    auto body = builder.writer().u64(cookie).u64(3).u64(context(kUser)).u64(kIp).u64(kIp);
    builder.record(perfdata::PERF_RECORD_CALLCHAIN_DEFERRED, 2, body.raw(trailer).bytes());
  };
  auto sample = builder.writer().u64(kIp).i32(7).i32(7).u64(3);
  sample.u64(2).u64(context(kUserDeferred)).u64(kCookie);
  builder.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample.bytes());
  chain(kCookie + 1);  // of another sample
  chain(kCookie);
  const auto version = builder.writer().counted_text("7.3").bytes();
  open(builder.feature(perfdata::HEADER_VERSION, version).bytes());
  write_corrected(
      *recording_, *digest_,
      [&](const locate::VisitedRecord&) { return std::optional(context(-4)); }, copy_);
  auto copy = perfdata::Recording::open(copy_);
  std::vector<std::uint64_t> first_entries;
  perfdata::Record record;
  while (copy.next(record)) {
    ByteReader reader(record.body, perfdata::ByteOrder::little);
    if (record.type == PERF_RECORD_SAMPLE) EXPECT_EQ(reader.u64(), kIp - 4);
    if (record.type != perfdata::PERF_RECORD_CALLCHAIN_DEFERRED) continue;
    reader.skip(24);  // cookie, number of entries, PERF_CONTEXT_USER
    first_entries.push_back(reader.u64());
    EXPECT_EQ(reader.u64(), kIp) << "a caller";
  }
  EXPECT_THAT(first_entries, ElementsAre(kIp, kIp - 4));
}

}  // namespace
}  // namespace skid::correct
