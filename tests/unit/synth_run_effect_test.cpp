// What makes repetitions of a ladder differ more than their samples do.
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// A trigger of one byte after 300 NOPs and before 700.
LoopPath path() {
  LoopParts parts;
  parts.starts.resize(1001);
  std::iota(parts.starts.begin(), parts.starts.end(), 0x1000);
  parts.lead_in = {0x1000, 0x1000 + 300};
  const std::uint64_t trigger = parts.lead_in.end;
  parts.trigger_blocks.push_back({{trigger, trigger + 1}, {trigger + 1, 0x1000 + 1001}});
  return LoopPath(parts);
}

LevelModel level_of(double hits, std::int64_t offset) {
  LevelModel level;
  level.samples = 20'000;
  level.hits = hits;
  level.offsets = {Constant{offset}};
  return level;
}

TEST(SynthRunEffect, ShiftsHaveTheDeviationsThatTheModelNames) {
  constexpr int kRuns = 20'000;
  double logits = 0, logits_squared = 0, offsets = 0, offsets_squared = 0, product = 0;
  for (int run = 0; run < kRuns; ++run) {
    const RunShift shift = draw_run_shift({0.4, 12}, seed_of(7, {static_cast<std::uint64_t>(run)}));
    const auto offset = static_cast<double>(shift.offsets);
    logits += shift.hits_logit;
    logits_squared += shift.hits_logit * shift.hits_logit;
    offsets += offset;
    offsets_squared += offset * offset;
    product += shift.hits_logit * offset;
  }
  // Six standard errors.
  EXPECT_NEAR(logits / kRuns, 0, 6 * 0.4 / std::sqrt(kRuns));
  EXPECT_NEAR(logits_squared / kRuns, 0.16, 6 * 0.16 * std::sqrt(2.0 / kRuns));
  EXPECT_NEAR(offsets / kRuns, 0, 6 * 12 / std::sqrt(kRuns));
  EXPECT_NEAR(offsets_squared / kRuns, 144 + 1.0 / 12, 6 * 144 * std::sqrt(2.0 / kRuns));
  EXPECT_NEAR(product / kRuns, 0, 6 * 0.4 * 12 / std::sqrt(kRuns));
}

TEST(SynthRunEffect, NoneShiftsNothing) {
  const RunShift shift = draw_run_shift({}, 1);
  EXPECT_EQ(shift.hits_logit, 0);
  EXPECT_EQ(shift.offsets, 0);
}

TEST(SynthRunEffect, AShareMovesByItsLogitAndStaysOneAtTheEnds) {
  for (const double share : {0.001, 0.3, 0.5, 0.97}) {
    for (const double shift : {-40.0, -3.0, -0.01, 0.2, 5.0, 40.0}) {
      const double logit = std::log(share / (1 - share)) + shift;
      EXPECT_NEAR(shifted_share(share, shift), 1 / (1 + std::exp(-logit)), 0x1p-30);
    }
    EXPECT_EQ(shifted_share(share, 0), share);
    EXPECT_EQ(shifted_share(share, 1e6), 1);
    EXPECT_EQ(shifted_share(share, -1e6), 0);
  }
  EXPECT_EQ(shifted_share(0, 3), 0);
  EXPECT_EQ(shifted_share(1, -3), 1);
}

TEST(SynthRunEffect, MovesTheSamplesAndIsInTheTruth) {
  const LoopPath loop = path();
  const Drawn plain = draw(level_of(0.5, 40), loop, 3, "r1");
  const Drawn shifted = draw(level_of(0.5, 40), loop, 3, "r1", {1.0, -7});
  EXPECT_EQ(plain.truth.run_shift.offsets, 0);
  EXPECT_EQ(plain.truth.hits, 0.5);
  EXPECT_EQ(shifted.truth.run_shift.hits_logit, 1.0);
  EXPECT_EQ(shifted.truth.run_shift.offsets, -7);
  EXPECT_NEAR(shifted.truth.hits, 0.7310586, 1e-6);
  const auto hits_of = [](const Drawn& drawn) {
    return static_cast<double>(drawn.truth.samples[SampleClass::hit]) / 20'000;
  };
  EXPECT_NEAR(hits_of(plain), 0.5, 0.02);
  EXPECT_NEAR(hits_of(shifted), 0.731, 0.02);
  EXPECT_EQ(plain.truth.offsets.rbegin()->first, 40);
  EXPECT_EQ(shifted.truth.offsets.rbegin()->first, 33);
  EXPECT_EQ(shifted.truth.offsets.size(), 2u);  // what `hits` puts on the trigger is not moved
  EXPECT_EQ(shifted.samples.size(), 20'000u);
}

}  // namespace
}  // namespace skid::synth
