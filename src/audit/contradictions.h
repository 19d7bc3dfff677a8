// What else a sample records, compared with the instruction that it is at.
#pragma once

#include "analysis/statistics.h"
#include "src/audit/branches.h"
#include "src/measure/profile.h"

#include <cstdint>
#include <map>

namespace skid::audit {

/// Samples of one event that record something which their instruction can contradict.
struct Contradictions {
  std::uint64_t samples = 0;  ///< in user mode
  analysis::Share share;      ///< of those judged: contradicted by the instruction

  std::uint64_t undecided() const noexcept { return samples - share.total; }
};

/// By attribute, samples with EXACT_IP in user mode whose data source (PERF_SAMPLE_DATA_SRC) is a
/// load, a store or a prefetch, where there are any. An instruction contradicts what cannot cause a
/// retired load or store by name (events::causes_by_name); code of aarch64 is not judged. Reads the
/// recording once more, unless no event recorded data sources.
std::map<std::uint32_t, Contradictions> check_data_sources(const measure::Profile& profile,
                                                           CodeBudget& budget);

/// By attribute, samples in user mode with the data address of an access, where there are any: of
/// page faults, and with EXACT_IP of PEBS and IBS. An instruction contradicts an address outside of
/// its one memory operand, where its constants, or its constants and the registers that the sample
/// recorded, give that operand; docs/audit.md has the rules. Reads the recording once more, unless
/// no event recorded such addresses.
std::map<std::uint32_t, Contradictions> check_data_addresses(const measure::Profile& profile,
                                                             CodeBudget& budget);

}  // namespace skid::audit
