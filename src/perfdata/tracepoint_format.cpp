#include "src/perfdata/tracepoint_format.h"

#include "src/perfdata/print_token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// Payloads are smaller than the record that holds them.
constexpr std::uint32_t kLargestPayload = 0xffff;
constexpr std::size_t kMostFields = 512;
constexpr std::size_t kLongestWord = 512;  // user_events have longer names than the kernel

bool is_word_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_';
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kLongestWord && !is_replaced_word(text) &&
         std::all_of(text.begin(), text.end(), is_word_character);
}

bool is_name(std::string_view text) {
  return is_word(text) && !(text.front() >= '0' && text.front() <= '9');
}

/// Modules may have dashes in their names.
bool is_system(std::string_view text) {
  return !text.empty() && text.size() <= kLongestWord &&
         std::all_of(text.begin(), text.end(), [](char character) {
           return is_word_character(character) || character == '-';
         });
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return value;
}

/// Takes "prefix" off the front of `text`.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// What stands in front of `end`, which is taken off too.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return taken;
}

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Words and stars of a declaration; false for anything else in it.
bool split_declaration(std::string_view text, std::vector<std::string_view>& tokens) {
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
    } else if (text.front() == '*') {
      tokens.push_back(text.substr(0, 1));
      text.remove_prefix(1);
    } else {
      std::size_t size = 0;
      while (size < text.size() && is_word_character(text[size])) ++size;
      if (!is_name(text.substr(0, size))) return false;
      tokens.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
  }
  return true;
}

/// Bytes of an element of the type that these words name; 0 when they name none that is known.
std::uint32_t size_of_type(const std::vector<std::string_view>& type, unsigned long_size) {
  if (std::find(type.begin(), type.end(), "*") != type.end()) return long_size;
  const auto has = [&](std::string_view word) {
    return std::find(type.begin(), type.end(), word) != type.end();
  };
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 22> kSizes = {
      {{"char", 1},  {"u8", 1},     {"s8", 1},     {"__u8", 1},   {"bool", 1}, {"short", 2},
       {"u16", 2},   {"s16", 2},    {"__u16", 2},  {"__le16", 2}, {"u32", 4},  {"s32", 4},
       {"__u32", 4}, {"__s32", 4},  {"__le32", 4}, {"u64", 8},    {"s64", 8},  {"__u64", 8},
       {"__s64", 8}, {"__le64", 8}, {"pid_t", 4},  {"uint8_t", 1}}};
  if (has("long")) return std::count(type.begin(), type.end(), "long") > 1 ? 8 : long_size;
  for (const auto& [name, size] : kSizes) {
    if (has(name)) return size;
  }
  return has("int") || has("unsigned") ? 4 : 0;
}

/// "unsigned int x", "char comm[16]", "__data_loc char[] name": fills name, place and element type.
bool parse_declaration(std::string_view text, unsigned long_size, TracepointField& field) {
  field.declaration = std::string(text);
  if (take_prefix(text, "__data_loc ")) field.place = TracepointField::Place::data_loc;
  if (take_prefix(text, "__rel_loc ")) field.place = TracepointField::Place::rel_loc;
  std::optional<std::uint32_t> length;  // elements
  std::vector<std::string_view> tokens;
  if (field.place != TracepointField::Place::fixed) {
    field.is_array = true;
    // The type's brackets stand before the name; masks of CPUs have none.
    if (const auto type = take_until(text, "[]")) {
      if (!split_declaration(*type, tokens) || tokens.empty()) return false;
    }
    if (!split_declaration(text, tokens)) return false;
  } else {
    const auto bracket = text.find('[');
    if (bracket != std::string_view::npos) {
      if (!text.ends_with(']')) return false;
      const auto inside = text.substr(bracket + 1, text.size() - bracket - 2);
      if (!inside.empty() && !is_word(inside)) return false;
      length = number(inside);
      field.is_array = true;
      text = text.substr(0, bracket);
    }
    if (!split_declaration(text, tokens)) return false;
  }
  constexpr std::size_t kMostWords = 16;
  if (tokens.size() < 2 || tokens.size() > kMostWords || tokens.back() == "*") return false;
  if (tokens.front() == "*") return false;
  field.name = std::string(tokens.back());
  tokens.pop_back();
  const bool has_pointer = std::find(tokens.begin(), tokens.end(), "*") != tokens.end();
  field.is_text = field.is_array && !has_pointer && tokens.back() == "char" &&
                  std::find(tokens.begin(), tokens.end(), "unsigned") == tokens.end();
  field.element_size = size_of_type(tokens, long_size);
  if (length && *length > 0 && field.size % *length == 0) field.element_size = field.size / *length;
  return true;
}

