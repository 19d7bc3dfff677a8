// Decodes x86-64 instructions with Capstone, as a reference.
#pragma once

#include "src/instructions/instruction.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

struct CapstoneInstruction {
  unsigned length = 0;        ///< bytes
  std::string_view mnemonic;  ///< "rep movsb"; lives until the next instruction is decoded
  std::string_view operands;  ///< "byte ptr [rdi], byte ptr [rsi]"; the same
  /// Access to each operand in memory.
  std::vector<instructions::Access> memory;
};

class CapstoneDecoder {
 public:
  CapstoneDecoder();
  CapstoneDecoder(const CapstoneDecoder&) = delete;
  CapstoneDecoder& operator=(const CapstoneDecoder&) = delete;
  ~CapstoneDecoder();

  /// "4.0": the version of the library in use.
  static std::string version();

  /// The first instruction in `code`, whose first byte is at `address`.
  std::optional<CapstoneInstruction> decode(std::span<const std::byte> code, std::uint64_t address);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace skid::test
