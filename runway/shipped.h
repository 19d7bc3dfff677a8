// Files that come with the program: built targets, for which no compiler is needed, and a run as an
// example.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace skid::runway {

struct Specification;

/// Returns PREFIX/share/skidscan/NAME of the program PREFIX/bin/skidscan, or
/// BUILD/share/skidscan/NAME of BUILD/skidscan if that exists. `name` is relative to the directory.
std::filesystem::path shipped_file(const std::filesystem::path& name);

/// Returns the path of a run with all precise levels, of an emulated CPU: examples/README.md.
/// Throws Error if it is missing.
std::filesystem::path example_run();

/// File with the built targets; packages contain it.
inline constexpr const char* kShippedTargets = "targets.zst";

/// Reads the bytes of the target that this version of skidscan builds for a specification. nullopt:
/// the file does not have it. Throws Error if the file is damaged.
std::optional<std::string> shipped_target(
    const Specification& specification,
    const std::filesystem::path& file = shipped_file(kShippedTargets));

/// Returns what precedes the bytes of a target of `size` bytes in the file before its compression
/// by zstd.
std::string shipped_header(const Specification& specification, std::size_t size);

}  // namespace skid::runway
