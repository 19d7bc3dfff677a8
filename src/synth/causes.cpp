#include "src/synth/causes.h"

#include "src/support/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::synth {
namespace {

/// How many delays of a shadow are from `least` to `most`.
std::uint64_t delays_between(const Shadow& shadow, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t lowest = std::max(shadow.lowest, least);
  const std::uint64_t highest = std::min(shadow.highest, most);
  return highest < lowest ? 0 : highest - lowest + 1;
}

/// Shares of the samples, from those of the events.
std::vector<Cause> shadowed(const std::vector<Cause>& causes, const Shadow& shadow,
                            std::size_t length) {
  std::vector<Cause> result = causes;
  for (Cause& cause : result) cause.share = 0;
  const auto delays = static_cast<double>(shadow.highest - shadow.lowest + 1);
  for (std::size_t overflow = 0; overflow < causes.size(); ++overflow) {
    // The cause that overflows, the next one and so on, through as many iterations as it takes.
    std::uint64_t least = 0;
    for (std::size_t k = overflow; least <= shadow.highest; ++k) {
      const std::size_t sampled = k % causes.size();
      const std::uint64_t distance =
          k / causes.size() * length + causes[sampled].step - causes[overflow].step;
      const auto here = static_cast<double>(delays_between(shadow, least, distance));
      result[sampled].share += causes[overflow].share * here / delays;
      least = distance + 1;
    }
  }
  return result;
}

}  // namespace

std::vector<Cause> causes_of(const LevelModel& level, const LoopPath& path,
                             const std::string& name) {
  if (!level.triggers.empty() && level.triggers.size() != path.triggers()) {
    throw Error(fmt::format("{}: the model has shares for {} triggers, the target has {}", name,
                            level.triggers.size(), path.triggers()));
  }
  const std::vector<std::size_t>& others = path.other_causes();
  if (level.other_triggers > 0 && others.empty()) {
    throw Error(fmt::format(
        "{}: the model has a share for other triggers, the target declares none", name));
  }
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < path.triggers(); ++i) {
    const double share =
        level.triggers.empty() ? 1 / static_cast<double>(path.triggers()) : level.triggers[i];
    causes.push_back({path.step_of(i), i, (1 - level.other_triggers) * share});
  }
  if (level.other_triggers > 0) {
    for (const std::size_t step : others) {
      causes.push_back(
          {step, std::nullopt, level.other_triggers / static_cast<double>(others.size())});
    }
    std::sort(causes.begin(), causes.end(),
              [](const Cause& a, const Cause& b) { return a.step < b.step; });
  }
  return level.shadow ? shadowed(causes, *level.shadow, path.steps().size()) : causes;
}

}  // namespace skid::synth
