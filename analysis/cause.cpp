#include "analysis/cause.h"

#include "analysis/wording.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace skid::analysis {

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

bool judges_tagged(const Addresses& addresses) {
  return addresses.source == AddressSource::tagged && addresses.is_tabulated();
}

Share share_of_own(const Addresses& addresses) {
  return wilson_interval(addresses.samples.trigger.trigger, addresses.samples.judged().trigger);
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

Verdict verdict_with(const Addresses& addresses, const Share& share, std::uint64_t contradicted) {
  const Verdict all = verdict_of(share);
  const std::uint64_t foreign = addresses.samples.judged().other;
  if (!identifies_cause(addresses.source) || foreign == 0) return all;
  const std::uint64_t own = share.total - std::min(share.total, foreign);
  const std::uint64_t kept = share.count - std::min(share.count, contradicted);
  const Verdict rest = verdict_of(wilson_interval(std::min(kept, own), own));
  if (rest == Verdict::broken) return rest;
  const bool is_kept = all == Verdict::kept && rest == Verdict::kept &&
                       cause_of(addresses).verdict != Verdict::broken;
  return is_kept ? Verdict::kept : Verdict::undecided;
}

}  // namespace skid::analysis
