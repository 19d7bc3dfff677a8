// Sampled page faults against their tracepoint.

#include "analysis/measurement.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/module_store.h"
#include "src/measure/measure.h"
#include "src/measure/page_fault_checker.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/measure/single_samples.h"
#include "src/perfdata/recording.h"
#include "src/run/run.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tracing_data_builder.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace skid::measure {
namespace {

using namespace perfdata;
using test::RecordingBuilder;

constexpr std::uint16_t kUser = 2;
constexpr std::uint16_t kKernel = 1;
constexpr std::uint64_t kFaultId = 11;
constexpr std::uint64_t kToldId = 12;
constexpr unsigned kTracepoint = 190;

class PageFaults : public ::testing::Test {
 protected:
  PageFaults() { builder_.event(faults_).event(tracepoint_); }

  /// What the tracepoint told of a fault.
  void told(std::uint64_t ip, int tid, std::uint64_t time) {
    auto raw = builder_.writer();
    raw.u16(kTracepoint).u8(0).u8(0).i32(tid).u64(0x7000).u64(ip).u64(6).u32(0);
    const test::SampleToBuild sample{.ip = 0xffffffff81000000,
                                     .id = kToldId,
                                     .raw = raw.bytes(),
                                     .misc = kKernel,
                                     .tid = tid,
                                     .time = time};
    test::add_sample(sample, tracepoint_, builder_);
  }
  void fault(std::uint64_t ip, int tid, std::uint64_t time, std::uint16_t mode = kUser) {
    test::add_sample({.ip = ip, .id = kFaultId, .misc = mode, .tid = tid, .time = time}, faults_,
                     builder_);
  }
  /// Of the page-fault event; nullopt: it is not compared.
  std::optional<analysis::IpCheck> check(bool with_formats = true) {
    if (with_formats) {
      builder_.feature(
          HEADER_TRACING_DATA,
          test::tracing_data({{"exceptions", {test::page_fault_format(kTracepoint)}}}));
    }
    builder_.write(directory_ / "perf.data");
    auto recording = Recording::open(directory_ / "perf.data");
    const auto digest = locate::digest(recording);
    PageFaultChecker checker(recording);
    if (!checker.reads()) return std::nullopt;
    locate::visit_records(recording, digest,
                          [&](const locate::VisitedRecord& visited) { checker.add(visited); });
    EXPECT_EQ(checker.tracepoint(), 1u);
    return *checker.check_of(0);
  }
  /// How many faults are compared, agree, and have no tracepoint.
  analysis::IpCheck expect(std::uint64_t compared, std::uint64_t agreeing, std::uint64_t unpaired) {
    const auto result = check();
    if (!result) return {};
    const analysis::IpCheck& of_faults = *result;
    EXPECT_EQ(of_faults.compared, compared);
    EXPECT_EQ(of_faults.agreeing, agreeing);
    EXPECT_EQ(of_faults.unpaired, unpaired);
    return of_faults;
  }

  static constexpr std::uint64_t kCommon =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  const test::EventToBuild faults_{
      .config = 2, .period = 1, .sample_type = kCommon, .ids = {kFaultId}};
  const test::EventToBuild tracepoint_{.type = PERF_TYPE_TRACEPOINT,
                                       .config = kTracepoint,
                                       .period = 1,
                                       .sample_type = kCommon | PERF_SAMPLE_RAW,
                                       .ids = {kToldId}};
  test::TemporaryDirectory directory_;
  RecordingBuilder builder_;
};

TEST_F(PageFaults, AgreeWithTheTracepointOfTheSameFault) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  told(0x402000, 5, 20);
  fault(0x402000, 5, 21);
  const auto result = expect(2, 2, 0);
  EXPECT_EQ(result.tracepoint, "exceptions:page_fault_user");
  EXPECT_FALSE(warning_of(result));
}

