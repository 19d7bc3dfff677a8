// Texts taken apart, and elements of lists found or added. Nothing here throws for any text.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace skid {

/// `text` without white space at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// ASCII letters in lower case.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// The number that a whole text is; nullopt for any other text, and for a number that does not fit.
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

/// Two lower-case digits a byte.
inline std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

/// The bytes of such digits; empty for any other text.
inline std::string from_hexadecimal(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    const auto byte = whole_number<std::uint8_t>(digits.substr(0, 2), 16);
    if (!byte) return {};
    bytes += static_cast<char>(*byte);
  }
  return digits.empty() ? bytes : std::string();
}

/// The text before the first `separator`, or all; it and the separator are removed from `text`.
inline std::string_view take_until(char separator, std::string_view& text) {
  const std::string_view front = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(front.size() + 1, text.size()));
  return front;
}

/// Number `index`, from 0, of words with a space between them; empty where there are fewer.
constexpr std::string_view word_at(std::size_t index, std::string_view words) {
  for (; index > 0 && !words.empty(); --index) {
    words.remove_prefix(std::min(words.find(' '), words.size() - 1) + 1);
  }
  return words.substr(0, words.find(' '));
}

/// The number that follows "0x" in a whole text, hexadecimal; nullopt for any other text.
inline std::optional<std::uint64_t> hexadecimal_number(std::string_view text) {
  return text.starts_with("0x") ? whole_number<std::uint64_t>(text.substr(2), 16) : std::nullopt;
}

/// The first element whose member equals a value: find_by(pmus, &Pmu::name, "cpu"). Null: none.
template <typename Range, typename Member, typename Value>
auto find_by(Range& range, Member member, const Value& value) -> decltype(&*range.begin()) {
  for (auto& element : range) {
    if (std::invoke(member, element) == value) return &element;
  }
  return nullptr;
}

/// The values, each where it is first. Lists of 100,000 are common: a remark for each mapped file.
template <typename Value>
std::vector<Value> each_once(std::vector<Value> values) {
  std::set<Value> known;
  std::erase_if(values, [&known](const Value& value) { return !known.insert(value).second; });
  return values;
}

}  // namespace skid
