#include "analysis/breakdown.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

TEST(Breakdown, AddsItsClassesUpToTheSamplesRead) {
  std::mt19937 random(11);
  Breakdown sum;
  std::uint64_t all = 0;
  for (int round = 0; round < 200; ++round) {
    Breakdown breakdown;
    std::uint64_t added = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t samples = random() % 1000;
      breakdown.add(static_cast<SampleClass>(random() % kSampleClasses), samples);
      added += samples;
    }
    EXPECT_EQ(breakdown.read(), added);
    const std::uint64_t outside = breakdown[SampleClass::other_trigger] +
                                  breakdown[SampleClass::other_user] +
                                  breakdown[SampleClass::kernel] + breakdown[SampleClass::guest] +
                                  breakdown[SampleClass::unmapped];
    EXPECT_EQ(breakdown.judged() + outside, added);
    EXPECT_EQ(breakdown.located() + breakdown[SampleClass::loop], breakdown.judged());
    sum += breakdown;
    EXPECT_EQ(sum.read(), all += added);
  }
}

TEST(Breakdown, HasANameForEachClass) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    names.emplace(name_of(static_cast<SampleClass>(i)));
  }
  EXPECT_EQ(names.size(), kSampleClasses);
  EXPECT_EQ(name_of(SampleClass::other_trigger), "other_trigger");
  EXPECT_EQ(words_for(SampleClass::other_trigger), "other trigger");
  EXPECT_EQ(words_for(SampleClass::unmapped), "unmapped");
}

}  // namespace
}  // namespace skid::analysis
