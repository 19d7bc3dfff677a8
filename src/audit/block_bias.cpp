#include "src/audit/block_bias.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace skid::audit {

bool LoopShadow::is_locked() const {
  constexpr double kMost = 0.05;  // shares that differ by less count as equal
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i] - shares[i]));
  }
  return predicted.value_or(0) > 0.5 && largest > kMost;
}

bool LoopFinding::follows_order() const {
  constexpr double kLocked = 0.2;
  return delay && delay->predicted - delay->independent >= kLocked * (1 - delay->independent);
}

BlockBias judge_blocks(std::vector<BlockFinding> blocks, std::vector<LoopFinding> loops,
                       std::size_t top) {
  BlockBias bias{.judged = blocks.size(), .loops = std::move(loops)};
  std::vector<std::vector<std::uint64_t>> counts;
  for (const BlockFinding& block : blocks) {
    auto& of_block = counts.emplace_back();
    for (const PlaceSamples& place : block.samples.places) of_block.push_back(place.samples);
    bias.samples += block.samples.samples();
  }
  const analysis::ProfileEvenness evenness = analysis::evenness_of_blocks(counts);
  bias.misplaced = evenness.misplaced;
  bias.biased = evenness.biased;
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].evenness = evenness.blocks[i];
  std::ranges::stable_sort(blocks, [](const BlockFinding& a, const BlockFinding& b) {
    return std::tuple(b.evenness.is_biased, b.evenness.excess()) <
           std::tuple(a.evenness.is_biased, a.evenness.excess());
  });
  if (blocks.size() > top) blocks.resize(top);
  bias.blocks = std::move(blocks);
  return bias;
}

}  // namespace skid::audit
