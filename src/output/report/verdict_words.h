// Verdicts and what they are about, in words.
#pragma once

#include "analysis/contract.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace skid::analysis {
struct Addresses;
struct Figures;
struct Remedy;
struct Resonance;
struct SkidInEvents;
}  // namespace skid::analysis

namespace skid::output {

/// Returns the verdict and the evenness: "kept, certified", "broken, same as level 2", "kept,
/// uneven", "kept, 250 of 5000 (5.00%) not corrected".
std::string verdict_words(const analysis::Figures& figures);

/// Returns ", 250 of 5000 (5.00%) not corrected"; empty if there are none.
std::string not_corrected_words(std::uint64_t not_corrected, std::uint64_t judged);

/// Returns the word for a verdict on a cause: "confirmed", "contradicted", "undecided", "not
/// judged".
std::string_view cause_words(analysis::Verdict verdict);
/// Returns the word for the verdict on the cause, or two words for why addresses do not show it.
std::string_view cause_words(const analysis::Addresses& addresses);

/// Returns what to record, as a part of a sentence: "record about 3,900 samples (--samples 3900)".
std::string remedy_text(const analysis::Remedy& remedy);

/// Explains why evenness is not judged, as a part of a sentence: "not judged: the period resonates
/// …".
std::string resonance_text(const analysis::Resonance& resonance);

/// Writes "p50 12, p99 31, max 84 events past the overflow (5000 samples, 3 left out: …)", or why
/// there are no overshoots.
std::string skid_in_events_text(const analysis::SkidInEvents& skid);

}  // namespace skid::output
