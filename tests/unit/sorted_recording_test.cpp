// Third-party recordings with their records put in other orders: the same samples in the same
// places.
#include "src/locate/digest.h"
#include "src/perfdata/format.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::locate {
namespace {

/// A record and what follows it, as bytes of the file.
struct RecordBytes {
  std::uint64_t time = 0;
  std::uint64_t begin = 0, size = 0;
};

/// The data section of a recording, cut at its records.
struct Cut {
  std::uint64_t begin = 0, size = 0;  ///< bytes of the file
  std::vector<RecordBytes> records;
  std::string why_not;  ///< empty when its order may be changed
};

Cut cut(const std::filesystem::path& path, std::string_view bytes) {
  Cut result;
  auto recording = perfdata::Recording::open(path);
  perfdata::Record record;
  while (recording.next(record)) {
    if (record.type == perfdata::PERF_RECORD_COMPRESSED ||
        record.type == perfdata::PERF_RECORD_COMPRESSED2) {
      result.why_not = "compressed";
      return result;
    }
    const auto& decoder = recording.decoder();
    std::uint64_t time = 0;
    if (record.type == PERF_RECORD_SAMPLE) {
      time = decoder.time_of(record, decoder.decode(record).sample);
    } else if (record.type < perfdata::PERF_RECORD_HEADER_ATTR) {
      time = decoder.time_of(record);
    }
    if (!result.records.empty()) {
      result.records.back().size = record.offset - result.records.back().begin;
    }
    result.records.push_back({time, record.offset, 0});
  }
  if (recording.mode() != perfdata::StorageMode::file) {
    result.why_not = "not in file mode";
  } else if (!recording.decoder().has_times()) {
    result.why_not = "without times";
  } else if (!recording.faults().empty() || result.records.empty()) {
    result.why_not = "damaged";
  } else if (recording.byte_order() != perfdata::ByteOrder::little) {
    result.why_not = "its header is read here as little-endian";
  }
  if (!result.why_not.empty()) return result;
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    for (unsigned i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  constexpr std::size_t kDataSection = 40;  // of struct perf_file_header: u64 offset, u64 size
  result.begin = word(kDataSection);
  result.size = word(kDataSection + 8);
  RecordBytes& last = result.records.back();
  last.size = result.begin + result.size - last.begin;
  return result;
}

using Place = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::string, std::string,
                         std::uint64_t>;

/// Everything in a digest, so that it can be compared.
struct Told {
  std::map<Place, std::uint64_t> samples;
  std::vector<std::uint64_t> numbers;

  friend bool operator==(const Told&, const Told&) = default;
};

Told told(const std::filesystem::path& path) {
  auto recording = perfdata::Recording::open(path);
  const Digest result = digest(recording);
  Told told;
  result.located.for_each([&](const LocatedSamples& located) {
    symbols::MappedFile file;
    std::uint64_t offset = 0;
    if (located.location) {
      file = result.spaces.file(located.location->file);
      offset = located.location->offset;
    }
    told.samples[{located.attribute, located.ip, located.kind.bits(), file.path, file.build_id,
                  offset}] += located.samples;
  });
  for (const auto& total : result.totals) {
    told.numbers.insert(told.numbers.end(), {total.samples, total.period_sum});
  }
  told.numbers.insert(told.numbers.end(),
                      {result.lost_records, result.lost_samples, result.throttled,
                       result.unknown_ids, recording.faults().size()});
  return told;
}

/// Whether the records that have a time are in its order.
bool is_sorted(const std::vector<RecordBytes>& records) {
  std::uint64_t last = 0;
  return std::all_of(records.begin(), records.end(), [&last](const RecordBytes& record) {
    if (record.time == 0) return true;
    return std::exchange(last, record.time) <= record.time;
  });
}

std::uint64_t scattered(std::uint64_t time) {
  return (time ^ time >> 31) * 0x9e37'79b9'7f4a'7c15ULL;
}

TEST(PublicRecordings, GiveTheSameInEveryOrderOfTheirRecords) {
  if (const auto reason = test::why_no_recordings(); !reason.empty()) GTEST_SKIP() << reason;
  const test::TemporaryDirectory directory;
  std::vector<std::string> left_out;
  int compared = 0, unsorted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::recordings_directory())) {
    const auto name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.find(".data") == std::string::npos) continue;
    SCOPED_TRACE(name);
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    auto parts = cut(entry.path(), bytes);
    if (!parts.why_not.empty()) {
      left_out.push_back(name + ": " + parts.why_not);
      continue;
    }
    const auto expected = told(entry.path());
    // Records of one time keep their order: nothing else says which of them came first.
    const auto compare_sorted_by = [&](auto key) {
      std::stable_sort(parts.records.begin(), parts.records.end(),
                       [key](const auto& a, const auto& b) { return key(a.time) < key(b.time); });
      std::string sorted = bytes.substr(0, parts.begin);
      for (const auto& record : parts.records) sorted += bytes.substr(record.begin, record.size);
      sorted += bytes.substr(parts.begin + parts.size);
      ASSERT_EQ(sorted.size(), bytes.size());
      std::ofstream(directory / "perf.data", std::ios::binary) << sorted;
      EXPECT_TRUE(told(directory / "perf.data") == expected);
    };
    if (!is_sorted(parts.records)) ++unsorted;
    compare_sorted_by(scattered);
    compare_sorted_by([](std::uint64_t time) { return time; });
    compare_sorted_by([](std::uint64_t time) { return ~time; });
    ++compared;
  }
  RecordProperty("compared", compared);
  RecordProperty("unsorted", unsorted);
  RecordProperty("left_out", ::testing::PrintToString(left_out));
  EXPECT_GE(compared, 15);
  EXPECT_GE(unsorted, 5) << "recordings that perf wrote out of order";
}

}  // namespace
}  // namespace skid::locate
