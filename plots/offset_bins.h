// Offsets binned for a figure: an axis that shows what the data holds, and bars by class.
#pragma once

#include "analysis/measurement.h"
#include "plots/drawing.h"
#include "src/output/report/grouping.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid::plots {

using analysis::OffsetAxis;

/// The axis that the levels of an event share. It holds offset 0 and all samples, unless a few far
/// ones (0.05% of a measurement on either side) would compress the others. Bins have whole
/// retirement groups where there are some.
OffsetAxis choose_axis(const std::vector<output::Column>& columns, std::int64_t most_bins);

/// Samples of one class in one bin, on top of those of the same bin before it. Hits have their own
/// bar: where a bin is wider than one instruction, hits have the left end of the bin that begins at
/// 0, half of it at most, and samples after the trigger the rest.
struct Bar {
  std::int64_t lo = 0;  ///< first offset of the bin
  analysis::SampleClass sample_class = analysis::SampleClass::skid;
  std::uint64_t bottom = 0;    ///< samples below
  std::uint64_t count = 0;     ///< samples of this class, not 0
  double left = 0, right = 0;  ///< where its sides are drawn, in instructions
};

struct Bars {
  std::vector<Bar> bars;      ///< by offset, then class
  std::uint64_t highest = 0;  ///< samples at the top of the highest
  std::uint64_t beyond = 0;   ///< located samples outside the axis
};

/// `end_of_hits`: the right side of the bar of hits.
Bars bars_of(const analysis::Measurement& measurement, const OffsetAxis& axis, double end_of_hits);

/// The right side of the bar of hits that is wide enough to be visible.
double end_of_hits(const OffsetAxis& axis);

/// The horizontal axis of a panel.
struct OffsetScale {
  double low = 0, high = 0;
  bool is_logarithmic = false;  ///< in both directions from 0

  /// From 0 at the left end to 1 at the right.
  double place_of(double offset) const;
  /// Range and tics of a plot of so many pixels.
  std::vector<std::string> settings(double plot_width, const Paper& paper) const;
};
OffsetScale linear_scale(const OffsetAxis& axis);
/// Of lines, which have no bins: logarithmic unless it is short.
OffsetScale scale_of_lines(const OffsetAxis& axis);

/// A mark: the name of a rising line where it reaches `height`, in the units of its points. Lines
/// get different heights, so that their names are not on each other.
std::string name_at_height(double height, const Rows& line, const OffsetScale& scale,
                           const std::string& quoted, const std::string& style);

}  // namespace skid::plots
