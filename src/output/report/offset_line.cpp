#include "src/output/report/offset_line.h"

#include "analysis/histogram.h"
#include "analysis/measurement.h"
#include "src/output/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::output {

std::optional<OffsetRange> offset_range(const std::vector<const analysis::Measurement*>& runs) {
  std::optional<OffsetRange> range;
  for (const analysis::Measurement* run : runs) {
    for (const analysis::Bin& bin : run->histogram.bins) {
      if (bin.count == 0) continue;
      if (!range) range = {bin.lo, bin.hi - 1};
      range->low = std::min(range->low, bin.lo);
      range->high = std::max(range->high, bin.hi - 1);
    }
  }
  return range;
}

std::string offset_line(const Page& page, const std::vector<const analysis::Measurement*>& runs,
                        OffsetRange range, std::size_t bars) {
  const auto offsets = static_cast<std::uint64_t>(range.high - range.low) + 1;
  std::vector<std::uint64_t> counts(std::min<std::uint64_t>(bars, offsets));
  for (const analysis::Measurement* run : runs) {
    for (const analysis::Bin& bin : run->histogram.bins) {
      const auto from_low = static_cast<std::uint64_t>(bin.lo - range.low);
      counts[from_low * counts.size() / offsets] += bin.count;
    }
  }
  const std::uint64_t most = *std::ranges::max_element(counts);
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 8> kSigns{".", ":", "-", "=", "+", "*", "#", "@"};
  std::string text;
  for (const std::uint64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(most);
    const auto height = static_cast<std::size_t>(std::lround(7 * share));
    text += count == 0 ? " " : (page.unicode ? kBlocks : kSigns).at(height);
  }
  return text;
}

}  // namespace skid::output
