#include "src/commands/trace_column.h"

#include "src/perfdata/attribute.h"
#include "src/support/json_text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
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

/// "5", "0x401000", "name", "1,2,3"
struct TextOf {
  bool is_hexadecimal = false;

  std::string operator()(const std::string& text) const { return text; }
  template <typename Number>
  std::string operator()(const std::vector<Number>& numbers) const {
    std::vector<std::string> texts;
    for (const Number number : numbers) texts.push_back((*this)(number));
    return fmt::format("{}", fmt::join(texts, ","));
  }
  template <typename Number>
  std::string operator()(Number number) const {
    return is_hexadecimal ? fmt::format("{:#x}", number) : fmt::format("{}", number);
  }
};

using Fields = std::vector<perfdata::NamedValue>;

/// Returns the fields of a payload, or the reason why there are none.
std::variant<Fields, std::string_view> fields_of(const perfdata::Tracepoints& tracepoints,
                                                 const perfdata::Attribute& attribute,
                                                 std::span<const std::byte> raw) {
  const auto* format = tracepoints.format(attribute.config);
  if (format == nullptr) return perfdata::Tracepoints::kUnknown;
  auto fields = tracepoints.fields(*format, raw);
  if (!fields) return perfdata::Tracepoints::kDamaged;
  return std::move(*fields);
}

}  // namespace

std::string TraceColumn::text(const perfdata::Attribute& attribute,
                              std::span<const std::byte> raw) const {
  if (attribute.type != PERF_TYPE_TRACEPOINT) return {};
  const auto fields = fields_of(tracepoints_, attribute, raw);
  if (const auto* reason = std::get_if<std::string_view>(&fields)) return std::string(*reason);
  std::string text;
  for (const auto& [name, value, is_hexadecimal] : std::get<Fields>(fields)) {
    if (!text.empty()) text += ' ';
    text.append(name) += '=';
    text += std::visit(TextOf{is_hexadecimal}, value);
  }
  return text;
}

std::string TraceColumn::json(const perfdata::Attribute& attribute,
                              std::span<const std::byte> raw) const {
  if (attribute.type != PERF_TYPE_TRACEPOINT) return "null";
  const auto fields = fields_of(tracepoints_, attribute, raw);
  if (const auto* reason = std::get_if<std::string_view>(&fields)) return json_text(Json(*reason));
  Json object = Json::object();
  for (const auto& [name, value, is_hexadecimal] : std::get<Fields>(fields)) {
    object[std::string(name)] = std::visit(JsonOf{}, value);
  }
  return json_text(object);
}

}  // namespace skid::commands
