// One line of perf stat: one count of one event, for one interval, CPU or thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skid::perfstat {

enum class State { counted, not_counted, not_supported };

/// The largest count that is accepted. Counters have 64 bits, and scaling multiplies.
inline constexpr double kMostEvents = 1e24;

struct Row {
  std::string event;             ///< as perf names it, not escaped
  State state = State::counted;  ///< "<not counted>", "<not supported>"
  double value = 0;              ///< events; 0 unless counted
  double running_percent = 100;  ///< share of the time enabled in which the event was counted
  std::string scope;             ///< interval, CPU, socket, …: rows that differ in it add up
  bool interval = false;         ///< the scope has an interval
  bool summary = false;          ///< the sum over intervals that --summary adds
  std::string unit;              ///< "msec"; empty for events that are only counted
  std::string cgroup;            ///< control group; empty for none
  std::size_t line = 0;          ///< from 1
};

/// Where a line is, for errors: "FILE: line 3".
std::string place(const std::string& file, std::size_t line);

/// A number without digit grouping, its decimal separator a point or a comma: "0.69", "0,69", "-3".
/// nullopt for anything else, also for numbers that are not finite.
std::optional<double> plain_number(std::string_view text);

/// Sets state and value from a count's text: a number, "<not counted>" or "<not supported>". False
/// for other text.
bool set_value(Row& row, std::string_view text);

/// Throws InputError when a count or a share of time is out of range.
void check_row(const Row& row, const std::string& file);

/// A line of `perf stat -x`; nullopt when it is no count. `line` has no newline at its end.
std::optional<Row> separated_row(std::string_view line, std::string_view separator);

/// The separator between the fields of a line of `perf stat -x`; empty when it is no count with any
/// separator of up to four characters that are neither letters nor digits.
std::string separator_of(std::string_view line);

}  // namespace skid::perfstat
