// A perf.data file, in file or pipe mode, from its header to its digest.
#include "tests/fuzz/read_recording.h"
#include "tests/fuzz/target.h"

#include <cstdint>
#include <span>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const test::MemoryFile file(text_of(input));
  auto recording = perfdata::Recording::open(file.path());
  read_records(recording);
  // One thread and two give the same result, whatever the pieces and what is counted early.
  auto by_one = perfdata::Recording::open(file.path());
  const auto expected = read_digest(by_one, {.worth = UINT64_MAX});
  auto by_two = perfdata::Recording::open(file.path());
  const std::uint64_t quiet = input.size() % 2 == 0 ? 1 : 1000;
  require(read_digest(by_two, {.worth = 0, .piece = 1500, .quiet = quiet}) == expected);
}
