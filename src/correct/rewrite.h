// A copy of a recording in which samples have other addresses.
#pragma once

#include "src/symbols/file_location.h"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>

namespace skid::locate {
struct Digest;
}  // namespace skid::locate

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::correct {

/// Samples of one event (by its index) in user mode, at one place of a file. `ip` is 0 unless
/// processes that map the file at different addresses are distinguished.
struct MovedFrom {
  std::uint32_t attribute = 0;
  symbols::FileLocation location;
  std::uint64_t ip = 0;

  friend auto operator<=>(const MovedFrom&, const MovedFrom&) = default;
};
/// The bytes to add to the addresses of samples, modulo 2^64.
using Moves = std::map<MovedFrom, std::uint64_t>;

/// Throws InputError if a corrected copy of that recording cannot be made: it is in pipe mode, a
/// directory or compressed, it has no version of perf to which the mark could be added, or it is
/// damaged outside its records.
void check_rewritable(const perfdata::Recording& recording);

/// Writes the copy. In it the addresses of moved samples are the corrected ones, also in the first
/// user entry of their call chains and in their registers. Nothing else changes except perf's
/// version, which ends with perfdata::kCorrectedMark and skidscan's version.
///
/// `recording`: as digest() left it, which returned `digest`; samples that its filter leaves out do
/// not change. `path` is written as a whole or not at all (StagedFile). Throws Error if it cannot
/// be written.
void write_corrected(perfdata::Recording& recording, const locate::Digest& digest,
                     const Moves& moves, const std::filesystem::path& path);

}  // namespace skid::correct
