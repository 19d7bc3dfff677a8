#include "analysis/measurement.h"

#include "analysis/wording.h"

#include <algorithm>
#include <cmath>

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
      "{} of {} located samples ({}) lie in the last 5% of the runway, which may be too short: "
      "record again with more --nops.",
      censored, ledger.located(), percent(share)));
}

void warn_of_losses(const Measurement& measurement, std::vector<std::string>& warnings) {
  const std::uint64_t read = measurement.samples.read();
  // Both records can tell of the same loss, so the larger one is the best that is known.
  const std::uint64_t lost = std::max(measurement.lost_records, measurement.lost_samples);
  const double lost_share = ratio(lost, read + lost);
  if (lost_share > kLostShare) {
    warnings.push_back(fmt::format(
        "{} lost beside the {} read ({}): record again with a larger period or perf's -m.",
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
            (tally.inside_instruction == 1 ? " lies" : " lie")));
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

void count_triggers(const Tally& tally, const TargetMap& map, Measurement& measurement) {
  measurement.triggers = tally.triggers;
  measurement.triggers.resize(map.triggers());
  for (std::size_t number = 0; number < map.triggers(); ++number) {
    measurement.trigger_addresses.push_back(map.trigger_address(number));
  }
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  ledger += other.ledger;
  instructions += other.instructions;
  bytes += other.bytes;
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

void complete(Measurement& measurement, const Tally& tally, const TargetMap* map,
              Judgeable judgeable, bool ignores_level, std::optional<double> ticks_per_instruction,
              std::int64_t bin_width) {
  const Ledger& ledger = tally.ledger;
  const bool nops_are_right =
      judgeable == Judgeable::timer || judgeable == Judgeable::every_instruction;
  const int level = measurement.precise.recorded;
  measurement.samples = ledger;
  measurement.hit_ratio = wilson_interval(ledger[SampleClass::hit], ledger.judged());
  measurement.precise.exact_ip_samples = tally.exact_samples;
  measurement.bin_width = bin_width;

  if (map) {
    // Generated targets are shorter; a function that someone named as the runway need not be.
    measurement.lowest_offset = std::max(map->lowest_offset(), -kLongestAxis / 2);
    measurement.highest_offset = std::min(map->highest_offset(), kLongestAxis / 2 - 1);
    measurement.censored_from = map->censored_from();
    measurement.instructions = summarize(tally.instructions, map->censored_from());
    measurement.bytes = summarize(tally.bytes, map->censored_from_bytes());
    if (ticks_per_instruction) {
      measurement.tsc_ticks =
          summarize(tally.instructions, map->censored_from(), *ticks_per_instruction);
    }
    SkidHistogram histogram(measurement.lowest_offset, measurement.highest_offset);
    for (const auto& [offset, count] : tally.instructions.counts()) {
      histogram.add(offset, level, measurement.event.label, count);
    }
    measurement.histogram = histogram.slice(level, measurement.event.label, bin_width);
    if (nops_are_right && !measurement.expected_hit_share) {
      measurement.expected_hit_share = map->even_hit_share();
    }
    if (map->triggers() > 1) count_triggers(tally, *map, measurement);
    if (!nops_are_right) measurement.bias = bias_of(measurement.triggers);
  }

  ContractInput input;
  input.level = level;
  input.judgeable = map ? judgeable : Judgeable::no_trigger;
  input.ignores_level = ignores_level;
  input.ledger = ledger;
  input.offsets = tally.instructions;
  input.exact_samples = tally.exact_samples;
  input.exact_hits = tally.exact_hits;
  input.exact_off_trigger = tally.exact_off_trigger;
  input.expected_hit_share = measurement.expected_hit_share;
  input.event_remark = measurement.event.remark;
  measurement.contract = judge(input);

  // Where each instruction is rightly sampled, so is the end of the runway, however long it is.
  if (!nops_are_right) warn_of_censored(ledger, measurement.warnings);
  warn_of_losses(measurement, measurement.warnings);
  warn_of_odd_addresses(tally, measurement.warnings);
  warn_of_event_count(measurement.events_per_iteration, measurement.warnings);
}

}  // namespace skid::analysis
