#include "analysis/ledger.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

TEST(Ledger, AddsItsClassesUpToTheSamplesRead) {
  std::mt19937 random(11);
  Ledger sum;
  std::uint64_t all = 0;
  for (int round = 0; round < 200; ++round) {
    Ledger ledger;
    std::uint64_t added = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t samples = random() % 1000;
      ledger.add(static_cast<SampleClass>(random() % kSampleClasses), samples);
      added += samples;
    }
    EXPECT_EQ(ledger.read(), added);
    const std::uint64_t outside = ledger[SampleClass::other_trigger] +
                                  ledger[SampleClass::other_user] + ledger[SampleClass::kernel] +
                                  ledger[SampleClass::guest] + ledger[SampleClass::unmapped];
    EXPECT_EQ(ledger.judged() + outside, added);
    EXPECT_EQ(ledger.located() + ledger[SampleClass::loop], ledger.judged());
    sum += ledger;
    EXPECT_EQ(sum.read(), all += added);
  }
}

TEST(Ledger, HasANameForEachClass) {
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
