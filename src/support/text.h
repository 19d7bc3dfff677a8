// Functions that take texts apart, and that find elements of lists. No text makes them throw.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace skid {

/// Returns `text` without white space at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Returns `text` with its ASCII letters in lower case.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Parses all of `text` as a number; nullopt for any other text, and for a number that does not
/// fit.
template <typename Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_integral_v<Number>) {
    result = std::from_chars(text.data(), end, number, base);
  } else {
    result = std::from_chars(text.data(), end, number);
  }
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

/// Parses all of `text` as a number, in hexadecimal after "0x" or "0X".
template <typename Number>
std::optional<Number> decimal_or_hexadecimal(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  return is_hexadecimal ? whole_number<Number>(text.substr(2), 16) : whole_number<Number>(text);
}

/// Returns bytes in lower-case hexadecimal, two digits per byte.
inline std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

/// Returns the bytes that hexadecimal digits represent, two per byte; empty for any other text.
inline std::string from_hexadecimal(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    const auto byte = whole_number<std::uint8_t>(digits.substr(0, 2), 16);
    if (!byte) return {};
    bytes += static_cast<char>(*byte);
  }
  return digits.empty() ? bytes : std::string();
}

/// Removes the part before the first `separator`, or all, and the separator from `text`. Returns
/// the part.
inline std::string_view take_until(char separator, std::string_view& text) {
  const std::string_view front = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(front.size() + 1, text.size()));
  return front;
}

/// Whether an element of `list` equals `value`.
template <typename List, typename Value>
requires requires(const List& list, const Value& value) {
  *std::ranges::begin(list) == value;
}
constexpr bool contains(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

/// Whether `part` occurs in `text`.
constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns word number `index`, from 0, of words with one space between them; empty if there are
/// fewer.
constexpr std::string_view word_at(std::size_t index, std::string_view words) {
  for (; index > 0 && !words.empty(); --index) {
    words.remove_prefix(std::min(words.find(' '), words.size() - 1) + 1);
  }
  return words.substr(0, words.find(' '));
}

/// Parses all of `text` as "0x" and a hexadecimal number; nullopt for any other text.
inline std::optional<std::uint64_t> hexadecimal_number(std::string_view text) {
  return text.starts_with("0x") ? whole_number<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

/// Returns the first element whose member equals a value, as in find_by(pmus, &Pmu::name, "cpu");
/// null if there is none.
template <typename Range, typename Member, typename Value>
auto find_by(Range& range, Member member, const Value& value) -> decltype(&*range.begin()) {
  for (auto& element : range) {
    if (std::invoke(member, element) == value) return &element;
  }
  return nullptr;
}

/// Removes repetitions: each value stays where it is first. Lists of 100,000 are common: one remark
/// for each mapped file.
template <typename Value>
std::vector<Value> each_once(std::vector<Value> values) {
  std::set<Value> known;
  std::erase_if(values, [&known](const Value& value) { return !known.insert(value).second; });
  return values;
}

}  // namespace skid
