// A target's ELF file, for the note that says what it is.
#include "runway/target.h"
#include "src/support/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const skid::fuzz::MemoryFile file(data, size);
  try {
    skid::runway::read_target(file.path());
  } catch (const skid::InputError&) {  // what it says is the answer
  }
  return 0;
}
