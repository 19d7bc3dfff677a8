// Recordings of an emulated SPE (tests/data/spe) against the emulator's log of the operations that
// it sampled.
#include "src/audit/audit.h"
#include "src/audit/contradictions.h"
#include "src/measure/measure.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/spe_record.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <set>
#include <string>
#include <vector>

namespace skid::audit {
namespace {

/// A line of the log; the columns of the file, all in hexadecimal.
struct LoggedOperation {
  std::uint64_t cause = 0;      ///< address of the sampled instruction
  std::uint64_t pc = 0;         ///< address that the record has
  std::uint64_t next = 0;       ///< address of the instruction executed next
  std::uint64_t level = 0;      ///< exception level
  std::uint64_t operation = 0;  ///< class << 8 | payload of the operation packet
  std::uint64_t events = 0, accessed = 0, address = 0;
  std::uint64_t total = 0, issue = 0, translation = 0;  ///< latencies
};

fs::path data_of(const std::string& name) {
  return fs::path(SKIDSCAN_TEST_DATA "/data/spe") / name;
}

std::vector<LoggedOperation> log_of(const std::string& recording) {
  std::ifstream file(data_of(recording + ".tsv"));
  std::vector<LoggedOperation> operations;
  LoggedOperation one;
  while (file >> std::hex >> one.cause >> one.pc >> one.next >> one.level >> one.operation >>
         one.events >> one.accessed >> one.address >> one.total >> one.issue >> one.translation) {
    operations.push_back(one);
  }
  EXPECT_TRUE(file.eof()) << recording;
  return operations;
}

/// What a record has to contain, by the log.
perfdata::SpeRecord expected_of(const LoggedOperation& logged, const perfdata::SpeRecord& record) {
  const auto kind = static_cast<perfdata::SpeOperation::Class>(logged.operation >> 8);
  const auto cycles = [](std::uint64_t number) { return static_cast<std::uint16_t>(number); };
  perfdata::SpeRecord expected{.pc = logged.pc,
                               .exception_level = static_cast<std::uint8_t>(logged.level)};
  expected.operation = {kind, static_cast<std::uint8_t>(logged.operation)};
  expected.events = logged.events;
  expected.total_latency = cycles(logged.total);
  expected.issue_latency = cycles(logged.issue);
  if (kind == perfdata::SpeOperation::Class::load_store) {
    expected.data_address = logged.address;
    expected.translation_latency = cycles(logged.translation);
  } else if (expected.operation->branches() && !expected.has(perfdata::SpeEvent::not_taken)) {
    expected.target = logged.next;
  }
  // Not in the columns of the log.
  expected.data_source = record.data_source;
  expected.timestamp = record.timestamp;
  expected.context = record.context;
  return expected;
}

class RecordedSpe : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedSpe, HasTheOperationsOfTheLog) {
  const auto logged = log_of(GetParam());
  auto recording = perfdata::Recording::open(data_of(GetParam() + std::string(".data")));
  perfdata::Record record;
  std::size_t at = 0;
  std::set<std::string> operations;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    ASSERT_LT(at, logged.size());
    const auto sample = recording.decode(record).value();
    const auto details = recording.decoder().details(record, sample).value();
    const auto packets = perfdata::parse_spe_record(details.raw).value();
    EXPECT_EQ(packets, expected_of(logged[at], packets)) << "record " << at;
    EXPECT_EQ(sample.ip, logged[at].pc) << "record " << at;
    EXPECT_EQ(details.weight, logged[at].total) << "record " << at;
    EXPECT_EQ(packets.data_source.has_value(), packets.operation->loads()) << "record " << at;
    EXPECT_EQ(packets.context, static_cast<std::uint32_t>(sample.tid)) << "record " << at;
    operations.insert(perfdata::operation_text(packets));
    ++at;
  }
  EXPECT_TRUE(recording.faults().empty());
  EXPECT_EQ(at, logged.size());
  EXPECT_THAT(operations, IsSupersetOf({"B", "B COND", "B IND", "LD GP-REG", "ST GP-REG",
                                        "LD SIMD-FP", "ST SIMD-FP", "LD AT", "LD EXCL", "ST EXCL",
                                        "OTHER COND-SELECT", "OTHER INSN-OTHER"}));
}

TEST_P(RecordedSpe, IsContradictedByLateRecordsAlone) {
  const auto logged = log_of(GetParam());
  const auto late = static_cast<std::uint64_t>(
      std::ranges::count_if(logged, [](const auto& one) { return one.pc != one.cause; }));
  const test::TemporaryDirectory root;
  fs::create_directories(root / "spe/0");
  fs::copy_file(data_of("operations"), root / "spe/0/operations");
  Choices choices;
  choices.places.symfs = root.path();
  const auto found =
      audit(measure::Source{data_of(GetParam() + std::string(".data"))}, choices).events.at(0);
  ASSERT_TRUE(found.spe_record);
  EXPECT_EQ(found.spe_record->samples, logged.size());
  EXPECT_GT(found.spe_record->share.total, logged.size() / 2) << "judged";
  EXPECT_LE(found.spe_record->share.count, late) << "contradicted";
  EXPECT_GE(found.spe_record->share.count, late / 3) << "contradicted";
}

INSTANTIATE_TEST_SUITE_P(Each, RecordedSpe, ::testing::Values("sound", "late"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace skid::audit
