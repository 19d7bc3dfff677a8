#include "src/output/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace skid::output {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

struct CodePointRange {
  char32_t first, last;
};

template <std::size_t N>
bool within(char32_t value, const std::array<CodePointRange, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const CodePointRange& range) {
    return range.first <= value && value <= range.last;
  });
}

/// Zero-width, direction-changing, line-separating and tag characters: they can make one name look
/// like another.
constexpr std::array<CodePointRange, 11> kInvisible{{{0x00ad, 0x00ad},
                                                     {0x061c, 0x061c},
                                                     {0x180e, 0x180e},
                                                     {0x200b, 0x200f},
                                                     {0x2028, 0x202e},
                                                     {0x2060, 0x206f},
                                                     {0xfe00, 0xfe0f},
                                                     {0xfeff, 0xfeff},
                                                     {0xfff9, 0xfffb},
                                                     {0xe0000, 0xe0fff},
                                                     {0x1d173, 0x1d17a}}};

/// Unicode Standard Annex 11, East Asian Width W and F, by blocks.
constexpr std::array<CodePointRange, 12> kWide{{{0x1100, 0x115f},
                                                {0x2e80, 0x303e},
                                                {0x3041, 0x33ff},
                                                {0x3400, 0x4dbf},
                                                {0x4e00, 0x9fff},
                                                {0xa000, 0xa4cf},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0x1f300, 0x1faff},
                                                {0x20000, 0x3fffd}}};

constexpr std::array<CodePointRange, 5> kCombining{
    {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}}};

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<std::uint8_t>(text[index]);
}

/// The character that `text`, which is not empty, begins with (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
CodePoint first_code_point(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t bytes = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((lead & 0xe0) == 0xc0) {
    bytes = 2, value = lead & 0x1fU, least = 0x80;
  } else if ((lead & 0xf0) == 0xe0) {
    bytes = 3, value = lead & 0x0fU, least = 0x800;
  } else if ((lead & 0xf8) == 0xf0) {
    bytes = 4, value = lead & 0x07U, least = 0x10000;
  }
  if (bytes == 0 || text.size() < bytes) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    const std::uint8_t next = byte_at(text, i);
    if ((next & 0xc0) != 0x80) return {};
    value = (value << 6) | (next & 0x3fU);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < least || value > 0x10ffff || surrogate) return {};
  return {value, bytes, true};
}

bool is_harmless(const CodePoint& point) {
  const bool control = point.value < 0x20 || (point.value >= 0x7f && point.value < 0xa0);
  return point.valid && !control && !within(point.value, kInvisible);
}

std::size_t width_of(const CodePoint& point) {
  if (!point.valid) return 1;
  if (within(point.value, kCombining)) return 0;
  return within(point.value, kWide) ? 2 : 1;
}

/// Bytes of the longest beginning of `text` that fits into `width` columns.
std::size_t bytes_that_fit(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = first_code_point(text.substr(bytes));
    used += width_of(point);
    if (used > width) break;
    bytes += point.bytes;
  }
  return bytes;
}

}  // namespace

std::string escape_for_terminal(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (is_harmless(point)) {
      escaped.append(text.substr(0, point.bytes));
    } else {
      for (std::size_t i = 0; i < point.bytes; ++i) {
        escaped += fmt::format("\\x{:02x}", byte_at(text, i));
      }
    }
    text.remove_prefix(point.bytes);
  }
  return escaped;
}

std::string escape_unless(bool (*shown)(char32_t), std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.valid || shown(point.value)) {
      escaped.append(text.substr(0, point.bytes));
    } else {
      escaped += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(point.value));
    }
    text.remove_prefix(point.bytes);
  }
  return escaped;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += width_of(point);
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_that_fit(text, width - 1))) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 2);  // a wide character fits
  std::vector<std::string> lines;
  std::string line;
  const auto finish_line = [&lines, &line] {
    if (!line.empty()) lines.push_back(std::move(line));
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) finish_line();
    while (display_width(word) > width) {
      const std::size_t bytes = bytes_that_fit(word, width);
      lines.emplace_back(word.substr(0, bytes));
      word.remove_prefix(bytes);
    }
    if (word.empty()) continue;
    if (!line.empty()) line += ' ';
    line += word;
  }
  finish_line();
  return lines;
}

}  // namespace skid::output
