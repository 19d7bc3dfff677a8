// Where skids come out: the path of a loop.
#include "src/support/error.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"

#include <cstdint>
#include <map>

#include <gtest/gtest.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// A head, 4 NOPs of lead-in, triggers of 3 bytes with runways of 40 and 25 NOPs, an end of two
/// instructions, the first of which is another trigger.
LoopParts loop() {
  LoopParts parts;
  std::uint64_t at = 0x1000;
  const auto add = [&](std::uint64_t instructions, std::uint64_t bytes) {
    const std::uint64_t begin = at;
    for (; instructions > 0; --instructions, at += bytes) parts.starts.push_back(at);
    return AddressRange{begin, at};
  };
  add(1, 2);
  parts.lead_in = add(4, 1);
  for (const std::uint64_t nops : {40U, 25U}) {
    const AddressRange trigger = add(1, 3);
    parts.trigger_blocks.push_back({trigger, add(nops, 1)});
  }
  parts.other_triggers = {add(1, 3)};
  add(1, 2);
  return parts;
}

TEST(SynthPath, ContinuesIntoTheNextTriggerTheLoopAndTheNextIteration) {
  const LoopPath path(loop());
  const auto at = [&](std::size_t trigger, std::int64_t offset) {
    return path.from(path.step_of(trigger), offset);
  };
  EXPECT_EQ(at(0, 40).step->sample_class, SampleClass::censored);
  EXPECT_EQ(at(0, 41).step->address, path.trigger_address(1));
  EXPECT_EQ(at(0, 41).step->offset, 0);
  EXPECT_FALSE(at(0, 41).wrapped);
  EXPECT_EQ(at(1, 26).step->sample_class, SampleClass::other_trigger);
  EXPECT_EQ(at(1, 27).step->sample_class, SampleClass::loop);
  EXPECT_FALSE(at(1, 27).wrapped);
  EXPECT_EQ(at(1, 28).step->address, 0x1000u);  // the head of the next iteration
  EXPECT_TRUE(at(1, 28).wrapped);
  EXPECT_EQ(at(1, 29).step->offset, -4);
  EXPECT_EQ(at(0, -4).step->offset, -4);
  EXPECT_TRUE(at(0, -6).wrapped);
  const auto length = static_cast<std::int64_t>(path.steps().size());
  for (const std::int64_t rounds : {-3, -1, 1, 1000}) {
    EXPECT_EQ(at(0, rounds * length + 7).step, at(0, 7).step);
    EXPECT_TRUE(at(0, rounds * length + 7).wrapped);
  }
}

TEST(SynthPath, DrawsEachTriggerWithItsShare) {
  const LoopPath path(loop());
  LevelModel level;
  level.samples = 20'000;
  level.hits = 1;
  level.offsets = always(0);
  level.triggers = {0.8, 0.2};
  const Drawn drawn = draw(level, path, 1, "test");
  ASSERT_EQ(drawn.truth.triggers.size(), 2u);
  EXPECT_NEAR(static_cast<double>(drawn.truth.triggers[0].hits), 16'000, 300);
  EXPECT_EQ(drawn.truth.triggers[0].hits + drawn.truth.triggers[1].hits, 20'000u);
  EXPECT_EQ(drawn.truth.samples[SampleClass::hit], 20'000u);

  level.triggers = {0.5, 0.25, 0.25};
  EXPECT_THROW((void)draw(level, path, 1, "test"), Error);
  level.triggers = {};
  level.elsewhere.other_trigger = 0.5;
  EXPECT_NEAR(
      static_cast<double>(draw(level, path, 1, "test").truth.samples[SampleClass::other_trigger]),
      10'000, 400);
  LoopParts bare = loop();
  bare.other_triggers.clear();
  EXPECT_THROW((void)draw(level, LoopPath(bare), 1, "test"), Error);
}

TEST(SynthPath, RefusesTargetsWithoutATrigger) {
  LoopParts parts = loop();
  parts.trigger_blocks[0].trigger.begin += 1;
  EXPECT_THROW((void)LoopPath(parts), Error);
  parts.trigger_blocks.clear();
  EXPECT_THROW((void)LoopPath(parts), Error);
}

TEST(SynthPath, SeedsOfStreamsDiffer) {
  std::map<std::uint64_t, int> seeds;
  for (std::uint64_t a = 0; a < 30; ++a) {
    for (std::uint64_t b = 0; b < 30; ++b) {
      for (std::uint64_t c = 0; c < 30; ++c) ++seeds[seed_of(a, {b, c})];
    }
  }
  EXPECT_EQ(seeds.size(), 27'000u);
}

}  // namespace
}  // namespace skid::synth
