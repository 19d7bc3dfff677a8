// Lines of perf stat's text: [interval] [CPU, or socket and how many, or thread] value [unit] event
// [# metric] [( +- deviation% )] [(running%)].
#include "src/perfstat/number.h"
#include "src/perfstat/row.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace skid::perfstat {
namespace {

constexpr std::size_t kMostWords = 32;

/// Takes "(…)" off the end of a line; the text inside, or nullopt when there is none.
std::optional<std::string_view> take_parenthesis(std::string_view& line) {
  line = trimmed(line);
  if (!line.ends_with(')')) return std::nullopt;
  const auto begin = line.rfind('(');
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view inside = trimmed(line.substr(begin + 1, line.size() - begin - 2));
  if (!inside.ends_with('%')) return std::nullopt;
  line = trimmed(line.substr(0, begin));
  return inside;
}

/// Words between white space; "<not counted>" is one.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty() && words.size() < kMostWords) {
    std::size_t length = line.find_first_of(" \t");
    for (const std::string_view whole : {"<not counted>", "<not supported>"}) {
      if (line.starts_with(whole)) length = whole.size();
    }
    words.push_back(line.substr(0, length));
    line.remove_prefix(words.back().size());
  }
  return words;
}

std::optional<double> whole_number(std::string_view text) {
  return grouped_number(text, true);
}
std::optional<double> number_with_unit(std::string_view text) {
  return grouped_number(text, false);
}

bool is_name(std::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }) &&
         !word.starts_with('<');
}

/// "CPU0", "S0-D0-C0", "N0", "sleep-123"; behind an aggregate also how many CPUs it has.
bool is_scope(std::string_view word) {
  return is_name(word) && std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

/// "time elapsed", "user", "sys" behind "seconds" are no events.
bool is_elapsed_time(std::string_view unit, std::string_view event) {
  return unit == "seconds" && (event == "user" || event == "sys" || event == "elapsed");
}

/// Interval and scope in front of the value. False when that is something else.
bool read_front(const std::vector<std::string_view>& words, std::size_t end, Row& row) {
  std::size_t at = 0;
  if (at < end && words[at] == "summary") {
    row.summary = true;
    ++at;
  } else if (at < end && words[at].find_first_of(".,") != std::string_view::npos &&
             plain_number(words[at])) {
    row.interval = true;
    ++at;
  }
  if (at < end) {
    // The name of a thread may have spaces.
    const bool counted = plain_number(words[end - 1]).has_value() && end - at > 1;
    if (!is_scope(words[counted ? end - 2 : end - 1])) return false;
  }
  for (std::size_t i = 0; i < end; ++i) row.scope.append(words[i]) += '\n';
  return true;
}

}  // namespace

std::optional<Row> plain_row(std::string_view line) {
  Row row;
  while (const auto inside = take_parenthesis(line)) {
    if (const auto running = plain_number(inside->substr(0, inside->size() - 1))) {
      row.running_percent = *running;
    }
  }
  line = line.substr(0, line.find(" #"));
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t count = words.size();
  if (count < 2 || !is_name(words.back())) return std::nullopt;
  row.event = words.back();

  std::size_t value = count - 2;
  if (!set_value(row, words[value], whole_number)) {
    if (count < 3 || !is_name(words[value]) || is_elapsed_time(words[value], row.event)) {
      return std::nullopt;
    }
    --value;
    if (!set_value(row, words[value], number_with_unit)) return std::nullopt;
    row.unit = words[value + 1];
  }
  if (!read_front(words, value, row)) return std::nullopt;
  return row;
}

}  // namespace skid::perfstat
