// Fields of comma-separated values.
#pragma once

#include "analysis/measurement.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skid::output {

/// A text as a field: control characters escaped, so that a record is one line whatever the name,
/// and quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text);

/// Empty, which readers take as missing, where nothing is known.
template <typename T>
std::string csv_field(const std::optional<T>& value) {
  return value && std::isfinite(static_cast<double>(*value)) ? fmt::format("{}", *value)
                                                             : std::string();
}

/// Which recording, machine, event and level a measurement is of, as fields under
/// `kIdentityHeader`.
std::string identity_fields(const analysis::Measurement& measurement);
inline constexpr std::string_view kIdentityHeader =
    "run,file,cpu,kernel,event,requested,recorded,level_requested,level,repeat,synthetic";

}  // namespace skid::output
