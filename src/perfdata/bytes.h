// Numbers in a recording: their byte order, and bit-fields.
#pragma once

#include "src/support/byte_order.h"

#include <cstdint>

namespace skid {
class ByteReader;
}  // namespace skid

namespace skid::perfdata {

using skid::ByteOrder;
using skid::ByteReader;
using skid::kHostOrder;

/// Returns a bit-field of a u64 that was read in the recording's byte order. `first`: its lowest
/// bit, counted in the order of declaration; a big-endian compiler allots bit-fields from the most
/// significant bit down. `width`: bits.
constexpr unsigned bit_field(std::uint64_t word, ByteOrder order, unsigned first,
                             unsigned width = 1) noexcept {
  const unsigned shift = order == ByteOrder::little ? first : 64 - first - width;
  return static_cast<unsigned>(word >> shift) & ((1u << width) - 1);
}

}  // namespace skid::perfdata
