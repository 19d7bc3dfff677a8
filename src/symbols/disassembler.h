// Decoded instructions: their addresses and texts. No other code uses Capstone.
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

/// Decodes code from its first byte on, one instruction after the other. Bytes that do not decode,
/// including an instruction truncated by the end of the code, are stepped over in the smallest unit
/// of the instruction set: one byte on x86-64, four (or the remaining ones) on aarch64.
class Disassembler {
 public:
  explicit Disassembler(Arch arch);

  /// Returns the addresses of the instructions in `code`, whose first byte is at `address`. Bytes
  /// that do not decode count as one-byte (aarch64: four-byte) instructions, so that the result
  /// covers `code`.
  std::vector<std::uint64_t> starts(std::span<const std::byte> code, std::uint64_t address) const;

  /// Returns the first `limit` instructions in `code` with their texts. `address`: that of the
  /// first byte.
  std::vector<Instruction> decode(std::span<const std::byte> code, std::uint64_t address,
                                  std::size_t limit) const;

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
