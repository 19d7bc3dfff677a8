#include "src/commands/sample_line.h"

#include "src/locate/mapping_name.h"
#include "src/output/escape.h"
#include "src/perfdata/format.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

using perfdata::CpuMode;
using perfdata::Sample;

template <auto member>
void append_number(const SampleLine& line, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}", line.sample->*member);
}

template <auto member>
void append_address(const SampleLine& line, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{:x}", line.sample->*member);
}

void append_event(const SampleLine& line, std::string& text) {
  text += line.attribute().name;
}

void append_mode(const SampleLine& line, std::string& text) {
  constexpr std::array<const char*, 6> kNames{"unknown",    "kernel",       "user",
                                              "hypervisor", "guest_kernel", "guest_user"};
  const auto mode = static_cast<std::size_t>(line.sample->mode);
  text += mode < kNames.size() ? kNames[mode] : kNames[0];
}

void append_exact(const SampleLine& line, std::string& text) {
  text += line.sample->exact ? '1' : '0';
}

const locate::Symbol& symbol_of(const SampleLine& line) {
  return line.sample->mode == CpuMode::kernel
             ? line.symbolizer.kernel_symbol_at(*line.location, line.sample->ip)
             : line.symbolizer.symbol_at(*line.location);
}

void append_symbol(const SampleLine& line, std::string& text) {
  if (line.location) text += symbol_of(line).name;
}

void append_symbol_offset(const SampleLine& line, std::string& text) {
  if (!line.location || symbol_of(line).name.empty()) return;
  fmt::format_to(std::back_inserter(text), "{:#x}", symbol_of(line).offset);
}

void append_dso(const SampleLine& line, std::string& text) {
  if (!line.location) return;
  const auto& file = line.spaces.file(line.location->file);
  text += line.sample->mode == CpuMode::kernel ? locate::kernel_dso_name(file) : file.path;
}

void append_trace(const SampleLine& line, std::string& text) {
  text += line.trace.text(line.attribute(), line.raw);
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
    {{"time", true, Needs::nothing, append_number<&Sample::time>},
     {"pid", true, Needs::nothing, append_number<&Sample::pid>},
     {"tid", true, Needs::nothing, append_number<&Sample::tid>},
     {"cpu", true, Needs::nothing, append_number<&Sample::cpu>},
     {"attr", true, Needs::nothing, append_number<&Sample::attribute>},
     {"event", false, Needs::nothing, append_event},
     {"period", true, Needs::nothing, append_number<&Sample::period>},
     {"addr", false, Needs::nothing, append_address<&Sample::addr>},
     {"mode", false, Needs::nothing, append_mode},
     {"exact", true, Needs::nothing, append_exact},
     {"ip", false, Needs::nothing, append_address<&Sample::ip>},
     {"sym", false, Needs::place, append_symbol},
     {"symoff", false, Needs::place, append_symbol_offset},
     {"dso", false, Needs::place, append_dso},
     {"trace", false, Needs::payload, append_trace}}};

}  // namespace

std::string TraceColumn::text(const perfdata::Attribute& attribute,
                              std::span<const std::byte> raw) const {
  if (attribute.type != perfdata::PERF_TYPE_TRACEPOINT) return {};
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
  if (attribute.type != perfdata::PERF_TYPE_TRACEPOINT) return "null";
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
    const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const Column& column) { return column.name == name; });
    if (found == kColumns.end()) {
      std::vector<std::string_view> known;
      for (const auto& column : kColumns) known.push_back(column.name);
      throw UsageError(fmt::format("column '{}' is not one of: {}", name, fmt::join(known, ", ")));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

bool needs(const std::vector<Column>& columns, Needs what) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& column) { return column.needs == what; });
}

void write_tsv(const SampleLine& line, const std::vector<Column>& columns, std::string& text) {
  std::string value;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    value.clear();
    columns[i].append(line, value);
    if (i > 0) text += '\t';
    text += columns[i].is_bare ? value : output::escape_for_terminal(value);
  }
  text += '\n';
}

void write_json_line(const SampleLine& line, const std::vector<Column>& columns,
                     std::string& text) {
  std::string value;
  text += '{';
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += ',';
    fmt::format_to(std::back_inserter(text), "\"{}\":", columns[i].name);
    if (columns[i].needs == Needs::payload) {
      text += line.trace.json(line.attribute(), line.raw);
      continue;
    }
    value.clear();
    columns[i].append(line, value);
    text += columns[i].is_bare ? value : json_text(nlohmann::json(value));
  }
  text += "}\n";
}

}  // namespace skid::commands
