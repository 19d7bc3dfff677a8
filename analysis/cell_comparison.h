// The comparison of one event at one level between a run and the baseline, of which compare() is
// made.
#pragma once

#include "analysis/offset_counts.h"
#include "analysis/share.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

struct ComparisonCell;
struct Measurement;

/// The runs of a cell added up. It refers to their measurements.
struct SideFigures {
  explicit SideFigures(const ComparisonCell& cell);

  std::vector<const Measurement*> runs;  ///< runs with judged samples
  const Measurement* first = nullptr;    ///< first of all runs
  Share hits;                            ///< hits of all runs together
  OffsetCounts offsets;                  ///< offsets of all runs together, in instructions
  /// The first censored offset, that of the shortest runway.
  std::optional<std::int64_t> censored_from;
};

/// Fills the part of a cell that does not depend on the baseline: judged samples, estimates,
/// contracts.
void describe(ComparisonCell& cell);

/// Returns the share of hits that the verdict on a run judges: of IBS and SPE that of the
/// operations that access the trigger's data, and at levels 2 and 3 without the samples that the
/// kernel declares as not corrected. Where nothing is judged, it is that of all judged classes.
const Share& hits_of(const Measurement& run);

/// Whether hits and misses of a run may be called good or bad.
bool is_judgeable(const Measurement& measurement);

/// Compares a cell with the baseline. Fills its outcome (where it is settled without tests),
/// caveats, differences with their p-values and distances. describe() has filled both cells.
void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell);

}  // namespace skid::analysis
