// Whether samples meet the skid constraint that perf_event_open(2) documents for precise_ip. The
// share of judged samples at the constrained place is compared with 99.9%:
//
//   level  constraint                  share
//   0      none                        not judged, only described
//   1      constant skid               at +1, or at offset 0 with EXACT_IP
//   2      skid 0 requested            at offset 0
//   3      skid 0, and precise         at offset 0; evenness.cpp tests the distribution
//          distribution
//
// The verdict is that of Wilson's 95% interval, which has to be on one side of 99.9%:
//
//                       99.4%             99.6%             99.8%    99.9%    100%
//   5000 of 5000                                                       . [======]   kept
//   4997 of 5000                                                [======|======]     undecided
//   4980 of 5000        [================================]             .            broken
//   3000 of 3000                                                    [==|========]   undecided
//
// The last row has too few samples: not even 3,837 of 3,837 reach 99.9%. Near 100% the upper end of
// Wilson's interval is too low, so `broken` also takes the exact binomial tail (verdict_of()).
//
// Other evidence can change the share or the verdict. A data address outside all declared data
// shows that something else caused a sample (verdict_by_cause()). EXACT_IP certifies a kept
// contract, or its absence declares a sample as not corrected (declared_inexact()). Events that
// ignore levels are at a known offset (verdict_at_known_offset()), and operations that IBS and SPE
// tag are judged by their data address alone (judges_tagged()). output/report/evidence.cpp puts
// what a verdict follows from into words.
//
// Definitions: docs/method.md, "The contract" and "Data addresses".
#include "analysis/contract.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/confidence.h"
#include "analysis/distributions.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "src/support/precise_level.h"

#include <algorithm>