TEST_F(PageFaults, SampledElsewhereAreReportedWithBothAddresses) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  told(0x402000, 5, 20);
  fault(0x402003, 5, 21);
  const auto result = expect(2, 1, 0);
  ASSERT_TRUE(result.first_difference);
  EXPECT_EQ(result.first_difference->sampled, 0x402003u);
  EXPECT_EQ(result.first_difference->traced, 0x402000u);
  EXPECT_EQ(result.first_difference->time, 21u);
  EXPECT_THAT(warning_of(result).value_or(""),
              HasSubstr("1 of 2 page faults were sampled at another address"));
}

TEST_F(PageFaults, OfThreadsThatInterleaveAreComparedEachWithItsOwn) {
  told(0x401000, 5, 10);
  told(0x402000, 6, 11);
  fault(0x402000, 6, 12);
  fault(0x401000, 5, 13);
  expect(2, 2, 0);
}

TEST_F(PageFaults, AreSelectedByTheirNameWithoutTheTracepoint) {
  for (std::uint64_t i = 0; i < 3; ++i) told(0x401000 + i, 5, 10 * i);
  fault(0x401002, 5, 21);
  builder_.write(directory_ / "perf.data");
  run::PlannedMeasurement planned;
  planned.requested = planned.event = "faults";
  planned.cross_check = "exceptions:page_fault_user";
  for (const auto& [name, selected] :
       std::map<std::string, std::uint64_t>{{"", 4}, {"faults", 1}}) {
    locate::Filter filter;
    if (!name.empty()) filter.events = {name};
    const Source source{directory_ / "perf.data", {}, nullptr, &planned};
    auto recording = Recording::open(source.file);
    locate::ModuleStore modules;
    const Profile profile(source, recording, modules, {.filter = filter});
    locate::Filtered filtered = profile.digest.filtered;
    EXPECT_EQ(filtered.all, 4U);
    for (const RecordedEvent& event : profile.events) profile.selects(event, filter, filtered);
    EXPECT_EQ(filtered.selected, selected) << name;
  }
}

TEST_F(PageFaults, WithAPeriodAreComparedWithTheLastTracepoint) {
  for (std::uint64_t i = 0; i < 21; ++i) {
    told(0x401000 + i, 5, 10 * i + 1);
    if (i % 7 == 6) fault(0x401000 + i, 5, 10 * i + 2);
  }
  expect(3, 3, 0);
}

TEST_F(PageFaults, WithoutATracepointAreNotCompared) {
  fault(0x401000, 5, 5);  // nothing before it
  told(0x401000, 5, 10);
  fault(0x401000, 5, 9);  // told later
  told(0x402000, 5, 20);
  fault(0x402000, 5, 21);
  fault(0x403000, 5, 22);  // the one told was another sample's
  expect(1, 1, 3);
}

TEST_F(PageFaults, AfterLostRecordsAreNotComparedWithEarlierTracepoints) {
  told(0x401000, 5, 10);
  builder_.record(PERF_RECORD_LOST, 0,
                  builder_.writer().u64(kToldId).u64(2).i32(1).i32(5).u64(11).u64(kToldId).bytes());
  fault(0x402000, 5, 21);
  EXPECT_THAT(warning_of(expect(0, 0, 1)).value_or(""), HasSubstr("could be compared"));
}

/// In a hash table as libstdc++ has it these thread ids meet in one bucket.
TEST_F(PageFaults, AreComparedWhicheverThreadsARecordingNames) {
  constexpr int kBuckets = 42043;
  constexpr int kThreads = 41000;
  for (int i = 1; i <= kThreads; ++i) told(0x401000, i * kBuckets, 10);
  for (int i = 1; i <= kThreads; ++i) fault(0x401000, i * kBuckets, 20);
  expect(kThreads, kThreads, 0);
}

TEST_F(PageFaults, InTheKernelAreNotCompared) {
  told(0x401000, 5, 10);
  fault(0xffffffff81001234, 5, 11, kKernel);
  fault(0x401000, 5, 12);
  expect(1, 1, 0);
}

TEST_F(PageFaults, WithoutTheFormatOfTheTracepointAreNotChecked) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  EXPECT_FALSE(check(false));
}

}  // namespace
}  // namespace skid::measure
