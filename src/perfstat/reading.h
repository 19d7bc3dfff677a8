// The output of `perf stat -j` and `perf stat -x SEPARATOR`, of which nothing is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfstat {

/// The format of perf stat's output: -j or -x.
enum class Form { json, separated };
enum class State { counted, not_counted, not_supported };

/// An event with the sum of its counts over intervals, CPUs, sockets or threads.
struct EventCount {
  std::string name;              ///< as perf names it, not escaped
  State state = State::counted;  ///< counted when any of its rows is
  double value = 0;              ///< events, as perf scaled them
  double running_percent = 100;  ///< share of the time enabled; the least of its counted rows
  std::size_t rows = 0;
  std::size_t rows_not_counted = 0;  ///< rows, among these, that were not counted
  std::size_t line = 0;              ///< line of the first row, from 1
  std::size_t repeated_on_line = 0;  ///< line of a second count of the same scope; 0: none
};

/// The counts of one output.
struct Reading {
  std::string file;
  Form form = Form::separated;  ///< form of the first count
  std::string separator;        ///< of -x; empty: no count has that form
  std::vector<EventCount> events;
  std::size_t other_lines = 0;       ///< lines without a count, left out
  std::size_t first_other_line = 0;  ///< from 1
};

/// The largest output that is read, in bytes: more than perf stat prints in some hours of
/// intervals.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

/// Names the place of a line for errors: "FILE: line 3".
std::string place(const std::string& file, std::size_t line);

/// Reads perf stat's output. `file` names it in errors. Throws InputError for text without counts,
/// for more than kMostBytes, for a damaged count, and for counts that cannot be summed: counts of
/// control groups, or of intervals together with their sum.
Reading read_counts(std::string_view text, const std::string& file);

}  // namespace skid::perfstat
