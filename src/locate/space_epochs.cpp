#include "src/locate/space_epochs.h"

#include <algorithm>
#include <iterator>

namespace skid::locate {

SpaceEpochs::Epochs& SpaceEpochs::epochs_of(std::int32_t space) {
  auto& epochs = spaces_[space];
  if (epochs.empty()) epochs.emplace(0, kUnused);
  return epochs;
}

void SpaceEpochs::changed(std::int32_t space, std::uint64_t time) {
  epochs_of(space).try_emplace(time, kUnused);
}

std::int32_t SpaceEpochs::number(std::int32_t space, std::uint64_t time) {
  std::int32_t& number = std::prev(epochs_of(space).upper_bound(time))->second;
  if (number == kUnused) {
    number = static_cast<std::int32_t>(numbered_.size());
    numbered_.push_back({space});
  }
  Numbered& numbered = numbered_[static_cast<std::size_t>(number)];
  numbered.first = std::min(numbered.first, time);
  numbered.last = std::max(numbered.last, time);
  return number;
}

}  // namespace skid::locate
