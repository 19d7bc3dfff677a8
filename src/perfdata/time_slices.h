// When things happened, kept per slice of a recording instead of per thing.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace skid::perfdata {

/// The samples of a recording in the order in which they are read, cut in slices, each with the
/// earliest and the latest time in it. Whatever was seen in some slices happened between the
/// earliest time of the first and all later ones and the latest of the last and all earlier ones:
/// an interval that may be wider than the truth, never narrower, and hardly wider where recordings
/// are nearly sorted. Two small numbers tell it instead of two times.
class TimeSlices {
 public:
  using Slice = std::uint16_t;

  /// The slice that what is read now belongs to. Never decreases.
  Slice current() const noexcept { return static_cast<Slice>(slices_.size() - 1); }

  /// Notes `samples` that were read since the last call, all within [first, last] and before
  /// `end` (Record::position), as of the current slice; afterwards another slice may be the current
  /// one.
  void note(std::uint64_t first, std::uint64_t last, std::uint64_t end, std::uint64_t samples);

  /// A mapping changes here: what is read from now on belongs to another slice, if there are enough
  /// of them left.
  void cut();

  /// How many samples should be noted together at most, for intervals as narrow as slices are.
  std::uint64_t samples_a_slice() const noexcept;

  /// Ends noting.
  void seal();

  /// Only after `seal`: times between which everything seen in slices from `first_slice` (until
  /// `last_slice`) happened.
  std::uint64_t first(Slice first_slice) const { return slices_[first_slice].first; }
  std::uint64_t last(Slice last_slice) const { return slices_[last_slice].last; }
  /// The position in the recording behind which nothing of a slice stands.
  std::uint64_t end(Slice slice) const { return slices_[slice].end; }

 private:
  void begin_slice();

  struct Times {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    std::uint64_t end = 0;
  };

  std::vector<Times> slices_{Times{}};
  std::uint64_t samples_ = 0;           ///< in all slices
  std::uint64_t samples_in_slice_ = 0;  ///< in the current one
};

}  // namespace skid::perfdata
