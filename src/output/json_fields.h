// Fields that several JSON outputs share, and CSV, which is made of JSON (docs/formats.md).
#pragma once

#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/measurement.h"
#include "src/output/inspection/inspection.h"
#include "src/output/rates/rates.h"
#include "src/support/fields.h"
#include "src/support/json_text.h"

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

/// null for nullopt. JSON has no NaN and no infinity: they are written as null, too.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Json>
  static void to_json(Json& json, const std::optional<T>& value) {
    json = value ? Json(*value) : Json();
  }
};

namespace skid {

void fields(auto& io, Of<analysis::Cpu> auto& value) {
  SKID_MEMBERS_OR_NULL(vendor, model_name);
  io("family", value.family, kAnyInteger);
  io("model", value.model, kAnyInteger);
  io("stepping", value.stepping, kAnyInteger);
  SKID_MEMBERS_OR_NULL(microcode, arch);
  io("hypervisor", value.hypervisor);
  io.derived("emulated", value.emulated());
}

SKID_WRITTEN_FIELDS(analysis::Bias, largest_ratio, chi_square, degrees, p)

}  // namespace skid

namespace skid::output {

/// null for an empty text.
inline Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

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
inline Json json_of_delay(const std::optional<analysis::Delay>& delay,
                          const analysis::SamplePairs& pairs) {
  if (!delay) return nullptr;
  const analysis::Delay& value = *delay;
  FieldWriter io;
  SKID_MEMBERS(low, high, p5, p50, p95, predicted, independent);
  io("pairs", pairs.pairs());
  io("left_out", pairs.left_out);
  return io.take();
}

/// "0x1f"
inline std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

/// A JSON document as a command prints it: its schema and skidscan's version, then `keys`.
inline std::string document_text(std::string_view schema, const Json& keys) {
  Json document{{"schema", schema}, {"tool_version", SKIDSCAN_VERSION}};
  document.update(keys);
  return json_text(document, 2) + '\n';
}

// Comma-separated values, made of the JSON of the same things.

/// A value as a field: texts quoted where they must be (RFC 4180), with control characters escaped,
/// so that a record is one line whatever the name; the elements of an array with spaces between
/// them; empty, which readers take as missing, for null and for numbers that are not finite.
std::string csv_field(const Json& value);

// Columns are words "NAME=PLACE", PLACE being the keys that lead to the value in the JSON of a row:
// "cpu=cpu/model_name". "NAME" alone is the key, too.

/// The names of `columns`, separated by commas.
std::string csv_header(std::string_view columns);
/// The fields of `columns`, separated by commas. Empty where neither `row` nor `more` has the keys.
std::string csv_fields(std::string_view columns, const Json& row, const Json& more = {});

/// Which recording, machine, event and level a measurement is of.
inline constexpr std::string_view kIdentityColumns =
    "run file cpu=cpu/model_name kernel event=event/label requested=event/requested "
    "recorded=event/recorded level_requested=precise/requested level=precise/recorded repeat "
    "synthetic emulated=cpu/emulated";

}  // namespace skid::output
