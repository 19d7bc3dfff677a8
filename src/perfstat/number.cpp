#include "src/perfstat/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

namespace skid::perfstat {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

/// Between groups of digits: ASCII ones, the no-break space, the narrow one, the thin one, the
/// right single quotation mark.
constexpr std::array<std::string_view, 7> kGroupSeparators = {",",      ".",      "'",     "\u00a0",
                                                              "\u202f", "\u2009", "\u2019"};

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

std::optional<double> plain_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  constexpr std::size_t kLongest = 64;
  if (digits.empty() || !is_digit(digits[0]) || text.size() > kLongest) return std::nullopt;
  std::string number(text);
  if (number.find('.') == std::string::npos) {
    if (const auto comma = number.find(','); comma != std::string::npos) number[comma] = '.';
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> grouped_number(std::string_view text, bool whole) {
  for (const std::string_view separator : kGroupSeparators) {
    std::size_t at = digits_at(text);
    if (at == 0 || at > 3) break;
    std::string digits(text.substr(0, at));
    std::size_t groups = 0;
    while (text.substr(at).starts_with(separator) &&
           digits_at(text.substr(at + separator.size())) == 3) {
      digits += text.substr(at + separator.size(), 3);
      at += separator.size() + 3;
      ++groups;
    }
    if (groups == 0) continue;
    const std::string_view rest = text.substr(at);
    if (rest.empty() && (whole || groups > 1)) return plain_number(digits);
    if (rest.size() > 1 && (rest[0] == '.' || rest[0] == ',') && rest.substr(0, 1) != separator &&
        digits_at(rest.substr(1)) == rest.size() - 1) {
      return plain_number(digits + '.' + std::string(rest.substr(1)));
    }
  }
  return plain_number(text);
}

}  // namespace skid::perfstat
