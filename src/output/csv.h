// Fields of comma-separated values.
#pragma once

#include "analysis/measurement.h"

#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {

/// A text as a field: control characters escaped, so that a record is one line whatever the name,
/// and quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text);

/// A number, "true" or "false".
template <typename T>
requires std::is_arithmetic_v<T> std::string csv_field(T value) {
  return fmt::format("{}", value);
}

/// Empty, which readers take as missing, where nothing is known.
template <typename T>
std::string csv_field(const std::optional<T>& value) {
  return value && std::isfinite(static_cast<double>(*value)) ? csv_field(*value) : std::string();
}

/// Fields of these values, separated by commas.
template <typename... Values>
std::string csv_fields(const Values&... values) {
  return fmt::format("{}", fmt::join(std::array{csv_field(values)...}, ","));
}

/// The offset that `share` of the samples do not exceed; empty without samples.
inline std::string quantile_field(const analysis::OffsetCounts& offsets, double share) {
  return offsets.empty() ? std::string() : csv_field(offsets.quantile(share));
}

/// Which recording, machine, event and level a measurement is of, as fields under
/// `kIdentityHeader`.
std::string identity_fields(const analysis::Measurement& measurement);
inline constexpr std::string_view kIdentityHeader =
    "run,file,cpu,kernel,event,requested,recorded,level_requested,level,repeat,synthetic,emulated";

}  // namespace skid::output
