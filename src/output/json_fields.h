// What several JSON outputs have in common (docs/formats.md).
#pragma once

#include "analysis/measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

/// null for nullopt. JSON has no NaN and no infinity: they are written as null, too.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Json>
  static void to_json(Json& json, const std::optional<T>& value) {
    json = value ? Json(*value) : Json();
  }
};

namespace skid::output {

/// Ordered, so that a reader meets the keys as docs/formats.md lists them.
using Json = nlohmann::ordered_json;

/// null for an empty text.
Json text_or_null(std::string_view text);

/// An array of what `json_of` makes of each element.
template <typename Elements, typename JsonOf>
Json array_of(const Elements& elements, JsonOf json_of) {
  Json array = Json::array();
  for (const auto& element : elements) array.push_back(json_of(element));
  return array;
}

/// Of a measurement or a loop; null for nullopt.
Json json_of_delay(const std::optional<analysis::Delay>& delay, const analysis::SamplePairs& pairs);

/// "0x1f"
std::string hexadecimal(std::uint64_t value);

/// The keys of "cpu".
Json cpu_json(const analysis::Cpu& cpu);

/// A JSON document as a command prints it.
std::string document_text(const Json& document);

}  // namespace skid::output
