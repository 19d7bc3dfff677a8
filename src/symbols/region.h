// A region of an address space: addresses that are mapped alike for some time.
#pragma once

#include "src/support/address.h"
#include "src/symbols/file_location.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace skid::symbols {

/// Addresses that have the same distance from the bytes of a file, for some time.
struct Region {
  static constexpr FileIndex kNoFile = 0xffff'ffff;

  AddressRange addresses{0, UINT64_MAX};        ///< never contains the last address, UINT64_MAX
  std::uint64_t since = 0, until = UINT64_MAX;  ///< all times in [since, until)
  FileIndex file = kNoFile;                     ///< kNoFile: nothing is mapped there
  std::uint64_t distance = 0;                   ///< file offset minus address, modulo 2^64
  std::size_t ancestors = 0;                    ///< number of ancestors that were searched

  /// Returns the place of an address of the region; nullopt if nothing is mapped.
  std::optional<FileLocation> location_of(std::uint64_t address) const {
    if (file == kNoFile) return std::nullopt;
    return FileLocation{file, address + distance};
  }
};

}  // namespace skid::symbols
