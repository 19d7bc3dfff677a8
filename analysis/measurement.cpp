#include "analysis/measurement.h"

#include "analysis/wording.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

// METHOD: traps 7, 13 and 9.
constexpr double kCensoredShare = 0.001;
constexpr double kLostShare = 0.01;
constexpr double kEventsOff = 0.05;

Classified classify(const LocatedCount& count, const TargetMap* map) {
  const auto of_class = [](SampleClass sample_class) {
    Classified classified;
    classified.sample_class = sample_class;
    return classified;
  };
  switch (count.place) {
    case Place::target:
      return map ? map->classify(count.address) : of_class(SampleClass::other_user);
    case Place::other_user:
      return of_class(SampleClass::other_user);
    case Place::kernel:
      return of_class(SampleClass::kernel);
    case Place::guest:
      return of_class(SampleClass::guest);
    case Place::unmapped:
      return of_class(SampleClass::unmapped);
  }
  return of_class(SampleClass::unmapped);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void warn_of_censored(const Ledger& ledger, std::vector<std::string>& warnings) {
  const std::uint64_t censored = ledger[SampleClass::censored];
  const double share = ratio(censored, ledger.located());
  if (share <= kCensoredShare) return;
  warnings.push_back(fmt::format(
      "{} of {} located samples ({}) are in the last 5% of the runway, which may be too short; "
      "record again with more --nops.",
      censored, ledger.located(), percent(share)));
}

void warn_of_losses(const Measurement& measurement, std::vector<std::string>& warnings) {
  const std::uint64_t read = measurement.basis.tally.ledger.read();
  // Both records can report the same loss, so the larger number is the best estimate.
  const std::uint64_t lost = std::max(measurement.lost_records, measurement.lost_samples);
  const double lost_share = ratio(lost, read + lost);
  if (lost_share > kLostShare) {
    warnings.push_back(fmt::format(
        "{} lost in addition to the {} read ({}); record again with a larger period or perf's -m.",
        counted(lost, "sample") + (lost == 1 ? " was" : " were"), read, percent(lost_share)));
  }
  if (static_cast<double>(measurement.throttled) > kLostShare * static_cast<double>(read)) {
    warnings.push_back(fmt::format(
        "The kernel throttled the event {} for {}: record again with a larger period.",
        measurement.throttled == 1 ? "once" : fmt::format("{} times", measurement.throttled),
        counted(read, "sample")));
  }
}

void warn_of_odd_addresses(const Tally& tally, std::vector<std::string>& warnings) {
  if (tally.inside_instruction > 0) {
    warnings.push_back(fmt::format(
        "{} inside an instruction, not at its first byte: the target that was read may not be the "
        "one that ran.",
        counted(tally.inside_instruction, "sample") +
            (tally.inside_instruction == 1 ? " is" : " are")));
  }
  if (tally.exact_off_trigger > 0) {
    warnings.push_back(fmt::format(
        "{} EXACT_IP set and an address off the trigger: the hardware vouched for a wrong address, "
        "or another instruction causes the event too.",
        counted(tally.exact_off_trigger, "sample") +
            (tally.exact_off_trigger == 1 ? " has" : " have")));
  }
}

void warn_of_event_count(const EventsPerIteration& events, std::vector<std::string>& warnings) {
  if (!events.measured || !events.expected) return;
  const double measured = *events.measured;
  const double expected = *events.expected;
  if (!std::isfinite(measured) || std::abs(measured - expected) <= kEventsOff * expected) return;
  warnings.push_back(fmt::format(
      "{:.4g} events were counted per iteration where the trigger gives {:.4g}: {}.", measured,
      expected,
      measured > expected ? "something else causes the event too, so misses need not be skid"
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
  DistanceIntervals intervals;
  intervals.p50 = quantile(0.50);
  intervals.p90 = quantile(0.90);
  intervals.p99 = quantile(0.99);
  intervals.mean = mean_interval(offsets);
  return intervals;
}

/// The figures that depend on the geometry of the target.
void add_distances(const Measurement& measurement, const Geometry& geometry, Figures& figures) {
  const Basis& basis = measurement.basis;
  const Tally& tally = basis.tally;
  // Generated targets are shorter; a function that --runway names may be longer.
  figures.lowest_offset = std::max(geometry.lowest_offset, -kLongestAxis / 2);
  figures.highest_offset = std::min(geometry.highest_offset, kLongestAxis / 2 - 1);
  figures.censored_from = geometry.censored_from;
  figures.instructions = summarize(tally.instructions, geometry.censored_from);
  figures.bytes = summarize(tally.bytes, geometry.censored_from_bytes);
  figures.intervals = intervals_of(tally.instructions, geometry.censored_from);
  figures.constant_skid = constant_skid(tally.ledger, tally.instructions);
  figures.retirement_groups = retirement_groups_of(tally.instructions, geometry.censored_from);
  if (basis.ticks_per_instruction) {
    figures.tsc_ticks =
        summarize(tally.instructions, geometry.censored_from, *basis.ticks_per_instruction);
  }
  figures.histogram = histogram_of(tally.instructions, tally.censored, figures.lowest_offset,
                                   figures.highest_offset, measurement.bin_width);
  if (samples_any_instruction(basis.not_judged)) {
    figures.expected_hit_share = geometry.even_hit_share;
  }
  if (geometry.trigger_addresses.size() < 2) return;
  figures.trigger_addresses = geometry.trigger_addresses;
  figures.triggers = tally.triggers;
  figures.triggers.resize(figures.trigger_addresses.size());
}

void measure_rates(const Basis& basis, Measurement& measurement) {
  const auto read = static_cast<double>(basis.tally.ledger.read());
  auto& period = measurement.period.effective;
  if (basis.period_sum) {
    period.reset();
    if (read > 0) period = static_cast<double>(*basis.period_sum) / read;
  }
  if (!basis.iterations) return;
  auto& measured = measurement.events_per_iteration.measured;
  measured.reset();
  if (*basis.iterations > 0 && period) {
    measured = read * *period / static_cast<double>(*basis.iterations);
  }
}

Contract judged(const Measurement& measurement, const Figures& figures) {
  const Basis& basis = measurement.basis;
  ContractInput input;
  input.level = measurement.precise.recorded;
  input.not_judged = basis.geometry ? basis.not_judged : NotJudged::no_trigger;
  input.ignores_level = basis.ignores_level;
  input.ledger = basis.tally.ledger;
  input.offsets = basis.tally.instructions;
  input.exact_samples = basis.tally.exact_samples;
  input.exact_hits = basis.tally.exact_hits;
  input.exact_off_trigger = basis.tally.exact_off_trigger;
  input.expected_hit_share = figures.expected_hit_share;
  input.event_remark = measurement.event.remark;
  return judge(input);
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  ledger += other.ledger;
  instructions += other.instructions;
  bytes += other.bytes;
  censored += other.censored;
  exact_samples += other.exact_samples;
  exact_hits += other.exact_hits;
  exact_off_trigger += other.exact_off_trigger;
  inside_instruction += other.inside_instruction;
  if (triggers.size() < other.triggers.size()) triggers.resize(other.triggers.size());
  for (std::size_t i = 0; i < other.triggers.size(); ++i) triggers[i] += other.triggers[i];
  return *this;
}

void Tally::add(const LocatedCount& count, const TargetMap* map) {
  const Classified classified = classify(count, map);
  ledger.add(classified.sample_class, count.samples);
  if (classified.offset) {
    instructions.add(classified.offset->instructions, count.samples);
    bytes.add(classified.offset->bytes, count.samples);
    if (classified.sample_class == SampleClass::censored) {
      censored.add(classified.offset->instructions, count.samples);
    }
  }
  if (classified.trigger) {
    if (triggers.size() <= *classified.trigger) triggers.resize(*classified.trigger + 1);
    const bool is_hit = classified.sample_class == SampleClass::hit;
    triggers[*classified.trigger] += {is_hit ? count.samples : 0, count.samples};
  }
  if (classified.inside_instruction) inside_instruction += count.samples;
  if (!count.exact) return;
  exact_samples += count.samples;
  if (classified.sample_class == SampleClass::hit) {
    exact_hits += count.samples;
  } else if (is_judged(classified.sample_class)) {
    exact_off_trigger += count.samples;
  }
}

Geometry Geometry::of(const TargetMap& map) {
  Geometry geometry;
  geometry.lowest_offset = map.lowest_offset();
  geometry.highest_offset = map.highest_offset();
  geometry.censored_from = map.censored_from();
  geometry.censored_from_bytes = map.censored_from_bytes();
  for (std::size_t number = 0; number < map.triggers(); ++number) {
    geometry.trigger_addresses.push_back(map.trigger_address(number));
  }
  geometry.even_hit_share = map.even_hit_share();
  return geometry;
}

Figures figures_of(const Measurement& measurement) {
  const Basis& basis = measurement.basis;
  const Ledger& ledger = basis.tally.ledger;
  const bool nops_are_right = samples_any_instruction(basis.not_judged);
  Figures figures;
  figures.samples = ledger;
  figures.hit_ratio = wilson_interval(ledger[SampleClass::hit], ledger.judged());
  if (basis.geometry) add_distances(measurement, *basis.geometry, figures);
  if (!nops_are_right && basis.equal_triggers) figures.bias = bias_of(figures.triggers);
  figures.contract = judged(measurement, figures);
  // Where each instruction is rightly sampled, so is the end of the runway, however long it is.
  if (!nops_are_right) warn_of_censored(ledger, figures.count_warnings);
  warn_of_losses(measurement, figures.count_warnings);
  warn_of_odd_addresses(basis.tally, figures.count_warnings);
  warn_of_event_count(measurement.events_per_iteration, figures.count_warnings);
  return figures;
}

void complete(Measurement& measurement) {
  measurement.precise.exact_ip_samples = measurement.basis.tally.exact_samples;
  measure_rates(measurement.basis, measurement);
  static_cast<Figures&>(measurement) = figures_of(measurement);
}

void complete(Measurement& measurement, Tally tally, const TargetMap* map, NotJudged not_judged,
              bool ignores_level, std::optional<double> ticks_per_instruction,
              std::int64_t bin_width) {
  Basis& basis = measurement.basis;
  basis.tally = std::move(tally);
  basis.geometry.reset();
  if (map != nullptr) basis.geometry = Geometry::of(*map);
  basis.not_judged = not_judged;
  basis.ignores_level = ignores_level;
  basis.ticks_per_instruction = ticks_per_instruction;
  measurement.bin_width = bin_width;
  complete(measurement);
}

}  // namespace skid::analysis
