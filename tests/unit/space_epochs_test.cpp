// Samples of one space are numbered by the changes of its mappings.
#include "src/locate/space_epochs.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace skid::locate {
namespace {

TEST(SpaceEpochs, GiveOneNumberAsLongAsNothingChanges) {
  SpaceEpochs epochs;
  const auto number = epochs.number(7, 100);
  EXPECT_EQ(epochs.number(7, 0), number);
  EXPECT_EQ(epochs.number(7, UINT64_MAX), number);
  ASSERT_EQ(epochs.numbered().size(), 1u);
  EXPECT_EQ(epochs.numbered()[0].space, 7);
}

TEST(SpaceEpochs, KeepSpacesApart) {
  SpaceEpochs epochs;
  const auto process = epochs.number(7, 100), kernel = epochs.number(-1, 100);
  EXPECT_NE(process, kernel);
  epochs.changed(7, 50);
  EXPECT_EQ(epochs.number(-1, 10), kernel) << "only the other one changed";
  EXPECT_EQ(epochs.numbered()[static_cast<std::size_t>(kernel)].space, -1);
}

TEST(SpaceEpochs, BeginAtTheVeryTimeOfTheChange) {
  SpaceEpochs epochs;
  const auto before = epochs.number(7, 10);
  epochs.changed(7, 20);
  EXPECT_EQ(epochs.number(7, 19), before);
  const auto after = epochs.number(7, 20);
  EXPECT_NE(after, before);
  EXPECT_EQ(epochs.number(7, 21), after);
}

/// CPU 0 brings the mapping, CPU 1 a sample from before it.
TEST(SpaceEpochs, AreCutByChangesThatCameBeforeTheFirstSample) {
  SpaceEpochs epochs;
  epochs.changed(7, 20);
  EXPECT_NE(epochs.number(7, 10), epochs.number(7, 30));
}

TEST(SpaceEpochs, AreCutInWhateverOrderTheChangesCome) {
  SpaceEpochs epochs;
  for (const std::uint64_t time : {30u, 10u, 20u, 20u}) epochs.changed(7, time);
  std::vector<std::int32_t> numbers;
  for (const std::uint64_t time : {5u, 10u, 20u, 30u}) numbers.push_back(epochs.number(7, time));
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(epochs.number(7, 9), 0);
  EXPECT_EQ(epochs.number(7, 29), 2);
}

TEST(SpaceEpochs, SpendNoNumberOnEpochsWithoutSamples) {
  SpaceEpochs epochs;
  for (std::uint64_t time = 1; time < 100; ++time) epochs.changed(7, time);
  epochs.number(7, 50);
  EXPECT_EQ(epochs.numbered().size(), 1u);
}

TEST(SpaceEpochs, TellBetweenWhichTimesTheSamplesOfANumberWere) {
  SpaceEpochs epochs;
  epochs.changed(7, 10);
  for (const std::uint64_t time : {15u, 12u, 18u}) epochs.number(7, time);
  EXPECT_EQ(epochs.numbered()[0].first, 12u);
  EXPECT_EQ(epochs.numbered()[0].last, 18u);
}

/// The samples counted before the change came may have been on either side of it.
TEST(SpaceEpochs, CutTooLateStillTellTheTimesOfWhatWasCounted) {
  SpaceEpochs epochs;
  const auto early = epochs.number(7, 10);
  EXPECT_EQ(epochs.number(7, 30), early);
  epochs.changed(7, 20);
  EXPECT_EQ(epochs.number(7, 15), early);
  EXPECT_NE(epochs.number(7, 30), early);
  EXPECT_EQ(epochs.numbered()[static_cast<std::size_t>(early)].last, 30u);
}

}  // namespace
}  // namespace skid::locate
