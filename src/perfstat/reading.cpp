#include "src/perfstat/reading.h"

#include "src/support/error.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::perfstat {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr std::size_t kMostDistinctEvents = 4096;

struct Line {
  std::size_t number;  ///< from 1
  std::string_view text;
};

InputError fault(std::string where, std::string found, std::string expected, std::string remedy) {
  return InputError({.file = std::move(where),
                     .found = std::move(found),
                     .expected = std::move(expected),
                     .remedy = std::move(remedy)});
}

/// The lines that can be counts: neither empty nor a comment.
std::vector<Line> lines_of(std::string_view text, const std::string& file) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_until('\n', text);
    if (line.size() > kLongestLine) {
      throw fault(place(file, number), fmt::format("a line of {} bytes", line.size()),
                  fmt::format("at most {}", kLongestLine), "give the output of perf stat alone");
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trimmed(line);
    if (!content.empty() && !content.starts_with('#')) lines.push_back({number, line});
  }
  return lines;
}

/// A member as text: versions of perf differ between strings and numbers.
std::string text_of(const JsonValue& object, const json& value, std::string_view key) {
  const auto found = value.find(key);
  if (found == value.end() || found->is_null()) return {};
  if (found->is_number()) return found->dump();
  return object[key].string();
}

/// Whether a line is a count of `perf stat -j`, not a further metric and not of another program.
bool is_json_count(const Line& line) {
  return trimmed(line.text).starts_with('{') &&
         line.text.find("\"counter-value\"") != std::string_view::npos;
}

/// A line of `perf stat -j` that has a count.
Row json_row(const Line& line, const std::string& file) {
  const std::string where = place(file, line.number);
  json value;
  try {
    value = parse_json(line.text, where, "one JSON object a line");
  } catch (const InputError&) {
    throw fault(where, "a line that is no JSON object", "one JSON object a line",
                "count again with LC_ALL=C perf stat -j");
  }
  const JsonValue object(value, where);
  Row row;
  row.line = line.number;
  row.event = object["event"].string();
  const std::string text = text_of(object, value, "counter-value");
  if (text.empty()) object["counter-value"].refuse("nothing", "a number");
  if (!set_value(row, text)) {
    throw fault(where, fmt::format("'{}' for \"counter-value\"", text),
                "a number, \"<not counted>\" or \"<not supported>\"",
                "count again with LC_ALL=C perf stat -j");
  }
  if (const auto running = object.find("pcnt-running")) {
    const auto percent = plain_number(text_of(object, value, "pcnt-running"));
    if (!percent) running->refuse("no number", "0 to 100");
    row.running_percent = *percent;
  }
  row.cgroup = text_of(object, value, "cgroup");
  row.interval = object.find("interval").has_value();
  for (const char* key :
       {"interval", "cpu", "thread", "core", "cluster", "cache", "die", "socket", "node"}) {
    row.scope += text_of(object, value, key) + '\n';
  }
  return row;
}

/// Sums rows by event.
class Sums {
 public:
  explicit Sums(const std::string& file) : file_(file) {}

  void add(Row row) {
    check_row(row, file_);
    refuse_groups(row);
    refuse_sums_beside_parts(row);
    const auto [position, inserted] = index_.try_emplace(row.event, events_.size());
    if (inserted) {
      if (events_.size() == kMostDistinctEvents) {
        throw fault(place(file_, row.line), "one event more",
                    fmt::format("at most {}", kMostDistinctEvents),
                    "count the events of the rates alone");
      }
      EventCount event;
      event.name = row.event;
      event.state = row.state;
      event.line = row.line;
      events_.push_back(std::move(event));
    }
    EventCount& event = events_[position->second];
    if (!seen_.emplace(position->second, row.scope).second && event.repeated_on_line == 0) {
      event.repeated_on_line = row.line;
    }
    ++event.rows;
    if (row.state == State::counted) {
      event.state = State::counted;
      event.value += row.value;
      event.running_percent = std::min(event.running_percent, row.running_percent);
    } else {
      ++event.rows_not_counted;
      if (event.state == State::not_counted) event.state = row.state;
    }
  }

  bool empty() const noexcept { return events_.empty(); }
  std::vector<EventCount> take() { return std::move(events_); }

