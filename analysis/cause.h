// What the data addresses of samples show of the instruction that caused their event.
#pragma once

#include "analysis/basis.h"
#include "analysis/contract.h"

#include <string>
#include <string_view>

namespace skid::analysis {

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

/// Whether samples are judged by their address alone: every instruction may be tagged, but one with
/// an address in the trigger's data must be the trigger.
bool judges_tagged(const Addresses& addresses);
/// Samples on the trigger, of the judged samples with an address in its data.
Share share_of_own(const Addresses& addresses);

/// The verdict on `share`, the judged samples at the promised place, where something else caused
/// some of them. `contradicted`: samples at that place whose address contradicts. broken if the
/// samples that are not contradicted break the promise; kept if these and all keep it and the cause
/// is not contradicted.
Verdict verdict_with(const Addresses& addresses, const Share& share, std::uint64_t contradicted);

}  // namespace skid::analysis
