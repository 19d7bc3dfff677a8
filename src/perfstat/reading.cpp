// Reading of perf stat's output.
//
// perf stat prints a line for each event and scope: an interval (-I), a CPU, core or socket (-A,
// --per-core, --per-socket), a thread (--per-thread), or the whole run. A count of an event is the
// sum over its scopes:
//
//     perf stat -I 1000 -A -x, -e cycles
//     1.000,CPU0,125000,,cycles,1000000,100.00,,
//     1.000,CPU1,75000,,cycles,1000000,50.00,,      cycles: 200000, running 50% (the least)
//     2.000,CPU0,130000,,cycles,1000000,100.00,,    cycles: 330000
//
// How many fields come before the value depends on options that the output does not state. The
// first field from which on a line reads as a count decides: value, unit, event, run time, percent.
// Events can contain commas between slashes: cpu/event=0x3c,umask=0x0/. With -j the fields have
// names. The separator is a comma if any line then is a count, else what follows the first number,
// or "<not counted>", of a line that then is one; with another than a comma, numbers may have a
// decimal comma. Lines that are no counts belong to the program that was counted, and are left out.
//
// Lines that would count twice are refused: intervals together with their sum (--summary), and
// control groups, which can contain each other. A second count of the same event and scope is noted
// in EventCount::repeated_on_line; select_counts() refuses it if a rate needs the event.
#include "src/perfstat/reading.h"

#include "src/support/error.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::perfstat {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr std::size_t kMostDistinctEvents = 4096;
/// The largest count: counters have 64 bits, and scaling multiplies.
constexpr double kMostEvents = 1e24;

/// One count of one event, for one interval, CPU or thread.
struct Row {
  std::string event;
  State state = State::counted;
  double value = 0;  ///< events; 0 unless counted
  double running_percent = 100;
  std::string scope;      ///< interval, CPU, socket, …: rows that differ in it add up
  bool interval = false;  ///< the scope has an interval
  bool summary = false;   ///< the sum over intervals that --summary adds
  std::string cgroup;     ///< control group; empty for none
  std::size_t line = 0;   ///< from 1
};

InputError fault(std::string where, std::string found, std::string expected, std::string remedy) {
  return InputError({.file = std::move(where),
                     .found = std::move(found),
                     .expected = std::move(expected),
                     .remedy = std::move(remedy)});
}

std::optional<double> finite_number(std::string_view text, bool has_commas = false) {
  if (const auto comma = text.find(','); has_commas && comma != std::string_view::npos) {
    std::string pointed(text);
    pointed[comma] = '.';
    return finite_number(pointed);
  }
  const auto number = whole_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Reads a count. Returns false for text that is not a count.
bool set_value(Row& row, std::string_view text, bool has_commas = false) {
  const auto value = finite_number(text, has_commas);
  if (!value && text != "<not counted>" && text != "<not supported>") return false;
  row.value = value.value_or(0);
  row.state = value                     ? State::counted
              : text == "<not counted>" ? State::not_counted
                                        : State::not_supported;
  return true;
}

/// Returns a member as text: it is a string or a number, depending on perf's version.
std::string text_of(const JsonValue& object, const json& value, std::string_view key) {
  const auto found = value.find(key);
  if (found == value.end() || found->is_null()) return {};
  if (found->is_number()) return found->dump();
  return object[key].string();
}

/// Reads a line of `perf stat -j`; nullopt for a metric, and for a line of another program.
std::optional<Row> json_row(std::string_view line, const std::string& where) {
  const char* const remedy = "count again with LC_ALL=C perf stat -j";
  if (line.find("\"counter-value\"") == std::string_view::npos) return std::nullopt;
  json value;
  try {
    value = parse_json(line, where, "one JSON object a line");
  } catch (const InputError&) {
    throw fault(where, "a line that is no JSON object", "one JSON object a line", remedy);
  }
  const JsonValue object(value, where);
  Row row;
  row.event = object["event"].string();
  const std::string text = text_of(object, value, "counter-value");
  if (text.empty()) object["counter-value"].refuse("nothing", "a number");
  if (!set_value(row, text)) {
    throw fault(where, fmt::format("'{}' for \"counter-value\"", text),
                "a number, \"<not counted>\" or \"<not supported>\"", remedy);
  }
  if (const auto running = object.find("pcnt-running")) {
    const auto percent = finite_number(text_of(object, value, "pcnt-running"));
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

/// Takes the field before a separator, and the separator, from the beginning of a line.
std::string_view take_field(std::string_view separator, std::string_view& line,
                            std::size_t from = 0) {
  const std::string_view field = line.substr(0, line.find(separator, from));
  line.remove_prefix(std::min(field.size() + separator.size(), line.size()));
  return field;
}

/// Takes the event from the beginning of a line, with the separator after it. It can contain
/// separators between its slashes.
std::string_view take_event(std::string_view separator, std::string_view& line) {
  const std::size_t slash = line.find('/');
  if (slash > line.find(separator)) return take_field(separator, line);
  const std::size_t closing = slash == line.npos ? slash : line.find('/', slash + 1);
  return take_field(separator, line, closing == line.npos ? 0 : closing);
}

/// Reads "value,unit,event,[cgroup,][deviation%,]runtime,running%", and perhaps a metric. Returns
/// false for other text.
bool read_count(std::string_view line, std::string_view separator, Row& row) {
  const auto next = [&line, separator] { return trimmed(take_field(separator, line)); };
  const bool has_commas = separator != ",";
  const auto is_whole = [](std::string_view field) { return whole_number<std::uint64_t>(field); };
  if (!set_value(row, next(), has_commas)) return false;
  const std::string_view unit = next();
  if (finite_number(unit) || unit.starts_with('<')) return false;
  row.event = trimmed(take_event(separator, line));
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (std::none_of(row.event.begin(), row.event.end(), is_letter)) return false;
  std::string_view field = next();
  if (!is_whole(field) && !field.ends_with('%')) {
    row.cgroup = field;
    field = next();
  }
  if (field.ends_with('%')) field = next();
  const auto running = finite_number(next(), has_commas);
  row.running_percent = running.value_or(0);
  return is_whole(field) && running;
}

/// Reads a line of `perf stat -x SEPARATOR`; nullopt if it is not a count.
std::optional<Row> separated_row(std::string_view line, std::string_view separator) {
  // perf prints no control characters: the line is from the program, or the file is not text.
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  if (std::any_of(line.begin(), line.end(), is_control)) return std::nullopt;
  // At most the interval, the aggregate and its number of CPUs precede the value.
  constexpr int kMostBefore = 3;
  Row scope;
  for (int before = 0; before <= kMostBefore; ++before) {
    Row row = scope;
    if (read_count(line, separator, row)) return row;
    const std::string_view field = trimmed(take_field(separator, line));
    if (before == 0) {
      scope.interval = finite_number(field, separator != ",").has_value();
      scope.summary = field == "summary";
    }
    scope.scope.append(field) += '\n';
  }
  return std::nullopt;
}

/// Returns what follows the first number of a line, or "<not counted>", up to the next word.
std::string_view after_number(std::string_view line) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '<'; };
  if (line.starts_with("<not ")) {
    take_until('>', line);
  } else {
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of("0123456789.,"), line.size()));
  }
  const auto end = std::find_if(line.begin(), line.end(), is_word);
  return line.substr(0, static_cast<std::size_t>(end - line.begin()));
}

