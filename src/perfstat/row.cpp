#include "src/perfstat/row.h"

#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::perfstat {

namespace {

constexpr std::size_t kMostFields = 64;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether a field begins an event "PMU/…" that the separator cut.
bool opens_event(std::string_view field) {
  const auto slash = field.find('/');
  return slash != std::string_view::npos && slash > 0 &&
         field.find('/', slash + 1) == std::string_view::npos &&
         std::all_of(field.begin(), field.begin() + static_cast<std::ptrdiff_t>(slash), is_word);
}

/// Whether a field ends one: the second slash and modifiers.
bool closes_event(std::string_view field) {
  const auto slash = field.find('/');
  return slash != std::string_view::npos &&
         field.find_first_not_of("ukhGHpPSDWIeb:", slash + 1) == std::string_view::npos;
}

/// The fields of a line; events and "<not counted>" whose own text has the separator stay whole.
std::vector<std::string> fields_of(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = line.find(separator);
    parts.push_back(line.substr(0, end));
    if (end == std::string_view::npos || parts.size() == kMostFields) break;
    line.remove_prefix(end + separator.size());
  }
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::size_t last = i;
    if (opens_event(parts[i])) {
      std::size_t closing = i + 1;
      while (closing < parts.size() && parts[closing].find('/') == std::string_view::npos) {
        ++closing;
      }
      if (closing < parts.size() && closes_event(parts[closing])) last = closing;
    }
    const auto next = i + 1 < parts.size() ? parts[i + 1] : std::string_view();
    if (parts[i] == "<not" && (next == "counted>" || next == "supported>")) last = i + 1;
    std::string field(trimmed(parts[i]));
    for (; i < last; ++i) {
      field += separator;
      field += parts[i + 1];
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

bool is_whole(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// The fields after the event: [cgroup] [deviation%] runtime running%.
bool read_tail(const std::vector<std::string>& fields, std::size_t at, Row& row) {
  const auto field = [&](std::size_t i) {
    return i < fields.size() ? std::string_view(fields[i]) : std::string_view();
  };
  if (!is_whole(field(at)) && !field(at).ends_with('%')) row.cgroup = field(at++);
  if (field(at).ends_with('%')) ++at;
  const auto running = plain_number(field(at + 1));
  if (!is_whole(field(at)) || !running) return false;
  row.running_percent = *running;
  return true;
}

/// The count, where its value is the field `at`.
std::optional<Row> row_at(const std::vector<std::string>& fields, std::size_t at) {
  if (at + 4 >= fields.size()) return std::nullopt;
  Row row;
  row.unit = fields[at + 1];
  row.event = fields[at + 2];
  if (plain_number(row.unit) || row.unit.starts_with('<')) return std::nullopt;
  if (std::none_of(row.event.begin(), row.event.end(), is_letter)) return std::nullopt;
  if (!set_value(row, fields[at])) return std::nullopt;
  if (!read_tail(fields, at + 3, row)) return std::nullopt;
  for (std::size_t i = 0; i < at; ++i) row.scope += fields[i] + '\n';
  if (at > 0) {
    row.interval = plain_number(fields[0]).has_value();
    row.summary = fields[0] == "summary";
  }
  return row;
}

}  // namespace

std::string place(const std::string& file, std::size_t line) {
  return fmt::format("{}: line {}", file, line);
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
  const auto value = whole_number<double>(number);
  return value && std::isfinite(*value) ? value : std::nullopt;
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
                      .found = fmt::format("a count of {} for '{}'", row.value, row.event),
                      .expected = fmt::format("0 to {}", kMostEvents),
                      .remedy = "the file is damaged; count again"});
  }
  // perf rounds to hundredths.
  if (!(row.running_percent >= 0 && row.running_percent <= 100.01)) {
    throw InputError(
        {.file = place(file, row.line),
         .found = fmt::format("'{}' counted in {}% of the time", row.event, row.running_percent),
         .expected = "0% to 100%",
         .remedy = "the file is damaged; count again"});
  }
}

std::optional<Row> separated_row(std::string_view line, std::string_view separator) {
  // Intervals are padded with spaces, which can be the separator too.
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::vector<std::string> fields = fields_of(line, separator);
  // Interval, aggregate and number of CPUs at most come before the value.
  for (std::size_t at = 0; at <= 3; ++at) {
    if (auto row = row_at(fields, at)) return row;
  }
  return std::nullopt;
}

std::string separator_of(std::string_view line) {
  constexpr std::size_t kLongest = 4;
  constexpr std::size_t kMostTries = 64;
  std::vector<std::string> tried;
  const auto separates = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '\r';
  };
  // One follows the value, which is near the beginning of the line.
  constexpr std::size_t kFarthest = 256;
  const std::string_view front = line.substr(0, kFarthest);
  for (std::size_t at = 0; at < front.size(); ++at) {
    for (std::size_t length = 1; length <= kLongest && at + length <= front.size(); ++length) {
      if (!separates(front[at + length - 1])) break;
      std::string separator(front.substr(at, length));
      if (std::find(tried.begin(), tried.end(), separator) != tried.end()) continue;
      if (separated_row(line, separator)) return separator;
      if (tried.size() == kMostTries) return {};
      tried.push_back(std::move(separator));
    }
  }
  return {};
}

}  // namespace skid::perfstat
