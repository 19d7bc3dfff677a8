// The entry of libFuzzer, and of replay_main.cpp.
#include "tests/fuzz/target.h"

#include "src/support/error.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    skid::fuzz::use({data, size});
  } catch (const skid::InputError&) {  // an expected refusal
  }
  return 0;
}
