// Addresses as they are passed between the layers.
#pragma once

#include <cstdint>

namespace skid {

/// The instruction sets that targets are built for and recordings are decoded for.
enum class Arch { x86_64, aarch64 };

/// Bytes [begin, end) of an address space; each use documents which one.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool contains(std::uint64_t address) const noexcept { return begin <= address && address < end; }
  std::uint64_t size() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin == end; }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

}  // namespace skid
