#include "analysis/basis.h"

#include "analysis/wording.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::analysis {

std::uint64_t Breakdown::judged() const {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    if (is_judged(static_cast<SampleClass>(i))) samples += counts_[i];
  }
  return samples;
}

std::uint64_t Breakdown::located() const {
  return (*this)[SampleClass::hit] + (*this)[SampleClass::skid] + (*this)[SampleClass::before] +
         (*this)[SampleClass::censored];
}

Breakdown& Breakdown::operator+=(const Breakdown& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

std::optional<Bias> bias_of(std::span<const TriggerCount> triggers) {
  if (triggers.size() < 2) return std::nullopt;
  std::vector<std::uint64_t> samples;
  for (const TriggerCount& trigger : triggers) samples.push_back(trigger.samples);
  const auto all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  if (static_cast<double>(all) < kFewestExpected * static_cast<double>(samples.size())) {
    return std::nullopt;
  }
  return pearson_of(samples);
}

Tally& Tally::operator+=(const Tally& other) {
  breakdown += other.breakdown;
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

void Tally::add(const Classified& place, std::uint64_t samples, bool exact) {
  const bool is_hit = place.sample_class == SampleClass::hit;
  breakdown.add(place.sample_class, samples);
  if (place.offset) {
    instructions.add(place.offset->instructions, samples);
    bytes.add(place.offset->bytes, samples);
    if (place.sample_class == SampleClass::censored) {
      censored.add(place.offset->instructions, samples);
    }
  }
  if (place.trigger) {
    if (triggers.size() <= *place.trigger) triggers.resize(*place.trigger + 1);
    triggers[*place.trigger] += {is_hit ? samples : 0, samples};
  }
  if (place.inside_instruction) inside_instruction += samples;
  if (!exact) return;
  exact_samples += samples;
  if (is_hit) {
    exact_hits += samples;
  } else if (is_judged(place.sample_class)) {
    exact_off_trigger += samples;
  }
}

std::optional<double> expected_hit_share(const Basis& basis) {
  if (!basis.geometry || !basis.geometry->even_hit_share) return std::nullopt;
  const double even = *basis.geometry->even_hit_share;
  if (!basis.ticks_per_instruction || !basis.ticks_per_iteration) return even;
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double nops = triggers / even - triggers;
  // What NOPs take is measured to some percent, so that a trigger of a few cycles can get lost.
  return std::max(even, 1 - nops * *basis.ticks_per_instruction / *basis.ticks_per_iteration);
}

bool is_data_address(std::uint64_t address) {
  constexpr unsigned kSignificant = 57;
  const std::uint64_t above = address >> (kSignificant - 1);  // bit 56 and those that repeat it
  return address != 0 && (above == 0 || above == UINT64_MAX >> (kSignificant - 1));
}

void OwnerCounts::add(std::uint64_t address, const std::vector<DeclaredData>& data) {
  if (!is_data_address(address)) {
    ++none;
    return;
  }
  bool is_of_other_trigger = false;
  for (const DeclaredData& declared : data) {
    if (!declared.range.contains(address)) continue;
    if (declared.of_trigger) {
      ++trigger;
      return;
    }
    is_of_other_trigger = true;
  }
  ++(is_of_other_trigger ? other_trigger : other);
}

OwnerCounts& OwnerCounts::operator+=(const OwnerCounts& more) {
  trigger += more.trigger;
  other_trigger += more.other_trigger;
  other += more.other;
  none += more.none;
  return *this;
}

OwnerCounts& AddressTable::at(const Classified& place) {
  if (!is_judged(place.sample_class)) return not_judged;
  if (place.sample_class == SampleClass::hit) return trigger;
  return place.offset && place.offset->instructions == 1 ? successor : elsewhere;
}

OwnerCounts AddressTable::judged() const {
  OwnerCounts sum = trigger;
  sum += successor;
  return sum += elsewhere;
}

AddressTable& AddressTable::operator+=(const AddressTable& more) {
  trigger += more.trigger;
  successor += more.successor;
  elsewhere += more.elsewhere;
  not_judged += more.not_judged;
  return *this;
}

SkidInEvents& SkidInEvents::operator+=(const SkidInEvents& more) {
  overshoots += more.overshoots;
  left_out += more.left_out;
  return *this;
}

std::string describe(const SkidInEvents& skid) {
  if (!skid.refused.empty()) return "not derived: " + skid.refused;
  const OffsetCounts& overshoots = skid.overshoots;
  const std::string left_out =
      skid.left_out == 0
          ? std::string()
          : fmt::format(", {} left out: the multiple of the period is not known", skid.left_out);
  if (overshoots.empty()) return fmt::format("no samples{}", left_out);
  return fmt::format("p50 {}, p99 {}, max {} events past the overflow ({}{})",
                     overshoots.quantile(0.50), overshoots.quantile(0.99), overshoots.quantile(1),
                     counted(overshoots.total(), "sample"), left_out);
}

}  // namespace skid::analysis
