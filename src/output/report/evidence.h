// What verdicts and warnings follow from, in words.
#pragma once

#include "src/machine/cpu_identity.h"  // IWYU pragma: keep

#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct Addresses;
struct Evenness;
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {

/// Returns what the verdict on the contract of a measurement follows from, in one line: counts,
/// share, interval, EXACT_IP, reasons.
std::string contract_evidence(const analysis::Measurement& m);
/// Returns why a measurement is not judged, without what follows from it.
std::string short_reason(const analysis::Measurement& m);

/// Returns what the verdict on the evenness of a measurement, which has one, follows from.
std::string evenness_evidence(const analysis::Measurement& m);
/// Compares the evenness of two levels of the same event and run: "samples of instructions executed
/// equally often: level 3 even (p 0.41), level 2 uneven (p < 1e-300, largest ratio to the even
/// share 3.1)".
std::string comparison_of(const analysis::Evenness& level_2, const analysis::Evenness& level_3);

/// What the share of hits counts of IBS and SPE, which tag any instruction.
inline constexpr std::string_view kHitsByAddress =
    "of the samples with an address in the trigger's data, those on the trigger";

/// Writes one line of text: counts and what they show, or why they show nothing.
std::string describe_addresses(const analysis::Addresses& addresses);

/// Lists the warnings that follow from the counts: of censored samples above 0.1% (unless any
/// instruction can be sampled), throttled or lost ones above 1%, samples inside instructions, exact
/// samples off the trigger if the flag is evidence, a contradicted cause, and events per iteration
/// more than 5% above or below those to be expected.
std::vector<std::string> count_warnings(const analysis::Measurement& m);
/// Lists all warnings on a measurement: on its event, from the counts, on its recording.
std::vector<std::string> all_warnings(const analysis::Measurement& m);

}  // namespace skid::output
