// What audits judged, in total: samples, data sources, data addresses, IBS records,
// branch records, blocks.
#pragma once

#include "src/output/audit/clause.h"
#include "src/support/names.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::output {

/// A condition of `audit --fail-on`.
enum class Condition {
  impossible,  ///< samples or branches
  samples,     ///< impossible samples, data sources, data addresses or tagged operations
  branches,    ///< impossible branch records
  biased,      ///< unevenly sampled blocks
};
SKID_NAMES(Condition, "impossible", "samples", "branches", "biased")

/// What one rule judged in all events of all recordings.
struct Judged {
  Condition condition;    ///< that concerns it; never `impossible`
  std::string_view what;  ///< "samples", "branch records"
  Clause clause;          ///< what `count` of them are: "are impossible"
  std::uint64_t count = 0, total = 0;

  /// Whether `count` are impossible, and not only unevenly sampled.
  bool is_of_impossible() const noexcept { return condition != Condition::biased; }
  /// Returns "811 of 5,011 judged samples (16.18%) are at instructions that …".
  std::string text() const;
};

/// Adds up what was judged. The worst is first: the largest share of what is impossible. Uneven
/// blocks are last.
std::vector<Judged> judged_by_rule(const std::vector<audit::Audit>& audits);

}  // namespace skid::output
