#include "analysis/basis.h"

#include <algorithm>

namespace skid::analysis {
namespace {

/// The class of samples that are not in the target.
SampleClass class_of(Place place) {
  switch (place) {
    case Place::target:
    case Place::other_user:
      return SampleClass::other_user;
    case Place::kernel:
      return SampleClass::kernel;
    case Place::guest:
      return SampleClass::guest;
    case Place::unmapped:
      break;
  }
  return SampleClass::unmapped;
}

}  // namespace

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

void Tally::add(const LocatedCount& count, const TargetMap* map, int level) {
  Classified classified;
  if (count.place == Place::target && map != nullptr) {
    classified = map->classify(count.address, level);
  } else {
    classified.sample_class = class_of(count.place);
  }
  breakdown.add(classified.sample_class, count.samples);
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

std::optional<double> expected_hit_share(const Basis& basis) {
  if (!basis.geometry || !basis.geometry->even_hit_share) return std::nullopt;
  const double even = *basis.geometry->even_hit_share;
  if (!basis.ticks_per_instruction || !basis.ticks_per_iteration) return even;
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double nops = triggers / even - triggers;
  // What NOPs take is measured to some percent, so that a trigger of a few cycles can get lost.
  return std::max(even, 1 - nops * *basis.ticks_per_instruction / *basis.ticks_per_iteration);
}

}  // namespace skid::analysis
