// Samples whose record of a tagged operation (IBS, SPE) is of an operation that the sampled
// instruction does not have.
#pragma once

#include "src/audit/contradictions.h"
#include "src/audit/missing_files.h"
#include "src/locate/visit_records.h"

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

/// What check_tagged_records() returns.
struct TaggedRecords {
  Findings events;
  SamplesByFile missing;  ///< samples with records by the file that is missing
};

/// Compares what the hardware recorded of tagged operations with the sampled instructions. Counts,
/// by attribute, samples in user mode: with EXACT_IP those of ibs_op, and of the events of AMD's
/// core PMU that the kernel hands to it, with their raw data (perf record --raw-samples), and those
/// of SPE; attributes without such samples have no entry. `Contradictions::without`: those whose
/// raw data is not that of a tagged operation.
///
/// A record contradicts its sample if it has another address, and an instruction contradicts a
/// record of what it cannot do; docs/audit.md, "IBS records" and "SPE records", has the rules. IBS
/// operations from microcode, and those that neither access memory nor branch, are undecided, as
/// are instructions whose code is not known. The arguments must outlive the check, whose visitor is
/// empty if no event has such records.
locate::RecordCheck<TaggedRecords> check_tagged_records(const measure::Profile& profile,
                                                        code::CodeBudget& budget);

}  // namespace skid::audit
