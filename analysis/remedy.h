// What decides a contract that its samples leave undecided.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skid::analysis {

struct Basis;
struct Contract;
struct Share;

/// What to record, so that an undecided contract can be decided.
struct Remedy {
  /// The number of samples to record (record --samples), which leaves out those of other triggers;
  /// nullopt if more samples do not help.
  std::optional<std::uint64_t> samples = std::nullopt;
  std::string text;  ///< a part of a sentence: "record about 3,900 samples (--samples 3900)"
};

/// Returns the remedy for a number of samples to record.
Remedy remedy_of_samples(std::uint64_t samples);

/// Returns the remedy for a contract that is undecided by its share and the counts of its event.
/// `tagged`: the contract's share is of the operations that IBS or SPE tagged.
Remedy remedy_of(const Contract& contract, const Basis& basis, bool tagged);

/// Returns the number of samples after which a share like this one is decided: those after which
/// Wilson's interval does not reach kRequiredShare, z² s (1 - s) / (p - s)² of the share p and the
/// required one s, or chance does not explain the misses; at least as many as `kept` takes.
/// nullopt if the share equals the required one.
std::optional<std::uint64_t> samples_to_decide(const Share& share);

}  // namespace skid::analysis
