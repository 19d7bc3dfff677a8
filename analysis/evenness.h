// Whether samples are distributed as their events are: what precise distribution (PDIR, PDist) adds
// to precise level 3. And skid offsets modulo small numbers: CPUs retire instructions in groups, so
// that samples can land on every fourth one. How evenly samples fall on the places of blocks, and
// whether their order is locked to the loop that they are of.
#pragma once

#include "analysis/distributions.h"
#include "analysis/statistics.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {

inline constexpr int kSmallestModulus = 2;
inline constexpr int kLargestModulus = 8;

/// The skids with offset % modulus == 0, 1, ….
struct Residues {
  int modulus = 0;
  std::vector<std::uint64_t> counts;
  /// Compared with a distribution of the same shape without groups: its moving average over
  /// `modulus` offsets. Equal residues would be the wrong reference, because a smooth but narrow
  /// distribution does not have them. Where the moving average would reach past the skids, or
  /// across the most common offset, nothing is compared: an edge or a single peak is not a group.
  struct Excess : ChiSquareTest {  ///< modulus - 1 degrees; p assumes independent samples
    /// The share of the compared samples that would have to move for the residues to be those of
    /// the moving average: 0 to 1 - 1 / modulus.
    double share = 0;
  };
  /// nullopt if nine tenths of the skids off the most common offset are within four times the
  /// modulus, or most of them on one or two offsets (two of them share one with a chance above a
  /// third), or too few can be compared (5 to be expected of each residue).
  std::optional<Excess> excess;
};

struct RetirementGroups {
  std::vector<Residues> moduli;  ///< kSmallestModulus to kLargestModulus
  /// The modulus of the groups: of those with p < 0.001 by Holm's adjustment and an excess of at
  /// least 0.05 the smallest whose excess is not far (a twentieth) below the largest, since groups
  /// of four show modulo eight as well. nullopt where there is none.
  std::optional<int> strongest;
};

/// Residues of the offsets above 0 and below the first censored one; nullopt without any. They
/// describe a distribution: several sharp peaks can look like groups without being ones.
std::optional<RetirementGroups> retirement_groups_of(const OffsetCounts& offsets,
                                                     std::optional<std::int64_t> censored_from);

struct Description;
struct Figures;
struct Basis;

struct Evenness {
  enum class Of { triggers, instructions };
  enum class Verdict { even, uneven, undecided };

  Of of = Of::triggers;  ///< what causes the event equally often
  Verdict verdict = Verdict::undecided;
  /// Whether the hardware promises it: PDist, with which an uneven distribution is a broken
  /// promise.
  bool promised = false;
  ChiSquareTest test;
  double largest_ratio = 0;  ///< of the samples of a trigger, or of instructions, to those expected
  std::string evidence;      ///< one line
};
SKID_NAMES(Evenness::Of, "triggers", "instructions")
SKID_NAMES(Evenness::Verdict, "even", "uneven", "undecided")

/// p below which samples are unevenly distributed, and from which on evenly. Between them nothing
/// is decided, because samples of one run are not quite independent of each other.
inline constexpr double kUneven = 1e-6, kEven = 0.01;
/// The share of samples at other triggers than evenness gives, below which triggers are not called
/// uneven: interrupts disturb caches and the retirement of neighbours a little, whatever the PMU.
inline constexpr double kFewestMisplaced = 0.05;

/// Why even perfect hardware would not sample all events of an iteration: their number has a factor
/// in common with that from one sample to the next, or the kernel keeps a frequency. Empty: it
/// would, or nothing is known. `basis`: with a geometry.
std::string resonance_of(const Description& description, const Basis& basis);

/// The samples of several triggers that cause the event equally often, at a level 3 that has
/// precise distribution; or, for an event that counts all instructions and has it, those of each
/// instruction of an iteration with one trigger, at levels 2 and 3. nullopt elsewhere. `figures`:
/// all others.
///
/// Undecided where the samples do not show which trigger caused them (a contract that is not kept),
/// are too few, or where the period resonates with the loop.
std::optional<Evenness> evenness_of(const Description& description, const Basis& basis,
                                    const Figures& figures);

