// Which instructions of an iteration cause the events of a model, and how many of the samples each
// gets.
#pragma once

#include "src/synth/loop_path.h"
#include "src/synth/model.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace skid::synth {

/// An instruction that causes events.
struct Cause {
  std::size_t step = 0;                ///< index in LoopPath::steps()
  std::optional<std::size_t> trigger;  ///< its number; none for an other trigger
  double share = 0;                    ///< of the samples
};

/// All triggers, and the other triggers where the model has a share for them, in the order of the
/// iteration. Their shares add up to 1. Without a shadow they are the model's. With one each event
/// overflows the counter with that probability, and the first cause that is at least the delay
/// after it gets the sample. `name`: of event and level, for messages. Throws Error when the model
/// needs what the target does not have: other triggers, or another number of triggers than it has
/// shares for.
std::vector<Cause> causes_of(const LevelModel& level, const LoopPath& path,
                             const std::string& name);

}  // namespace skid::synth
