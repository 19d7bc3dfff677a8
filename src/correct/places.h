// The samples of an event while they are corrected: the instructions that they may be of, how they
// are split between these, and their sums by place.
#pragma once

#include "src/correct/correct.h"
#include "src/correct/rewrite.h"
#include "src/events/causes.h"
#include "src/perfdata/attribute.h"
#include "src/symbols/address_space.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

class Flow;
struct Candidates;

struct SpreadPlace {
  symbols::FileIndex file = symbols::Region::kNoFile;
  bool is_linked = false;  ///< `address` is one of the file; else of the kernel, or a file offset
  std::uint64_t address = 0;

  friend auto operator<=>(const SpreadPlace&, const SpreadPlace&) = default;
};

/// Samples at one instruction and what they were spread over.
struct Spread {
  SpreadPlace place;
  std::uint64_t recorded = 0;
  std::vector<SpreadPlace> candidates;  ///< each once
  std::vector<std::uint64_t> samples;   ///< by candidate; their sum is `recorded`
  bool is_open = false;                 ///< the cause of some or all may be none of the candidates
};

/// Samples of one event at one place of a file, in processes that map it alike.
struct Sampled {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t ip = 0;      ///< in recordings with a breakpoint
  std::uint32_t attribute = 0;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, ip, attribute); }
};

struct CorrectedEvent {
  perfdata::Attribute attribute;
  std::vector<events::Cause> causes;
  EventCorrection correction;
  std::vector<Spread> spreads;
  Moves moves;                         ///< of all samples at a place; for an output
  std::uint64_t may_be_elsewhere = 0;  ///< of `split`, one candidate is not known
  std::uint64_t only_sampled = 0;      ///< samples that only the sampled instruction explains
  std::uint64_t only_preceding = 0;    ///< that only a preceding one does
};
using CorrectedEvents = std::map<std::uint32_t, CorrectedEvent>;  ///< by attribute

/// The final verdict on an event that is corrected. Refuses one whose samples contradict the model,
/// because too many have no explanation, or the sampled instructions explain them better than the
/// preceding ones; and one of which no sample was placed.
void judge_fit(CorrectedEvent& event);

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
  using Key = std::pair<std::uint32_t, symbols::FileLocation>;  ///< by attribute

  /// `offset_from`: of the branch, from the sampled instruction; nullopt: no branch leads here.
  void count(const Key& key, std::optional<std::uint64_t> offset_from);

  std::multimap<Key, Split> splits_;
};

/// Adds the spreads to what `counts_of` returns (a reference to Counts) for each of their places.
/// Samples whose candidates are all in one place are surely there, unless their cause is not known.
template <typename CountsOf>
void add_up(const std::vector<Spread>& spreads, CountsOf counts_of) {
  for (const Spread& spread : spreads) {
    counts_of(spread.place).recorded += spread.recorded;
    std::set<Counts*> reached;
    for (std::size_t i = 0; i < spread.candidates.size(); ++i) {
      Counts& counts = counts_of(spread.candidates[i]);
      counts.corrected += spread.samples[i];
      reached.insert(&counts);
    }
    for (Counts* counts : reached) {
      counts->high += spread.recorded;
      if (reached.size() == 1 && !spread.is_open) counts->low += spread.recorded;
    }
  }
}

/// Where blocks begin, by file and address of an instruction.
using Blocks = std::map<std::pair<symbols::FileIndex, std::uint64_t>, std::uint64_t>;

/// Adds up the spreads by the chosen unit. `blocks`: for By::block. Most corrected samples first.
std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile,
                       const Blocks& blocks);

}  // namespace skid::correct
