// Sampled page faults against their tracepoint.
#include "src/measure/page_fault_check.h"

#include "src/locate/digest.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tracing_data_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::measure {
namespace {

using namespace perfdata;
using test::RecordingBuilder;
using ::testing::HasSubstr;

constexpr std::uint16_t kUser = 2;
constexpr std::uint16_t kKernel = 1;
constexpr std::uint64_t kFaultId = 11;
constexpr std::uint64_t kToldId = 12;
constexpr unsigned kTracepoint = 190;

class PageFaults : public ::testing::Test {
 protected:
  PageFaults() {
    constexpr std::uint64_t kCommon =
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    builder_.event({.config = 2, .period = 1, .sample_type = kCommon, .ids = {kFaultId}});
    builder_.event({.type = PERF_TYPE_TRACEPOINT,
                    .config = kTracepoint,
                    .period = 1,
                    .sample_type = kCommon | PERF_SAMPLE_RAW,
                    .ids = {kToldId}});
  }
  test::ByteWriter begin(std::uint64_t id, std::uint64_t ip, int tid, std::uint64_t time) const {
    auto out = builder_.writer();
    out.u64(id).u64(ip).i32(1).i32(tid).u64(time);
    return out;
  }
  void told(std::uint64_t ip, int tid, std::uint64_t time) {
    auto raw = builder_.writer();
    raw.u16(kTracepoint).u8(0).u8(0).i32(tid).u64(0x7000).u64(ip).u64(6).u32(0);
    auto out = begin(kToldId, 0xffffffff81000000, tid, time);
    out.u32(static_cast<std::uint32_t>(raw.bytes().size())).raw(raw.bytes());
    builder_.record(PERF_RECORD_SAMPLE, kKernel, out.bytes());
  }
  void fault(std::uint64_t ip, int tid, std::uint64_t time, std::uint16_t mode = kUser) {
    builder_.record(PERF_RECORD_SAMPLE, mode, begin(kFaultId, ip, tid, time).bytes());
  }
  std::optional<PageFaultCheck> check(bool with_formats = true) {
    if (with_formats) {
      builder_.feature(
          HEADER_TRACING_DATA,
          test::tracing_data({{"exceptions", {test::page_fault_format(kTracepoint)}}}));
    }
    builder_.write(directory_ / "perf.data");
    auto recording = Recording::open(directory_ / "perf.data");
    PageFaultChecker checker;
    const auto digest = locate::digest(recording);
    if (const auto visitor = checker.visitor(recording)) {
      locate::visit_records(recording, digest, visitor);
    }
    return checker.finish();
  }
  analysis::IpCheck check_of_faults() {
    const auto result = check();
    if (!result) return {};
    EXPECT_EQ(result->tracepoint, 1u);
    return result->by_event.at(0);
  }

  test::TemporaryDirectory directory_;
  RecordingBuilder builder_;
};

TEST_F(PageFaults, AgreeWithTheTracepointOfTheSameFault) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  told(0x402000, 5, 20);
  fault(0x402000, 5, 21);
  const auto result = check_of_faults();
  EXPECT_EQ(result.tracepoint, "exceptions:page_fault_user");
  EXPECT_EQ(result.compared, 2u);
  EXPECT_EQ(result.agreeing, 2u);
  EXPECT_EQ(result.unpaired, 0u);
  EXPECT_FALSE(warning_of(result));
}

TEST_F(PageFaults, SampledElsewhereAreReportedWithBothAddresses) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  told(0x402000, 5, 20);
  fault(0x402003, 5, 21);
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 2u);
  EXPECT_EQ(result.agreeing, 1u);
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
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 2u);
  EXPECT_EQ(result.agreeing, 2u);
}

TEST_F(PageFaults, WithAPeriodAreComparedWithTheLastTracepoint) {
  for (std::uint64_t i = 0; i < 21; ++i) {
    told(0x401000 + i, 5, 10 * i + 1);
    if (i % 7 == 6) fault(0x401000 + i, 5, 10 * i + 2);
  }
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 3u);
  EXPECT_EQ(result.agreeing, 3u);
  EXPECT_EQ(result.unpaired, 0u);
}

TEST_F(PageFaults, WithoutATracepointAreNotCompared) {
  fault(0x401000, 5, 5);  // nothing before it
  told(0x401000, 5, 10);
  fault(0x401000, 5, 9);  // told later
  told(0x402000, 5, 20);
  fault(0x402000, 5, 21);
  fault(0x403000, 5, 22);  // the one told was another sample's
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 1u);
  EXPECT_EQ(result.agreeing, 1u);
  EXPECT_EQ(result.unpaired, 3u);
}

TEST_F(PageFaults, AfterLostRecordsAreNotComparedWithEarlierTracepoints) {
  told(0x401000, 5, 10);
  builder_.record(PERF_RECORD_LOST, 0,
                  builder_.writer().u64(kToldId).u64(2).i32(1).i32(5).u64(11).u64(kToldId).bytes());
  fault(0x402000, 5, 21);
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 0u);
  EXPECT_EQ(result.unpaired, 1u);
  EXPECT_THAT(warning_of(result).value_or(""), HasSubstr("could be compared"));
}

/// In a hash table as libstdc++ has it these thread ids meet in one bucket.
TEST_F(PageFaults, AreComparedWhicheverThreadsARecordingNames) {
  constexpr int kBuckets = 42043;
  constexpr int kThreads = 41000;
  for (int i = 1; i <= kThreads; ++i) told(0x401000, i * kBuckets, 10);
  for (int i = 1; i <= kThreads; ++i) fault(0x401000, i * kBuckets, 20);
  EXPECT_EQ(check_of_faults().agreeing, static_cast<std::uint64_t>(kThreads));
}

TEST_F(PageFaults, InTheKernelAreNotCompared) {
  told(0x401000, 5, 10);
  fault(0xffffffff81001234, 5, 11, kKernel);
  fault(0x401000, 5, 12);
  const auto result = check_of_faults();
  EXPECT_EQ(result.compared, 1u);
  EXPECT_EQ(result.agreeing, 1u);
  EXPECT_EQ(result.unpaired, 0u);
}

TEST_F(PageFaults, WithoutTheFormatOfTheTracepointAreNotChecked) {
  told(0x401000, 5, 10);
  fault(0x401000, 5, 11);
  EXPECT_FALSE(check(false));
}

}  // namespace
}  // namespace skid::measure
