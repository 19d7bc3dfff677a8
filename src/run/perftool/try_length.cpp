#include "src/run/perftool/try_length.h"

#include <algorithm>

namespace skid::perftool {

std::optional<std::chrono::nanoseconds> next_length(std::chrono::nanoseconds length,
                                                    std::uint64_t samples, std::uint64_t asked) {
  if (samples >= asked || length.count() <= 0) return std::nullopt;
  if (length >= (samples == 0 ? kLongestEmptyTry : kLongestTry)) return std::nullopt;
  const auto last = static_cast<std::uint64_t>(length.count());
  const auto longest = static_cast<std::uint64_t>(kLongestTry.count());
  const std::uint64_t percent =
      samples == 0 ? kLeastGrowth : std::max(kLeastGrowth, kMargin * asked / samples);
  // Compared before it is multiplied, so that nothing overflows.
  if (percent >= longest * 100 / last) return kLongestTry;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(last * percent / 100));
}

}  // namespace skid::perftool
