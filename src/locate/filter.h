// Which samples of recordings to read, as perf report and perf script select them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::locate {

/// Times of a recording, both ends included: in ns of its clock, or as shares of the time from its
/// first to its last sample.
struct TimeSlice {
  std::uint64_t begin = 0, end = UINT64_MAX;
  std::optional<std::pair<double, double>> shares = {};  ///< in place of the times
};

/// The values that select samples. A sample has to match one element of each list; an empty list
/// matches all samples.
struct Filter {
  enum Kind { pid, tid, cpu, comm, dso };
  static constexpr std::array<std::string_view, 5> kNames{"pid", "tid", "cpu", "comm", "dso"};

  std::vector<std::string> events = {};  ///< as measure::select_event takes them
  /// One list for each Kind. comm is the name of the thread at the time of the sample; dso is
  /// compared by is_dso_named().
  std::array<std::vector<std::string>, kNames.size()> lists = {};
  std::vector<TimeSlice> times = {};
  /// Whether memory that replaced code of a file is taken for it: in AddressSpaces.
  bool takes_copies = false;

  /// Whether it selects among the samples of an event.
  bool divides_events() const noexcept;
  /// Whether a slice of time is a share of the recording.
  bool has_shares() const noexcept;
  bool selects_all() const noexcept { return events.empty() && !divides_events(); }
};

inline constexpr std::size_t kMostNumbers = 8192;  ///< as many CPUs as Linux supports

/// Returns the numbers in "0,2-5"; nullopt: it is no list of numbers, or has more than
/// kMostNumbers.
std::optional<std::vector<std::string>> parse_numbers(std::string_view list);

/// Parses --time as tools/perf/util/time-utils.c does: "START,STOP" in seconds, of which either may
/// be missing, several separated by spaces; or "10%-20%", "10%/2" (the second tenth), "10%" (the
/// first), several separated by commas. nullopt: something else.
std::optional<std::vector<TimeSlice>> parse_times(std::string_view text);

/// The values that a filter selected of recordings, and those it could have selected.
struct Filtered {
  std::uint64_t selected = 0, all = 0;  ///< samples
  std::set<std::string> events;         ///< events of the recordings, named as in Filter::events
  bool has_event = false;               ///< whether one of them is selected
  /// Samples by value, with at most 100,000 values for each list that is not empty.
  std::array<std::map<std::string, std::uint64_t>, Filter::kNames.size()> values;
  std::uint64_t first = UINT64_MAX, last = 0;  ///< ns; times of samples

  void add(const Filtered& other);
  /// Returns messages on elements of the lists without a sample: "comm gzp: no sample matches;
  /// sampled: gzip".
  std::vector<std::string> unmatched(const Filter& filter) const;
};

}  // namespace skid::locate
