// Judges the branch records of a recording (PERF_SAMPLE_BRANCH_STACK) by the code of its files.
#pragma once

#include "src/audit/branch_records.h"
#include "src/locate/visit_records.h"
#include "src/symbols/file_location.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

/// The branch records of all events of a recording.
struct BranchAudit {
  std::map<std::uint32_t, BranchRecords> events;  ///< events with branch stacks, by attribute
  /// The number of records that were not judged by code, by the file whose code is missing.
  std::map<symbols::FileIndex, std::uint64_t> missing;
};

/// Reads the branch stacks of all events and judges them, each distinct record once. docs/audit.md
/// has the rules. `top`: places listed for an event. Memory grows with distinct pairs of
/// consecutive records, up to a limit, never with samples. `profile` must outlive the check, whose
/// visitor is empty if no event has branch stacks.
locate::RecordCheck<BranchAudit> audit_branch_records(const measure::Profile& profile,
                                                      std::size_t top);

}  // namespace skid::audit
