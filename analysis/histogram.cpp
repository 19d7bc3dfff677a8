#include "analysis/histogram.h"

#include <cstddef>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>

#include <boost/histogram/axis/integer.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <boost/histogram/weight.hpp>

namespace skid::analysis {
namespace {

namespace bh = boost::histogram;

/// Numbers of bins, with under- and overflow.
using BinAxis = bh::axis::integer<std::int64_t>;
/// 0: all samples, 1: the censored ones of them.
using CensoredAxis = bh::axis::integer<int, bh::axis::null_type, bh::axis::option::none_t>;
/// Only bins with samples take memory: a report may claim any runway.
using SparseCells = bh::storage_adaptor<std::map<std::size_t, std::uint64_t>>;

void check_axis(std::int64_t lowest, std::int64_t highest, std::int64_t width) {
  if (width < 1) throw std::invalid_argument("a bin is at least one instruction wide");
  if (lowest > highest) throw std::invalid_argument("a histogram ends before it begins");
  const auto offsets = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest);
  if (offsets >= static_cast<std::uint64_t>(kLongestAxis)) {
    throw std::invalid_argument("a histogram has more offsets than any target has instructions");
  }
}

/// offset / width, rounded down.
std::int64_t bin_of(std::int64_t offset, std::int64_t width) {
  return offset / width - (offset % width < 0 ? 1 : 0);
}

}  // namespace

HistogramSlice histogram_of(const OffsetCounts& offsets, const OffsetCounts& censored,
                            std::int64_t lowest, std::int64_t highest, std::int64_t width) {
  check_axis(lowest, highest, width);
  const std::int64_t first = bin_of(lowest, width);
  const std::int64_t last = bin_of(highest, width);
  // An offset beyond the axis can share the first or last bin's multiples.
  const auto number_of = [&](std::int64_t offset) {
    if (offset < lowest) return first - 1;
    return offset > highest ? last + 1 : bin_of(offset, width);
  };
  auto cells = bh::make_histogram_with(SparseCells(), BinAxis(first, last + 1), CensoredAxis(0, 2));
  for (const auto& [offset, count] : offsets.counts()) {
    cells(number_of(offset), 0, bh::weight(count));
  }
  for (const auto& [offset, count] : censored.counts()) {
    cells(number_of(offset), 1, bh::weight(count));
  }

  const auto index_of = [first](std::int64_t number) { return static_cast<int>(number - first); };
  HistogramSlice slice;
  slice.underflow = cells.at(-1, 0);
  slice.overflow = cells.at(index_of(last + 1), 0);
  for (const auto& entry : offsets.counts()) {
    const std::int64_t number = number_of(entry.first);
    const std::int64_t lo = number * width;
    if (number < first || number > last) continue;
    if (!slice.bins.empty() && slice.bins.back().lo == lo) continue;
    const int index = index_of(number);
    slice.bins.push_back({lo, lo + width, cells.at(index, 0), cells.at(index, 1)});
  }
  return slice;
}

}  // namespace skid::analysis
