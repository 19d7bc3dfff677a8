// Text from recordings made safe to show: every name from a file passes through here before it gets
// to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid {

/// Returns `text` with each byte of a control character, of an invisible or direction-changing
/// character, and of invalid UTF-8 written as \xNN. Other characters stay as they are.
std::string escape_for_terminal(std::string_view text);

/// Whether every byte of `text` is a printable ASCII character, so that it needs no escaping.
inline bool is_printable_ascii(std::string_view text) noexcept {
  bool others = false;  // without an early end, so that the compiler tests several bytes at once
  for (const char byte : text) others |= byte < ' ' || byte > '~';
  return !others;
}

/// Returns `text` with each character that is not `shown` written as \u{1F9FF}. Invalid UTF-8
/// stays.
std::string escape_unless(bool (*shown)(char32_t), std::string_view text);

/// Returns the width of escaped text in terminal columns: 2 for East Asian wide characters, 0 for
/// combining ones.
std::size_t display_width(std::string_view text);

/// Shortens `text` to at most `width` columns; "…" replaces the end of a longer one.
std::string shorten(std::string_view text, std::size_t width);
/// Shortens `text` to at most `width` columns; "~" replaces the beginning of a longer one. For
/// names that differ in their ends.
std::string shorten_front(std::string_view text, std::size_t width);

/// Breaks escaped text into lines of at most `width` columns, at spaces, or within words that are
/// longer than a line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace skid
