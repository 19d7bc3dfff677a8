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
// ignore levels are at a known offset (judge_known_offset()), and operations that IBS and SPE tag
// are judged by their data address alone (judges_tagged()).
//
// Definitions: docs/method.md, "The contract" and "Data addresses".
#include "analysis/contract.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/confidence.h"
#include "analysis/distributions.h"
#include "analysis/geometry.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

std::string_view skid_constraint(int level) {
  static constexpr std::array<std::string_view, 4> kConstraints{
      "none", "constant skid", "skid 0 requested", kConstraintOfLevelThree};
  return level < 0 || level > 3 ? kConstraints[0]
                                : kConstraints.at(static_cast<std::size_t>(level));
}

/// The constraint for IBS and SPE at level 0, whose records contain the address of the tagged
/// operation.
constexpr std::string_view kTagged = "tagged operation";

std::string in_instructions(std::int64_t offset) {
  if (offset == 0) return "0, the trigger";
  return fmt::format("{} instruction{}", signed_number(offset),
                     offset == 1 || offset == -1 ? "" : "s");
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

/// Whether samples are judged by their data address alone: IBS and SPE may tag any instruction, but
/// one with an address in the trigger's data must be the trigger.
bool judges_tagged(const Addresses& addresses) {
  return addresses.source == AddressSource::tagged && addresses.is_tabulated();
}

/// Returns the share of samples on the trigger among the judged samples with an address in its
/// data.
Share share_of_own(const Addresses& addresses) {
  return wilson_interval(addresses.samples.trigger.trigger, addresses.samples.judged().trigger);
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

/// Adds the most common offset, unless it is the trigger, whose share is printed anyway.
void add_most_common(const OffsetCounts& offsets, std::vector<std::string>& parts) {
  const std::int64_t mode = offsets.mode();
  if (mode == 0) return;
  parts.push_back(fmt::format("most common offset {}, {} of {}", in_instructions(mode),
                              offsets.count_at(mode), offsets.total()));
}

/// Describes why nothing is judged, and what is known nevertheless.
void describe_unjudged(NotJudged reason, const Basis& basis, const Share& hits,
                       std::vector<std::string>& parts) {
  parts.emplace_back(describe(reason));
  if (samples_any_instruction(reason)) {
    const auto expected = expected_hit_share(basis);
    if (hits.total == 0) {
      parts.emplace_back("no judged samples");
    } else if (expected) {
      parts.push_back(fmt::format("expected share of hits {}{}, measured {}", percent(*expected),
                                  *expected > *basis.geometry->even_hit_share
                                      ? ", the time that NOPs do not take"
                                      : " if each instruction takes equally long",
                                  counts_and_interval(hits)));
    } else {
      parts.push_back(fmt::format("measured share of hits {}", counts_and_interval(hits)));
    }
  }
  const bool is_described = reason >= NotJudged::not_caused && reason <= NotJudged::unknown_cause;
  if (is_described && hits.total > 0) {
    parts.push_back(fmt::format("offset 0: {}", counts_and_interval(hits)));
    add_most_common(basis.tally.instructions, parts);
  }
}

std::string share_sentence(int level, const OffsetCounts& offsets, const Share& share) {
  if (share.total == 0) return "no judged samples";
  if (level == kConstantSkid) {
    if (offsets.empty()) return "no judged sample has a distance from the trigger";
    const std::int64_t mode = offsets.mode();
    if (share.count == offsets.count_at(mode)) {
      return fmt::format("most common offset {}: {}", in_instructions(mode),
                         counts_and_interval(share));
    }
    return fmt::format("at the instruction executed next: {}; most common offset {}",
                       counts_and_interval(share), in_instructions(mode));
  }
  return fmt::format("offset 0: {}", counts_and_interval(share));
}

std::string why_undecided(const Share& share) {
  const std::string required = percent(kRequiredShare);
  if (share.high < kRequiredShare) {
    return fmt::format("{} off, as many as chance gives in {} of recordings at {}",
                       share.total - share.count, percent(chance_of_misses(share)), required);
  }
  const std::uint64_t needed = samples_to_show(kRequiredShare);
  if (share.total >= needed) return fmt::format("the interval contains {}", required);
  return fmt::format("{} judged, 'kept' needs {}", counted(share.total, "sample"), needed);
}

/// Explains why a contract is undecided, and sets its remedy.
void explain_undecided(const Basis& basis, bool tagged, Contract& contract,
                       std::vector<std::string>& parts) {
  if (contract.verdict != Verdict::undecided) return;
  const Share& share = contract.share;
  if (share.total > 0 && verdict_of(share) == Verdict::undecided) {
    parts.push_back(why_undecided(share));
  }
  contract.remedy = remedy_of(contract, basis, tagged);
  parts.push_back(contract.remedy->text);
}

constexpr const char* kIgnoresLevel = "this event ignores precise levels";

/// Judges an event that ignores levels. Its samples are at a known offset at every level.
void judge_known_offset(const Basis& basis, Contract& contract, std::vector<std::string>& parts) {
  if (!basis.known_offset) {
    parts.emplace_back(kIgnoresLevel);
    add_most_common(basis.tally.instructions, parts);
    return;
  }
  const Verdict verdict = basis.addresses ? verdict_by_cause(kConstantSkid, basis, contract.share)
                                          : verdict_of(contract.share);
  const bool is_request = contract.level >= 2;
  contract.verdict = is_request && verdict != Verdict::broken ? Verdict::not_judged : verdict;
  if (is_request) parts.emplace_back(kIgnoresLevel);
  parts.push_back(contract.share.total == 0 ? "no judged samples"
                                            : fmt::format("at its known offset {}: {}",
                                                          in_instructions(*basis.known_offset),
                                                          counts_and_interval(contract.share)));
  explain_undecided(basis, false, contract, parts);
}

void explain_verdict(const Basis& basis, Contract& contract, std::vector<std::string>& parts) {
  const OffsetCounts& offsets = basis.tally.instructions;
  const Share& share = contract.share;
  explain_undecided(basis, false, contract, parts);
  const bool missed = share.count < share.total;
  if (contract.level >= 2 && missed && contract.verdict != Verdict::kept) {
    add_most_common(offsets, parts);
  }
  // Hardware that meets the constraint of level 1 has no hits at all.
  if (contract.level == kConstantSkid && offsets.mode() == 1 && share.value >= kRequiredShare) {
    parts.emplace_back(
        "level 1 requests constant skid, not zero: no hits and everything at +1 is by design");
  }
}

std::string exact_ip(int level, const Basis& basis, const Contract& contract) {
  const Tally& tally = basis.tally;
  std::string text = fmt::format("EXACT_IP {} of {}", tally.exact_samples, tally.breakdown.read());
  switch (basis.exact_ip) {
    case ExactIp::evidence:
      if (basis.not_judged != NotJudged::none) break;
      if (contract.certified == true) {
        text += ", on every hit: certified";
      } else if (contract.verdict == Verdict::kept && level >= 2) {
        text += ": kept, not certified";
      }
      if (tally.exact_off_trigger > 0) {
        text += fmt::format("; {} with EXACT_IP off the trigger",
                            counted(tally.exact_off_trigger, "sample"));
      }
      break;
    case ExactIp::request:
      if (level > 0) text += ", which follows the requested level on this CPU";
      break;
    case ExactIp::never:
      if (level > 0 && !basis.ignores_level) text += ", which is never set on this CPU";
      break;
    case ExactIp::unknown:
      if (tally.exact_samples > 0) text += ", whose meaning on this CPU is not known";
      break;
  }
  return text;
}

/// Describes what level 3 adds to level 2; empty if it is not known, or if the event ignores
/// levels.
std::string_view describe(LevelThree level_three) {
  constexpr std::array<std::string_view, 5> kTexts{
      "", "level 3 of this event has precise distribution on this CPU",
      "level 3 of this event is the same as level 2 on this CPU",
      "level 3 is not known to be accepted on this CPU",
      "level 3 of this event is on other counters, with reduced skid, on this CPU"};
  return kTexts.at(static_cast<std::size_t>(level_three));
}

}  // namespace

std::string verdict_words(const Contract& contract) {
  std::string words(name_of(contract.verdict));
  if (contract.certified == true) words += ", certified";
  if (contract.same_as_level_2) words += ", same as level 2";
  return words + not_corrected_words(contract.not_corrected.count, contract.not_corrected.total);
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

std::string not_corrected_words(std::uint64_t not_corrected, std::uint64_t judged) {
  if (not_corrected == 0) return {};
  return fmt::format(", {} of {} ({}) not corrected", not_corrected, judged,
                     percent(static_cast<double>(not_corrected) / static_cast<double>(judged)));
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

Contract judge(int level, const Basis& basis, const std::string& event_remark) {
  const Tally& tally = basis.tally;
  NotJudged reason = basis.geometry ? basis.not_judged : NotJudged::no_trigger;
  if (reason == NotJudged::none && tally.breakdown.read() == 0) reason = NotJudged::no_samples;
  const bool by_address = reason != NotJudged::no_samples && is_judged_by_address(basis);
  Contract contract;
  contract.level = level;
  contract.constraint = by_address && level == 0 ? kTagged : skid_constraint(level);
  contract.share =
      reason == NotJudged::none ? share_meeting_constraint(level, basis) : share_of_hits(tally);
  std::vector<std::string> parts;
  if (by_address) {
    contract.share = share_of_own(*basis.addresses);
    contract.verdict = verdict_of(contract.share);
    parts.push_back(describe(*basis.addresses));
    explain_undecided(basis, true, contract, parts);
    describe_unjudged(reason, basis, share_of_hits(tally), parts);
  } else if (reason != NotJudged::none) {
    describe_unjudged(reason, basis, contract.share, parts);
  } else if (level == 0) {
    parts.emplace_back("level 0: arbitrary skid");
    parts.push_back(share_sentence(level, tally.instructions, contract.share));
    add_most_common(tally.instructions, parts);
  } else if (basis.ignores_level) {
    judge_known_offset(basis, contract, parts);
  } else {
    const std::uint64_t hits = tally.breakdown[SampleClass::hit];
    contract.verdict = verdict_of(contract.share);
    if (basis.addresses) contract.verdict = verdict_by_cause(level, basis, contract.share);
    contract.not_corrected =
        wilson_interval(declared_inexact(level, basis), tally.breakdown.judged());
    const std::uint64_t inexact = contract.not_corrected.count;
    if (basis.exact_ip == ExactIp::evidence) {
      contract.certified = contract.verdict == Verdict::kept && level >= 2 && hits > 0 &&
                           tally.exact_hits == hits && inexact == 0;
    }
    contract.same_as_level_2 = level == 3 && basis.level_three == LevelThree::same_as_level_2;
    parts.push_back(share_sentence(level, tally.instructions, contract.share));
    explain_verdict(basis, contract, parts);
    if (inexact > 0) {
      parts.push_back(
          fmt::format("{} of {} ({}) off the trigger without EXACT_IP, which the kernel declares "
                      "as not corrected: not judged",
                      inexact, counted(tally.breakdown.judged(), "sample"),
                      percent(contract.not_corrected.value)));
    }
    if (contract.verdict != verdict_of(contract.share)) {
      parts.emplace_back(
          "samples with the data address of something else do not count for the verdict");
    }
  }
  if (!by_address && basis.addresses &&
      (basis.addresses->is_tabulated() || basis.addresses->source == AddressSource::request)) {
    parts.push_back(describe(*basis.addresses));
  }
  if (const std::uint64_t no_hits = tally.contradicted_hits; no_hits > 0) {
    parts.push_back(fmt::format(
        "{} on the trigger {} the data source of something that it does not "
        "do: no {}",
        counted(no_hits, "sample"), no_hits == 1 ? "has" : "have", no_hits == 1 ? "hit" : "hits"));
  }
  parts.push_back(exact_ip(level, basis, contract));
  if (level == 3 && basis.level_three != LevelThree::unknown) {
    parts.emplace_back(describe(basis.level_three));
  }
  if (!event_remark.empty()) parts.push_back(event_remark);
  contract.evidence = fmt::format("{}", fmt::join(parts, "; "));
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

std::string_view cause_words(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> kWords{"confirmed", "contradicted", "undecided",
                                                          "not judged"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

std::string_view cause_words(const Addresses& addresses) {
  if (addresses.source == AddressSource::request) return "repeats the request";
  if (addresses.source == AddressSource::none) return "no addresses";
  if (addresses.declared.empty()) return "none declared";
  return cause_words(cause_of(addresses).verdict);
}

std::string describe(const Addresses& addresses) {
  if (addresses.source == AddressSource::request) {
    return "the data address repeats the request and confirms nothing";
  }
  if (addresses.source == AddressSource::none) return "the event records no data address";
  if (!addresses.is_tabulated()) return "data addresses: no declared data to compare them with";
  if (judges_tagged(addresses)) {
    return fmt::format("with an address in the trigger's data, on the trigger: {}",
                       counts_and_interval(share_of_own(addresses)));
  }
  const Cause cause = cause_of(addresses);
  if (cause.contradicted.total == 0) return "no judged sample has a valid data address";
  std::string text =
      fmt::format("{} {} a data address of something else", counts_and_interval(cause.contradicted),
                  cause.contradicted.total == 1 ? "sample has" : "samples have");
  if (addresses.source == AddressSource::unknown) {
    return text + "; whether the CPU records valid ones of this event is unknown";
  }
  return fmt::format("{}: cause {}", text, cause_words(cause.verdict));
}

}  // namespace skid::analysis
