// How instructions of x86-64 change general-purpose registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skid::instructions {

/// What an instruction does to the general-purpose registers. Numbers of registers: see
/// AddressFormula.
struct RegisterEffects {
  /// Bit n: the instruction may write register n, or a part of it.
  std::uint16_t written = 0;
  /// A register that the instruction computes from others: its low `bits` are those of `from` plus
  /// `scale` times `second` plus `addend`, all before the instruction.
  struct Computed {
    std::uint8_t of = 0, from = 0, second = 0;
    std::int8_t scale = 0;  ///< 0: no second one
    std::uint8_t bits = 64;
    bool repeats_sign = false;  ///< the bits above are all as the highest of these; else 0
    std::uint64_t addend = 0;
    friend bool operator==(const Computed&, const Computed&) = default;
  };
  /// nullopt: it computes none, or otherwise.
  std::optional<Computed> computed = {};
  /// Strings: the bytes by which each part moved RSI and RDI, as far as it writes them, up or down;
  /// 0: another instruction.
  std::uint8_t string_step = 0;

  bool writes(std::uint8_t number) const noexcept { return (written >> number & 1U) != 0; }
};

/// Returns the effects of the first instruction in `code`; nullopt if it does not decode.
///
/// Computed are registers of 32 and 64 bits by MOV, MOVZX, MOVSX, MOVSXD and CDQE, by LEA, by ADD
/// and SUB of a register or a constant, by INC and DEC, and by AND with low bits; RSP by PUSH, POP,
/// CALL, RET and LEAVE (Intel SDM Vol. 2). A system call writes RAX, RCX and R11 (System V ABI,
/// AMD64 supplement, "Linux Kernel Conventions"). Other instructions that enter the system count as
/// writing all registers.
std::optional<RegisterEffects> register_effects(std::span<const std::byte> code);

}  // namespace skid::instructions
