// Versions of programs.
#pragma once

#include <compare>
#include <string_view>

namespace skid {

/// The version of a program that introduced an option; 0.0: all versions have it.
struct Since {
  int major = 0, minor = 0;

  friend auto operator<=>(const Since&, const Since&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Reads a version of the kernel or of perf: "6.5.0-35-generic" is 6.5; 0.0 if it is none.
Since version_of(std::string_view release);

}  // namespace skid
