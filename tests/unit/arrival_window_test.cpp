// What comes from a pipe waits until all of its time has come.
#include "src/locate/arrival_window.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::locate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ArrivalWindowTest : public ::testing::Test {
 protected:
  void add(std::initializer_list<std::uint64_t> times) {
    for (const auto time : times) window_.add(time, std::to_string(time));
  }
  /// Everything that `finish`, `finish_round` or `release_half` of the window gives out.
  template <typename Finish>
  std::vector<std::uint64_t> released(Finish finish) {
    std::vector<std::uint64_t> times;
    finish([&](std::uint64_t time, const std::string& item) {
      EXPECT_EQ(item, std::to_string(time)) << "an item lost its time";
      times.push_back(time);
    });
    return times;
  }
  std::vector<std::uint64_t> after_round() {
    return released([this](auto release) { window_.finish_round(release); });
  }
  std::vector<std::uint64_t> half() {
    return released([this](auto release) { window_.release_half(release); });
  }
  std::vector<std::uint64_t> rest() {
    return released([this](auto release) { window_.finish(release); });
  }

  ArrivalWindow<std::string> window_{4};
};

/// The rounds drawn in the header.
TEST_F(ArrivalWindowTest, DelaysItemsByARound) {
  add({1, 2, 3, 2, 4, 5});
  EXPECT_THAT(after_round(), IsEmpty());
  add({7, 8, 6, 9});
  EXPECT_THAT(after_round(), ElementsAre(1, 2, 3, 2, 4));
  add({12, 10});
  EXPECT_THAT(after_round(), ElementsAre(5, 7, 8, 6));
  EXPECT_THAT(rest(), ElementsAre(9, 12, 10));
  EXPECT_THAT(rest(), IsEmpty());
}

/// Another CPU may have recorded something in the very same nanosecond.
TEST_F(ArrivalWindowTest, DelaysTheNewestOfTheLastRoundToo) {
  add({5});
  after_round();
  EXPECT_THAT(after_round(), IsEmpty());
  add({5, 6});
  EXPECT_THAT(after_round(), IsEmpty());
  EXPECT_THAT(after_round(), ElementsAre(5, 5));
  EXPECT_THAT(rest(), ElementsAre(6));
}

TEST_F(ArrivalWindowTest, ReleasesLateItemsWithTheNextRound) {
  add({10});
  after_round();
  add({20});
  EXPECT_THAT(after_round(), IsEmpty());
  add({3, 30});
  EXPECT_THAT(after_round(), ElementsAre(10, 3)) << "20 is the newest of the round before";
}

TEST_F(ArrivalWindowTest, DelaysFullyDespiteARoundOfOldItems) {
  add({50});
  after_round();
  add({10});
  EXPECT_THAT(after_round(), ElementsAre(10));
  add({40, 60});
  EXPECT_THAT(after_round(), ElementsAre(40));
}

TEST_F(ArrivalWindowTest, IsFullAboveTheLimit) {
  add({4, 3, 2, 1});
  EXPECT_FALSE(window_.is_full());
  add({5});
  EXPECT_TRUE(window_.is_full());
  EXPECT_THAT(half(), ElementsAre(3, 2, 1)) << "the older half, in the order in which it came";
  EXPECT_FALSE(window_.is_full());
  EXPECT_THAT(rest(), ElementsAre(4, 5));
}

TEST_F(ArrivalWindowTest, MakesRoomEvenWhereAllTimesAreTheSame) {
  for (const std::uint64_t time : {std::uint64_t{0}, std::uint64_t{7}, UINT64_MAX}) {
    add({time, time, time, time, time});
    EXPECT_EQ(half().size(), 5u);
  }
  EXPECT_THAT(half(), IsEmpty());
}

TEST_F(ArrivalWindowTest, EndsWithEverythingWhateverItsTime) {
  add({UINT64_MAX, 0});
  EXPECT_THAT(after_round(), IsEmpty());
  EXPECT_THAT(after_round(), ElementsAre(0));
  EXPECT_THAT(rest(), ElementsAre(UINT64_MAX));
}

/// Each round would look at all items, and there is a round for each item.
TEST(ArrivalWindow, DoesNotVisitAllItemsInEveryRound) {
  constexpr std::size_t kItems = 130'000;
  for (const bool bring_one : {false, true}) {
    ArrivalWindow<std::uint64_t> window(kItems);
    std::size_t released = 0;
    const auto count = [&](std::uint64_t, std::uint64_t) { ++released; };
    for (std::size_t i = 0; i < kItems; ++i) window.add(1000, i);
    for (std::size_t round = 0; round < kItems; ++round) {
      if (bring_one) window.add(1, 0);
      window.finish_round(count);
    }
    EXPECT_EQ(released > 0, bring_one) << "they wait longer, not for the end";
    window.finish(count);
    EXPECT_EQ(released, bring_one ? 2 * kItems : kItems);
  }
}

TEST(ArrivalWindow, VisitsAllItemsIfRoundsAreLarge) {
  constexpr std::uint64_t kRound = 10'000;
  ArrivalWindow<std::uint64_t> window(1 << 20);
  std::uint64_t released = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (std::uint64_t i = 0; i < kRound; ++i) window.add(1 + round * kRound + i, i);
    window.finish_round([&](std::uint64_t, std::uint64_t) { ++released; });
    EXPECT_EQ(released, round == 0 ? 0 : round * kRound - 1);
  }
}

}  // namespace
}  // namespace skid::locate
