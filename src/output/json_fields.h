// Fields that several JSON outputs share (docs/formats.md).
#pragma once

#include "analysis/measurement.h"
#include "src/support/fields.h"

#include <array>
#include <cstddef>
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

namespace skid {

void fields(auto& io, Of<analysis::Cpu> auto& cpu) {
  io("vendor", OrNull{cpu.vendor});
  io("model_name", OrNull{cpu.model_name});
  io("family", cpu.family, kAnyInteger);
  io("model", cpu.model, kAnyInteger);
  io("stepping", cpu.stepping, kAnyInteger);
  io("microcode", OrNull{cpu.microcode});
  io("arch", OrNull{cpu.arch});
  io("hypervisor", cpu.hypervisor);
  io.derived("emulated", cpu.emulated());
}

SKID_WRITTEN_FIELDS(analysis::Bias, largest_ratio, chi_square, degrees, p)

}  // namespace skid

namespace skid::output {

/// null for an empty text.
Json text_or_null(std::string_view text);

/// An array of the results of `json_of` for each element.
template <typename Elements, typename JsonOf>
Json array_of(const Elements& elements, JsonOf json_of) {
  Json array = Json::array();
  for (const auto& element : elements) array.push_back(json_of(element));
  return array;
}

/// The names of an enumeration, from number `first` on, with the count of each.
enum class Zeros { kept, left_out };
template <typename Enum, typename Count, std::size_t N>
Json counts_by_name(const std::array<Count, N>& counts, Zeros zeros, std::size_t first = 0) {
  Json object = Json::object();
  for (std::size_t i = first; i < N; ++i) {
    if (counts[i] == 0 && zeros == Zeros::left_out) continue;
    object[std::string(name_of(static_cast<Enum>(i)))] = counts[i];
  }
  return object;
}

/// Of a measurement or a loop; null for nullopt.
Json json_of_delay(const std::optional<analysis::Delay>& delay, const analysis::SamplePairs& pairs);

/// "0x1f"
std::string hexadecimal(std::uint64_t value);

/// A JSON document as a command prints it: its schema and skidscan's version, then `keys`.
std::string document_text(std::string_view schema, const Json& keys);

}  // namespace skid::output
