// A recording from a pipe (perf record -o -), from its header to its digest.
#include "tests/fuzz/read_recording.h"
#include "tests/fuzz/target.h"

#include <cstdint>
#include <span>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const auto bytes = text_of(input).substr(0, test::FilledPipe::kRoom);
  const test::FilledPipe one(bytes), other(bytes);
  auto recording = perfdata::Recording::open(one.path());
  read_records(recording);
  auto again = perfdata::Recording::open(other.path());
  read_digest(again);
}