/// "field:int x;\toffset:8;\tsize:4;\tsigned:1;"
std::optional<TracepointField> parse_field(std::string_view line, unsigned long_size) {
  TracepointField field;
  if (!take_prefix(line, "field:") && !take_prefix(line, "field special:")) return std::nullopt;
  const auto declaration = take_until(line, ";\toffset:");
  const auto offset = take_until(line, ";\tsize:");
  const auto size = take_until(line, ";");
  if (!declaration || !offset || !size) return std::nullopt;
  const auto first = number(*offset);
  const auto bytes = number(*size);
  if (!first || !bytes || *first > kLargestPayload || *bytes > kLargestPayload) return std::nullopt;
  field.offset = *first;
  field.size = *bytes;
  if (line == "\tsigned:1;") {
    field.is_signed = true;
  } else if (line != "\tsigned:0;" && !line.empty()) {  // Linux before 2.6.34 does not tell
    return std::nullopt;
  }
  if (!parse_declaration(*declaration, long_size, field)) return std::nullopt;
  constexpr std::uint32_t kLocation = 4;  // bytes of a __data_loc
  if (field.place != TracepointField::Place::fixed && field.size != kLocation) return std::nullopt;
  return field;
}

}  // namespace

const TracepointField* TracepointFormat::field(std::string_view field_name) const noexcept {
  const auto found =
      std::find_if(fields.begin(), fields.end(),
                   [&](const TracepointField& candidate) { return candidate.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<TracepointFormat> parse_tracepoint_format(std::string_view system,
                                                        std::string_view text, unsigned long_size) {
  TracepointFormat format;
  format.system = std::string(system);
  auto name = next_line(text);
  auto id = next_line(text);
  if (!take_prefix(name, "name: ") || !take_prefix(id, "ID: ")) return std::nullopt;
  if (!is_name(name) || !is_system(system) || next_line(text) != "format:") return std::nullopt;
  const auto numeric_id = number(id);
  if (!numeric_id || *numeric_id > kLargestPayload) return std::nullopt;  // common_type has 16 bits
  format.name = std::string(name);
  format.id = *numeric_id;
  bool common = true;
  for (;;) {
    auto line = next_line(text);
    if (line.empty() && common) {
      common = false;
      format.common_fields = format.fields.size();
      continue;
    }
    if (!take_prefix(line, "\t")) break;
    auto field = parse_field(line, long_size);
    if (!field || format.fields.size() >= kMostFields) return std::nullopt;
    if (format.field(field->name) != nullptr) return std::nullopt;
    format.fields.push_back(std::move(*field));
  }
  if (common || !take_prefix(text, "print fmt: ")) return std::nullopt;
  format.print = std::string(text);
  while (format.print.ends_with('\n')) format.print.pop_back();
  return format;
}

std::string format_file(const TracepointFormat& format, std::string_view print) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", format.name, format.id);
  for (std::size_t i = 0; i < format.fields.size(); ++i) {
    const auto& field = format.fields[i];
    if (i == format.common_fields) text += '\n';
    fmt::format_to(std::back_inserter(text), "\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n",
                   field.declaration, field.offset, field.size, field.is_signed ? 1 : 0);
  }
  if (format.common_fields == format.fields.size()) text += '\n';
  text += "\nprint fmt: ";
  text += print;
  text += '\n';
  return text;
}

}  // namespace skid::perfdata
