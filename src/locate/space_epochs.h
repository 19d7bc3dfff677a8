// Numbers for the stretches of time between the mapping changes of a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace skid::locate {

/// A pipe cannot be read twice, so places whose mapping changes are told apart while it is read:
/// each space (a process, or the kernel) is cut in epochs at its changes, and samples are counted
/// by the number of their epoch instead of by space.
class SpaceEpochs {
 public:
  /// What a number stands for.
  struct Numbered {
    std::int32_t space = 0;
    /// Earliest and latest time for which the number was given. It lies within an epoch, unless a
    /// change that came too late cut it afterwards.
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  };

  /// A mapping of `space` changed at `time`. Also before the first sample of the space has come:
  /// older ones may be in the buffers of other CPUs.
  void changed(std::int32_t space, std::uint64_t time);

  /// The number of the epoch of `space` that holds `time`, for a sample of that time.
  std::int32_t number(std::int32_t space, std::uint64_t time);

  /// By number.
  const std::vector<Numbered>& numbered() const noexcept { return numbered_; }

 private:
  static constexpr std::int32_t kUnused = -1;
  /// By the time when an epoch begins: its number, given when the first sample is counted.
  using Epochs = std::map<std::uint64_t, std::int32_t>;

  Epochs& epochs_of(std::int32_t space);

  std::map<std::int32_t, Epochs> spaces_;
  std::vector<Numbered> numbered_;
};

}  // namespace skid::locate
