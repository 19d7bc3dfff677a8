#include "analysis/histogram.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include <boost/histogram/axis/category.hpp>
#include <boost/histogram/axis/integer.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <boost/histogram/unsafe_access.hpp>
#include <boost/histogram/weight.hpp>

namespace skid::analysis {
namespace {

namespace bh = boost::histogram;

using OffsetAxis = bh::axis::integer<std::int64_t>;  // with under- and overflow, its default
using LevelAxis = bh::axis::category<int, bh::axis::null_type, bh::axis::option::none_t>;
using EventAxis = bh::axis::category<std::string, bh::axis::null_type, bh::axis::option::growth_t>;
/// Only offsets that were seen take memory: a report may claim any runway.
using CellsByIndex = std::map<std::size_t, std::uint64_t>;
using Cells =
    bh::histogram<std::tuple<OffsetAxis, LevelAxis, EventAxis>, bh::storage_adaptor<CellsByIndex>>;
constexpr std::array<int, 4> kLevels{0, 1, 2, 3};

void check_axis(std::int64_t lowest, std::int64_t highest) {
  if (lowest > highest) throw std::invalid_argument("a histogram ends before it begins");
  // One is subtracted and added for the under- and overflow.
  if (lowest == std::numeric_limits<std::int64_t>::min() ||
      highest == std::numeric_limits<std::int64_t>::max()) {
    throw std::invalid_argument("a histogram reaches beyond all offsets");
  }
  const auto bins = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
  if (bins >= static_cast<std::uint64_t>(kLongestAxis)) {
    throw std::invalid_argument("a histogram has more bins than any target has instructions");
  }
}

/// The largest multiple of `width` that does not exceed `value`.
std::int64_t floor_to(std::int64_t value, std::int64_t width) {
  const std::int64_t remainder = value % width;
  return value - (remainder < 0 ? remainder + width : remainder);
}

}  // namespace

struct SkidHistogram::Counts {
  std::int64_t lowest;
  std::int64_t highest;
  Cells cells;
};

SkidHistogram::SkidHistogram(std::int64_t lowest, std::int64_t highest) {
  check_axis(lowest, highest);
  counts_ = std::make_unique<Counts>(Counts{
      lowest, highest,
      bh::make_histogram_with(bh::storage_adaptor<CellsByIndex>(), OffsetAxis(lowest, highest + 1),
                              LevelAxis(kLevels.begin(), kLevels.end()), EventAxis())});
}

SkidHistogram::SkidHistogram(const SkidHistogram& other)
    : counts_(std::make_unique<Counts>(*other.counts_)) {}
SkidHistogram::SkidHistogram(SkidHistogram&& other) noexcept = default;
SkidHistogram& SkidHistogram::operator=(const SkidHistogram& other) {
  if (this != &other) counts_ = std::make_unique<Counts>(*other.counts_);
  return *this;
}
SkidHistogram& SkidHistogram::operator=(SkidHistogram&& other) noexcept = default;
SkidHistogram::~SkidHistogram() = default;

void SkidHistogram::add(std::int64_t offset, int level, const std::string& event,
                        std::uint64_t count) {
  if (level < 0 || level > 3) throw std::invalid_argument("a precise level is 0, 1, 2 or 3");
  // Boost subtracts the axis' begin without looking for overflow.
  const std::int64_t clamped = std::clamp(offset, counts_->lowest - 1, counts_->highest + 1);
  counts_->cells(clamped, level, event, bh::weight(count));
}

HistogramSlice SkidHistogram::slice(int level, const std::string& event, std::int64_t width) const {
  if (width < 1) throw std::invalid_argument("a bin is at least one instruction wide");
  HistogramSlice slice;
  const Cells& cells = counts_->cells;
  const auto& [offset_axis, level_axis, event_axis] = bh::unsafe_access::axes(cells);
  // A category that an axis does not hold has the index behind the last.
  const int level_index = level_axis.index(level);
  const int event_index = event_axis.index(event);
  if (level_index >= level_axis.size() || event_index >= event_axis.size()) return slice;
  const int offsets = offset_axis.size();
  slice.underflow = cells.at(-1, level_index, event_index);
  slice.overflow = cells.at(offsets, level_index, event_index);
  // The offsets of a level and event stand one behind the other: underflow, those in between,
  // overflow.
  const auto row = static_cast<std::size_t>(level_index) +
                   kLevels.size() * static_cast<std::size_t>(event_index);
  const std::size_t first = row * (static_cast<std::size_t>(offsets) + 2) + 1;
  const CellsByIndex& seen = bh::unsafe_access::storage(cells);
  const auto end = seen.lower_bound(first + static_cast<std::size_t>(offsets));
  for (auto cell = seen.lower_bound(first); cell != end; ++cell) {
    if (cell->second == 0) continue;
    const auto index = static_cast<std::int64_t>(cell->first - first);
    const std::int64_t lo = floor_to(counts_->lowest + index, width);
    if (slice.bins.empty() || slice.bins.back().lo != lo) {
      slice.bins.push_back({lo, lo + width, 0, 0});
    }
    slice.bins.back().count += cell->second;
  }
  return slice;
}

SkidHistogram& SkidHistogram::operator+=(const SkidHistogram& other) {
  if (counts_->lowest != other.counts_->lowest || counts_->highest != other.counts_->highest) {
    throw std::invalid_argument("histograms of different offsets cannot be added");
  }
  counts_->cells += other.counts_->cells;  // merges the growing event axes
  return *this;
}

}  // namespace skid::analysis
