// What comes with the program: targets, so that it needs no compiler for them, and the C and
// assembly files of runway/runtime, which all others are compiled from.
#pragma once

#include "runway/specification.h"

#include <filesystem>
#include <span>

namespace skid::runway {

/// PREFIX/share/skidscan/targets.zst of the program PREFIX/bin/skidscan. Packages have it.
std::filesystem::path shipped_file();

/// The bytes of the target that this version of skidscan builds of a specification. nullopt: the
/// file does not have it. Throws Error where the file is damaged.
std::optional<std::string> shipped_target(const Specification& specification,
                                          const std::filesystem::path& file = shipped_file());

/// What precedes the bytes of a target of `size` bytes in the file before its compression by zstd.
std::string shipped_header(const Specification& specification, std::size_t size);

struct RuntimeFile {
  std::string_view name;  ///< "main.c"
  std::string_view text;
};

std::span<const RuntimeFile> runtime_files();

}  // namespace skid::runway
