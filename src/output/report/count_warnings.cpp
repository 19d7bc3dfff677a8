#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/output/report/evidence.h"
#include "src/output/report/verdict_words.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using namespace analysis;

// The shares above which warnings are given (docs/method.md, "Warnings from the counts").
constexpr double kCensoredShare = 0.001;
constexpr double kEventsOff = 0.05;

/// Writes a count of samples with its verb: "1 sample is", "2 samples are".
std::string samples_that(std::uint64_t count, const char* one, const char* several) {
  return counted(count, "sample") + (count == 1 ? one : several);
}

void warn_of_censored(const Breakdown& breakdown, std::vector<std::string>& warnings) {
  const std::uint64_t censored = breakdown[SampleClass::censored];
  const double share =
      censored == 0 ? 0 : static_cast<double>(censored) / static_cast<double>(breakdown.located());
  if (share <= kCensoredShare) return;
  warnings.push_back(
      fmt::format("{} of {} located samples ({}) are in the last 5% of the runway, which may be "
                  "too short; record again with more --nops.",
                  censored, breakdown.located(), percent(share)));
}

void warn_of_odd_addresses(const Basis& basis, std::vector<std::string>& warnings) {
  const Tally& tally = basis.tally;
  if (tally.inside_instruction > 0) {
    warnings.push_back(
        fmt::format("{} inside an instruction, not at its first byte: the target that was read may "
                    "not be the one that ran.",
                    samples_that(tally.inside_instruction, " is", " are")));
  }
  if (tally.contradicted_hits > 0) {
    warnings.push_back(fmt::format(
        "{} on the trigger, which does not do what the data source of the sample states: the "
        "address is wrong.",
        samples_that(tally.contradicted_hits, " is", " are")));
  }
  if (tally.contradicted_addresses > 0) {
    warnings.push_back(fmt::format(
        "{} where the trigger's are, with the data address of another instruction: one of the "
        "addresses is wrong.",
        samples_that(tally.contradicted_addresses, " is", " are")));
  }
  const bool is_off_trigger_odd =
      basis.exact_ip == ExactIp::evidence && basis.not_judged == NotJudged::none;
  if (is_off_trigger_odd && tally.exact_off_trigger > 0) {
    warnings.push_back(
        fmt::format("{} EXACT_IP set, which is evidence on this CPU, and an address off the "
                    "trigger: the address is wrong, or another instruction causes the event too.",
                    samples_that(tally.exact_off_trigger, " has", " have")));
  }
}

void warn_of_cause(const Addresses& addresses, std::vector<std::string>& warnings) {
  const Cause cause = cause_of(addresses);
  if (cause.verdict != Verdict::broken) return;
  warnings.push_back(fmt::format(
      "{} judged samples have a data address outside all data that the trigger or another declared "
      "instruction accesses: something else caused them. Check the event and the target.",
      counts_and_interval(cause.contradicted)));
}

void warn_of_event_count(const EventsPerIteration& events, std::vector<std::string>& warnings) {
  if (!events.measured || !events.expected) return;
  const double measured = *events.measured;
  const double expected = *events.expected;
  const double fewest = *events.fewest();
  const bool is_above = measured - expected > kEventsOff * expected;
  const bool is_below = fewest - measured > kEventsOff * fewest;
  if (!std::isfinite(measured) || !(is_above || is_below)) return;
  const std::string range =
      fewest < expected
          ? fmt::format(
                "{:.4g} to {:.4g}, as the caches can hold up to {} of what the chase goes through",
                fewest, expected, percent(*events.cached_share))
          : fmt::format("{:.4g}", expected);
  warnings.push_back(fmt::format(
      "{:.4g} events were counted per iteration where the trigger gives {}: {}.", measured, range,
      is_above ? "something else causes the event too, so misses need not be skid"
               : "the trigger did not cause the event each time, or samples are missing"));
}

}  // namespace

std::vector<std::string> count_warnings(const Measurement& m) {
  const Basis& basis = m.basis;
  const Breakdown& breakdown = basis.tally.breakdown;
  const bool nops_are_right = samples_any_instruction(basis.not_judged);
  std::vector<std::string> warnings;
  const bool is_tested = !nops_are_right && basis.equal_triggers && bias_of(m.triggers);
  if (is_tested && !m.evenness) {
    const auto resonance = resonance_of(m, basis);
    if (resonance) warnings.push_back("Evenness is " + resonance_text(*resonance) + '.');
  }
  // No warning of censored samples where any instruction can be sampled: no runway is long enough.
  if (!nops_are_right) warn_of_censored(breakdown, warnings);
  if (!basis.ignores_level) {
    std::string ignored = ignored_level(m.precise.recorded, basis.exact_ip,
                                        basis.tally.exact_samples, breakdown.read());
    if (!ignored.empty()) warnings.push_back(std::move(ignored));
  }
  for (std::string& warning : loss_warnings(m, breakdown.read())) {
    warnings.push_back(std::move(warning));
  }
  warn_of_odd_addresses(basis, warnings);
  if (basis.addresses) warn_of_cause(*basis.addresses, warnings);
  warn_of_event_count(m.events_per_iteration, warnings);
  return warnings;
}

std::vector<std::string> all_warnings(const Measurement& m) {
  std::vector<std::string> warnings = m.warnings;
  const std::vector<std::string> of_counts = count_warnings(m);
  warnings.insert(warnings.end(), of_counts.begin(), of_counts.end());
  if (m.recording_warnings) {
    warnings.insert(warnings.end(), m.recording_warnings->begin(), m.recording_warnings->end());
  }
  return warnings;
}

}  // namespace skid::output
