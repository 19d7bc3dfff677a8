// Disassembly. No other code uses Capstone.
#pragma once

#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skid::symbols {

struct Instruction {
  std::uint64_t address = 0;
  unsigned size = 0;  ///< bytes
  std::string text;   ///< "mov rax, qword ptr [rdi]"; ".byte 0x06" for bytes that do not decode
};

/// Writes code as text from its first byte on, one instruction after the other. Where instructions
/// begin in the code of a function, instructions::starts_in() decides. Bytes that do not decode,
/// including an instruction truncated by the end of the code, are stepped over in the smallest unit
/// of the instruction set: one byte on x86-64, four (or the remaining ones) on aarch64.
class Disassembler {
 public:
  explicit Disassembler(Arch arch);

  /// Returns the first `limit` instructions in `code` with their texts. `address`: that of the
  /// first byte.
  std::vector<Instruction> decode(std::span<const std::byte> code, std::uint64_t address,
                                  std::size_t limit) const;
  /// Returns the text of the instruction that consists of all of `code`; ".byte 0x62, …" if it is
  /// not known. `address`: that of the first byte.
  std::string text(std::span<const std::byte> code, std::uint64_t address) const;

 private:
  struct Handle;
  struct Close {
    void operator()(Handle* handle) const noexcept;
  };
  std::unique_ptr<Handle, Close> handle_;
};

/// Sets up third-party libraries: libelf stores its version, and Capstone makes tables when it
/// first decodes, both without a lock. To be called once, before several threads open files and
/// decode. Each Module and Disassembler is still for one thread at a time.
void prepare_for_threads();

}  // namespace skid::symbols
