// What tests of reading share: recordings in memory, the samples in them, and the fault that is
// found.
#pragma once

#include "src/machine/diagnosis.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/recording_in_memory.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// The addresses of the samples that are left of a recording, in the order of the file.
inline std::vector<std::uint64_t> ips_of(perfdata::Recording& recording) {
  std::vector<std::uint64_t> ips;
  perfdata::Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const auto decoded = recording.decoder().decode(record);
    if (decoded.problem == perfdata::SampleDecoder::Problem::none) ips.push_back(decoded.sample.ip);
  }
  return ips;
}

/// Two events with the ids 11 and 12, and 21, and a sample of each: of 21 at 1, of 12 at 2.
inline RecordingBuilder two_events() {
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  auto builder = RecordingBuilder()
                     .event({.sample_type = type, .ids = {11, 12}})
                     .event({.sample_type = type, .ids = {21}});
  const auto add = [&](std::uint64_t id, std::uint64_t ip) {
    builder.record(PERF_RECORD_SAMPLE, 2, builder.writer().u64(id).u64(ip).bytes());
  };
  add(21, 0x1);
  add(12, 0x2);
  return builder;
}

/// That the recording has one fault, which is described by a text with this part.
inline void expect_fault(const perfdata::Recording& recording, std::string_view part) {
  EXPECT_TRUE(recording.read_in_part());
  ASSERT_EQ(recording.faults().size(), 1u);
  EXPECT_THAT(describe(recording.faults()[0]), ::testing::HasSubstr(std::string(part)));
}

/// Opens recordings as regular files. A second one replaces the content of the first.
class RecordingTest : public ::testing::Test {
 protected:
  perfdata::Recording open(const std::string& bytes) const {
    file_.set(bytes);
    return perfdata::Recording::open(path());
  }
  perfdata::Recording open(const RecordingBuilder& builder) const { return open(builder.bytes()); }
  /// The message with which a recording is refused; "no error" when it is opened.
  std::string error_of(const std::string& bytes) const {
    return message_of<InputError>([&] { open(bytes); });
  }
  std::filesystem::path path() const { return file_.path(); }

  MemoryFile file_;
};

}  // namespace skid::test
