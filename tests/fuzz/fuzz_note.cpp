// The note of a target's ELF file.
#include "runway/target.h"
#include "tests/fuzz/target.h"

#include <cstdint>
#include <span>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const test::MemoryFile file(text_of(input));
  runway::read_target(file.path());
}
