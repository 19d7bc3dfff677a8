// When things happened, kept per slice of a recording instead of per thing.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace skid::perfdata {

/// Number of a slice, a run of consecutive samples of a recording.
using Slice = std::uint16_t;

/// Cuts a recording in slices, in the order in which it is read.
class SliceNumbers {
 public:
  /// The slice that the next samples belong to. Never decreases.
  Slice current() const noexcept { return current_; }
  /// Minimum number of its samples; more than 0.
  std::uint64_t room() const noexcept;
  /// So many samples belong to the current slice. Afterwards another one may be the current one.
  void add(std::uint64_t samples) noexcept;
  /// A mapping changes here: what is read from now on belongs to another slice, if there are enough
  /// of them left.
  void cut() noexcept;

 private:
  std::uint64_t samples_a_slice() const noexcept;
  void begin_slice() noexcept;

  Slice current_ = 0;
  std::uint64_t samples_ = 0;           ///< in all slices
  std::uint64_t samples_in_slice_ = 0;  ///< in the current one
};

/// The earliest and the latest time of each slice. Samples of a range of slices are between the
/// earliest time of the first and all later slices and the latest time of the last and all earlier
/// ones. This interval may be too wide, never too narrow, and is nearly exact for nearly sorted
/// recordings. Two small numbers represent it instead of two times.
class TimeSlices {
 public:
  /// Notes samples of `slice`, all within [first, last] and before `end` (Record::position).
  void note(Slice slice, std::uint64_t first, std::uint64_t last, std::uint64_t end);
  /// Notes all that `other` noted.
  void merge(const TimeSlices& other);
  /// Ends noting.
  void seal();

  /// Only after `seal`: times between which everything seen in slices from `first_slice` (until
  /// `last_slice`) happened.
  std::uint64_t first(Slice first_slice) const { return slices_[first_slice].first; }
  std::uint64_t last(Slice last_slice) const { return slices_[last_slice].last; }
  /// The position in the recording after the last sample of a slice.
  std::uint64_t end(Slice slice) const { return slices_[slice].end; }

 private:
  struct Times {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    std::uint64_t end = 0;
  };

  std::vector<Times> slices_;
};

}  // namespace skid::perfdata
