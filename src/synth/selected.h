// The events and levels of a model that are written into a recording.
#pragma once

#include <cstddef>
#include <vector>

namespace skid::synth {

struct Model;

/// An event of a model at one of its levels.
struct Selected {
  std::size_t event = 0;  ///< index in Model::events
  std::size_t level = 0;  ///< index in EventModel::levels
};

/// Selects all events of a model at all of their levels that are not refused.
std::vector<Selected> all_of(const Model& model);

}  // namespace skid::synth
