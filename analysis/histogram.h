// Skid offsets counted by offset, precise level and event in one Boost.Histogram.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace skid::analysis {

/// Samples with lo <= offset < hi, in instructions.
struct Bin {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::uint64_t count = 0;
  /// Of these, the censored ones: among several triggers an offset may be censored behind one and
  /// not behind another. Set by whoever knows the classes.
  std::uint64_t censored = 0;
};

struct HistogramSlice {
  std::vector<Bin> bins;        ///< ascending, empty ones left out
  std::uint64_t underflow = 0;  ///< below the axis
  std::uint64_t overflow = 0;   ///< above it
};

/// Two times the longest runway and lead-in that a target can have.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;

/// Axes: offset in instructions (integer, under- and overflow kept), precise level (category, 0 to
/// 3) and event (category, growing). Counts are whole.
class SkidHistogram {
 public:
  /// Offsets [lowest, highest] get a bin each; both ends from TargetMap.
  /// Throws std::invalid_argument when the ends are in the wrong order or too far apart to be the
  /// ends of a target (more than `kLongestAxis` bins).
  SkidHistogram(std::int64_t lowest, std::int64_t highest);
  SkidHistogram(const SkidHistogram& other);
  SkidHistogram(SkidHistogram&& other) noexcept;
  SkidHistogram& operator=(const SkidHistogram& other);
  SkidHistogram& operator=(SkidHistogram&& other) noexcept;
  ~SkidHistogram();

  /// Throws std::invalid_argument for a level other than 0 to 3.
  void add(std::int64_t offset, int level, const std::string& event, std::uint64_t count);
  /// The offsets of one level of one event, `width` instructions a bin; bins begin at multiples of
  /// the width, so that 0 always begins one. Empty for an event that was never added.
  HistogramSlice slice(int level, const std::string& event, std::int64_t width = 1) const;
  /// Adds another with the same offset axis; throws std::invalid_argument otherwise.
  /// Events may differ in order and in set.
  SkidHistogram& operator+=(const SkidHistogram& other);

 private:
  // Boost.Histogram takes seconds to compile; whoever only holds a histogram need not pay for it.
  struct Counts;
  std::unique_ptr<Counts> counts_;
};

}  // namespace skid::analysis
