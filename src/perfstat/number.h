// Numbers as perf stat prints them, in whatever locale it ran.
#pragma once

#include <optional>
#include <string_view>

namespace skid::perfstat {

/// The largest count that is believed. Counters have 64 bits, and scaling multiplies.
inline constexpr double kMostEvents = 1e24;

/// `text` without white space around it.
std::string_view trimmed(std::string_view text);

/// A number without digit grouping, its decimal separator a point or a comma: "0.69", "0,69", "-3".
/// nullopt for anything else, also for what is not finite.
std::optional<double> plain_number(std::string_view text);

/// A number with or without digits in groups of three: "1,234", "1.234", "1 234,56" with any of the
/// separators that locales have. Of "1.234" alone only `whole` tells whether it is grouped: true
/// for counts of events, which perf prints as whole numbers.
std::optional<double> grouped_number(std::string_view text, bool whole);

}  // namespace skid::perfstat
