// The results that depend on single samples, for which a recording is read once more.
#pragma once

#include <vector>

namespace skid::analysis {
struct Basis;
}  // namespace skid::analysis

namespace skid::measure {

class ContradictedHits;
class PageFaultChecker;
struct Profile;
struct TargetGeometry;

/// Sets the results that depend on single samples: reads the recording once more, unless nothing
/// needs it. `geometry` is null if no target was found. `bases`, by attribute, get tables of
/// data addresses, pairs of samples and skids in events. `contradicted` gets all samples that it
/// reads.
void count_single_samples(const Profile& profile, const TargetGeometry* geometry,
                          PageFaultChecker& checker, ContradictedHits& contradicted,
                          std::vector<analysis::Basis>& bases);

}  // namespace skid::measure
