#include "analysis/ledger.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

TEST(Ledger, ClassesAddUpToTheSamplesReadForAnyTally) {
  std::mt19937 random(11);
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
  }
}

TEST(Ledger, LoopIsJudgedButHasNoDistance) {
  Ledger ledger;
  ledger.add(SampleClass::loop, 3);
  EXPECT_EQ(ledger.judged(), 3u);
  EXPECT_EQ(ledger.located(), 0u);
}

TEST(Ledger, OtherTriggersAreNoEvidence) {
  Ledger ledger;
  ledger.add(SampleClass::other_trigger, 3);
  EXPECT_EQ(ledger.judged(), 0u);
  EXPECT_EQ(ledger.read(), 3u);
}

TEST(Ledger, MergesClassByClass) {
  Ledger a, b;
  a.add(SampleClass::hit, 2);
  b.add(SampleClass::hit, 3);
  b.add(SampleClass::guest, 5);
  a += b;
  EXPECT_EQ(a[SampleClass::hit], 5u);
  EXPECT_EQ(a[SampleClass::guest], 5u);
  EXPECT_EQ(a.read(), 10u);
}

TEST(Ledger, EveryClassHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    names.emplace(name_of(static_cast<SampleClass>(i)));
  }
  EXPECT_EQ(names.size(), kSampleClasses);
  EXPECT_EQ(names.count("other_trigger"), 1u);
}

}  // namespace
}  // namespace skid::analysis