 private:
  void refuse_groups(const Row& row) const {
    if (row.cgroup.empty()) return;
    throw fault(place(file_, row.line),
                fmt::format("a count of the control group '{}'", row.cgroup),
                "counts of one program or the whole system",
                "control groups can contain each other, so they are not summed: give the lines of "
                "one group without its name");
  }

  void refuse_sums_beside_parts(const Row& row) {
    (row.interval ? part_ : whole_) = true;
    if (!row.summary && !(part_ && whole_)) return;
    throw fault(place(file_, row.line),
                fmt::format("a count of '{}' that is {}", row.event,
                            row.interval ? "of an interval, after one that is of none"
                                         : "of no interval, beside those of intervals"),
                "either",
                "intervals would be counted twice: leave perf stat's --summary out, or give the "
                "summary alone");
  }

  const std::string& file_;
  std::vector<EventCount> events_;
  std::unordered_map<std::string, std::size_t> index_;
  std::set<std::pair<std::size_t, std::string>> seen_;
  bool part_ = false, whole_ = false;
};

struct Shape {
  Form form = Form::separated;
  std::string separator;  ///< empty where none gives a count
};

Shape shape_of(const std::vector<Line>& lines, const std::optional<std::string>& separator) {
  if (separator) return {Form::separated, *separator};
  for (const Line& line : lines) {
    if (is_json_count(line)) return {Form::json, {}};
  }
  // Lines of the program that was counted can come first; some thousand of them are tried.
  constexpr std::size_t kMostTried = 2000;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostTried); ++i) {
    std::string found = separator_of(lines[i].text);
    if (!found.empty()) return {Form::separated, std::move(found)};
  }
  return {};
}

/// Whether a line has control characters, which perf prints only as the separator: it comes from
/// the program that was counted, or from a file that is no text.
bool is_binary(const Line& line, const Shape& shape) {
  return std::any_of(line.text.begin(), line.text.end(), [&shape](char c) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    return control && c != '\t' && shape.separator.find(c) == std::string::npos;
  });
}

std::optional<Row> row_of(const Line& line, const Shape& shape, const std::string& file) {
  if (shape.form == Form::json) {
    return is_json_count(line) ? std::optional(json_row(line, file)) : std::nullopt;
  }
  if (shape.separator.empty() || is_binary(line, shape)) return std::nullopt;
  auto row = separated_row(line.text, shape.separator);
  if (row) row->line = line.number;
  return row;
}

/// Lines that perf prints in addition to counts: further metrics.
bool is_of_perf(const Line& line, const Shape& shape) {
  const std::string_view text = trimmed(line.text);
  if (shape.form == Form::json) {
    return text.starts_with('{') && text.find("\"metric-value\"") != std::string_view::npos;
  }
  // Of a further metric, value, unit, event and their shares are empty.
  std::string empty;
  for (int i = 0; i < 5; ++i) empty += shape.separator;
  return line.text.find(empty) != std::string_view::npos;
}

}  // namespace

std::string_view name_of(Form form) {
  return form == Form::json ? "perf stat -j" : "perf stat -x";
}

Reading read_counts(std::string_view text, const std::string& file,
                    const std::optional<std::string>& separator) {
  if (text.size() > kMostBytes) {
    throw fault(file, fmt::format("more than {} bytes", kMostBytes), "at most that many",
                "give the output of perf stat alone");
  }
  const std::vector<Line> lines = lines_of(text, file);
  const Shape shape = shape_of(lines, separator);
  Reading reading;
  reading.file = file;
  reading.form = shape.form;
  reading.separator = shape.separator;
  Sums sums(file);
  for (const Line& line : lines) {
    if (auto row = row_of(line, shape, file)) {
      sums.add(std::move(*row));
    } else if (!is_of_perf(line, shape) && ++reading.other_lines == 1) {
      reading.first_other_line = line.number;
    }
  }
  if (sums.empty()) {
    throw fault(file, "no count of perf stat", "the output of perf stat -j or perf stat -x",
                "count with -j; perf stat writes to standard error: use its -o FILE, or 2>&1");
  }
  reading.events = sums.take();
  return reading;
}

}  // namespace skid::perfstat
