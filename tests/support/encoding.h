// The opcode of an x86-64 instruction, to identify encodings.
#pragma once

#include <cstddef>
#include <span>

namespace skid::test {

struct Encoding {
  enum class Kind { legacy, vex, evex };

  Kind kind = Kind::legacy;
  bool has66 = false, has_f2 = false, has_f3 = false;  ///< prefixes before legacy opcodes
  unsigned map = 0;     ///< 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; further ones of EVEX
  unsigned opcode = 0;  ///< the byte
  unsigned modrm = 0;   ///< the byte after the opcode, whether or not it is a ModRM byte
  unsigned opmask = 0;  ///< EVEX: the mask register, 0 for none

  bool names_registers() const noexcept { return modrm >= 0xc0; }
  unsigned extension() const noexcept { return modrm >> 3U & 7U; }  ///< the /digit
};

/// Bytes past the end of `code` count as zero.
inline Encoding encoding_of(std::span<const std::byte> code) {
  std::size_t at = 0;
  const auto byte = [&](std::size_t ahead = 0) {
    return at + ahead < code.size() ? std::to_integer<unsigned>(code[at + ahead]) : 0U;
  };
  Encoding result;
  const auto is_prefix = [](unsigned value) {
    return value == 0x66 || value == 0x67 || value == 0xf0 || value == 0xf2 || value == 0xf3 ||
           value == 0x2e || value == 0x36 || value == 0x3e || value == 0x26 || value == 0x64 ||
           value == 0x65;
  };
  for (; is_prefix(byte()); ++at) {
    result.has66 |= byte() == 0x66;
    result.has_f2 |= byte() == 0xf2;
    result.has_f3 |= byte() == 0xf3;
  }
  if (byte() == 0xc5) {
    result.kind = Encoding::Kind::vex;
    result.map = 1;
    at += 2;
  } else if (byte() == 0xc4) {
    result.kind = Encoding::Kind::vex;
    result.map = byte(1) & 0x1fU;
    at += 3;
  } else if (byte() == 0x62) {
    result.kind = Encoding::Kind::evex;
    result.map = byte(1) & 7U;
    result.opmask = byte(3) & 7U;
    at += 4;
  } else {
    if (byte() >> 4U == 4) ++at;  // REX
    if (byte() == 0x0f) {
      ++at;
      result.map = byte() == 0x38 ? 2 : byte() == 0x3a ? 3 : 1;
      if (result.map > 1) ++at;
    }
  }
  result.opcode = byte();
  result.modrm = byte(1);
  return result;
}

}  // namespace skid::test
