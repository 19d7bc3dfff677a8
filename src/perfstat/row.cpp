#include "src/perfstat/row.h"

#include "src/support/error.h"

#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace skid::perfstat {

std::string place(const std::string& file, std::size_t line) {
  return fmt::format("{}: line {}", file, line);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kWhite);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
}

std::optional<double> plain_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  constexpr std::size_t kLongest = 64;
  if (digits.empty() || text.size() > kLongest || digits[0] < '0' || digits[0] > '9') {
    return std::nullopt;
  }
  std::string number(text);
  if (number.find('.') == std::string::npos) {
    if (const auto comma = number.find(','); comma != std::string::npos) number[comma] = '.';
  }
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool set_value(Row& row, std::string_view text) {
  row.value = 0;
  if (text == "<not counted>") {
    row.state = State::not_counted;
    return true;
  }
  if (text == "<not supported>") {
    row.state = State::not_supported;
    return true;
  }
  const auto value = plain_number(text);
  if (!value) return false;
  row.state = State::counted;
  row.value = *value;
  return true;
}

void check_row(const Row& row, const std::string& file) {
  if (!(row.value >= 0 && row.value <= kMostEvents)) {
    throw InputError({.file = place(file, row.line),
                      .offset = {},
                      .found = fmt::format("a count of {} for '{}'", row.value, row.event),
                      .allowed = fmt::format("0 to {}", kMostEvents),
                      .remedy = "the file is damaged; count again"});
  }
  // perf rounds to hundredths.
  if (!(row.running_percent >= 0 && row.running_percent <= 100.01)) {
    throw InputError(
        {.file = place(file, row.line),
         .offset = {},
         .found = fmt::format("'{}' counted in {}% of the time", row.event, row.running_percent),
         .allowed = "0% to 100%",
         .remedy = "the file is damaged; count again"});
  }
}

}  // namespace skid::perfstat
