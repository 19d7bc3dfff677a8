// A place in a mapped file.
#pragma once

#include <compare>
#include <cstdint>

namespace skid::symbols {

/// The number of a mapped file in AddressSpaces.
using FileIndex = std::uint32_t;

/// An address resolved: a file and a byte offset in it.
struct FileLocation {
  FileIndex file = 0;
  std::uint64_t offset = 0;  ///< bytes from the start of the file

  friend auto operator<=>(const FileLocation&, const FileLocation&) = default;
};

}  // namespace skid::symbols
