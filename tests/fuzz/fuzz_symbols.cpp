// An ELF file that a recording names: its functions, source lines and instructions.
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace {

using skid::AddressRange;
using skid::symbols::Disassembler;
using skid::symbols::Module;

void disassemble(const Module& module, AddressRange range) {
  constexpr std::size_t kMostInstructions = 256;
  const auto arch = module.arch();
  if (!arch) return;
  const auto code = module.code(range);
  skid::instructions::starts_in(*arch, code, range.begin);
  Disassembler(*arch).decode(code, range.begin, kMostInstructions);
}

void ask(const Module& module, std::uint64_t address) {
  module.line_at(address);
  module.inlined_at(address);
  const auto function = module.function_at(address);
  if (!function) return;
  module.functions_named(function->name);
  // Only a part: a symbol can claim any size, and may cover the same bytes repeatedly.
  constexpr std::uint64_t kMostCode = 4096;
  const std::uint64_t begin = function->range.begin;
  disassemble(module, {begin, begin + std::min(function->range.size(), kMostCode)});
}

void read_module(const Module& module) {
  constexpr std::uint64_t kFileSize = 65536;
  constexpr std::uint64_t kStride = 97;
  for (std::uint64_t offset = 0; offset < kFileSize; offset += kStride) {
    if (const auto address = module.address_at(offset)) ask(module, *address);
  }
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t address : std::array<std::uint64_t, 4>{0, 0x1000, 0x401000, kLast}) {
    ask(module, address);
    module.code({address, kLast});
  }
}

}  // namespace

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const test::MemoryFile file(text_of(input));
  read_module(Module::open(file.path()));
}
