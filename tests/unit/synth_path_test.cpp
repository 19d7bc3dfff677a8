// Where skids come out: the path of a loop, held against the map that classifies addresses.
#include "analysis/target_map.h"
#include "src/support/error.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;

/// Two-byte head, 4 NOPs of lead-in, triggers of 3 bytes with runways of 40 and 25 NOPs, an end of
/// two instructions, the first of which is another trigger.
struct Loop {
  LoopParts parts;
  analysis::TargetMap map = make();

 private:
  static std::vector<std::uint64_t> nops(std::uint64_t begin, std::uint64_t count) {
    std::vector<std::uint64_t> starts(count);
    std::iota(starts.begin(), starts.end(), begin);
    return starts;
  }
  analysis::TargetMap make() {
    constexpr std::uint64_t kLoop = 0x1000, kLeadIn = 0x1002;
    parts.starts = {kLoop};
    const auto add = [this](const std::vector<std::uint64_t>& starts) {
      parts.starts.insert(parts.starts.end(), starts.begin(), starts.end());
    };
    std::uint64_t at = kLeadIn + 4;
    parts.lead_in = {kLeadIn, at};
    add(nops(kLeadIn, 4));
    const analysis::CodeRegion lead_in{parts.lead_in, nops(kLeadIn, 4)};
    std::vector<analysis::TriggerBlock> trigger_blocks;
    for (const std::uint64_t count : {40U, 25U}) {
      const AddressRange trigger{at, at + 3}, runway{at + 3, at + 3 + count};
      parts.trigger_blocks.push_back({trigger, runway});
      add({at});
      add(nops(at + 3, count));
      trigger_blocks.push_back({{trigger, {at}}, {runway, nops(at + 3, count)}});
      at = runway.end;
    }
    parts.other_triggers = {{at, at + 3}};
    add({at, at + 3});
    return analysis::TargetMap::of_target(lead_in, trigger_blocks, {kLoop, at + 5},
                                          parts.other_triggers);
  }
};

TEST(SynthPath, ClassifiesInstructionsLikeTheTargetMap) {
  const Loop loop;
  const LoopPath path(loop.parts);
  ASSERT_EQ(path.steps().size(), loop.parts.starts.size());
  for (const Step& step : path.steps()) {
    const auto classified = loop.map.classify(step.address);
    EXPECT_EQ(step.sample_class, classified.sample_class) << step.address;
    EXPECT_EQ(step.offset.has_value(), classified.offset.has_value()) << step.address;
    EXPECT_EQ(step.offset.value_or(0), classified.offset ? classified.offset->instructions : 0);
    EXPECT_EQ(step.trigger, classified.trigger) << step.address;
  }
}

TEST(SynthPath, ContinuesIntoTheNextTriggerTheLoopAndTheNextIteration) {
  const Loop loop;
  const LoopPath path(loop.parts);
  const auto at = [&](std::size_t trigger, std::int64_t offset) {
    return path.at(trigger, offset);
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
  const Loop loop;
  const LoopPath path(loop.parts);
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
  Loop bare;
  bare.parts.other_triggers.clear();
  EXPECT_THROW((void)draw(level, LoopPath(bare.parts), 1, "test"), Error);
}

TEST(SynthPath, RefusesTargetsWithoutATrigger) {
  Loop loop;
  loop.parts.trigger_blocks[0].trigger.begin += 1;
  EXPECT_THROW(LoopPath(loop.parts), Error);
  loop.parts.trigger_blocks.clear();
  EXPECT_THROW(LoopPath(loop.parts), Error);
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
