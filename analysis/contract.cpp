#include "analysis/contract.h"

#include "analysis/wording.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::analysis {
namespace {

std::string_view promise_of(int level) {
  switch (level) {
    case kConstantSkid:
      return "constant skid";
    case 2:
      return "skid 0 requested";
    case 3:
      return "skid 0 or randomised";
    default:
      return "none";
  }
}

std::string in_instructions(std::int64_t offset) {
  if (offset == 0) return "0, the trigger";
  return fmt::format("{} instruction{}", signed_number(offset),
                     offset == 1 || offset == -1 ? "" : "s");
}

Share share_at_mode(const Ledger& ledger, const OffsetCounts& offsets) {
  return wilson_interval(offsets.count_at(offsets.mode()), ledger.judged());
}

/// The share of judged samples that the level promises.
Share promised_share_of(const ContractInput& input) {
  if (input.level == kConstantSkid) return share_at_mode(input.ledger, input.offsets);
  return wilson_interval(input.ledger[SampleClass::hit], input.ledger.judged());
}

/// Nothing where it is the trigger, whose share is printed anyway.
void add_most_common(const OffsetCounts& offsets, std::vector<std::string>& parts) {
  const std::int64_t mode = offsets.mode();
  if (mode == 0) return;
  parts.push_back(fmt::format("most common offset {}, {} of {}", in_instructions(mode),
                              offsets.count_at(mode), offsets.total()));
}

std::string expected_beside_measured(const ContractInput& input, const Share& hits) {
  if (hits.total == 0) return "no judged samples";
  if (!input.expected_hit_share) {
    return fmt::format("measured share of hits {}", counts_and_interval(hits));
  }
  return fmt::format(
      "expected share of hits {} if each instruction takes equally long, measured {}",
      percent(*input.expected_hit_share), counts_and_interval(hits));
}

std::string share_sentence(const ContractInput& input, const Share& share) {
  if (share.total == 0) return "no judged samples";
  if (input.level == kConstantSkid) {
    if (input.offsets.empty()) return "no judged sample has a distance from the trigger";
    return fmt::format("most common offset {}: {}", in_instructions(input.offsets.mode()),
                       counts_and_interval(share));
  }
  return fmt::format("offset 0: {}", counts_and_interval(share));
}

/// Level 1 on hardware that keeps its promise has no hits at all.
bool is_by_design(const ContractInput& input, const Share& share) {
  return input.level == kConstantSkid && input.offsets.mode() == 1 && share.value >= kPromisedShare;
}

void explain_verdict(const ContractInput& input, const Contract& contract,
                     std::vector<std::string>& parts) {
  const std::uint64_t needed = samples_to_show(kPromisedShare);
  if (contract.share.total == 0) {
    parts.push_back(fmt::format("a verdict needs {}", needed));
  } else if (contract.share.total < needed) {
    parts.push_back(fmt::format("{} judged, a verdict needs {}",
                                counted(contract.share.total, "sample"), needed));
  } else if (contract.verdict == Verdict::undecided) {
    parts.push_back(
        fmt::format("the interval holds {}: more samples decide", percent(kPromisedShare)));
  }
  const bool missed = contract.share.count < contract.share.total;
  if (input.level >= 2 && missed && contract.verdict != Verdict::kept) {
    add_most_common(input.offsets, parts);
  }
}

std::string exact_ip(const ContractInput& input, const Contract& contract) {
  std::string text = fmt::format("EXACT_IP {} of {}", input.exact_samples, input.ledger.read());
  if (contract.certified) text += ", on every hit: certified";
  if (contract.verdict == Verdict::kept && input.level >= 2 && !contract.certified) {
    text += ": kept, not certified";
  }
  return text;
}

}  // namespace

std::string verdict_words(const Contract& contract) {
  std::string words(name_of(contract.verdict));
  if (contract.certified) words += ", certified";
  return words;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kept:
      return "kept";
    case Verdict::broken:
      return "broken";
    case Verdict::undecided:
      return "undecided";
    case Verdict::not_judged:
      return "not judged";
  }
  return "unknown";
}

Verdict verdict_of(const Share& share) {
  if (share.total < samples_to_show(kPromisedShare)) return Verdict::undecided;
  if (share.low >= kPromisedShare) return Verdict::kept;
  if (share.high < kPromisedShare) return Verdict::broken;
  return Verdict::undecided;
}

std::optional<ConstantSkid> constant_skid(const Ledger& ledger, const OffsetCounts& offsets) {
  if (offsets.empty()) return std::nullopt;
  ConstantSkid constant;
  constant.offset = offsets.mode();
  constant.share = share_at_mode(ledger, offsets);
  constant.verdict = verdict_of(constant.share);
  return constant;
}

Contract judge(const ContractInput& input) {
  Contract contract;
  contract.level = input.level;
  contract.promise = promise_of(input.level);
  contract.share = promised_share_of(input);

  std::vector<std::string> parts;
  if (input.not_judged != NotJudged::none) {
    const Share hits = wilson_interval(input.ledger[SampleClass::hit], input.ledger.judged());
    contract.share = hits;
    parts.emplace_back(describe(input.not_judged));
    if (samples_any_instruction(input.not_judged))
      parts.push_back(expected_beside_measured(input, hits));
    const bool is_described = input.not_judged == NotJudged::imprecise ||
                              input.not_judged == NotJudged::no_precise_levels;
    if (is_described && hits.total > 0) {
      parts.push_back(fmt::format("offset 0: {}", counts_and_interval(hits)));
      add_most_common(input.offsets, parts);
    }
  } else if (input.level == 0) {
    parts.emplace_back("level 0 promises nothing");
    parts.push_back(share_sentence(input, contract.share));
    add_most_common(input.offsets, parts);
  } else {
    const std::uint64_t hits = input.ledger[SampleClass::hit];
    contract.verdict = verdict_of(contract.share);
    contract.certified = contract.verdict == Verdict::kept && input.level >= 2 && hits > 0 &&
                         input.exact_hits == hits;
    parts.push_back(share_sentence(input, contract.share));
    explain_verdict(input, contract, parts);
    if (is_by_design(input, contract.share)) {
      parts.emplace_back(
          "level 1 promises constant skid, not zero: no hits and everything at +1 is by design");
    }
  }
  parts.push_back(exact_ip(input, contract));
  if (input.exact_off_trigger > 0) {
    parts.push_back(fmt::format("{} with EXACT_IP off the trigger",
                                counted(input.exact_off_trigger, "sample")));
  }
  if (input.ignores_level && input.level > 0) {
    parts.emplace_back("this event accepts a precise level and ignores it");
  }
  if (!input.event_remark.empty()) parts.push_back(input.event_remark);
  contract.evidence = fmt::format("{}", fmt::join(parts, "; "));
  return contract;
}

}  // namespace skid::analysis
