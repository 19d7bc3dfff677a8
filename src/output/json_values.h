// JSON values shared by several outputs: unknown values, lists, counts by name.
#pragma once

#include "src/output/inspection/inspection.h"
#include "src/output/rates/rates.h"
#include "src/support/field_values.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

/// Writes nullopt as null. JSON has no NaN and no infinity: they are written as null, too.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Json>
  static void to_json(Json& json, const std::optional<T>& value) {
    json = value ? Json(*value) : Json();
  }
};

namespace skid::output {

/// Returns null for an empty text.
inline Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

/// Returns an array of the results of `json_of` for each element.
template <typename Elements, typename JsonOf>
Json array_of(const Elements& elements, JsonOf json_of) {
  Json array = Json::array();
  for (const auto& element : elements) array.push_back(json_of(element));
  return array;
}

/// Whether counts of 0 are written.
enum class Zeros { kept, left_out };
/// Returns an object of the counts of an enumeration's values, with their names as keys, from value
/// `first` on.
template <typename Enum, typename Count, std::size_t N>
Json counts_by_name(const std::array<Count, N>& counts, Zeros zeros, std::size_t first = 0) {
  Json object = Json::object();
  for (std::size_t i = first; i < N; ++i) {
    if (counts[i] == 0 && zeros == Zeros::left_out) continue;
    object[std::string(name_of(static_cast<Enum>(i)))] = counts[i];
  }
  return object;
}

/// Formats an address or code: "0x1f".
inline std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

}  // namespace skid::output
