// What several JSON outputs have in common (docs/formats.md).
#pragma once

#include "analysis/measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace skid::output {

/// Ordered, so that a reader meets the keys as docs/formats.md lists them.
using Json = nlohmann::ordered_json;

/// null for an empty text.
Json text_or_null(std::string_view text);

template <typename T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// JSON has no NaN and no infinity: null for them.
Json finite_or_null(double value);
Json finite_or_null(const std::optional<double>& value);

/// "0x1f"
std::string hexadecimal(std::uint64_t value);

/// The keys of "cpu".
Json cpu_json(const analysis::Cpu& cpu);

}  // namespace skid::output
