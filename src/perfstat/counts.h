// The output of `perf stat -j` and `perf stat -x,`, of which nothing is trusted; and which count of
// the rates each event of it is, by name or by code, with warnings and remarks.
#pragma once

#include "analysis/rates.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfstat {

enum class Form { json, separated };
enum class State { counted, not_counted, not_supported };

/// An event with the sum of its counts over intervals, CPUs, sockets or threads.
struct EventCount {
  std::string name;              ///< as perf names it, not escaped
  State state = State::counted;  ///< counted when any of its rows is
  double value = 0;              ///< events, as perf scaled them
  double running_percent = 100;  ///< of the time enabled; the least of its counted rows
  std::size_t rows = 0;
  std::size_t rows_not_counted = 0;  ///< of `rows`
  std::size_t line = 0;              ///< of the first
  std::size_t repeated_on_line = 0;  ///< a second count of the same scope, so no part; 0: none
};

struct Reading {
  std::string file;
  Form form = Form::separated;  ///< of the first count
  std::vector<EventCount> events;
  std::size_t other_lines = 0;       ///< lines without a count, left out
  std::size_t first_other_line = 0;  ///< from 1
};

/// More than perf stat prints in some hours of intervals.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

/// Where a line is, for errors: "FILE: line 3".
std::string place(const std::string& file, std::size_t line);

/// Reads perf stat's output. `file` names it in errors. Throws InputError for text without counts,
/// more of it than is allowed, a damaged count, and for counts that cannot be summed: of control
/// groups, or of intervals together with their sum.
Reading read_counts(std::string_view text, const std::string& file);

/// The meaning of an event's name. Without quantity and umask no rate uses it.
struct KnownEvent {
  std::optional<analysis::Quantity> quantity;
  std::optional<std::uint8_t> l2_umask;  ///< of L2_RQSTS, event 0x24
  bool user_only = false;                ///< counted in user mode alone: `:u`
  bool kernel_only = false;              ///< in the kernel alone: `:k`
  std::string remark;                    ///< what the name leaves open; may be empty

  bool known() const noexcept { return quantity || l2_umask; }
};

/// By any spelling that the catalogues of Skylake, Haswell and Ivy Bridge take, followed by
/// modifiers. Events of other PMUs than cpu and cpu_core, and codes with other modifiers (cmask,
/// inv, edge), are not known.
KnownEvent identify_event(std::string_view name);

struct SelectedEvent {
  EventCount count;
  KnownEvent event;
};

struct Selection {
  analysis::Counts counts;
  std::vector<SelectedEvent> events;  ///< all of the reading, in its order
  std::vector<std::string> warnings;  ///< what can make rates wrong; names are not escaped
  std::vector<std::string> remarks;   ///< what is worth knowing
};

/// Finds the counts of the rates. Throws InputError when two counts are of the same quantity, which
/// can neither be summed nor chosen between.
Selection select_counts(const Reading& reading);

}  // namespace skid::perfstat
