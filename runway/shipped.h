// What comes with the program: targets, so that it needs no compiler for them, the C and assembly
// files of runway/runtime, which all others are compiled from, and a run as an example.
#pragma once

#include "runway/specification.h"

#include <filesystem>
#include <span>

namespace skid::runway {

/// PREFIX/share/skidscan/NAME of the program PREFIX/bin/skidscan, or BUILD/share/skidscan/NAME of
/// BUILD/skidscan where that exists. `name`: relative to the directory.
std::filesystem::path shipped_file(const std::filesystem::path& name);

/// A run with all precise levels, of an emulated CPU: examples/README.md. Throws Error where it is
/// missing.
std::filesystem::path example_run();

/// Built targets; packages have them.
inline constexpr const char* kShippedTargets = "targets.zst";

/// The bytes of the target that this version of skidscan builds of a specification. nullopt: the
/// file does not have it. Throws Error where the file is damaged.
std::optional<std::string> shipped_target(
    const Specification& specification,
    const std::filesystem::path& file = shipped_file(kShippedTargets));

/// What precedes the bytes of a target of `size` bytes in the file before its compression by zstd.
std::string shipped_header(const Specification& specification, std::size_t size);

struct RuntimeFile {
  std::string_view name;  ///< "main.c"
  std::string_view text;
};

std::span<const RuntimeFile> runtime_files();

}  // namespace skid::runway
