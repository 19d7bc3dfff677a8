// Blocks of files: the unit in which places are cached and counted.
#pragma once

namespace skid::locate {

/// log2 of the bytes of a block, 128 KiB. Blocks begin at multiples of their size in the file.
inline constexpr unsigned kBlockBits = 17;

}  // namespace skid::locate
