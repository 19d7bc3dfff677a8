// Samples with several candidates, until they are split between these.
#pragma once

#include "src/correct/candidates.h"
#include "src/correct/corrected_event.h"
#include "src/correct/flow.h"
#include "src/correct/shares.h"
#include "src/perfdata/recording.h"
#include "src/symbols/address_space.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace skid::correct {

/// What stays to be decided of samples with several candidates.
struct OpenSplit {
  std::size_t share = 0;  ///< number of its Spread
  Ways ways;
  std::vector<std::vector<std::size_t>> ways_of;  ///< by candidate: indices in Ways::from
  // For the estimate by block flow, where the samples have no branch records.
  bool needs_estimate = true;
  std::uint64_t address = 0;   ///< sampled, link-time
  std::uint64_t distance = 0;  ///< of the process's addresses, where a breakpoint depends on it
  Candidates candidates;
  Suspicion suspicion;
  std::vector<double> estimate;  ///< by candidate; empty: none
};

class Splits {
 public:
  /// File, offset and samples of `instructions` events.
  using Executed = std::tuple<symbols::FileIndex, std::uint64_t, std::uint64_t>;
  /// Before the first estimate(). `precise`: at level 2 or 3, without a skid.
  void use_executed(std::vector<Executed> executed, bool precise);

  /// Samples whose Spread is the next one of `event`; decide() sets how many each candidate gets.
  void add(Flow& flow, const CorrectedEvent& event, const Sampled& one, std::uint64_t address,
           const Candidates& candidates, const Suspicion& suspicion);

  /// Estimates what led to those added since the last call, of the file at hand, by all samples in
  /// it.
  void estimate(const symbols::Module& module, Flow& flow, std::span<const Sampled> all);

  /// Splits all that was added, by the best of what is known (SplitBy). `recording`: after
  /// digest(), which gave `spaces`; `cpu`: that it was recorded on.
  void decide(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
              const machine::CpuIdentity& cpu, CorrectedEvents& events);

 private:
  /// Samples of `instructions` events at an instruction.
  double executed(symbols::FileIndex file, std::uint64_t offset) const;

  std::vector<Executed> executed_;  ///< ascending
  bool executed_is_precise_ = false;
  std::vector<OpenSplit> open_;
  std::size_t estimated_ = 0;  ///< of `open_`
  double steps_left_ = 2e7;    ///< of BlockFlow: about a second
};

}  // namespace skid::correct
