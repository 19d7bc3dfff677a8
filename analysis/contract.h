// Whether the samples meet the skid constraint of their precise level.
#pragma once

#include "analysis/not_judged.h"
#include "analysis/remedy.h"
#include "analysis/share.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {

struct Addresses;
struct Basis;
struct Tally;

enum class Verdict { kept, broken, undecided, not_judged };
SKID_NAMES(Verdict, "kept", "broken", "undecided", "not judged")

/// The skid constraint of a level; `tagged` is that of level 0 of IBS and SPE, whose records
/// contain the address of the tagged operation.
enum class Constraint { none, constant_skid, zero_requested, zero_and_distribution, tagged };
SKID_NAMES(Constraint, "none", "constant skid", "skid 0 requested",
           "skid 0, and precise distribution where the counter has it", "tagged operation")

struct Contract {
  int level = 0;
  Constraint constraint = Constraint::none;
  Verdict verdict = Verdict::not_judged;
  /// True if the contract is kept at level 2 or 3 with EXACT_IP on every hit and no sample that the
  /// kernel declares as not corrected. nullopt if the flag proves nothing on the recorded CPU, or
  /// if it is not known what it proves.
  std::optional<bool> certified = std::nullopt;
  bool same_as_level_2 = false;  ///< true at level 3 if it equals level 2 for this event and CPU
  /// The share that is compared with kRequiredShare: at the most common offset for level 1, at
  /// offset 0 for the others (where nothing is judged it only describes). For tagged operations
  /// that access the trigger's data, it is their share at offset 0.
  Share share;
  /// Judged samples at level 2 or 3 that the kernel declares as not corrected: off the trigger and
  /// without EXACT_IP, where the flag is evidence. They are not held against the contract.
  Share not_corrected;
  std::optional<Remedy> remedy = std::nullopt;  ///< set if the verdict is `undecided`
};

/// Why the samples of an event are not judged; NotJudged::none: they are.
NotJudged reason_not_judged(const Basis& basis);

/// Whether samples are judged by their data address alone: IBS and SPE may tag any instruction, but
/// one with an address in the trigger's data must be the trigger.
bool judges_tagged(const Addresses& addresses);
/// Whether samples are judged so, and the data of the trigger is known.
bool is_judged_by_address(const Basis& basis);

/// Returns the share of samples on the trigger among the judged samples with an address in its
/// data.
Share share_of_own(const Addresses& addresses);

/// The share of judged samples that meets a skid constraint: 99.9%.
inline constexpr double kRequiredShare = 0.999;

/// The fewest samples elsewhere that break a contract. A single one can be a disturbance of the
/// recording.
inline constexpr std::uint64_t kFewestMisses = 2;

/// Compares a share of judged samples with kRequiredShare, as `judge` does at levels that have a
/// skid constraint. `kept`: the lower end of the interval reaches it, which takes at least
/// samples_to_show() of them. `broken`: the upper end is below, kFewestMisses or more are
/// elsewhere, and the chance of so many at kRequiredShare is at most 2.5%.
Verdict verdict_of(const Share& share);

/// Returns the chance of at least as many misses as this share has if its true value is
/// kRequiredShare, by the binomial distribution.
double chance_of_misses(const Share& share);

/// Whether samples skid by a constant, at any level.
struct ConstantSkid {
  std::int64_t offset = 0;  ///< the most common one, in instructions
  Share share;              ///< judged samples at this offset
  /// `kept` if the skid is constant, `broken` if it is not, else `undecided`.
  Verdict verdict = Verdict::undecided;
};
/// Finds the most common offset; nullopt without a located sample.
std::optional<ConstantSkid> constant_skid(const Tally& tally);

/// Judges the samples of a level (docs/method.md, "The contract of a precise level"). `level` is
/// precise_ip as recorded, 0 to 3. Samples whose data address shows that something else caused them
/// count for neither verdict (cause_of()). Without a geometry nothing is judged.
Contract judge(int level, const Basis& basis);

/// What the data addresses of samples show about the instruction that caused their event
/// (docs/method.md, "Data addresses").
struct Cause {
  /// The share of judged samples with a valid address whose address lies outside all declared data.
  Share contradicted;
  /// `kept` if declared instructions cause the event: at most 0.1% of the samples contradict it.
  /// `broken` if more do: something else causes it, too. `not_judged` if addresses do not show it.
  Verdict verdict = Verdict::not_judged;
};
Cause cause_of(const Addresses& addresses);

}  // namespace skid::analysis
