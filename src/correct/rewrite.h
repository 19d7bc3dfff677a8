// A copy of a recording in which samples have other addresses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace skid::locate {
struct Digest;
struct VisitedRecord;
}  // namespace skid::locate

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::correct {

/// Returns the bytes to add to the address of a sample in user mode with a location, modulo 2^64;
/// nullopt: it stays.
using MoveOf = std::function<std::optional<std::uint64_t>(const locate::VisitedRecord&)>;

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
                     const MoveOf& move_of, const std::filesystem::path& path);

}  // namespace skid::correct
