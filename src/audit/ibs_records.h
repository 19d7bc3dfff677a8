// Samples whose IBS record is of an operation that the sampled instruction does not have.
#pragma once

#include <cstdint>
#include <map>

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

struct Contradictions;

/// Compares the raw data of IBS op samples (perf record --raw-samples) with the sampled
/// instructions. Counts, by attribute, the samples with EXACT_IP in user mode of ibs_op, and of the
/// events of AMD's core PMU that the kernel hands to it; attributes without such samples have no
/// entry. `Contradictions::without`: those whose raw data is not that of a tagged operation.
///
/// A record contradicts its sample if it has another address, and an instruction contradicts a
/// record of what it cannot do; docs/audit.md, "IBS records", has the rules. Operations from
/// microcode, and those that neither access memory nor branch, are undecided, as are instructions
/// whose code is not known. Reads the recording once more, unless no event recorded raw data of
/// IBS.
std::map<std::uint32_t, Contradictions> check_ibs_records(const measure::Profile& profile,
                                                          code::CodeBudget& budget);

}  // namespace skid::audit
