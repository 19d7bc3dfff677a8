#include "analysis/block_evenness.h"
#include "tests/support/prelude.h"

namespace skid::analysis {
namespace {

using Places = std::vector<std::uint32_t>;

std::optional<SampleOrder> order_of(const Places& places) {
  SampleOrderTest test;
  test.add(places);
  return test.finish();
}

TEST(SampleOrder, OfARuleIsLocked) {
  // Each place leads to another one, and every tenth sample to any.
  std::mt19937 random(1);
  Places places{0};
  for (int i = 0; i < 5000; ++i) {
    places.push_back(random() % 10 == 0 ? random() % 7 : (places.back() * 3 + 1) % 7);
  }
  const auto order = order_of(places);
  ASSERT_TRUE(order);
  EXPECT_NEAR(order->predicted, 0.9 + 0.1 / 7, 0.02);
  EXPECT_LT(order->independent, 0.4);
  EXPECT_TRUE(is_locked(*order, order->p));
}

TEST(SampleOrder, OfAPlaceThatLeadsToItselfIsLocked) {
  std::mt19937 random(1);
  Places places{0};
  for (int i = 0; i < 5000; ++i) {
    // 92% at place 5; what leaves it returns by 2 and 3.
    const bool leaves = random() % 12 == 0;
    places.push_back(places.back() == 5 ? (leaves ? 2 : 5) : places.back() == 2 ? 3 : 5);
  }
  const auto order = order_of(places);
  ASSERT_TRUE(order);
  EXPECT_TRUE(is_locked(*order, order->p));
}

TEST(SampleOrder, OfIndependentSamplesIsNotLocked) {
  int locked = 0, significant = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::discrete_distribution<std::uint32_t> uneven({1, 1, 30, 1, 4, 1, 1});
    const bool drifts = seed % 4 == 2;
    Places places;
    // Even ones, uneven ones, and uneven ones whose shares change as a program goes on.
    for (std::uint32_t i = 0; i < 4000; ++i) {
      const std::uint32_t drift = drifts ? i / 100 : 0;
      places.push_back(seed % 4 == 0 ? random() % 7 : (uneven(random) + drift) % 7);
    }
    const auto order = order_of(places);
    ASSERT_TRUE(order);
    locked += is_locked(*order, order->p) ? 1 : 0;
    // Where the shares change there are windows before and after.
    if (!drifts) significant += order->p < 0.01 ? 1 : 0;
  }
  EXPECT_EQ(locked, 0);
  EXPECT_LE(significant, 10) << "of 300";
}

TEST(SampleOrder, OfFewSamplesIsNotTested) {
  EXPECT_FALSE(order_of(Places(100, 1)));
  EXPECT_FALSE(is_locked(*order_of(Places(1000, 1)), 1)) << "all at one place";
  SampleOrderTest test;
  for (int i = 0; i < 1000; ++i) test.add(Places{0, 1, 2});
  EXPECT_FALSE(test.finish()) << "runs of three";
}

}  // namespace
}  // namespace skid::analysis
