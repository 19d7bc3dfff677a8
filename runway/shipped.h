// Targets that come with the program, so that it needs no compiler for them.
#pragma once

#include "runway/specification.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace skid::runway {

/// PREFIX/share/skidscan/targets.zst of the program PREFIX/bin/skidscan. Packages have it.
std::filesystem::path shipped_file();

/// The bytes of the target that this version of skidscan builds of a specification. nullopt: the
/// file does not have it. Throws Error where the file is damaged.
std::optional<std::string> shipped_target(const Specification& specification,
                                          const std::filesystem::path& file = shipped_file());

/// What precedes the bytes of a target of `size` bytes in the file before its compression by zstd.
std::string shipped_header(const Specification& specification, std::size_t size);

}  // namespace skid::runway
