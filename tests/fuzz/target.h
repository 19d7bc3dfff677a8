// What fuzz targets share. Each defines use(), which target.cpp gives the inputs.
#pragma once

#include "src/support/error.h"
#include "tests/support/recording_in_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace skid::fuzz {

/// Uses an input. Throws InputError, which is an expected refusal; ends the process on a bug. What
/// may not refuse is called without exceptions (noexcept).
void use(std::span<const std::uint8_t> input);

inline std::string_view text_of(std::span<const std::uint8_t> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Requires that a text has no control characters but line ends.
inline void require_no_control_characters(const std::string& text) {
  require(std::none_of(text.begin(), text.end(), [](char character) {
    return (static_cast<unsigned char>(character) < 0x20 && character != '\n') || character == 0x7f;
  }));
}

}  // namespace skid::fuzz
