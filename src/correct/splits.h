// Samples with several candidates, until they are split between these.
#pragma once

#include "src/correct/candidates.h"
#include "src/correct/corrected_event.h"
#include "src/correct/flow.h"
#include "src/correct/shares.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace skid::correct {

using Places = std::vector<SpreadPlace>;

/// What stays to be decided of samples with several candidates.
struct OpenSplit {
  std::uint32_t attribute = 0;
  std::size_t share = 0;                          ///< number of its Spread
  std::vector<std::vector<std::size_t>> ways_of;  ///< by candidate: indices in Ways::from
  std::vector<double> executions;                 ///< by candidate, estimated; empty: not known
  /// By candidate, instructions of its block that cause the event whenever they are executed.
  std::vector<Places> mates;
  Ways ways;
};

class Splits {
 public:
  /// File, offset and samples of `instructions` events.
  using Executed = std::tuple<symbols::FileIndex, std::uint64_t, std::uint64_t>;
  /// Before the first add().
  void use_executed(std::vector<Executed> executed);

  /// Samples whose Spread is the next one of `event`; decide() sets how many each candidate gets.
  void add(Flow& flow, CorrectedEvent& event, const Sampled& one, std::uint64_t address,
           const Candidates& candidates, const Suspicion& suspicion);

  /// Splits all that was added, by the best of what is known (SplitBy). `recording`: after
  /// digest(), which gave `spaces`; `cpu`: that it was recorded on.
  void decide(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
              const machine::CpuIdentity& cpu, CorrectedEvents& events);

 private:
  OpenSplit open_split(Flow& flow, const CorrectedEvent& event, const Sampled& one,
                       std::uint64_t address, const Candidates& candidates) const;
  /// Samples of `instructions` events in those bytes of a file.
  double executed(symbols::FileIndex file, AddressRange offsets) const;

  std::vector<Executed> executed_;  ///< ascending
  std::vector<OpenSplit> open_;
};

}  // namespace skid::correct
