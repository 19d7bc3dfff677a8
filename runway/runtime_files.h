// The C and assembly files of runway/runtime, which every target is compiled from.
#pragma once

#include <span>
#include <string_view>

namespace skid::runway {

/// A source file of targets.
struct RuntimeFile {
  std::string_view name;  ///< "main.c"
  std::string_view text;
};

/// Lists the files of runway/runtime.
std::span<const RuntimeFile> runtime_files();

}  // namespace skid::runway