/// Returns a comma if some line of `text` is a count with it, else the separator of a line that is
/// a count with what follows its first number; a comma if there is none.
std::string separator_of(std::string_view text) {
  constexpr std::size_t kLongest = 8;
  std::string_view other = ",";
  while (!text.empty()) {
    const std::string_view line = trimmed(take_until('\n', text));
    if (line.size() > kLongestLine || line.starts_with('{')) continue;
    if (separated_row(line, ",")) return ",";
    if (other != ",") continue;
    const std::string_view after = after_number(line);
    if (after.empty() || after.size() > 2 * kLongest) continue;
    // It is there twice if the count has no unit.
    for (const auto separator : {after.substr(0, after.size() / 2), after}) {
      if (!separator.empty() && other == "," && separated_row(line, separator)) other = separator;
    }
  }
  return std::string(other);
}

/// Whether a line, with the spaces around it, is a metric, which perf prints in addition to counts:
/// value, unit, event and their shares are empty.
bool is_metric(std::string_view line, std::string_view separator) {
  if (trimmed(line).starts_with('{')) return line.find("\"metric-value\"") != line.npos;
  std::string empty;
  for (int i = 0; i < 5; ++i) empty += separator;
  return line.find(empty) != line.npos;
}

/// Sums rows by event.
class Sums {
 public:
  explicit Sums(const std::string& file) : file_(file) {}

  void add(const Row& row) {
    refuse_out_of_range(row);
    refuse_groups(row);
    refuse_sums_beside_parts(row);
    const auto [position, inserted] = index_.try_emplace(row.event, events_.size());
    if (inserted) {
      if (events_.size() == kMostDistinctEvents) {
        throw fault(place(file_, row.line), "one event more",
                    fmt::format("at most {}", kMostDistinctEvents),
                    "count the events of the rates alone");
      }
      EventCount& event = events_.emplace_back();
      event.name = row.event;
      event.state = row.state;
      event.line = row.line;
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

  std::vector<EventCount> take() { return std::move(events_); }

 private:
  void refuse_out_of_range(const Row& row) const {
    if (row.value < 0 || row.value > kMostEvents) {
      throw fault(place(file_, row.line),
                  fmt::format("a count of {} for '{}'", row.value, row.event),
                  fmt::format("0 to {}", kMostEvents), "the file is damaged; count again");
    }
    // perf rounds to hundredths.
    if (row.running_percent < 0 || row.running_percent > 100.01) {
      throw fault(place(file_, row.line),
                  fmt::format("'{}' counted in {}% of the time", row.event, row.running_percent),
                  "0% to 100%", "the file is damaged; count again");
    }
  }

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

}  // namespace

std::string place(const std::string& file, std::size_t line) {
  return fmt::format("{}: line {}", file, line);
}

Reading read_counts(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes) {
    throw fault(file, fmt::format("more than {} bytes", kMostBytes), "at most that many",
                "give the output of perf stat alone");
  }
  Reading reading;
  reading.file = file;
  const std::string separator = separator_of(text);
  Sums sums(file);
  bool found = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = take_until('\n', text);
    if (whole.size() > kLongestLine) {
      throw fault(place(file, number), fmt::format("a line of {} bytes", whole.size()),
                  fmt::format("at most {}", kLongestLine), "give the output of perf stat alone");
    }
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.starts_with('#')) continue;
    const bool is_json = line.starts_with('{');
    if (auto row = is_json ? json_row(line, place(file, number)) : separated_row(line, separator)) {
      if (!std::exchange(found, true)) reading.form = is_json ? Form::json : Form::separated;
      if (!is_json) reading.separator = separator;
      row->line = number;
      sums.add(*row);
    } else if (!is_metric(whole, separator) && ++reading.other_lines == 1) {
      reading.first_other_line = number;
    }
  }
  if (!found) {
    throw fault(file, "no count of perf stat",
                "the output of perf stat -j or perf stat -x SEPARATOR",
                "count with -j; perf stat writes to standard error: use its -o FILE, or 2>&1");
  }
  reading.events = sums.take();
  return reading;
}

}  // namespace skid::perfstat
