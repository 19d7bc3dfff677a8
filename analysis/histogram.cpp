#include "analysis/histogram.h"

#include "analysis/offset_counts.h"
#include "analysis/tally.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <boost/histogram/axis/integer.hpp>
#include <boost/histogram/axis/option.hpp>
#include <boost/histogram/detail/optional_index.hpp>
#include <boost/histogram/fwd.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <boost/histogram/weight.hpp>

namespace skid::analysis {
namespace {

namespace bh = boost::histogram;

/// The axis of the numbers of bins, with under- and overflow.
using BinAxis = bh::axis::integer<std::int64_t>;
/// The axis of the numbers of the located classes.
using ClassAxis = bh::axis::integer<int, bh::axis::null_type, bh::axis::option::none_t>;
/// Counts that take memory only for bins with samples: a report may claim a runway of any length.
using SparseCells = bh::storage_adaptor<std::map<std::size_t, std::uint64_t>>;

/// The most bins of an axis. Boost counts them as int, two of them for under- and overflow.
constexpr std::uint64_t kMostBins = std::uint64_t{1} << 30;

void check_axis(const OffsetAxis& axis) {
  if (axis.width < 1) throw std::invalid_argument("a bin is at least one instruction wide");
  if (axis.lowest > axis.highest) throw std::invalid_argument("an axis ends before it begins");
  const auto bins = static_cast<std::uint64_t>(bin_of(axis.highest, axis.width)) -
                    static_cast<std::uint64_t>(bin_of(axis.lowest, axis.width));
  if (bins > kMostBins) throw std::invalid_argument("an axis has too many bins");
}

/// Returns the class of a sample that is not censored.
SampleClass class_of(std::int64_t offset) {
  if (offset == 0) return SampleClass::hit;
  return offset < 0 ? SampleClass::before : SampleClass::skid;
}

}  // namespace

Histogram histogram_of(const Tally& tally, const OffsetAxis& axis) {
  check_axis(axis);
  const std::int64_t first = bin_of(axis.lowest, axis.width);
  const std::int64_t last = bin_of(axis.highest, axis.width);
  // An offset beyond the axis can share the first or last bin's multiples.
  const auto number_of = [&](std::int64_t offset) {
    if (offset < axis.lowest) return first - 1;
    return offset > axis.highest ? last + 1 : bin_of(offset, axis.width);
  };
  auto cells = bh::make_histogram_with(SparseCells(), BinAxis(first, last + 1),
                                       ClassAxis(0, static_cast<int>(kLocatedClasses)));
  for (const auto& [offset, count] : tally.instructions.counts()) {
    // An offset can be censored after one of several triggers and not after another.
    const std::uint64_t censored = std::min(count, tally.censored.count_at(offset));
    const std::int64_t number = number_of(offset);
    cells(number, static_cast<int>(class_of(offset)), bh::weight(count - censored));
    cells(number, static_cast<int>(SampleClass::censored), bh::weight(censored));
  }

  const auto bin_at = [&](std::int64_t number) {
    Bin bin{number * axis.width, (number + 1) * axis.width};
    for (std::size_t i = 0; i < kLocatedClasses; ++i) {
      bin.by_class.at(i) = cells.at(static_cast<int>(number - first), static_cast<int>(i));
    }
    bin.count = std::accumulate(bin.by_class.begin(), bin.by_class.end(), std::uint64_t{0});
    return bin;
  };
  Histogram histogram;
  histogram.underflow = bin_at(first - 1).count;
  histogram.overflow = bin_at(last + 1).count;
  for (const auto& entry : tally.instructions.counts()) {
    const std::int64_t number = number_of(entry.first);
    if (number < first || number > last) continue;
    if (!histogram.bins.empty() && histogram.bins.back().lo == number * axis.width) continue;
    histogram.bins.push_back(bin_at(number));
  }
  return histogram;
}

}  // namespace skid::analysis
