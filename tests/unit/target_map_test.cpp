#include "analysis/target_map.h"

#include "src/support/error.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

/// Instructions of `size` bytes each.
CodeRegion region(std::uint64_t begin, std::size_t instructions, std::uint64_t size = 1) {
  CodeRegion code;
  code.range = {begin, begin + instructions * size};
  for (std::size_t i = 0; i < instructions; ++i) code.starts.push_back(begin + i * size);
  return code;
}

// loop 0x0f00 to 0x3000: lead-in 0x1000 (4 NOPs), trigger 0x1004 (4 bytes), runway 0x1008 (40 NOPs
// of 2 bytes, of which the last 2 are censored), another trigger at 0x1100.
TargetMap example() {
  return TargetMap::of_target(region(0x1000, 4), {{region(0x1004, 1, 4), region(0x1008, 40, 2)}},
                              {0x0f00, 0x3000}, {{0x1100, 0x1102}});
}

TEST(TargetMap, TheTriggerIsOffsetZero) {
  const Classified hit = example().classify(0x1004);
  EXPECT_EQ(hit.sample_class, SampleClass::hit);
  ASSERT_TRUE(hit.offset);
  EXPECT_EQ(hit.offset->instructions, 0);
  EXPECT_EQ(hit.offset->bytes, 0);
  EXPECT_FALSE(hit.inside_instruction);
}

TEST(TargetMap, RunwayInstructionsCountFromOneAndBytesFromTheTrigger) {
  const TargetMap map = example();
  const Classified first = map.classify(0x1008);
  EXPECT_EQ(first.sample_class, SampleClass::skid);
  EXPECT_EQ(first.offset->instructions, 1);
  EXPECT_EQ(first.offset->bytes, 4);
  const Classified tenth = map.classify(0x1008 + 9 * 2);
  EXPECT_EQ(tenth.offset->instructions, 10);
  EXPECT_EQ(tenth.offset->bytes, 22);
}

TEST(TargetMap, LeadInCountsBackFromTheTrigger) {
  const TargetMap map = example();
  const Classified last = map.classify(0x1003);
  EXPECT_EQ(last.sample_class, SampleClass::before);
  EXPECT_EQ(last.offset->instructions, -1);
  EXPECT_EQ(last.offset->bytes, -1);
  EXPECT_EQ(map.classify(0x1000).offset->instructions, -4);
  EXPECT_EQ(map.lowest_offset(), -4);
}

TEST(TargetMap, AnAddressInsideAnInstructionBelongsToIt) {
  const TargetMap map = example();
  const Classified in_trigger = map.classify(0x1006);
  EXPECT_EQ(in_trigger.sample_class, SampleClass::hit);
  EXPECT_EQ(in_trigger.offset->instructions, 0);
  EXPECT_EQ(in_trigger.offset->bytes, 2);
  EXPECT_TRUE(in_trigger.inside_instruction);
  const Classified in_runway = map.classify(0x100b);
  EXPECT_EQ(in_runway.offset->instructions, 2);
  EXPECT_TRUE(in_runway.inside_instruction);
}

TEST(TargetMap, TheLastTwentiethOfTheRunwayIsCensored) {
  const TargetMap map = example();
  EXPECT_EQ(map.highest_offset(), 40);
  EXPECT_EQ(map.censored_from(), 39);
  EXPECT_EQ(map.censored_from_bytes(), 4 + 38 * 2);
  EXPECT_EQ(map.classify(0x1008 + 37 * 2 + 1).sample_class, SampleClass::skid);
  EXPECT_EQ(map.classify(0x1008 + 38 * 2).sample_class, SampleClass::censored);
  EXPECT_EQ(map.classify(0x1008 + 38 * 2).offset->instructions, 39);
}

TEST(TargetMap, AShortRunwayStillCensorsItsLastInstruction) {
  const TargetMap map =
      TargetMap::of_target({}, {{region(0x10, 1), region(0x11, 5)}}, {0x10, 0x20}, {});
  EXPECT_EQ(map.censored_from(), 5);
}

TEST(TargetMap, DistinguishesOtherTriggersFromTheLoop) {
  const TargetMap map = example();
  EXPECT_EQ(map.classify(0x1100).sample_class, SampleClass::other_trigger);
  EXPECT_EQ(map.classify(0x1102).sample_class, SampleClass::loop);
  EXPECT_FALSE(map.classify(0x1100).offset.has_value());
  EXPECT_FALSE(map.classify(0x1102).offset.has_value());
}

TEST(TargetMap, TheTriggerWinsOverADeclaredOtherTrigger) {
  const TargetMap map =
      TargetMap::of_target({}, {{region(0x10, 1), region(0x11, 20)}}, {0x10, 0x40}, {{0x10, 0x12}});
  EXPECT_EQ(map.classify(0x10).sample_class, SampleClass::hit);
  EXPECT_EQ(map.classify(0x11).sample_class, SampleClass::skid);
}

TEST(TargetMap, AddressesOutsideTheLoopAreOtherUserCode) {
  const TargetMap map = example();
  EXPECT_EQ(map.classify(0x0eff).sample_class, SampleClass::other_user);
  EXPECT_EQ(map.classify(0x3000).sample_class, SampleClass::other_user);
  EXPECT_EQ(map.classify(0).sample_class, SampleClass::other_user);
  EXPECT_EQ(map.classify(UINT64_MAX).sample_class, SampleClass::other_user);
}

