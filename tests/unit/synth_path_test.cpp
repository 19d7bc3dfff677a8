// The path of a loop: where skids come out, and which instruction gets a sample: shares of triggers
// and of other triggers, and the shadow after an overflow.
#include "analysis/target_map.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

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
  LevelModel level{.samples = 20'000, .hits = 1, .offsets = always(0), .triggers = {0.8, 0.2}};
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

TEST(SynthCauses, WithADistanceAreTakenInTurn) {
  const LoopPath path = close_triggers();
  LevelModel level{.samples = 300, .hits = 1, .offsets = always(0)};
  for (const auto& [distance, counts] : std::map<std::uint64_t, std::vector<std::uint64_t>>{
           {1000, {100, 100, 100}}, {1001, {100, 100, 100}}, {1002, {300, 0, 0}}}) {
    level.distance = distance;
    const Drawn drawn = draw(level, path, 1, "test");
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(drawn.truth.triggers[i].hits, counts[i]) << distance << ' ' << i;
      EXPECT_NEAR(drawn.truth.trigger_shares[i], static_cast<double>(counts[i]) / 300, 1e-12);
    }
    // The second sample is of the trigger that the distance leads to.
    const std::uint64_t second = path.steps()[path.step_of(distance % 3)].address;
    EXPECT_EQ(drawn.samples[1].address, second) << distance;
  }
}

TEST(SynthCauses, IncludeTheBackEdgeWhoseSuccessorIsTheHeadOfTheLoop) {
  const LoopPath path = close_triggers();
  LevelModel level{.samples = 4000, .offsets = always(1), .other_triggers = 0.5};
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
  LevelModel level{
      .samples = 100, .offsets = always(1), .address = AddressShares{.cause = 1, .elsewhere = 0}};
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
