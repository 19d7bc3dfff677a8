// Drawing the samples of a model on the path of a target's iteration, with their truth.
#pragma once

#include "src/synth/drawn_sample.h"
#include "src/synth/sample_truth.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace skid::synth {

class LoopPath;
struct LevelModel;

struct Drawn {
  std::vector<DrawnSample> samples;  ///< their order means nothing
  Truth truth;
};

/// Returns a seed for one of several independent streams of random numbers of a model.
std::uint64_t seed_of(std::uint64_t model_seed, std::initializer_list<std::uint64_t> stream);

/// An instruction that causes events.
struct Cause {
  std::size_t step = 0;                ///< index in LoopPath::steps()
  std::optional<std::size_t> trigger;  ///< number of the trigger; nullopt for an other trigger
  double share = 0;                    ///< share of the samples
};

/// Returns all triggers, and the other triggers if the model has a share for them, in the order of
/// the iteration. Their shares add up to 1. Without a shadow the shares are the model's. With one,
/// the model's share of a cause is the probability that its event overflows the counter, and the
/// first cause that is at least the delay after it gets the sample. With a distance, causes that
/// are never sampled have the share 0. `name`: event and level, for messages. Throws Error when the
/// model needs what the target does not have: other triggers, or another number of triggers than it
/// has shares for.
std::vector<Cause> causes_of(const LevelModel& level, const LoopPath& path,
                             const std::string& name);

/// Draws the samples of one event at one level. `is_interrupted`: their addresses are those of
/// interrupts after the event, so that the truth takes them for samples of the trigger or other
/// trigger before them. `name`: event and level, for messages. Throws Error
/// when the model needs what the target does not have: other triggers, or another number of
/// triggers than it has shares for.
Drawn draw(const LevelModel& level, const LoopPath& path, std::uint64_t seed,
           const std::string& name, bool is_interrupted = false);

}  // namespace skid::synth
