// How samples with several candidates are split between these.
#pragma once

#include "src/correct/spread.h"
#include "src/symbols/file_location.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace skid::code {
class ControlFlow;
}  // namespace skid::code

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

struct Candidates;

/// Divides `samples` in proportion to `weights` (none negative, not all 0). The parts add up to
/// `samples`, and each is rounded to a neighbouring integer.
std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights);

/// The samples of all events that have several candidates.
class Splits {
 public:
  /// Splits the samples of `spread`, which is added to `event` next, in equal shares. `one`: the
  /// samples, which are at the link-time `address`.
  void add(code::ControlFlow& flow, CorrectedEvent& event, const Sampled& one,
           std::uint64_t address, const Candidates& candidates, Spread& spread);

  /// Splits samples again by their branch records (PERF_SAMPLE_BRANCH_STACK, newest branch first).
  ///
  /// The newest record of a sample shows by which path this very sample came to its instruction: by
  /// a branch to it, or without a branch from the target of one. The kernel assumes the same where
  /// it rewinds PEBS samples (intel_pmu_pebs_fixup_ip() in arch/x86/events/intel/ds.c). The records
  /// of an event are used if they are in step with its samples. Those of adaptive PEBS are in step;
  /// those that the interrupt handler reads can be newer than the sample. They count as in step if
  /// at most 1% of the samples precede the target of their newest record. Events that did not
  /// record all branches (`-j any_call`, `--call-graph lbr`) are left out, and so are records that
  /// were not retired, by the rules of audits (audit::branch_filter(), audit::is_run()).
  ///
  /// `profile`: must be of x86-64.
  void decide(const measure::Profile& profile, CorrectedEvents& events);

 private:
  /// Samples of an event at one instruction.
  struct Split {
    std::size_t spread = 0;  ///< index in CorrectedEvent::spreads
    /// Candidates by the last instruction of a path from them to the sample, as a file offset.
    std::map<std::uint64_t, std::vector<std::size_t>> by_way;
    std::optional<std::uint64_t> falls_from;  ///< key of `by_way` that leads here without a jump
    std::vector<double> weights;              ///< samples by candidate; the last one is unknown
  };
  using Key = std::pair<std::uint32_t, symbols::FileLocation>;  ///< attribute, sampled place

  /// Counts a sample. `offset_from`: bytes from the sampled instruction to the branch that led to
  /// it, modulo 2^64; nullopt: no branch led to it.
  void count(const Key& key, std::optional<std::uint64_t> offset_from);

  std::multimap<Key, Split> splits_;
};

}  // namespace skid::correct