namespace skid::analysis {
namespace {

Constraint constraint_of(int level) {
  return level < 0 || level > 3 ? Constraint::none : static_cast<Constraint>(level);
}

Share share_at_mode(const Tally& tally) {
  const OffsetCounts& offsets = tally.instructions;
  return wilson_interval(offsets.count_at(offsets.mode()), tally.breakdown.judged());
}

Share share_of_hits(const Tally& tally) {
  return wilson_interval(tally.breakdown[SampleClass::hit], tally.breakdown.judged());
}

/// Returns the share that meets the constraint of level 1: samples at the instruction executed
/// next, or, if they have EXACT_IP, at the one that caused the event (docs/method.md, "Level 1 on
/// Intel").
Share share_at_constant(const Basis& basis) {
  const Tally& tally = basis.tally;
  const std::uint64_t hits = tally.breakdown[SampleClass::hit];
  const std::uint64_t next = tally.instructions.count_at(1);
  const std::uint64_t at_next = next - std::min(next, tally.exact_off_trigger);
  return wilson_interval(
      basis.trigger_repeats ? hits + at_next : std::max(tally.exact_hits, at_next),
      tally.breakdown.judged());
}

/// Counts judged samples off the trigger without EXACT_IP. At level 2 and above the kernel declares
/// them as not corrected if the flag is evidence.
std::uint64_t declared_inexact(int level, const Basis& basis) {
  if (level < 2 || basis.exact_ip != ExactIp::evidence || basis.ignores_level) return 0;
  const Tally& tally = basis.tally;
  return tally.breakdown.judged() - tally.breakdown[SampleClass::hit] - tally.exact_off_trigger;
}

/// Returns the share that is compared with kRequiredShare: judged samples that are where the level
/// requires.
Share share_meeting_constraint(int level, const Basis& basis) {
  if (basis.known_offset) {
    return wilson_interval(basis.tally.instructions.count_at(*basis.known_offset),
                           basis.tally.breakdown.judged());
  }
  if (level == kConstantSkid) return share_at_constant(basis);
  const Breakdown& breakdown = basis.tally.breakdown;
  return wilson_interval(breakdown[SampleClass::hit],
                         breakdown.judged() - declared_inexact(level, basis));
}

/// Returns the verdict on `share`, the judged samples at the required place, if something else may
/// have caused some of them. It is `broken` if the samples that their addresses do not contradict
/// are broken alone. It is `kept` if these are kept alone and with the others, and the cause is not
/// contradicted.
Verdict verdict_by_cause(int level, const Basis& basis, const Share& share) {
  const AddressTable& samples = basis.addresses->samples;
  const Verdict all = verdict_of(share);
  const std::uint64_t foreign = samples.judged().other;
  if (!identifies_cause(basis.addresses->source) || foreign == 0) return all;
  const std::int64_t offset = level == kConstantSkid ? basis.tally.instructions.mode() : 0;
  // Contradicted samples at other offsets do not count against it.
  const std::uint64_t contradicted = offset == 0   ? samples.trigger.other
                                     : offset == 1 ? samples.successor.other
                                                   : 0;
  const std::uint64_t own = share.total - std::min(share.total, foreign);
  const std::uint64_t kept = share.count - std::min(share.count, contradicted);
  const Verdict rest = verdict_of(wilson_interval(std::min(kept, own), own));
  if (rest == Verdict::broken) return rest;
  const bool is_kept = all == Verdict::kept && rest == Verdict::kept &&
                       cause_of(*basis.addresses).verdict != Verdict::broken;
  return is_kept ? Verdict::kept : Verdict::undecided;
}

/// Returns the verdict on an event that ignores levels. Its samples are at a known offset at every
/// level.
Verdict verdict_at_known_offset(const Basis& basis, const Contract& contract) {
  if (!basis.known_offset) return Verdict::not_judged;
  const Verdict verdict = basis.addresses ? verdict_by_cause(kConstantSkid, basis, contract.share)
                                          : verdict_of(contract.share);
  return verdict == Verdict::broken ? verdict : Verdict::not_judged;
}

}  // namespace

bool judges_tagged(const Addresses& addresses) {
  return addresses.source == AddressSource::tagged && addresses.is_tabulated();
}

Share share_of_own(const Addresses& addresses) {
  return wilson_interval(addresses.samples.trigger.trigger, addresses.samples.judged().trigger);
}

double chance_of_misses(const Share& share) {
  // Beyond the limit Boost's incomplete beta function does not always converge.
  constexpr std::uint64_t kMostExact = 1'000'000'000;
  if (share.total > kMostExact) return share.high < kRequiredShare ? 0 : 1;
  const std::uint64_t misses = share.total - share.count;
  return misses == 0 ? 1 : binomial_upper_p(misses, share.total, 1 - kRequiredShare);
}

Verdict verdict_of(const Share& share) {
  if (share.low >= kRequiredShare) return Verdict::kept;
  const bool is_broken = share.high < kRequiredShare &&
                         share.total - share.count >= kFewestMisses &&
                         chance_of_misses(share) <= (1 - kConfidence) / 2;
  return is_broken ? Verdict::broken : Verdict::undecided;
}

bool is_judged_by_address(const Basis& basis) {
  return basis.geometry && basis.not_judged == NotJudged::every_instruction && basis.addresses &&
         judges_tagged(*basis.addresses);
}

std::optional<ConstantSkid> constant_skid(const Tally& tally) {
  if (tally.instructions.empty()) return std::nullopt;
  const Share share = share_at_mode(tally);
  return ConstantSkid{tally.instructions.mode(), share, verdict_of(share)};
}

NotJudged reason_not_judged(const Basis& basis) {
  if (!basis.geometry) return NotJudged::no_trigger;
  const bool is_empty = basis.tally.breakdown.read() == 0;
  return basis.not_judged == NotJudged::none && is_empty ? NotJudged::no_samples : basis.not_judged;
}

Contract judge(int level, const Basis& basis) {
  const Tally& tally = basis.tally;
  const bool by_address = is_judged_by_address(basis);
  const bool is_judged = reason_not_judged(basis) == NotJudged::none;
  Contract contract;
  contract.level = level;
  contract.constraint = by_address && level == 0 ? Constraint::tagged : constraint_of(level);
  contract.share = by_address  ? share_of_own(*basis.addresses)
                   : is_judged ? share_meeting_constraint(level, basis)
                               : share_of_hits(tally);
  if (by_address) {
    contract.verdict = verdict_of(contract.share);
  } else if (is_judged && level > 0 && basis.ignores_level) {
    contract.verdict = verdict_at_known_offset(basis, contract);
  } else if (is_judged && level > 0) {
    const std::uint64_t hits = tally.breakdown[SampleClass::hit];
    contract.verdict = basis.addresses ? verdict_by_cause(level, basis, contract.share)
                                       : verdict_of(contract.share);
    contract.not_corrected =
        wilson_interval(declared_inexact(level, basis), tally.breakdown.judged());
    if (basis.exact_ip == ExactIp::evidence) {
      contract.certified = contract.verdict == Verdict::kept && level >= 2 && hits > 0 &&
                           tally.exact_hits == hits && contract.not_corrected.count == 0;
    }
    contract.same_as_level_2 = level == 3 && basis.level_three == LevelThree::same_as_level_2;
  }
  if (contract.verdict == Verdict::undecided) {
    contract.remedy = remedy_of(contract, basis, by_address);
  }
  return contract;
}

Cause cause_of(const Addresses& addresses) {
  Cause cause;
  // An operation that accesses something else can be tagged, too.
  if (!addresses.is_tabulated() || addresses.source == AddressSource::tagged) return cause;
  const OwnerCounts judged = addresses.samples.judged();
  cause.contradicted = wilson_interval(judged.other, judged.sum() - judged.none);
  const std::uint64_t valid = cause.contradicted.total;
  if (identifies_cause(addresses.source) && valid > 0) {
    cause.verdict = verdict_of(wilson_interval(valid - judged.other, valid));
  }
  return cause;
}

}  // namespace skid::analysis
