// Whether samples are distributed as their events are: what precise distribution (PDIR, PDist) adds
// to precise level 3.
#pragma once

#include "analysis/distributions.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {

class OffsetCounts;
struct Basis;
struct Description;
struct Figures;

/// How evenly samples are distributed over triggers or instructions.
struct Evenness {
  enum class Of { triggers, instructions };
  enum class Verdict { even, uneven, undecided };

  Of of = Of::triggers;  ///< what causes the event equally often
  Verdict verdict = Verdict::undecided;
  /// True with PDist, which eliminates shadowing by Intel's documentation: an uneven distribution
  /// then breaks the contract.
  bool required = false;
  ChiSquareTest test;
  /// The largest ratio of the samples of a trigger, or of instructions, to those expected.
  double largest_ratio = 0;
  double misplaced = 0;  ///< share of samples at other triggers than evenness gives
  /// The offsets of the instructions with the largest ratio: every `step`-th from `first` to
  /// `last`.
  struct Offsets {
    std::int64_t first = 0, last = 0, step = 1;
  };
  Offsets largest = {};
};
SKID_NAMES(Evenness::Of, "triggers", "instructions")
SKID_NAMES(Evenness::Verdict, "even", "uneven", "undecided")

/// Samples are unevenly distributed if p is below kUneven, and evenly if it is at least kEven.
/// Between them nothing is decided, because samples of one run are not quite independent.
inline constexpr double kUneven = 1e-6, kEven = 0.01;
Evenness::Verdict verdict_by(double p);
/// The least share of samples at other triggers than evenness gives for which triggers are called
/// uneven. Interrupts disturb caches and the retirement of neighbours a little, on any PMU.
inline constexpr double kFewestMisplaced = 0.05;

/// Why even perfect hardware would not sample all events of an iteration: the kernel keeps a
/// frequency, or the number of events has a factor in common with the distance from one sample to
/// the next.
struct Resonance {
  bool frequency = false;         ///< the other members are then 0
  std::uint64_t distance = 0;     ///< events from one sample to the next
  bool may_be_one_later = false;  ///< it is not known whether the distance is one more
  std::uint64_t events = 0;       ///< events of an iteration
  std::uint64_t factor = 0;       ///< the common one, of the distance or of one more
};
/// Finds it; nullopt if all events would be sampled, or if nothing is known. `basis` has a
/// geometry.
std::optional<Resonance> resonance_of(const Description& description, const Basis& basis);

/// Tests the samples of several triggers that cause the event equally often, at a level 3 that has
/// precise distribution. For an event that counts all instructions and has precise distribution, it
/// tests those of each instruction of an iteration with one trigger, at levels 2 and 3. nullopt for
/// other measurements. `figures` are complete but for the evenness.
///
/// The verdict is undecided if the samples do not show which trigger caused them (a contract that
/// is not kept), if they are too few, or if the period resonates with the loop.
std::optional<Evenness> evenness_of(const Description& description, const Basis& basis,
                                    const Figures& figures);

/// Returns the most significant of several tests of instructions that are executed equally often;
/// its p is adjusted for their number (Bonferroni), and its verdict is not set.
///
/// The instructions at `offsets` are from `lowest` to `highest`. One test is over the
/// instructions, of which adjacent ones are joined so that at least 5 samples are to be expected.
/// The others are over the remainders of their place modulo 2 to 8: samples at a fixed period are
/// more even than random ones, so that joined instructions hide retirement groups. nullopt for too
/// few samples.
std::optional<Evenness> test_of_instructions(const OffsetCounts& offsets, std::int64_t lowest,
                                             std::int64_t highest);
}  // namespace skid::analysis
