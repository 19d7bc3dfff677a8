#include "analysis/figures.h"

#include "analysis/basis.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/geometry.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/wording.h"
#include "src/support/losses.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {

struct Addresses;

namespace {

// The shares above which warnings are given (docs/method.md, "Warnings from the counts").
constexpr double kCensoredShare = 0.001;
constexpr double kLostShare = 0.01;
constexpr double kEventsOff = 0.05;

/// Returns part / (part + rest), and 0 for a part of 0. In a damaged recording the sum may exceed
/// 64 bits.
double share_of(std::uint64_t part, std::uint64_t rest) {
  const auto counted = static_cast<double>(part);
  return part == 0 ? 0.0 : counted / (counted + static_cast<double>(rest));
}

/// Writes a count of samples with its verb: "1 sample is", "2 samples are".
std::string samples_that(std::uint64_t count, const char* one, const char* several) {
  return counted(count, "sample") + (count == 1 ? one : several);
}

void warn_of_censored(const Breakdown& breakdown, std::vector<std::string>& warnings) {
  const std::uint64_t censored = breakdown[SampleClass::censored];
  const double share = share_of(censored, breakdown.located() - censored);
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
               : "the trigger did not cause the event each time"));
}

std::optional<DistanceIntervals> intervals_of(const OffsetCounts& offsets,
                                              std::optional<std::int64_t> censored_from) {
  if (offsets.empty()) return std::nullopt;
  const auto at_least = [censored_from](std::optional<std::int64_t> offset) {
    return offset && censored_from && *offset >= *censored_from;
  };
  const auto quantile = [&](double share) {
    DistanceIntervals::Quantile result{quantile_interval(offsets, share).value()};
    result.low_at_least = at_least(result.low);
    result.high_at_least = at_least(result.high);
    return result;
  };
  return DistanceIntervals{quantile(0.50), quantile(0.90), quantile(0.99), mean_interval(offsets)};
}

/// Adds the figures that depend on the geometry of the target.
void add_distances(const Basis& basis, const Geometry& geometry, std::int64_t bin_width,
                   Figures& figures) {
  const Tally& tally = basis.tally;
  // Generated targets are shorter; a function that --runway names may be longer.
  figures.lowest_offset = std::max(geometry.lowest_offset, -kLongestAxis / 2);
  figures.highest_offset = std::min(geometry.highest_offset, kLongestAxis / 2 - 1);
  figures.censored_from = geometry.censored_from;
  figures.instructions = summarize(tally.instructions, geometry.censored_from);
  figures.bytes = summarize(tally.bytes, geometry.censored_from_bytes);
  figures.intervals = intervals_of(tally.instructions, geometry.censored_from);
  figures.constant_skid = constant_skid(tally);
  figures.retirement_groups = retirement_groups_of(tally.instructions, geometry.censored_from);
  if (basis.ticks_per_instruction) {
    figures.tsc_ticks =
        summarize(tally.instructions, geometry.censored_from, *basis.ticks_per_instruction);
  }
  figures.histogram =
      histogram_of(tally, {figures.lowest_offset, figures.highest_offset, bin_width});
  if (geometry.trigger_addresses.size() < 2) return;
  figures.trigger_addresses = geometry.trigger_addresses;
  figures.triggers = tally.triggers;
  figures.triggers.resize(figures.trigger_addresses.size());
}

}  // namespace

std::vector<std::string> loss_warnings(const Losses& losses, std::uint64_t read) {
  std::vector<std::string> warnings;
  // Both records can report the same loss, so the larger number is the best estimate.
  const std::uint64_t lost = std::max(losses.lost_records, losses.lost_samples);
  const double lost_share = share_of(lost, read);
  if (lost_share > kLostShare) {
    warnings.push_back(fmt::format(
        "{} lost in addition to the {} read ({}); record again with a larger period or perf's -m.",
        samples_that(lost, " was", " were"), read, percent(lost_share)));
  }
  if (static_cast<double>(losses.throttled) > kLostShare * static_cast<double>(read)) {
    warnings.push_back(
        fmt::format("The kernel throttled the event {} for {}: record again with a larger period.",
                    losses.throttled == 1 ? "once" : fmt::format("{} times", losses.throttled),
                    counted(read, "sample")));
  }
  return warnings;
}

std::string ignored_level(int level, ExactIp exact_ip, std::uint64_t exact, std::uint64_t samples) {
  const bool none = exact_ip == ExactIp::never;
  const bool flagged = exact_ip == ExactIp::request;
  const bool shows = (none && level >= 1) || (flagged && level >= 2);
  if (!shows || samples == 0 || exact > 0) return {};
  return fmt::format("Precise level {} was recorded but not honoured: none of {} has EXACT_IP; {}.",
                     level, counted(samples, "sample"),
                     none ? "the PMU of this CPU has no precise levels"
                          : "the kernel sets it at this level on this CPU");
}

Figures figures_of(const Description& description, const Basis& basis) {
  const Breakdown& breakdown = basis.tally.breakdown;
  const bool nops_are_right = samples_any_instruction(basis.not_judged);
  Figures figures;
  figures.samples = breakdown;
  figures.hit_ratio = wilson_interval(breakdown[SampleClass::hit], breakdown.judged());
  if (basis.geometry) {
    add_distances(basis, *basis.geometry, description.bin_width, figures);
    if (nops_are_right) figures.expected_hit_share = expected_hit_share(basis);
  }
  if (!nops_are_right && basis.equal_triggers) figures.bias = bias_of(figures.triggers);
  if (basis.sample_pairs) figures.delay = delay_of(*basis.sample_pairs, basis.tally.instructions);
  figures.contract = judge(description.precise.recorded, basis, description.event.remark);
  figures.evenness = evenness_of(description, basis, figures);
  if (const std::string reason = figures.bias ? resonance_of(description, basis) : "";
      !reason.empty()) {
    figures.bias.reset();
    if (!figures.evenness) figures.count_warnings.push_back("Evenness is " + reason + '.');
  }
  // Where any instruction can be sampled, so can the end of the runway, however long it is.
  if (!nops_are_right) warn_of_censored(breakdown, figures.count_warnings);
  if (!basis.ignores_level) {
    std::string ignored = ignored_level(description.precise.recorded, basis.exact_ip,
                                        basis.tally.exact_samples, breakdown.read());
    if (!ignored.empty()) figures.count_warnings.push_back(std::move(ignored));
  }
  for (std::string& warning : loss_warnings(description, breakdown.read())) {
    figures.count_warnings.push_back(std::move(warning));
  }
  warn_of_odd_addresses(basis, figures.count_warnings);
  if (basis.addresses) warn_of_cause(*basis.addresses, figures.count_warnings);
  warn_of_event_count(description.events_per_iteration, figures.count_warnings);
  return figures;
}

Verdict verdict_of(const Figures& figures) {
  const auto& evenness = figures.evenness;
  const bool is_broken =
      evenness && evenness->required && evenness->verdict == Evenness::Verdict::uneven;
  return is_broken ? Verdict::broken : figures.contract.verdict;
}

std::string verdict_words(const Figures& figures) {
  const Verdict verdict = verdict_of(figures);
  std::string words = verdict == figures.contract.verdict ? verdict_words(figures.contract)
                                                          : std::string(name_of(verdict));
  if (figures.evenness && figures.evenness->verdict != Evenness::Verdict::undecided) {
    words += fmt::format(", {}", name_of(figures.evenness->verdict));
  }
  return words;
}

}  // namespace skid::analysis
