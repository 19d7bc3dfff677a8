#include "src/commands/sample_line.h"

#include "src/output/escape.h"
#include "src/perfdata/format.h"
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

using perfdata::Sample;

using Digits = Column::Digits;

/// After `prefix`, which is in `digits` already.
template <typename Number>
std::string_view digits_of(Number number, int base, Digits& digits, std::size_t prefix = 0) {
  char* const end = digits.data() + digits.size();
  return {digits.data(), std::to_chars(digits.data() + prefix, end, number, base).ptr};
}

template <auto member, int base = 10>
std::string_view number(const SampleLine& line, Digits& digits) {
  return digits_of(line.sample->*member, base, digits);
}

std::string_view event(const SampleLine& line, Digits& /*digits*/) {
  return line.event;
}

std::string_view mode(const SampleLine& line, Digits& /*digits*/) {
  constexpr std::array<std::string_view, 6> kNames{"unknown",    "kernel",       "user",
                                                   "hypervisor", "guest_kernel", "guest_user"};
  const auto mode = static_cast<std::size_t>(line.sample->mode);
  return mode < kNames.size() ? kNames[mode] : kNames[0];
}

std::string_view exact(const SampleLine& line, Digits& /*digits*/) {
  return line.sample->exact ? "1" : "0";
}

std::string_view symbol(const SampleLine& line, Digits& /*digits*/) {
  return line.symbol.name;
}

std::string_view symbol_offset(const SampleLine& line, Digits& digits) {
  if (line.symbol.name.empty()) return {};
  digits[0] = '0';
  digits[1] = 'x';
  return digits_of(line.symbol.offset, 16, digits, 2);
}

std::string_view dso(const SampleLine& line, Digits& /*digits*/) {
  return line.dso;
}

std::string_view trace(const SampleLine& line, Digits& /*digits*/) {
  return line.trace;
}

/// Appends a JSON string.
void quote(std::string_view value, std::string& text) {
  if (output::is_printable_ascii(value) && value.find('"') == value.npos &&
      value.find('\\') == value.npos) {
    text += '"';
    text.append(value) += '"';
  } else {
    text += json_text(nlohmann::json(value));
  }
}

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

/// The fields of a payload, or the reason why there are none.
std::variant<Fields, std::string_view> fields_of(const perfdata::Tracepoints& tracepoints,
                                                 const perfdata::Attribute& attribute,
                                                 std::span<const std::byte> raw) {
  const auto* format = tracepoints.format(attribute.config);
  if (format == nullptr) return perfdata::Tracepoints::kUnknown;
  auto fields = tracepoints.fields(*format, raw);
  if (!fields) return perfdata::Tracepoints::kDamaged;
  return std::move(*fields);
}

constexpr std::array<Column, 15> kColumns = {
    {{"time", true, Needs::nothing, number<&Sample::time>},
     {"pid", true, Needs::nothing, number<&Sample::pid>},
     {"tid", true, Needs::nothing, number<&Sample::tid>},
     {"cpu", true, Needs::nothing, number<&Sample::cpu>},
     {"attr", true, Needs::nothing, number<&Sample::attribute>},
     {"event", false, Needs::nothing, event},
     {"period", true, Needs::nothing, number<&Sample::period>},
     {"addr", false, Needs::nothing, number<&Sample::addr, 16>},
     {"mode", false, Needs::nothing, mode},
     {"exact", true, Needs::nothing, exact},
     {"ip", false, Needs::nothing, number<&Sample::ip, 16>},
     {"sym", false, Needs::symbol, symbol},
     {"symoff", false, Needs::symbol, symbol_offset},
     {"dso", false, Needs::file, dso},
     {"trace", true, Needs::payload, trace}}};

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

std::vector<Column> chosen_columns(const std::vector<std::string>& names) {
  std::vector<Column> chosen;
  for (const auto& name : names) {
    const Column* found = find_by(kColumns, &Column::name, name);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const auto& column : kColumns) known.emplace_back(column.name);
      throw UsageError(
          fmt::format("column '{}' does not exist{}", name, did_you_mean_or_all(name, known)));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

bool needs(const std::vector<Column>& columns, Needs what) {
  return std::ranges::any_of(columns, [&](const Column& column) { return column.needs == what; });
}

void write_tsv(const SampleLine& line, const std::vector<Column>& columns, std::string& text) {
  Column::Digits digits;
  for (const Column& column : columns) {
    const auto value = column.value(line, digits);
    if (column.is_bare || output::is_printable_ascii(value)) {
      text += value;
    } else {
      text += output::escape_for_terminal(value);
    }
    text += '\t';
  }
  text.back() = '\n';
}

void write_json_line(const SampleLine& line, const std::vector<Column>& columns,
                     std::string& text) {
  Column::Digits digits;
  char before = '{';
  for (const Column& column : columns) {
    text += before;
    text += '"';
    text.append(column.name) += "\":";
    const auto value = column.value(line, digits);
    if (column.is_bare) {
      text += value;
    } else {
      quote(value, text);
    }
    before = ',';
  }
  text += "}\n";
}

}  // namespace skid::commands
