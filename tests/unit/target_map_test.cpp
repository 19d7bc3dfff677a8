#include "analysis/target_map.h"

#include "src/support/error.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {
namespace {

using enum SampleClass;

/// Instructions of `size` bytes each.
CodeRegion region(std::uint64_t begin, std::size_t instructions, std::uint64_t size = 1) {
  CodeRegion code{.range = {begin, begin + instructions * size}};
  for (std::size_t i = 0; i < instructions; ++i) code.starts.push_back(begin + i * size);
  return code;
}

// loop 0x0f00 to 0x3000: lead-in 0x1000 (4 NOPs), trigger 0x1004 (4 bytes), runway 0x1008 (40 NOPs
// of 2 bytes, of which the last 2 are censored), another trigger at 0x1100.
TargetMap example_map() {
  return TargetMap::of_target(region(0x1000, 4), {{region(0x1004, 1, 4), region(0x1008, 40, 2)}},
                              {0x0f00, 0x3000}, {{0x1100, 0x1102}});
}

// Three triggers of 4 bytes, followed by 40, 20 and 60 one-byte NOPs.
TargetMap three_triggers() {
  return TargetMap::of_target(region(0x1000, 4),
                              {{region(0x1004, 1, 4), region(0x1008, 40)},
                               {region(0x1030, 1, 4), region(0x1034, 20)},
                               {region(0x1048, 1, 4), region(0x104c, 60)}},
                              {0x0ff0, 0x1100}, {});
}

struct Case {
  std::uint64_t address;
  SampleClass sample_class;
  std::optional<Offset> offset = {};  ///< in instructions and bytes
  std::optional<std::size_t> trigger = {};
  bool inside_instruction = false;
};

void expect_classes(const TargetMap& map, const std::vector<Case>& cases) {
  for (const Case& expected : cases) {
    SCOPED_TRACE(::testing::PrintToString(expected.address));
    const Classified found = map.classify(expected.address);
    EXPECT_EQ(found.sample_class, expected.sample_class);
    EXPECT_EQ(found.trigger, expected.trigger);
    EXPECT_EQ(found.inside_instruction, expected.inside_instruction);
    ASSERT_EQ(found.offset.has_value(), expected.offset.has_value());
    if (!found.offset) continue;
    EXPECT_EQ(found.offset->instructions, expected.offset->instructions);
    EXPECT_EQ(found.offset->bytes, expected.offset->bytes);
  }
}

TEST(TargetMap, ClassifiesTheAddressesOfATarget) {
  expect_classes(example_map(), {{0x1004, hit, {{0, 0}}, 0},
                                 // Inside an instruction nothing is sampled.
                                 {0x1006, loop, {}, {}, true},
                                 // Runway instructions count from one, bytes from the trigger.
                                 {0x1008, skid, {{1, 4}}, 0},
                                 {0x100a, skid, {{2, 6}}, 0},
                                 {0x100b, loop, {}, {}, true},
                                 {0x1008 + 9 * 2, skid, {{10, 22}}, 0},
                                 // The last twentieth of the runway is censored.
                                 {0x1008 + 37 * 2, skid, {{38, 4 + 74}}, 0},
                                 {0x1008 + 38 * 2, censored, {{39, 4 + 76}}, 0},
                                 // The lead-in counts back from the trigger.
                                 {0x1003, before, {{-1, -1}}},
                                 {0x1000, before, {{-4, -4}}},
                                 {0x1100, other_trigger},
                                 {0x1102, loop},
                                 {0x0eff, other_user},
                                 {0x3000, other_user},
                                 {0, other_user},
                                 {UINT64_MAX, other_user}});
  const Geometry geometry = example_map().geometry();
  EXPECT_EQ(geometry.lowest_offset, -4);
  EXPECT_EQ(geometry.highest_offset, 40);
  EXPECT_EQ(geometry.censored_from, 39);
  EXPECT_EQ(geometry.censored_from_bytes, 4 + 38 * 2);
  EXPECT_DOUBLE_EQ(geometry.even_hit_share.value(), 1.0 / 45.0);
}

TEST(TargetMap, AssignsASampleToTheLastTriggerBeforeIt) {
  const TargetMap map = three_triggers();
  expect_classes(map, {{0x1002, before, {{-2, -2}}},
                       {0x1008 + 37, skid, {{38, 41}}, 0},
                       {0x1008 + 38, censored, {{39, 42}}, 0},
                       {0x1030, hit, {{0, 0}}, 1},
                       {0x1034 + 6, skid, {{7, 10}}, 1},
                       {0x1034 + 18, skid, {{19, 22}}, 1},
                       {0x1034 + 19, censored, {{20, 23}}, 1},
                       {0x104c, skid, {{1, 4}}, 2},
                       {0x104c + 56, skid, {{57, 60}}, 2},
                       {0x104c + 57, censored, {{58, 61}}, 2},
                       {0x10f0, loop}});
  EXPECT_EQ(map.triggers(), 3u);
  const Geometry geometry = map.geometry();
  EXPECT_EQ(geometry.censored_from, 20);
  EXPECT_EQ(geometry.censored_from_bytes, 4 + 19);
  EXPECT_EQ(geometry.highest_offset, 60);
  EXPECT_EQ(geometry.trigger_addresses, (std::vector<std::uint64_t>{0x1004, 0x1030, 0x1048}));
  // 40, 20 and 60 NOPs follow the triggers, and 4 of the lead-in the last.
  EXPECT_EQ(geometry.trigger_distances, (std::vector<std::uint64_t>{41, 21, 65}));
  EXPECT_DOUBLE_EQ(geometry.even_hit_share.value(), 3.0 / (4 + 3 + 120));
}

TEST(TargetMap, CensorsNoInstructionOfARunwayBetweenCloseTriggers) {
  const TargetMap map = TargetMap::of_target({},
                                             {{region(0x10, 1), region(0x11, 1)},
                                              {region(0x12, 1), {}},
                                              {region(0x13, 1), region(0x14, 20)}},
                                             {0x10, 0x40}, {});
  expect_classes(map, {{0x11, skid, {{1, 1}}, 0},
                       {0x12, hit, {{0, 0}}, 1},
                       {0x13, hit, {{0, 0}}, 2},
                       {0x27, censored, {{20, 20}}, 2}});
  EXPECT_EQ(map.geometry().censored_from, 20);
}

TEST(TargetMap, PrefersTheTriggerToADeclaredOtherTrigger) {
  const TargetMap map =
      TargetMap::of_target({}, {{region(0x10, 1), region(0x11, 20)}}, {0x10, 0x40}, {{0x10, 0x12}});
  expect_classes(map, {{0x10, hit, {{0, 0}}, 0}, {0x11, skid, {{1, 1}}, 0}});
}

TEST(TargetMap, TakesSuccessorsOfOtherTriggersForThemAtLevelOneOnly) {
  // The back-edge at 0x3e jumps to 0x10; 0x14 is the trigger, though it may follow one too.
  const TargetMap map =
      TargetMap::of_target(region(0x12, 2), {{region(0x14, 1), region(0x15, 20)}}, {0x10, 0x40},
                           {{0x3e, 0x40}}, {0x10, 0x13, 0x14, 0x15});
  for (const Landing landing : {Landing::at_cause, Landing::next_executed}) {
    const bool is_next = landing == Landing::next_executed;
    EXPECT_EQ(map.classify(0x10, landing).sample_class, is_next ? other_trigger : loop);
    EXPECT_EQ(map.classify(0x11, landing).sample_class, loop);
    EXPECT_EQ(map.classify(0x13, landing).sample_class, before);
    EXPECT_EQ(map.classify(0x14, landing).sample_class, hit);
    EXPECT_EQ(map.classify(0x15, landing).sample_class, skid);
    EXPECT_EQ(map.classify(0x3e, landing).sample_class, other_trigger);
  }
}

TEST(TargetMap, AssignsInterruptsToTheNearestTriggerBeforeThemRoundTheLoop) {
  // 0x10 head, 0x12 lead-in, 0x14 trigger, 0x15 runway, 0x29 rest, 0x3e back-edge.
  const auto map_of = [](const std::vector<AddressRange>& others) {
    return TargetMap::of_target(region(0x12, 2), {{region(0x14, 1), region(0x15, 20)}},
                                {0x10, 0x40}, others, {});
  };
  const auto expect = [](const TargetMap& map, std::uint64_t address, SampleClass sample_class,
                         std::optional<std::int64_t> offset) {
    const Classified found = map.classify(address, Landing::interrupted);
    EXPECT_EQ(found.sample_class, sample_class) << address;
    ASSERT_EQ(found.offset.has_value(), offset.has_value()) << address;
    if (offset) EXPECT_EQ(found.offset->instructions, *offset) << address;
  };
  const TargetMap back_edge = map_of({{0x3e, 0x40}});
  for (const unsigned address : {0x10U, 0x12U, 0x13U}) {
    expect(back_edge, address, other_trigger, std::nullopt);
  }
  expect(back_edge, 0x14, hit, 0);
  expect(back_edge, 0x16, skid, 2);
  expect(back_edge, 0x28, censored, 20);
  expect(back_edge, 0x30, loop, std::nullopt);
  expect(back_edge, 0x3e, other_trigger, std::nullopt);
  // The trigger alone: what is before it has passed the end of the runway.
  const TargetMap alone = map_of({});
  expect(alone, 0x12, censored, 20);
  EXPECT_EQ(alone.classify(0x12, Landing::interrupted).trigger, 0U);
  expect(alone, 0x10, loop, std::nullopt);
  // A call in the head.
  const TargetMap call = map_of({{0x10, 0x11}});
  expect(call, 0x11, other_trigger, std::nullopt);
  expect(call, 0x13, other_trigger, std::nullopt);
  expect(call, 0x30, loop, std::nullopt);
  // At a precise level it is before the trigger.
  EXPECT_EQ(alone.classify(0x12).offset->instructions, -2);
  EXPECT_EQ(back_edge.classify(0x12).sample_class, before);
}

TEST(TargetMap, TakesATriggerThatFollowsAnotherForAnotherTriggerAtLevelOneOnly) {
  // Between the last two are only instructions that prepare the trigger.
  TriggerBlock prepared{region(0x15, 1), region(0x16, 20)};
  std::vector<TriggerBlock> blocks{
      {region(0x10, 1), {}}, {region(0x11, 1), region(0x12, 1)}, {region(0x13, 1), {}}, prepared};
  blocks[2].setup = 1;
  const TargetMap map = TargetMap::of_target({}, blocks, {0x10, 0x40}, {});
  for (const Landing landing : {Landing::at_cause, Landing::next_executed, Landing::interrupted}) {
    const bool is_next = landing == Landing::next_executed;
    EXPECT_EQ(map.classify(0x10, landing).sample_class, hit) << is_next;
    EXPECT_EQ(map.classify(0x11, landing).sample_class, is_next ? other_trigger : hit) << is_next;
    EXPECT_EQ(map.classify(0x13, landing).sample_class, hit) << is_next;
    EXPECT_EQ(map.classify(0x15, landing).sample_class, hit) << is_next;
  }
}

TEST(TargetMap, OfFunctionsTakesAnyAddressOfTheFirstAsAHitAndOfTheSecondAsASkid) {
  const TargetMap map = TargetMap::of_functions({0x100, 0x140}, region(0x200, 100, 3));
  expect_classes(map, {{0x123, hit, {{0, 0}}, 0},
                       {0x140, other_user},
                       {0x200, skid, {{1, 0}}, 0},
                       {0x200 + 99 * 3, skid, {{100, 297}}, 0}});
  EXPECT_FALSE(map.geometry().censored_from.has_value());
  EXPECT_FALSE(map.geometry().even_hit_share.has_value());
}

TEST(TargetMap, RefusesRegionsWhoseInstructionsAreNotKnown) {
  CodeRegion undecoded{.range = {0x11, 0x20}};
  CodeRegion late = region(0x12, 4);
  late.range.begin = 0x11;
  CodeRegion unordered = region(0x11, 4);
  unordered.starts = {0x11, 0x13, 0x13};
  CodeRegion overhanging = region(0x11, 4);
  overhanging.starts.push_back(0x15);
  CodeRegion reversed{.range = {0x20, 0x11}};
  for (const CodeRegion& bad : {undecoded, late, unordered, overhanging, reversed}) {
    EXPECT_THROW(TargetMap::of_target({}, {{region(0x10, 1), bad}}, {0x10, 0x40}, {}), Error);
  }
  EXPECT_THROW(TargetMap::of_target({}, {{region(0x10, 2), region(0x12, 9)}}, {0x10, 0x40}, {}),
               Error);
  EXPECT_THROW(TargetMap::of_target({}, {}, {0x10, 0x40}, {}), Error);
}

}  // namespace
}  // namespace skid::analysis
