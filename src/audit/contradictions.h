// Samples whose data source the sampled instruction contradicts.
#pragma once

#include "analysis/share.h"
#include "src/locate/visit_records.h"
#include "src/symbols/file_location.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

/// Samples at an instruction.
struct SampledPlace {
  std::string module;         ///< path as recorded
  std::string function;       ///< empty: no symbol
  std::uint64_t offset = 0;   ///< bytes from the function to `address`; without one the address
  std::uint64_t address = 0;  ///< sampled link-time address; as recorded if there is no file
  std::uint64_t samples = 0;
};

/// The samples of an event at one place that were judged.
struct JudgedSamples {
  std::uint64_t decided = 0;  ///< set for data addresses
  std::uint64_t contradicted = 0;
};
/// The samples of one event that recorded something which their instruction can contradict.
struct Contradictions {
  std::uint64_t samples = 0;  ///< samples in user mode
  /// Samples in user mode of PEBS whose data address is 0. They are not in `samples`.
  std::uint64_t without = 0;
  /// The share of the judged samples that the instruction contradicts. Checks count; audit() adds
  /// the interval.
  analysis::Share share;
  /// The places in a known file; after audit() those with contradicted samples.
  std::map<symbols::FileLocation, JudgedSamples> places = {};
  /// The contradicted samples of the places with most of them, by audit().
  std::vector<SampledPlace> worst = {};
  std::uint64_t undecided() const noexcept { return samples - share.total; }
};

/// Contradictions by attribute.
using Findings = std::map<std::uint32_t, Contradictions>;

/// Compares data sources (PERF_SAMPLE_DATA_SRC) with the sampled instructions. Counts, by
/// attribute, the samples with EXACT_IP in user mode whose data source is a load, a store or a
/// prefetch; attributes without such samples have no entry. An instruction contradicts a load or
/// store that it cannot cause (events::causes_by_name() of retired loads and stores). Code of
/// aarch64 is not judged. The arguments must outlive the check, whose visitor is empty if no event
/// recorded data sources.
locate::RecordCheck<Findings> check_data_sources(const measure::Profile& profile,
                                                 code::CodeBudget& budget);

}  // namespace skid::audit