/// The most significant of several tests of `offsets` from `lowest` to `highest`, each executed
/// equally often; its p is adjusted for their number (Bonferroni). One is over the instructions, of
/// which adjacent ones are joined so that 5 samples at least are to be expected. The others are
/// over the remainders of their place modulo 2 to 8: samples by a fixed period are more even than
/// random ones, so that joined instructions hide retirement groups. nullopt for too few samples.
struct InstructionTest {
  ChiSquareTest test;
  double largest_ratio = 0;          ///< seen / expected
  std::int64_t first = 0, last = 0;  ///< offsets of which
  std::int64_t step = 1;             ///< every how many instructions from `first` to `last`
};
std::optional<InstructionTest> test_of_instructions(const OffsetCounts& offsets,
                                                    std::int64_t lowest, std::int64_t highest);

/// "level 3 even (p 0.41), level 2 uneven (p < 1e-300, largest ratio 3.1)" and of what, of the same
/// event and run.
std::string comparison_of(const Evenness& level_2, const Evenness& level_3);

/// The chance that any block of an even profile is called biased. The gamma distribution of p is an
/// approximation, which is up to twice too small far out in the tail of few samples.
inline constexpr double kBiasLevel = 0.01;

struct BlockEvenness {
  /// Its p is of Pearson's statistic by the gamma distribution that has the statistic's exact mean,
  /// variance and third moment; with fewer than five samples expected of a place, by simulation.
  Bias bias;
  double p_holm = 1;        ///< adjusted for all blocks by Holm's method
  bool is_biased = false;   ///< p_holm is below kBiasLevel
  double half_sum = 0;      ///< of the differences from the even count, in samples
  double half_sum_due = 0;  ///< what evenness gives on average

  double excess() const { return half_sum - half_sum_due; }
};

struct ProfileEvenness {
  std::vector<BlockEvenness> blocks;  ///< as given
  std::size_t biased = 0;             ///< blocks
  /// The sum over the blocks of half_sum - half_sum_due, at least 0, over all samples. The interval
  /// is that of a parametric bootstrap: the blocks are drawn again from multinomial distributions
  /// whose shares are the observed ones, moved towards even ones by as much as chance alone moved
  /// them away on average.
  Interval misplaced;
};

/// `blocks`: the samples of each place; at least two places and one sample a block, else throws
/// std::invalid_argument. What is drawn depends on the counts alone. The draws are bounded: of more
/// places the interval is made from fewer draws, and of more blocks with few samples their p has a
/// higher least value.
ProfileEvenness evenness_of_blocks(std::span<const std::vector<std::uint64_t>> blocks);

// Whether the place of a sample follows from that of the one before: the period locks to a loop.

struct SampleOrder {
  std::uint64_t pairs = 0;  ///< of consecutive samples
  double predicted = 0;     ///< share of next samples that are where most followed the same place
  double independent = 0;   ///< the same with nearby samples in any order
  double p = 1;             ///< of so many more predicted than of samples in any order
};

/// Samples are locked from this share on, of what samples in any order leave unpredicted.
inline constexpr double kLocked = 0.2;

/// Consecutive samples of threads at the places of one loop.
///
/// They are cut into windows of eight. What follows each place most often is learned from every
/// other window and tested in the rest, and the other way round. Within a window all orders are
/// equally likely if samples are independent, also while a program changes slowly. So the pairs
/// predicted in a window, minus their mean over all its orders, have the mean 0. Their sum over the
/// root of the sum of their squares is about normal.
class SampleOrderTest {
 public:
  /// Samples of one thread with none between them, by their number of place.
  void add(std::span<const std::uint32_t> places);
  /// nullopt for fewer than 100 pairs.
  std::optional<SampleOrder> finish() const;

 private:
  std::vector<std::vector<std::uint32_t>> windows_;
};

/// `p`: adjusted for all loops that were tested.
bool is_locked(const SampleOrder& order, double p);

}  // namespace skid::analysis