TEST(TargetMap, KnowsTheEvenShareOfTheTrigger) {
  EXPECT_EQ(example().instructions(), 45);
  EXPECT_DOUBLE_EQ(*example().even_hit_share(), 1.0 / 45.0);
}

TEST(TargetMap, OfFunctionsCountsAnyAddressOfTheFunctionAsAHit) {
  const TargetMap map = TargetMap::of_functions({0x100, 0x140}, region(0x200, 100, 3));
  EXPECT_EQ(map.classify(0x123).sample_class, SampleClass::hit);
  EXPECT_EQ(map.classify(0x123).offset->instructions, 0);
  EXPECT_EQ(map.classify(0x123).offset->bytes, 0);
  EXPECT_FALSE(map.classify(0x123).inside_instruction);
  EXPECT_EQ(map.classify(0x140).sample_class, SampleClass::other_user);
}

TEST(TargetMap, CountsTheWholeRunwayFunctionAsSkid) {
  const TargetMap map = TargetMap::of_functions({0x100, 0x140}, region(0x200, 100, 3));
  EXPECT_EQ(map.classify(0x200).offset->instructions, 1);
  EXPECT_EQ(map.classify(0x200).offset->bytes, 0);
  const Classified last = map.classify(0x200 + 99 * 3);
  EXPECT_EQ(last.sample_class, SampleClass::skid);
  EXPECT_EQ(last.offset->instructions, 100);
  EXPECT_EQ(last.offset->bytes, 297);
  EXPECT_FALSE(map.censored_from().has_value());
  EXPECT_FALSE(map.even_hit_share().has_value());
}

TEST(TargetMap, RefusesRegionsWhoseInstructionsAreNotKnown) {
  CodeRegion undecoded;
  undecoded.range = {0x11, 0x20};
  CodeRegion late = region(0x12, 4);
  late.range.begin = 0x11;
  CodeRegion unordered = region(0x11, 4);
  unordered.starts = {0x11, 0x13, 0x13};
  CodeRegion overhanging = region(0x11, 4);
  overhanging.starts.push_back(0x15);
  CodeRegion reversed;
  reversed.range = {0x20, 0x11};
  for (const CodeRegion& bad : {undecoded, late, unordered, overhanging, reversed}) {
    EXPECT_THROW(TargetMap::of_target({}, {{region(0x10, 1), bad}}, {0x10, 0x40}, {}), Error);
  }
  EXPECT_THROW(TargetMap::of_target({}, {{region(0x10, 2), region(0x12, 9)}}, {0x10, 0x40}, {}),
               Error);
}

// Three triggers of 4 bytes with 40, 20 and 60 one-byte NOPs behind them.
TargetMap three_triggers() {
  return TargetMap::of_target(region(0x1000, 4),
                              {{region(0x1004, 1, 4), region(0x1008, 40)},
                               {region(0x1030, 1, 4), region(0x1034, 20)},
                               {region(0x1048, 1, 4), region(0x104c, 60)}},
                              {0x0ff0, 0x1100}, {});
}

TEST(TargetMap, AssignsASampleToTheLastTriggerBeforeIt) {
  const TargetMap map = three_triggers();
  EXPECT_EQ(map.triggers(), 3u);
  const Classified second = map.classify(0x1030);
  EXPECT_EQ(second.sample_class, SampleClass::hit);
  EXPECT_EQ(second.trigger, 1u);
  EXPECT_EQ(second.offset->instructions, 0);
  const Classified behind = map.classify(0x1034 + 6);
  EXPECT_EQ(behind.sample_class, SampleClass::skid);
  EXPECT_EQ(behind.trigger, 1u);
  EXPECT_EQ(behind.offset->instructions, 7);
  EXPECT_EQ(behind.offset->bytes, 10);
  EXPECT_EQ(map.classify(0x1008 + 37).trigger, 0u);
  EXPECT_EQ(map.classify(0x104c).offset->instructions, 1);
  const Classified before = map.classify(0x1002);
  EXPECT_EQ(before.sample_class, SampleClass::before);
  EXPECT_FALSE(before.trigger);
  EXPECT_EQ(before.offset->instructions, -2);
  EXPECT_EQ(map.classify(0x10f0).sample_class, SampleClass::loop);
}

TEST(TargetMap, CensorsTheEndOfEachRunway) {
  const TargetMap map = three_triggers();
  EXPECT_EQ(map.classify(0x1008 + 38).sample_class, SampleClass::censored);
  EXPECT_EQ(map.classify(0x1034 + 18).sample_class, SampleClass::skid);
  EXPECT_EQ(map.classify(0x1034 + 19).sample_class, SampleClass::censored);
  EXPECT_EQ(map.classify(0x104c + 56).sample_class, SampleClass::skid);
  EXPECT_EQ(map.classify(0x104c + 57).sample_class, SampleClass::censored);
  EXPECT_EQ(map.censored_from(), 20);
  EXPECT_EQ(map.censored_from_bytes(), 4 + 19);
  EXPECT_EQ(map.highest_offset(), 60);
  EXPECT_EQ(map.instructions(), 4 + 3 + 120);
  EXPECT_DOUBLE_EQ(*map.even_hit_share(), 3.0 / 127);
}

TEST(TargetMap, WithoutATriggerIsRefused) {
  EXPECT_THROW(TargetMap::of_target({}, {}, {0x10, 0x40}, {}), Error);
}

}  // namespace
}  // namespace skid::analysis
