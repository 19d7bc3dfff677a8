// Files that xz, zstd or gzip compressed: modules of the kernel, and the symbols within stripped
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace skid::symbols {

/// Whether a file begins as one that xz, zstd or gzip compressed. `begin`: its first 6 bytes at
/// least.
bool is_compressed(std::span<const std::byte> begin);

/// Returns the content of a file that was compressed by xz, zstd or gzip, of at most `most` bytes;
/// empty if it is none of these, damaged, or larger. The decompressor takes 128 MiB at most in
/// addition.
std::string decompressed(std::span<const std::byte> file, std::uint64_t most);

}  // namespace skid::symbols
