// Whether the IPs of samples agree with their data addresses.
#pragma once

#include "src/audit/contradictions.h"
#include "src/locate/visit_records.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <array>
#include <cstdint>
#include <map>

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

/// What the data addresses of one event's samples show. `share` is that of the contradicted samples
/// among the decided ones: their IP is not that of the instruction which accessed the address. At
/// level 1 their IP is not that of the instruction executed after that one.
struct DataAddresses : Contradictions {
  bool expects_next = false;  ///< the IP should be that of the next instruction: level 1
  /// Undecided samples by witness::Unknown.
  std::array<std::uint64_t, witness::kUnknown> reasons = {};
  witness::Distances::Located located;  ///< where the contradicted samples come from
};

using AddressAudits = std::map<std::uint32_t, DataAddresses>;  ///< by attribute
/// Compares data addresses with what the sampled instructions access. Counts, by attribute, the
/// samples in user mode with the data address of an access: of page faults, of PEBS (with EXACT_IP,
/// or at level 1), and with EXACT_IP of IBS; attributes without such samples have no entry.
/// docs/audit.md, "Data addresses", has the rules. The arguments must outlive the check, whose
/// visitor is empty if no event recorded such addresses; where samples are contradicted, its
/// finish() reads the recording once more.
locate::RecordCheck<AddressAudits> audit_data_addresses(const measure::Profile& profile,
                                                        code::CodeBudget& budget);

}  // namespace skid::audit
