#include "src/support/escape.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <utf8proc.h>

namespace skid {
namespace {

struct CodePoint {
  utf8proc_int32_t value = -1;  ///< negative: invalid UTF-8
  std::size_t bytes = 1;

  bool is_valid() const { return value >= 0; }
};

/// Decodes the first character of `text`, which is not empty.
CodePoint first_code_point(std::string_view text) {
  CodePoint point;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &point.value);
  if (bytes <= 0) return {};
  point.bytes = static_cast<std::size_t>(bytes);
  return point;
}

/// Calls `use(point, text of the point)` for each character.
template <typename Use>
void each_code_point(std::string_view text, Use use) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    use(point, text.substr(0, point.bytes));
    text.remove_prefix(point.bytes);
  }
}

/// Whether a character is shown as it is. Control characters are not harmless, nor are characters
/// of zero width or those that change the direction or separate lines: they can make one name look
/// like another.
bool is_harmless(const CodePoint& point) {
  if (!point.is_valid() || utf8proc_get_property(point.value)->ignorable) return false;
  switch (utf8proc_category(point.value)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      // Tags and variation selectors, whose unassigned ones the library does not mark.
      return point.value < 0xe0000 || point.value > 0xe0fff;
  }
}

std::size_t width_of(const CodePoint& point) {
  if (!point.is_valid()) return 1;
  // The library does not know characters that are newer; they are shown in one column.
  if (utf8proc_category(point.value) == UTF8PROC_CATEGORY_CN) return 1;
  return static_cast<std::size_t>(std::max(0, utf8proc_charwidth(point.value)));
}

/// Returns the number of bytes of the longest beginning of `text` that fits into `width` columns.
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
  each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    if (is_harmless(point)) {
      escaped += bytes;
    } else {
      for (const char byte : bytes) {
        escaped += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(byte));
      }
    }
  });
  return escaped;
}

std::string escape_unless(bool (*shown)(char32_t), std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  each_code_point(text, [&](const CodePoint& point, std::string_view bytes) {
    if (!point.is_valid() || shown(static_cast<char32_t>(point.value))) {
      escaped += bytes;
    } else {
      escaped += fmt::format("\\u{{{:04X}}}", point.value);
    }
  });
  return escaped;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  each_code_point(text,
                  [&](const CodePoint& point, std::string_view) { width += width_of(point); });
  return width;
}

std::string shorten(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_that_fit(text, width - 1))) + "…";
}

std::string shorten_front(std::string_view text, std::size_t width) {
  std::size_t columns = display_width(text);
  if (columns <= width) return std::string(text);
  while (!text.empty() && columns + 1 > width) {
    const CodePoint point = first_code_point(text);
    columns -= width_of(point);
    text.remove_prefix(point.bytes);
  }
  return "~" + std::string(text);
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

}  // namespace skid
