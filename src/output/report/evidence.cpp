#include "src/output/report/evidence.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/geometry.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/output/audit/clause.h"
#include "src/output/delay_text.h"
#include "src/output/name_list.h"
#include "src/output/next_step.h"
#include "src/output/report/verdict_words.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using namespace analysis;

std::string in_instructions(std::int64_t offset) {
  if (offset == 0) return "0, the trigger";
  return fmt::format("{} instruction{}", signed_number(offset),
                     offset == 1 || offset == -1 ? "" : "s");
}

/// Adds the most common offset, unless it is the trigger, whose share is printed anyway.
void add_most_common(const OffsetCounts& offsets, std::vector<std::string>& parts) {
  const std::int64_t mode = offsets.mode();
  if (mode == 0) return;
  parts.push_back(fmt::format("most common offset {}, {} of {}", in_instructions(mode),
                              offsets.count_at(mode), offsets.total()));
}

/// Describes why nothing is judged, and what is known nevertheless.
void describe_unjudged(NotJudged reason, const Measurement& m, std::vector<std::string>& parts) {
  const Basis& basis = m.basis;
  const Breakdown& breakdown = basis.tally.breakdown;
  const Share hits = wilson_interval(breakdown[SampleClass::hit], breakdown.judged());
  parts.emplace_back(describe(reason));
  if (!samples_any_instruction(reason)) {
    std::string step = next_step(reason, m.cpu, m.read_in_part);
    if (!step.empty()) parts.push_back(std::move(step));
  } else {
    parts.emplace_back("the offset is not a skid");
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

/// Explains why a contract is undecided.
void explain_undecided(const Contract& contract, std::vector<std::string>& parts) {
  if (contract.verdict != Verdict::undecided) return;
  const Share& share = contract.share;
  if (share.total > 0 && verdict_of(share) == Verdict::undecided) {
    parts.push_back(why_undecided(share));
  }
  if (contract.remedy) parts.push_back(remedy_text(*contract.remedy));
}

/// Explains the verdict on an event that ignores levels.
void explain_known_offset(const Basis& basis, const Contract& contract,
                          std::vector<std::string>& parts) {
  parts.emplace_back("this event ignores precise levels");
  if (!basis.known_offset) {
    add_most_common(basis.tally.instructions, parts);
    return;
  }
  parts.push_back(contract.share.total == 0 ? "no judged samples"
                                            : fmt::format("at its known offset {}: {}",
                                                          in_instructions(*basis.known_offset),
                                                          counts_and_interval(contract.share)));
}

void explain_verdict(const Basis& basis, const Contract& contract,
                     std::vector<std::string>& parts) {
  const OffsetCounts& offsets = basis.tally.instructions;
  const Share& share = contract.share;
  parts.push_back(share_sentence(contract.level, offsets, share));
  explain_undecided(contract, parts);
  const bool missed = share.count < share.total;
  if (contract.level >= 2 && missed && contract.verdict != Verdict::kept) {
    add_most_common(offsets, parts);
  }
  // Hardware that meets the constraint of level 1 has no hits at all.
  if (contract.level == kConstantSkid && offsets.mode() == 1 && share.value >= kRequiredShare) {
    parts.emplace_back(
        "level 1 requests constant skid, not zero: no hits and everything at +1 is by design");
  }
  if (const std::uint64_t inexact = contract.not_corrected.count; inexact > 0) {
    parts.push_back(
        fmt::format("{} of {} ({}) off the trigger without EXACT_IP, which the kernel declares "
                    "as not corrected: not judged",
                    inexact, counted(basis.tally.breakdown.judged(), "sample"),
                    percent(contract.not_corrected.value)));
  }
  if (contract.verdict != verdict_of(share)) {
    parts.emplace_back(
        "samples with the data address of something else do not count for the verdict");
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
    case ExactIp::request: {
      const std::uint64_t exact = tally.exact_samples, read = tally.breakdown.read();
      const bool follows = exact == read || (exact == 0 && level < 2);
      if (level > 0) {
        text += follows ? ", which follows the requested level on this CPU"
                        : ", though the kernel sets it by the requested level alone on this CPU";
      }
      break;
    }
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

/// Describes a delay that explains an uneven distribution; empty if there is none.
std::string describe_delay(const std::optional<Delay>& delay) {
  if (!delay || delay->low <= 1) return {};
  return fmt::format(
      "; a delay of {} instructions from overflow to record predicts {} of next samples",
      range_of(*delay), percent(delay->predicted));
}

/// Returns the offsets with the largest ratio: " at +3", " of one instruction in 4 from +1 to +29".
std::string where(const Evenness::Offsets& largest) {
  const std::string first = signed_number(largest.first);
  if (largest.last <= largest.first) return " at " + first;
  const std::string step =
      largest.step > 1 ? fmt::format(" of one instruction in {}", largest.step) : "";
  return fmt::format("{} from {} to {}", step, first, signed_number(largest.last));
}

/// Lists what the verdict on the contract of a measurement follows from, the reason first.
std::vector<std::string> evidence_of(const Measurement& m) {
  const Contract& contract = m.contract;
  const Basis& basis = m.basis;
  const Tally& tally = basis.tally;
  const int level = contract.level;
  const NotJudged reason = reason_not_judged(basis);
  const bool by_address = is_judged_by_address(basis);
  std::vector<std::string> parts;
  if (by_address) {
    parts.push_back(describe_addresses(*basis.addresses));
    explain_undecided(contract, parts);
  }
  if (reason != NotJudged::none) {
    describe_unjudged(reason, m, parts);
  } else if (basis.ignores_level) {
    explain_known_offset(basis, contract, parts);
  } else if (level == 0) {
    parts.emplace_back("level 0: arbitrary skid");
    parts.push_back(share_sentence(level, tally.instructions, contract.share));
    add_most_common(tally.instructions, parts);
  } else {
    explain_verdict(basis, contract, parts);
  }
  if (!by_address && basis.addresses &&
      (basis.addresses->is_tabulated() || basis.addresses->source == AddressSource::request)) {
    parts.push_back(describe_addresses(*basis.addresses));
  }
  if (const std::uint64_t no_hits = tally.contradicted_hits; no_hits > 0) {
    parts.push_back(fmt::format(
        "{} on the trigger {} the data source of something that it does not "
        "do: no {}",
        counted(no_hits, "sample"), no_hits == 1 ? "has" : "have", no_hits == 1 ? "hit" : "hits"));
  }
  if (const std::uint64_t no_hits = tally.contradicted_addresses; no_hits > 0) {
    const bool is_next =
        level == kConstantSkid && basis.addresses && basis.addresses->source == AddressSource::pebs;
    parts.push_back(fmt::format(
        "{} {} the trigger {}: no {}", counted(no_hits, "sample"), is_next ? "after" : "on",
        (is_next ? kContradictedNextAddresses : kContradictedAddresses).after(no_hits),
        no_hits == 1 ? "hit" : "hits"));
  }
  parts.push_back(exact_ip(level, basis, contract));
  if (level == 3 && basis.level_three != LevelThree::unknown) {
    parts.emplace_back(describe(basis.level_three));
  }
  if (!m.event.remark.empty()) parts.push_back(m.event.remark);
  return parts;
}

}  // namespace

std::string contract_evidence(const Measurement& m) {
  return joined(evidence_of(m), "; ");
}

std::string short_reason(const Measurement& m) {
  const NotJudged reason = reason_not_judged(m.basis);
  return reason == NotJudged::none ? evidence_of(m).front() : std::string(describe(reason));
}

std::string evenness_evidence(const Measurement& m) {
  const Evenness& evenness = *m.evenness;
  const bool is_of_triggers = evenness.of == Evenness::Of::triggers;
  const std::string what =
      is_of_triggers
          ? fmt::format("samples of {} triggers", m.triggers.size())
          : fmt::format("samples of {} instructions",
                        m.basis.geometry->highest_offset - m.basis.geometry->lowest_offset + 1);
  if (is_of_triggers && m.contract.verdict != Verdict::kept) {
    return fmt::format(
        "{}: undecided, the contract is {}, so that it is uncertain which trigger caused a sample",
        what, name_of(m.contract.verdict));
  }
  if (const auto resonance = resonance_of(m, m.basis)) {
    return what + ": " + resonance_text(*resonance);
  }
  const Evenness::Verdict verdict = verdict_by(evenness.test.p);
  std::string text =
      fmt::format("{}: {}, chi-square {}, largest ratio to the even share {:.3g}{}", what,
                  name_of(verdict), p_text(evenness.test.p), evenness.largest_ratio,
                  is_of_triggers ? fmt::format(", {} misplaced", percent(evenness.misplaced))
                                 : where(evenness.largest));
  const bool is_uneven = is_of_triggers && verdict == Evenness::Verdict::uneven;
  return is_uneven ? text + describe_delay(m.delay) : text;
}

std::string comparison_of(const Evenness& level_2, const Evenness& level_3) {
  const auto part = [](const Evenness& of) {
    std::string text = fmt::format("{} ({}", name_of(of.verdict), p_text(of.test.p));
    if (of.verdict == Evenness::Verdict::uneven) {
      text += fmt::format(", largest ratio to the even share {:.3g}", of.largest_ratio);
    }
    return text + ")";
  };
  return fmt::format("samples of instructions executed equally often: level 3 {}, level 2 {}",
                     part(level_3), part(level_2));
}

std::string describe_addresses(const Addresses& addresses) {
  if (addresses.source == AddressSource::request) {
    return "the data address repeats the request and confirms nothing";
  }
  if (addresses.source == AddressSource::none) return "the event records no data address";
  if (!addresses.is_tabulated()) return "data addresses: no declared data to compare them with";
  if (judges_tagged(addresses)) {
    return fmt::format("{}: {}", kHitsByAddress, counts_and_interval(share_of_own(addresses)));
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

}  // namespace skid::output
