// Which samples of recordings to read, as perf report and perf script select them.
#pragma once

#include "src/symbols/address_space.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
class Recording;
struct Sample;
}  // namespace skid::perfdata

namespace skid::locate {

/// Times of a recording, both ends included: in ns of its clock, or as shares of the time from its
/// first to its last sample.
struct TimeSlice {
  std::uint64_t begin = 0, end = UINT64_MAX;
  std::optional<std::pair<double, double>> shares = {};  ///< in place of the times
};

/// Of each list a sample has to match one element; an empty list matches all samples.
struct Filter {
  enum Kind { pid, tid, cpu, comm, dso };
  static constexpr std::array<std::string_view, 5> kOptions{"--pid", "--tid", "--cpu", "--comm",
                                                            "--dso"};

  std::vector<std::string> events = {};  ///< measure::select_event
  /// By Kind. comm: of the thread at the time of the sample; dso: is_dso_named().
  std::array<std::vector<std::string>, kOptions.size()> lists = {};
  std::vector<TimeSlice> times = {};

  /// Whether it selects among the samples of an event.
  bool divides_events() const noexcept;
  bool selects_all() const noexcept { return events.empty() && !divides_events(); }
};

/// The numbers in "0,2-5", at most 8192. `option` begins the message. Throws UsageError.
std::vector<std::string> parse_numbers(std::string_view option, std::string_view list);

/// --time as in tools/perf/util/time-utils.c: "START,STOP" in seconds, of which either may be
/// missing, several separated by spaces; or "10%-20%", "10%/2" (the second tenth), "10%" (the
/// first), several separated by commas. Throws UsageError.
std::vector<TimeSlice> parse_times(std::string_view text);

/// The values that a filter selected of recordings, and those it could have selected.
struct Filtered {
  std::uint64_t selected = 0, all = 0;  ///< samples
  std::set<std::string> events;         ///< of the recordings, by names for Filter::events
  bool has_event = false;               ///< one of them is selected
  /// Samples by value, of at most 100,000 values for each list that is not empty.
  std::array<std::map<std::string, std::uint64_t>, Filter::kOptions.size()> values;
  std::uint64_t first = UINT64_MAX, last = 0;  ///< ns; times of samples

  void add(const Filtered& other);
  /// "--comm gzp: no sample matches; sampled: gzip", for elements of the lists without a sample.
  std::vector<std::string> unmatched(const Filter& filter) const;
};

/// A filter for the samples of one recording, by one thread.
class SampleFilter {
 public:
  explicit SampleFilter(Filter filter) : filter_(std::move(filter)) {}

  /// Where Replay enters the names of threads; null if they do not matter.
  symbols::ThreadNames* names() { return filter_.lists[Filter::comm].empty() ? nullptr : &names_; }

  /// Before the first sample, when the events are known; for comm and dso after the last record.
  /// Throws InputError where samples lack a field that the filter needs, or the recording the times
  /// of its first and last sample.
  void begin(const perfdata::Recording& recording, const symbols::AddressSpaces& spaces);

  /// Whether a sample is selected; counted in `filtered` unless that is null. `time`: of
  /// SampleDecoder::time_of. `file`: what is mapped there, or Region::kNoFile.
  bool selects(const perfdata::Sample& sample, std::uint64_t time, symbols::FileIndex file,
               Filtered* filtered = nullptr) const;

 private:
  Filter filter_;  ///< since `begin` without shares of time
  symbols::ThreadNames names_;
  std::vector<std::string> files_;  ///< paths; empty without a list of dsos
};

}  // namespace skid::locate
