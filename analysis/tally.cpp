#include "analysis/tally.h"

#include "analysis/classified.h"
#include "analysis/distributions.h"

#include <algorithm>

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
  contradicted_hits += other.contradicted_hits;
  contradicted_addresses += other.contradicted_addresses;
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
  if (place.contradicted_by == Contradiction::data_source) contradicted_hits += samples;
  if (place.contradicted_by == Contradiction::data_address) contradicted_addresses += samples;
  if (!exact) return;
  exact_samples += samples;
  if (is_hit) {
    exact_hits += samples;
  } else if (is_judged(place.sample_class)) {
    exact_off_trigger += samples;
  }
}

}  // namespace skid::analysis
