#include "src/commands/trace_column.h"

#include "src/perfdata/format.h"
#include "src/support/json_text.h"

#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

using Json = nlohmann::ordered_json;

template <typename Number>
Json json_number(Number value) {
  constexpr Number kMost = Number{1} << 53;  // what a double holds exactly
  bool exact = value <= kMost;
  if constexpr (std::is_signed_v<Number>) exact = exact && value >= -kMost;
  return exact ? Json(value) : Json(fmt::format("{}", value));
}

struct JsonOf {
  Json operator()(const std::string& text) const { return text; }
  template <typename Number>
  Json operator()(const std::vector<Number>& numbers) const {
    Json array = Json::array();
    for (const Number number : numbers) array.push_back(json_number(number));
    return array;
  }
  template <typename Number>
  Json operator()(Number number) const {
    return json_number(number);
  }
};

Json json_of(const perfdata::Tracepoints& tracepoints, const perfdata::Attribute& attribute,
             std::span<const std::byte> raw) {
  if (attribute.type != perfdata::PERF_TYPE_TRACEPOINT) return nullptr;
  const auto* format = tracepoints.format(attribute.config);
  if (format == nullptr) return perfdata::Tracepoints::kUnknown;
  const auto fields = tracepoints.fields(*format, raw);
  if (!fields) return perfdata::Tracepoints::kDamaged;
  Json object = Json::object();
  for (const auto& [name, value] : *fields) {
    object[std::string(name)] = std::visit(JsonOf{}, value);
  }
  return object;
}

}  // namespace

std::string TraceColumn::text(const perfdata::Attribute& attribute,
                              std::span<const std::byte> raw) {
  if (attribute.type != perfdata::PERF_TYPE_TRACEPOINT) return {};
  return tracepoints_.text(attribute.config, raw);
}

std::string TraceColumn::json(const perfdata::Attribute& attribute,
                              std::span<const std::byte> raw) const {
  return json_text(json_of(tracepoints_, attribute, raw));
}

}  // namespace skid::commands
