// The results that depend on single samples, for which a recording is read once more.
#pragma once

#include "src/locate/visit_records.h"

#include <vector>

namespace skid::analysis {
struct Basis;
}  // namespace skid::analysis

namespace skid::measure {

class ContradictedHits;
class PageFaultChecker;
struct Profile;
struct TargetGeometry;

/// Returns the visitor that sets the results which depend on single samples; empty if there are
/// none. `geometry` is null if no target was found. `bases`, by attribute, get tables of data
/// addresses, pairs of samples and skids in events. `contradicted` gets all samples that it reads.
/// All must outlive the visitor; the results are complete after the last record.
locate::Visitor count_single_samples(const Profile& profile, const TargetGeometry* geometry,
                                     PageFaultChecker& checker, ContradictedHits& contradicted,
                                     std::vector<analysis::Basis>& bases);

}  // namespace skid::measure
