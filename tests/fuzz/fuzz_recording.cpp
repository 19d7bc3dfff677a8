// A perf.data file, in file or pipe mode, from its header to its digest.
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_recording.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const skid::fuzz::MemoryFile file(data, size);
  try {
    auto recording = skid::perfdata::Recording::open(file.path());
    skid::fuzz::read_records(recording);
    // One thread and two give the same result, whatever the pieces and what is counted early.
    auto by_one = skid::perfdata::Recording::open(file.path());
    const auto expected = skid::fuzz::read_digest(by_one, {.worth = UINT64_MAX});
    auto by_two = skid::perfdata::Recording::open(file.path());
    const std::uint64_t quiet = size % 2 == 0 ? 1 : 1000;
    if (skid::fuzz::read_digest(by_two, {.worth = 0, .piece = 1500, .quiet = quiet}) != expected) {
      std::abort();
    }
  } catch (const skid::InputError&) {  // an expected refusal
  }
  return 0;
}
