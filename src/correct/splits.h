// How samples with several candidates are split between these.
#pragma once

#include "src/correct/candidates.h"
#include "src/correct/corrected_event.h"
#include "src/correct/flow.h"
#include "src/measure/profile.h"
#include "src/perfdata/sample.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace skid::correct {

/// Parts of `samples` in proportion to `weights` (none negative, not all 0): they add up to
/// `samples`, and each is rounded to a neighbouring integer.
std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights);

class Splits {
 public:
  /// Splits the samples of `spread`, which becomes the next one of `event`, in equal shares.
  /// `one`, at the link-time `address`: the samples.
  void add(Flow& flow, CorrectedEvent& event, const Sampled& one, std::uint64_t address,
           const Candidates& candidates, Spread& spread);

  /// Splits anew what branch records show (PERF_SAMPLE_BRANCH_STACK, newest branch first).
  ///
  /// The newest record of a sample shows by which way this very sample came to its instruction: by
  /// a branch to it, or without a branch from the target of one. The kernel assumes the same where
  /// it rewinds PEBS samples (intel_pmu_pebs_fixup_ip() in arch/x86/events/intel/ds.c). The records
  /// of an event are used if they are in step with its samples: those of adaptive PEBS are, those
  /// that the interrupt handler reads can be newer than the sample. They are taken to be in step if
  /// at most 1% of the samples precede the target of their newest record. Events that did not
  /// record all branches (`-j any_call`, `--call-graph lbr`) are left out, and records that were
  /// not retired, by the rules of audits (audit::branch_filter(), audit::is_run()).
  ///
  /// `profile`: of x86-64.
  void decide(const measure::Profile& profile, CorrectedEvents& events);

 private:
  /// Samples of an event at one instruction.
  struct Split {
    std::size_t spread = 0;  ///< number in CorrectedEvent::spreads
    /// Candidates by the last instruction of a way from them, as a file offset.
    std::map<std::uint64_t, std::vector<std::size_t>> by_way;
    std::optional<std::uint64_t> falls_from;  ///< of these, the one that leads here without a jump
    std::vector<double> weights;              ///< by candidate; last of those that are not known
  };
  /// Attribute, file, offset.
  using Key = std::tuple<std::uint32_t, symbols::FileIndex, std::uint64_t>;

  /// `offset_from`: of the branch, from the sampled instruction; nullopt: no branch leads here.
  void count(const Key& key, std::optional<std::uint64_t> offset_from);

  std::multimap<Key, Split> splits_;
};

}  // namespace skid::correct
