// One line of perf stat: one count of one event, for one interval, CPU or thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skid::perfstat {

enum class State { counted, not_counted, not_supported };

struct Row {
  std::string event;             ///< as perf names it, not escaped
  State state = State::counted;  ///< "<not counted>", "<not supported>"
  double value = 0;              ///< events; 0 unless counted
  double running_percent = 100;  ///< share of the time enabled in which the event was counted
  std::string scope;             ///< interval, CPU, socket, …: rows that differ in it add up
  bool interval = false;         ///< the scope has an interval
  bool summary = false;          ///< the sum over intervals that --summary adds
  std::string unit;              ///< "msec"; empty for events that are only counted
  std::string cgroup;            ///< control group; empty where none is told
  std::size_t line = 0;          ///< from 1
};

/// Where a line is, for errors: "FILE: line 3".
std::string place(const std::string& file, std::size_t line);

/// State and value of a count's text: a number, "<not counted>" or "<not supported>". False when it
/// is none. `number` turns text into a number.
bool set_value(Row& row, std::string_view text, std::optional<double> (*number)(std::string_view));

/// Throws InputError when a count or a share of time is outside of what it can be.
void check_row(const Row& row, const std::string& file);

/// A line of `perf stat -x`; nullopt when it is no count. `line` has no newline at its end.
std::optional<Row> separated_row(std::string_view line, std::string_view separator);

/// The separator between the fields of a line of `perf stat -x`; empty when it is no count with any
/// separator of up to four characters that are neither letters nor digits.
std::string separator_of(std::string_view line);

/// A line of perf stat's text; nullopt when it is no count. With control groups the event is taken
/// for a unit and the group for the event, because nothing but the knowledge of events tells.
std::optional<Row> plain_row(std::string_view line);

}  // namespace skid::perfstat
