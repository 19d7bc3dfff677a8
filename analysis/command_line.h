// A recorded command line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace skid::analysis {

/// A program and its arguments.
using CommandLine = std::vector<std::string>;
/// The most arguments of a command line that are kept.
inline constexpr std::size_t kMostArguments = 1000;

}  // namespace skid::analysis
