// The note of a target's ELF file.
#include "runway/target.h"
#include "src/support/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const skid::fuzz::MemoryFile file(data, size);
  try {
    skid::runway::read_target(file.path());
  } catch (const skid::InputError&) {  // an expected refusal
  }
  return 0;
}
