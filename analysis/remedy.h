// What decides a contract that its samples leave undecided.
#pragma once

#include <cstdint>
#include <optional>

namespace skid::analysis {

struct Basis;
struct Contract;
struct Share;

/// What to record, so that an undecided contract can be decided.
struct Remedy {
  enum class Kind {
    more_samples,       ///< `samples` of them
    more_of_tagged,     ///< the same for IBS and SPE, which tag fewer other instructions, too
    fewer_nops,         ///< IBS and SPE tag the trigger too seldom
    sum_of_recordings,  ///< the share is too near the required one for a single recording
    level_1,            ///< the kernel corrected no sample
    user_mode,          ///< all samples are in the kernel
    longer_run,         ///< no sample is in the target's loop
    another_period,     ///< all samples are at other triggers
    period_or_gaps,     ///< the same with several triggers, whose gaps can be larger
    resonating_period,  ///< most samples are at other triggers
    another_cause,      ///< something else causes the event
  };
  Kind kind = Kind::more_samples;
  /// The number of samples to record, which leaves out those of other triggers; nullopt if more
  /// samples do not help.
  std::optional<std::uint64_t> samples = std::nullopt;
  /// For `resonating_period`: samples at other triggers, and all that were read.
  std::uint64_t others = 0, read = 0;
};

/// Returns the remedy for a contract that is undecided by its share and the counts of its event.
/// `tagged`: the contract's share is of the operations that IBS or SPE tagged.
Remedy remedy_of(const Contract& contract, const Basis& basis, bool tagged);

/// Returns the number of samples after which a share like this one is decided: those after which
/// Wilson's interval does not reach kRequiredShare, z² s (1 - s) / (p - s)² of the share p and the
/// required one s, or chance does not explain the misses; at least as many as `kept` takes.
/// nullopt if the share equals the required one.
std::optional<std::uint64_t> samples_to_decide(const Share& share);

}  // namespace skid::analysis
