#include "analysis/figures.h"

#include "analysis/basis.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/geometry.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"
#include "analysis/wording.h"
#include "src/support/losses.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::analysis {

namespace {

/// The share of lost samples above which it is a warning (docs/method.md, "Warnings from the
/// counts").
constexpr double kLostShare = 0.01;

/// Returns part / (part + rest), and 0 for a part of 0. In a damaged recording the sum may exceed
/// 64 bits.
double share_of(std::uint64_t part, std::uint64_t rest) {
  const auto counted = static_cast<double>(part);
  return part == 0 ? 0.0 : counted / (counted + static_cast<double>(rest));
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
        "{} {} lost in addition to the {} read ({}); record again with a larger period or perf's "
        "-m.",
        counted(lost, "sample"), lost == 1 ? "was" : "were", read, percent(lost_share)));
  }
  const double throttled_share = losses.throttled_share.value_or(0);
  if (throttled_share > kLostShare ||
      static_cast<double>(losses.throttled) > kLostShare * static_cast<double>(read)) {
    const std::string time =
        throttled_share > 0 ? fmt::format("; one counter was stopped for {} of the recorded time",
                                          percent(throttled_share))
                            : fmt::format(" for {}", counted(read, "sample"));
    warnings.push_back(fmt::format(
        "The kernel throttled events of this recording {}{}: record again with a larger period.",
        losses.throttled == 1 ? "once" : fmt::format("{} times", losses.throttled), time));
  }
  if (losses.aux_truncated > 0) {
    warnings.push_back(fmt::format(
        "AUX data were lost {}, because the buffer was full: record again with a larger "
        "one (perf's -m ,PAGES) or a larger period.",
        losses.aux_truncated == 1 ? "once" : fmt::format("{} times", losses.aux_truncated)));
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
  figures.contract = judge(description.precise.recorded, basis);
  figures.evenness = evenness_of(description, basis, figures);
  if (figures.bias && resonance_of(description, basis)) figures.bias.reset();
  return figures;
}

Verdict verdict_of(const Figures& figures) {
  const auto& evenness = figures.evenness;
  const bool is_broken =
      evenness && evenness->required && evenness->verdict == Evenness::Verdict::uneven;
  return is_broken ? Verdict::broken : figures.contract.verdict;
}

}  // namespace skid::analysis
