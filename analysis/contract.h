// The kernel's promise for a precise level, held against what was recorded.
#pragma once
#include "analysis/statistics.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::analysis {

struct Addresses;
struct Basis;
struct Tally;

enum class Verdict { kept, broken, undecided, not_judged };
SKID_NAMES(Verdict, "kept", "broken", "undecided", "not judged")

inline constexpr std::string_view kPromiseOfLevelThree =
    "skid 0, and precise distribution where the counter has it";

struct Contract {
  int level = 0;
  /// "none", "constant skid", "skid 0 requested", or kPromiseOfLevelThree; "tagged operation" for
  /// level 0 of IBS and SPE.
  std::string promise;
  Verdict verdict = Verdict::not_judged;
  /// Kept at level 2 or 3 with EXACT_IP on every hit; nullopt where the flag proves nothing on the
  /// recorded CPU, or what it proves is not known.
  std::optional<bool> certified = std::nullopt;
  bool same_as_level_2 = false;  ///< at level 3, which this event does not have on this CPU
  /// The share that was held against the promise: at the most common offset for level 1, at offset
  /// 0 for the others (where nothing is judged it only describes); of tagged operations that access
  /// the trigger's data, at offset 0.
  Share share;
  std::string evidence;  ///< one line of text: counts, share, interval, EXACT_IP, reasons
};

/// "kept, certified", "broken, same as level 2": the verdict in texts.
std::string verdict_words(const Contract& contract);

/// The share that a kept promise must reach: 99.9%.
inline constexpr double kPromisedShare = 0.999;

/// A share of judged samples held against kPromisedShare, as `judge` does it at levels that promise
/// something.
Verdict verdict_of(const Share& share);

/// Whether samples skid by a constant, whatever the level promises.
struct ConstantSkid {
  std::int64_t offset = 0;               ///< the most common one, in instructions
  Share share;                           ///< of the judged samples that are at it
  Verdict verdict = Verdict::undecided;  ///< kept: constant; broken: not; undecided
};
/// nullopt without a located sample.
std::optional<ConstantSkid> constant_skid(const Tally& tally);

/// METHOD: "The contract of a precise level". `level`: precise_ip as recorded, 0 to 3.
/// `event_remark`: what the catalogue adds to the recording, for the evidence; may be empty. A
/// verdict either way needs as many judged samples as `kept` would
/// (`samples_to_show(kPromisedShare)`); with fewer it is undecided. Samples whose data address
/// shows that something else caused them neither keep nor break a promise (cause_of()). Without
/// a geometry nothing is judged.
Contract judge(int level, const Basis& basis, const std::string& event_remark = {});

// What the data addresses of samples show of the instruction that caused their event.

/// docs/method.md, "Data addresses".
struct Cause {
  /// The share of judged samples with a valid address whose address lies outside all declared data.
  Share contradicted;
  /// kept: declared instructions cause the event, at most 0.1% of the samples contradict it;
  /// broken: more do, something else causes it too; not_judged: addresses do not show it.
  Verdict verdict = Verdict::not_judged;
};
Cause cause_of(const Addresses& addresses);

/// "confirmed", "contradicted", "undecided", "not judged": the verdict on a cause.
std::string_view cause_words(Verdict verdict);

/// The same; where addresses do not show it in two words why.
std::string_view cause_words(const Addresses& addresses);

/// One line of text: counts and what they show, or why they show nothing.
std::string describe(const Addresses& addresses);

}  // namespace skid::analysis
