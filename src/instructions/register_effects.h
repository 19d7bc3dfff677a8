// How instructions of x86-64 change general-purpose registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skid::instructions {

/// What an instruction does to the general-purpose registers, and which value before it follows
/// from the values after it. Numbers of registers: see AddressFormula.
struct RegisterEffects {
  /// Bit n: the instruction may write register n, or a part of it.
  std::uint16_t written = 0;
  /// A value before the instruction: that of `from` after it, plus `addend`, modulo 2^64.
  struct Restored {
    std::uint8_t of = 0, from = 0;
    std::uint64_t addend = 0;
    friend bool operator==(const Restored&, const Restored&) = default;
  };
  /// nullopt: no value of a written register follows.
  std::optional<Restored> restored = {};
  /// A value after the instruction that two registers share.
  struct Copied {
    std::uint8_t of = 0, from = 0;  ///< different; `of` was written, and has the value of `from`
    std::uint64_t addend = 0;       ///< plus this, modulo 2^64
    friend bool operator==(const Copied&, const Copied&) = default;
  };
  std::optional<Copied> copied = {};
  /// Strings: the bytes by which each part moved RSI and RDI, as far as it writes them, up or down;
  /// 0: another instruction.
  std::uint8_t string_step = 0;

  bool writes(std::uint8_t number) const noexcept { return (written >> number & 1U) != 0; }
};

/// Returns the effects of the first instruction in `code`; nullopt if it does not decode.
///
/// Values are restored where a constant was added (ADD, SUB, INC, DEC, LEA; the stack pointer by
/// PUSH, POP, CALL, RET), and RBP of LEAVE (Intel SDM Vol. 2). Values are copied by MOV and LEA of
/// 64 bits. A system call writes RAX, RCX and R11 (System V ABI, AMD64 supplement, "Linux Kernel
/// Conventions"). Other instructions that enter the system count as writing all registers.
std::optional<RegisterEffects> register_effects(std::span<const std::byte> code);

}  // namespace skid::instructions
