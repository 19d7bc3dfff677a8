// A histogram of offsets cut down to the rows that a terminal shows.
#pragma once

#include "analysis/measurement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid::output {

enum class Binning {
  as_recorded,  ///< each bin of the measurement a row
  even,         ///< wider bins of equal width
  doubling,     ///< bins that double in width with the distance, for most near and few far
};

enum class RowKind { hit, other, beyond_axis };

struct OffsetRow {
  std::string name;  ///< "hit", "+1", "+250 to +499"
  std::uint64_t count = 0;
  RowKind kind = RowKind::other;
};

struct OffsetRows {
  Binning binning = Binning::as_recorded;
  std::int64_t width = 1;       ///< instructions a bin, for as_recorded and even
  std::vector<OffsetRow> rows;  ///< ascending; empty bins in between are kept once bins are wider
};

/// Rows for the located samples of a measurement. Hits are a row of their own in any binning.
OffsetRows offset_rows(const analysis::Measurement& measurement);

}  // namespace skid::output
