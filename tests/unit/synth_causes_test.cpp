// Which instruction gets a sample: shares of triggers and of other triggers, and the shadow after
// an overflow.
#include "src/support/error.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// A head, triggers of a byte with 0, 3 and 20 NOPs after them, and a back-edge of two
/// instructions, of which the second causes events.
LoopPath close_triggers() {
  LoopParts parts;
  parts.starts.resize(1 + 3 + 23 + 2);
  std::iota(parts.starts.begin(), parts.starts.end(), 0x1000U);
  parts.lead_in = {0x1001, 0x1001};
  parts.trigger_blocks = {{{0x1001, 0x1002}, {0x1002, 0x1002}},
                          {{0x1002, 0x1003}, {0x1003, 0x1006}},
                          {{0x1006, 0x1007}, {0x1007, 0x101b}}};
  parts.other_triggers = {{0x101b, 0x101d}};
  parts.other_causes = {{0x101c, true}};
  parts.data.datum = 0x9000;
  return LoopPath(parts);
}

/// By counting every event that can overflow with every delay.
std::vector<double> counted_shares(const LoopPath& path, const std::vector<Cause>& causes,
                                   const Shadow& shadow) {
  std::vector<double> shares(path.steps().size());
  for (const Cause& overflow : causes) {
    for (std::uint64_t delay = shadow.lowest; delay <= shadow.highest; ++delay) {
      std::size_t step = overflow.step + delay;
      const auto causes_events = [&](std::size_t at) {
        for (const Cause& cause : causes) {
          if (cause.step == at % shares.size()) return true;
        }
        return false;
      };
      while (!causes_events(step)) ++step;
      shares[step % shares.size()] +=
          overflow.share / static_cast<double>(shadow.highest - shadow.lowest + 1);
    }
  }
  return shares;
}

TEST(SynthCauses, OfAShadowAreTheFirstTriggersAfterEachDelay) {
  const LoopPath path = close_triggers();
  LevelModel level;
  for (const double other_triggers : {0.0, 0.25}) {
    level.other_triggers = other_triggers;
    level.shadow.reset();
    const std::vector<Cause> events = causes_of(level, path, "test");
    for (const Shadow shadow : {Shadow{0, 0}, Shadow{1, 1}, Shadow{2, 5}, Shadow{0, 200}}) {
      level.shadow = shadow;
      const std::vector<double> counted = counted_shares(path, events, shadow);
      for (const Cause& cause : causes_of(level, path, "test")) {
        EXPECT_NEAR(cause.share, counted[cause.step], 1e-12) << shadow.highest << ' ' << cause.step;
      }
    }
  }
}

TEST(SynthCauses, IncludeTheBackEdgeWhoseSuccessorIsTheHeadOfTheLoop) {
  const LoopPath path = close_triggers();
  LevelModel level;
  level.samples = 4000;
  level.other_triggers = 0.5;
  level.offsets = always(1);
  EXPECT_NEAR(static_cast<double>(draw(level, path, 1, "test").truth.samples[SampleClass::loop]),
              2000, 200);
  level.precise_ip = 1;  // samples successors
  const Drawn at_level_1 = draw(level, path, 1, "test");
  // One of the three triggers directly follows another one.
  EXPECT_NEAR(static_cast<double>(at_level_1.truth.samples[SampleClass::other_trigger]),
              2000 + 2000 / 3, 200);
  EXPECT_EQ(at_level_1.truth.samples[SampleClass::loop], 0U);
  level.precise_ip = 2;
  level.offsets = always(0);
  const Drawn at_level_2 = draw(level, path, 1, "test");
  EXPECT_NEAR(static_cast<double>(at_level_2.truth.samples[SampleClass::other_trigger]), 2000, 200);
  EXPECT_EQ(at_level_2.truth.samples[SampleClass::loop], 0U);
}

TEST(SynthCauses, GiveTheirDataAddressWhereverTheSampleIs) {
  const LoopPath path = close_triggers();
  LevelModel level;
  level.samples = 100;
  level.offsets = always(1);
  level.address = AddressShares{.cause = 1, .elsewhere = 0};
  Drawn drawn = draw(level, path, 1, "test");
  EXPECT_EQ(drawn.truth.data->cause, 100U);
  for (const DrawnSample& sample : drawn.samples) EXPECT_EQ(sample.data, 0x9000U);

  level.address = AddressShares{.cause = 0.25, .elsewhere = 0.25};
  level.samples = 4000;
  drawn = draw(level, path, 1, "test");
  EXPECT_NEAR(static_cast<double>(drawn.truth.data->cause), 1000, 150);
  EXPECT_NEAR(static_cast<double>(drawn.truth.data->elsewhere), 1000, 150);
  EXPECT_NEAR(static_cast<double>(drawn.truth.data->none), 2000, 150);

  // Of all instructions of an iteration only those that access memory have one.
  level.address = AddressShares{.cause = 1, .elsewhere = 0};
  level.elsewhere.iteration = 1;
  drawn = draw(level, path, 1, "test");
  for (const DrawnSample& sample : drawn.samples) {
    const bool is_trigger = sample.address == 0x1001 || sample.address == 0x1002 ||
                            sample.address == 0x1006 || sample.address == 0x101c;
    EXPECT_EQ(sample.data != 0, is_trigger) << sample.address;
  }
}

}  // namespace
}  // namespace skid::synth
