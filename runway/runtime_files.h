// The C and assembly files of runway/runtime, which every target is compiled from.
#pragma once

#include <span>
#include <string_view>

namespace skid::runway {

struct RuntimeFile {
  std::string_view name;  ///< "main.c"
  std::string_view text;
};

std::span<const RuntimeFile> runtime_files();

}  // namespace skid::runway
