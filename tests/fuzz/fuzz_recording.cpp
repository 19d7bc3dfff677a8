// A perf.data file, in file or pipe mode, from its header to its digest.
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const skid::fuzz::MemoryFile file(data, size);
  try {
    auto recording = skid::perfdata::Recording::open(file.path());
    skid::fuzz::read_records(recording);
    recording.rewind();
    skid::fuzz::read_digest(recording);
  } catch (const skid::InputError&) {  // what it says is the answer
  }
  return 0;
}
