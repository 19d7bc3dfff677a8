// What every command reports of a recording as a whole: its losses, and why it has no samples.
#include "analysis/not_judged.h"
#include "src/audit/audit.h"
#include "src/audit/findings.h"
#include "src/correct/correct.h"
#include "src/correct/correction.h"
#include "src/listing/reader.h"
#include "src/locate/module_store.h"
#include "src/measure/measure.h"
#include "src/output/audit/audit.h"
#include "src/output/correct/correct.h"
#include "src/output/inspection/inspection.h"
#include "src/output/page.h"
#include "src/output/report/report.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid {
namespace {

using test::RecordingBuilder;

class RecordingSummaryOf : public ::testing::Test {
 protected:
  std::vector<std::string> remarks_of(const RecordingBuilder& builder, std::string_view command) {
    builder.write(path_);
    if (command == "audit") return audit::audit({.file = path_}, {}).remarks;
    if (command == "correct") return correct::correct({.file = path_}, {}).remarks;
    locate::ModuleStore modules;
    listing::Reader reader({}, modules);
    reader.add({.file = path_});
    return reader.remarks();
  }
  std::string inspected(const RecordingBuilder& builder) {
    builder.write(path_);
    auto recording = perfdata::Recording::open(path_);
    const auto counts = perfdata::count_records(recording);
    return output::inspection_text({recording, counts}, false);
  }
  std::string why_none_of(const RecordingBuilder& builder) {
    builder.write(path_);
    return output::why_none_is_judged({audit::audit({.file = path_}, {})});
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "perf.data";
};

TEST_F(RecordingSummaryOf, LossesIsTheSameSentenceInEveryCommand) {
  const std::string sentence =
      "900 samples were lost in addition to the 100 read (90.00%); record again with a larger "
      "period or perf's -m.";
  for (const std::uint64_t lost : {1u, 900u}) {
    auto builder = RecordingBuilder().event({});
    for (std::uint64_t time = 0; time < 100; ++time) builder.sample(1ull << 32, 7, time);
    builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(0).u64(lost).bytes());
    for (const char* command : {"audit", "correct", "annotate"}) {
      const auto remarks = remarks_of(builder, command);
      EXPECT_EQ(std::ranges::count(remarks, sentence), lost > 1 ? 1 : 0) << command;
    }
    EXPECT_EQ(inspected(builder).find(sentence) != std::string::npos, lost > 1);
  }
}

TEST_F(RecordingSummaryOf, NoSamplesNamesTheirCause) {
  EXPECT_THAT(why_none_of(RecordingBuilder().event({.type = PERF_TYPE_RAW, .config = 0x81d0})),
              HasSubstr("in a guest the hypervisor may not deliver it"));
  EXPECT_THAT(why_none_of(RecordingBuilder().event({})),
              HasSubstr("no event occurred often enough for a sample"));
  auto trace = RecordingBuilder().event({});
  trace.record(perfdata::PERF_RECORD_AUXTRACE_INFO, 0, trace.writer().u32(4).u32(0).bytes());
  trace.record(perfdata::PERF_RECORD_AUXTRACE, 0, trace.writer().u64(5000).bytes());
  trace.raw(std::string(5000, 't'));
  EXPECT_THAT(why_none_of(trace), HasSubstr("a hardware trace (arm_spe) of 5,000 bytes"));
  EXPECT_THAT(inspected(trace), HasSubstr("arm_spe, 5,000 bytes, not decoded"));
  trace.sample(1ull << 32, 7, 1);
  for (const char* command : {"audit", "correct", "annotate"}) {
    EXPECT_THAT(remarks_of(trace, command),
                Contains("beside samples, the recording has a hardware trace (arm_spe) of 5,000 "
                         "bytes, which skidscan does not decode; 'perf script' does"))
        << command;
  }
}

TEST_F(RecordingSummaryOf, EventOfATraceHasTheSameReasonInReport) {
  constexpr std::uint32_t kPmu = 8;
  auto builder = RecordingBuilder().event({}).event({.type = kPmu});
  builder.record(perfdata::PERF_RECORD_AUXTRACE_INFO, 0, builder.writer().u32(1).u32(0).bytes());
  builder.record(perfdata::PERF_RECORD_AUXTRACE, 0, builder.writer().u64(5000).bytes());
  builder.raw(std::string(5000, 't'));
  const auto reported = [&] {
    builder.write(path_);
    return output::report_text(measure::measure({.file = path_}, {}).measurements, {.width = 1000});
  };
  const std::string reason =
      "none: no samples were recorded, but a hardware trace (intel_pt) of 5,000 bytes, which";
  EXPECT_THAT(reported(), HasSubstr(reason));
  builder.sample(1ull << 32, 7, 1);
  EXPECT_THAT(reported(), HasSubstr(reason));
}

TEST_F(RecordingSummaryOf, CorrectNamesAnEventInOneWayAndPrintsNoTwoEmptyLines) {
  auto builder = RecordingBuilder().event({.type = PERF_TYPE_RAW, .config = 0x81d0});
  builder.sample(1ull << 32, 7, 1);
  builder.write(path_);
  const correct::Correction correction = correct::correct({.file = path_}, {});
  const std::string text = output::correct_text({correction}, {.width = 1000});
  EXPECT_THAT(text, Not(HasSubstr("\n\n\n")));
  const std::string name = correction.events.at(0).identity.label + " level none";
  EXPECT_THAT(text, AllOf(HasSubstr("not corrected: " + name), HasSubstr("── " + name + " ─")));
}

TEST_F(RecordingSummaryOf, AddressZeroSaysWhatItIs) {
  auto builder = RecordingBuilder().event({.type = PERF_TYPE_BREAKPOINT, .breakpoint_type = 3});
  builder.sample(0, 7, 1).sample(1ull << 32, 7, 2).sample(0, 7, 3);
  builder.write(path_);
  const auto event = audit::audit({.file = path_}, {}).events.at(0);
  using analysis::NotJudged;
  EXPECT_EQ(event.not_judged[static_cast<std::size_t>(NotJudged::no_address)], 2u);
  EXPECT_EQ(event.not_judged[static_cast<std::size_t>(NotJudged::unmapped)], 1u);
}

TEST_F(RecordingSummaryOf, ACoreEventAtLevel0AdvisesThePreciseOne) {
  auto builder = RecordingBuilder().event({.type = PERF_TYPE_RAW, .config = 0x81d0});
  builder.sample(1ull << 32, 7, 1);
  builder.feature(perfdata::HEADER_ARCH, builder.writer().counted_text("x86_64").bytes());
  builder.feature(perfdata::HEADER_CPUID,
                  builder.writer().counted_text("GenuineIntel,6,94,3").bytes());
  EXPECT_THAT(why_none_of(builder), HasSubstr("level 0: arbitrary skid; the recorded CPU records "
                                              "the event precisely: perf record -e r81d0:pp"));
}

TEST_F(RecordingSummaryOf, AClockWithAPreciseLevelReplacedCycles) {
  for (const bool has_arguments : {false, true}) {
    auto builder = RecordingBuilder().event({.precise_ip = 2}).sample(1ull << 32, 7, 1);
    auto line = builder.writer();  // perf 7.2 writes the first word alone
    line.u32(has_arguments ? 4 : 1).counted_text("/usr/bin/perf");
    if (has_arguments) line.counted_text("record").counted_text("-e").counted_text("cpu-clock:pp");
    builder.feature(perfdata::HEADER_CMDLINE, line.bytes());
    EXPECT_EQ(why_none_of(builder).starts_with("perf found no PMU that counts cycles: "),
              !has_arguments);
  }
}

TEST_F(RecordingSummaryOf, AMemberOfAGroupThatIsReadIsNotSampled) {
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                             PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
  const std::uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  auto builder = RecordingBuilder()
                     .event({.sample_type = type, .read_format = format, .ids = {1}})
                     .event({.config = PERF_COUNT_SW_PAGE_FAULTS,
                             .period = 0,
                             .sample_type = type,
                             .read_format = format,
                             .ids = {2}});
  builder.write(path_);
  const auto events = audit::audit({.file = path_}, {}).events;
  EXPECT_THAT(events.at(0).warnings, IsEmpty());
  EXPECT_THAT(events.at(1).warnings, Contains(HasSubstr("page-faults was not sampled")));
  EXPECT_THAT(inspected(builder),
              HasSubstr("not sampled, but counted at the samples of its group"));
}

}  // namespace
}  // namespace skid
