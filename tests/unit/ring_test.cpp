// Slots come out in the order in which they were filled, and each side can end.
#include "src/support/ring.h"

#include <thread>

#include <gtest/gtest.h>

namespace skid {
namespace {

TEST(Ring, HandsSlotsOnInTheirOrder) {
  Ring<int, 3> ring;
  constexpr int kSlots = 20'000;
  std::thread filling([&ring] {
    for (int i = 0; i < kSlots; ++i) {
      *ring.wait_for_free() = i;
      ring.fill();
    }
  });
  int wrong = 0;
  for (int i = 0; i < kSlots; ++i) {
    if (ring.wait_for_filled() != i) ++wrong;
    ring.empty();
  }
  filling.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Ring, LetsTheEmptyingSideHoldSeveralSlots) {
  Ring<int, 2> ring;
  for (const int value : {1, 2}) {
    *ring.wait_for_free() = value;
    ring.fill();
  }
  int& first = ring.wait_for_filled();
  int& second = ring.wait_for_filled();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  ring.empty();
  ring.empty();
  EXPECT_NE(ring.wait_for_free(), nullptr);
}

TEST(Ring, EndsTheFillingSideWhenItIsClosed) {
  Ring<int, 2> ring;
  std::thread filling([&ring] {
    while (int* slot = ring.wait_for_free()) {
      *slot = 1;
      ring.fill();
    }
  });
  ring.wait_for_filled();
  ring.close();
  filling.join();
}

}  // namespace
}  // namespace skid
