// Rates against hand-computed examples, and their intervals against points within the simplex.
#include "analysis/rates.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using enum Quantity;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Counts of loads that fulfil the identities: 1000 loads, 100 of them each from L2 or beyond.
Counts example() {
  Counts counts;
  counts[all_loads] = 1000;
  counts[hit_lfb] = 200;
  counts[l1_hit] = 700;
  counts[l1_miss] = 100;
  counts[l2_hit] = 60;
  counts[l2_miss] = 40;
  counts[l3_hit] = 25;
  counts[l3_miss] = 15;
  return counts;
}

const Rate& find(const std::vector<Rate>& rates, const std::string& name) {
  const auto found =
      std::find_if(rates.begin(), rates.end(), [&](const Rate& rate) { return rate.name == name; });
  if (found == rates.end()) throw std::out_of_range(name);
  return *found;
}

void expect_bounds(const std::vector<Rate>& rates, const std::string& name, double low,
                   double high) {
  const Rate& rate = find(rates, name);
  ASSERT_TRUE(rate.value) << name << ": " << rate.remark;
  EXPECT_NEAR(rate.value->low, low, 1e-12) << name;
  EXPECT_NEAR(rate.value->high, high, 1e-12) << name;
}

TEST(CacheRates, OfLoadsAreIntervalsWhereTheSharesAreUnknown) {
  const auto rates = compute_rates(example()).loads;
  EXPECT_THAT(rates, SizeIs(10));
  expect_bounds(rates, "L1 miss", 0.3, 0.3);
  expect_bounds(rates, "L1 hit", 0.7, 0.7);
  expect_bounds(rates, "local L2 miss", 40 / 300.0, 240 / 300.0);
  expect_bounds(rates, "local L2 hit", 60 / 300.0, 260 / 300.0);
  expect_bounds(rates, "global L2 miss", 0.04, 0.24);
  expect_bounds(rates, "global L2 hit", 0.06, 0.26);
  expect_bounds(rates, "local L3 miss", 15 / 240.0, 215 / 240.0);
  expect_bounds(rates, "local L3 hit", 25 / 240.0, 225 / 240.0);
  expect_bounds(rates, "global L3 miss", 0.015, 0.215);
  expect_bounds(rates, "global L3 hit", 0.025, 0.225);
}

TEST(CacheRates, OfLoadsAreNumbersWhereTheSharesAreKnown) {
  const auto rates = compute_rates(example(), {.l2 = 0.5, .l3 = 0.25}).loads;
  expect_bounds(rates, "local L2 miss", 140 / 300.0, 140 / 300.0);
  expect_bounds(rates, "local L2 hit", 160 / 300.0, 160 / 300.0);
  expect_bounds(rates, "global L2 miss", 0.14, 0.14);
  expect_bounds(rates, "global L2 hit", 0.16, 0.16);
  expect_bounds(rates, "local L3 miss", 65 / 140.0, 65 / 140.0);
  expect_bounds(rates, "local L3 hit", 75 / 140.0, 75 / 140.0);
  expect_bounds(rates, "global L3 miss", 0.065, 0.065);
  expect_bounds(rates, "global L3 hit", 0.075, 0.075);
}

TEST(CacheRates, OnePinnedShareLeavesTheOtherItsRest) {
  const auto by_l2 = compute_rates(example(), {.l2 = 0.5, .l3 = {}}).loads;
  expect_bounds(by_l2, "local L2 miss", 140 / 300.0, 140 / 300.0);
  expect_bounds(by_l2, "local L3 miss", 15 / 140.0, 115 / 140.0);
  const auto by_l3 = compute_rates(example(), {.l2 = {}, .l3 = 0.25}).loads;
  expect_bounds(by_l3, "local L2 miss", 90 / 300.0, 240 / 300.0);
  expect_bounds(by_l3, "global L3 hit", 0.075, 0.075);
  // a = 0 gives 165 / 240, a = 0.75 gives 15 / 90.
  expect_bounds(by_l3, "local L3 miss", 15 / 90.0, 165 / 240.0);
}

TEST(CacheRates, OfLinesTakeNoShareOfHitLfb) {
  auto counts = example();
  counts[hit_lfb].reset();
  const auto rates = compute_rates(counts).lines;
  EXPECT_THAT(rates, SizeIs(6));
  expect_bounds(rates, "L2 miss", 0.4, 0.4);
  expect_bounds(rates, "L2 hit", 0.6, 0.6);
  expect_bounds(rates, "local L3 miss", 0.375, 0.375);
  expect_bounds(rates, "local L3 hit", 0.625, 0.625);
  expect_bounds(rates, "global L3 miss", 0.15, 0.15);
  expect_bounds(rates, "global L3 hit", 0.25, 0.25);
}

TEST(CacheRates, NameMissingCounts) {
  auto counts = example();
  counts[hit_lfb].reset();
  counts[l3_miss].reset();
  const auto rates = compute_rates(counts);
  EXPECT_THAT(find(rates.loads, "L1 miss").missing, ElementsAre("HIT_LFB"));
  EXPECT_THAT(find(rates.loads, "global L3 miss").missing, ElementsAre("HIT_LFB", "L3_MISS"));
  EXPECT_FALSE(find(rates.loads, "global L3 miss").value);
  EXPECT_THAT(find(rates.lines, "local L3 miss").missing, ElementsAre("L3_MISS"));
  EXPECT_TRUE(find(rates.lines, "local L3 hit").value);
  EXPECT_THAT(rates.identities[2].missing, ElementsAre("L3_MISS"));
  EXPECT_FALSE(rates.identities[2].residual);
}

TEST(CacheRates, IgnoreACornerWithoutLoads) {
  auto counts = example();
  counts[l2_miss] = counts[l3_hit] = counts[l3_miss] = 0;
  // Past L2 there is nothing but what HIT_LFB brings there, of which L3 served none or all.
  expect_bounds(compute_rates(counts).loads, "local L3 miss", 0, 1);
  const auto all_in_l2 = compute_rates(counts, {.l2 = 1, .l3 = 0}).loads;
  EXPECT_FALSE(find(all_in_l2, "local L3 miss").value);
  EXPECT_THAT(find(all_in_l2, "local L3 miss").remark, HasSubstr("denominator is 0"));
}

TEST(CacheRates, CountsThatDisagreeHaveNoUpperBound) {
  auto counts = example();
  counts[l2_miss] = 0;  // and yet 15 loads missed L3
  const auto rates = compute_rates(counts).loads;
  EXPECT_FALSE(find(rates, "local L3 miss").value);
  EXPECT_THAT(find(rates, "local L3 miss").remark, HasSubstr("disagree"));
}

/// A formula of the article, written down a second time.
double by_formula(const std::string& name, const Counts& c, double a, double b) {
  const auto n = [&](Quantity quantity) { return *c[quantity]; };
  const double lfb = n(hit_lfb), loads = lfb + n(l1_miss) + n(l1_hit), past_l1 = lfb + n(l1_miss);
  const double past_l2 = (1 - a) * lfb + n(l2_miss), past_l3 = (1 - a - b) * lfb + n(l3_miss);
  const double in_l2 = a * lfb + n(l2_hit), in_l3 = b * lfb + n(l3_hit);
  if (name == "L1 miss") return past_l1 / loads;
  if (name == "L1 hit") return n(l1_hit) / loads;
  if (name == "local L2 miss") return past_l2 / past_l1;
  if (name == "local L2 hit") return in_l2 / past_l1;
  if (name == "global L2 miss") return past_l2 / loads;
  if (name == "global L2 hit") return in_l2 / loads;
  if (name == "local L3 miss") return past_l3 / past_l2;
  if (name == "local L3 hit") return in_l3 / past_l2;
  if (name == "global L3 miss") return past_l3 / loads;
  if (name == "global L3 hit") return in_l3 / loads;
  throw std::out_of_range(name);
}

TEST(CacheRates, IntervalsHoldEveryPointOfTheSimplexAndNoMore) {
  std::mt19937_64 random(20240607);
  std::uniform_real_distribution<double> unit(0, 1);
  std::uniform_real_distribution<double> magnitude(0, 12);
  for (int round = 0; round < 500; ++round) {
    Counts counts;
    // Also counts that contradict each other: multiplexing gives such.
    for (const Quantity q : {hit_lfb, l1_hit, l1_miss, l2_hit, l2_miss, l3_hit, l3_miss}) {
      counts[q] = std::floor(std::pow(10, magnitude(random))) + 1;
    }
    const bool pin_a = unit(random) < 0.3, pin_b = unit(random) < 0.3;
    double a = unit(random), b = unit(random);
    if (a + b > 1) a = 1 - a, b = 1 - b;
    LfbShares shares;
    if (pin_a) shares.l2 = a;
    if (pin_b) shares.l3 = b;
    for (const Rate& rate : compute_rates(counts, shares).loads) {
      ASSERT_TRUE(rate.value) << rate.name;
      const double slack = 1e-9 * (1 + rate.value->high);
      double least = 1e300, most = -1e300;
      const auto visit = [&](double at_a, double at_b) {
        const double value = by_formula(rate.name, counts, at_a, at_b);
        EXPECT_GE(value, rate.value->low - slack) << rate.name;
        EXPECT_LE(value, rate.value->high + slack) << rate.name;
        least = std::min(least, value);
        most = std::max(most, value);
      };
      for (int point = 0; point < 20; ++point) {
        double x = unit(random), y = unit(random);
        if (x + y > 1) x = 1 - x, y = 1 - y;
        if (pin_a) x = a, y = pin_b ? b : y * (1 - a);
        if (pin_b && !pin_a) y = b, x *= 1 - b;
        visit(x, y);
      }
      // The ends are reached: by points that are allowed.
      const std::vector<std::pair<double, double>> ends =
          pin_a && pin_b ? std::vector<std::pair<double, double>>{{a, b}}
          : pin_a        ? std::vector<std::pair<double, double>>{{a, 0}, {a, 1 - a}}
          : pin_b        ? std::vector<std::pair<double, double>>{{0, b}, {1 - b, b}}
                         : std::vector<std::pair<double, double>>{{0, 0}, {1, 0}, {0, 1}};
      for (const auto& [x, y] : ends) visit(x, y);
      EXPECT_NEAR(least, rate.value->low, slack) << rate.name;
      EXPECT_NEAR(most, rate.value->high, slack) << rate.name;
    }
  }
}

TEST(CacheRates, RefuseSharesAndCountsThatCannotBe) {
  EXPECT_THROW(compute_rates(example(), {.l2 = 0.7, .l3 = 0.4}), std::invalid_argument);
  EXPECT_THROW(compute_rates(example(), {.l2 = -0.1, .l3 = {}}), std::invalid_argument);
  EXPECT_THROW(compute_rates(example(), {.l2 = {}, .l3 = std::nan("")}), std::invalid_argument);
  EXPECT_NO_THROW(compute_rates(example(), {.l2 = 0.9, .l3 = 0.1}));
  auto counts = example();
  counts[l1_hit] = -1;
  EXPECT_THROW(compute_rates(counts), std::invalid_argument);
}

TEST(Identities, ShowTheirResiduals) {
  auto counts = example();
  counts[l1_miss] = 110;
  const auto identities = compute_rates(counts).identities;
  ASSERT_THAT(identities, SizeIs(3));
  ASSERT_TRUE(identities[0].residual);
  EXPECT_EQ(identities[0].residual->difference, 0);
  ASSERT_TRUE(identities[1].residual);
  EXPECT_EQ(identities[1].residual->left, 110);
  EXPECT_EQ(identities[1].residual->right, 100);
  EXPECT_EQ(identities[1].residual->difference, 10);
  EXPECT_NEAR(*identities[1].residual->of_larger, 10 / 110.0, 1e-12);
}

Counts backend(double all, double idle, double loads, double stores, double fill, double queue) {
  Counts counts;
  counts[cycles] = all;
  counts[cycles_no_execute] = idle;
  counts[stalls_l1d_pending] = loads;
  counts[resource_stalls_sb] = stores;
  counts[fb_full] = fill;
  counts[sq_full] = queue;
  return counts;
}

void expect_percent(const std::vector<Rate>& rates, const std::string& name, double percent) {
  const Rate& rate = find(rates, name);
  ASSERT_TRUE(rate.value) << name;
  EXPECT_EQ(rate.value->low, rate.value->high);
  EXPECT_EQ(std::round(rate.value->low * 1e4), std::round(percent * 100)) << name;
}

TEST(Backend, OfStreamFollowsTheCountsAndTheArticle) {
  const auto rates = compute_rates(backend(6'219'060'933'176, 5'968'672'825'601, 5'312'257'710'841,
                                           245'370'423'703, 1'491'679'451'897, 2'528'175'472'523))
                         .backend;
  expect_percent(rates, "productive", 4.03);
  expect_percent(rates, "stalled", 95.97);
  expect_percent(rates, "memory", 85.42);
  expect_percent(rates, "bandwidth", 64.64);
  expect_percent(rates, "latency", 20.78);
  expect_percent(rates, "other", 10.55);  // 656,415,114,760 of 6,219,060,933,176
}

TEST(Backend, OfX264FollowsTheCountsNotTheArticle) {
  const auto rates = compute_rates(backend(1'006'171'527'484, 491'458'850'680, 91'391'287'054,
                                           19'777'655'122, 13'236'384'103, 4'762'008'291))
                         .backend;
  expect_percent(rates, "productive", 51.16);
  expect_percent(rates, "stalled", 48.84);
  expect_percent(rates, "memory", 9.08);
  expect_percent(rates, "bandwidth", 1.79);
  expect_percent(rates, "latency", 7.29);
  expect_percent(rates, "other", 39.76);
}

TEST(Backend, TakesTheLargerOfLoadsAndStoresForMemory) {
  const auto stores = compute_rates(backend(1000, 500, 100, 300, 10, 20)).backend;
  expect_percent(stores, "memory", 30);
  EXPECT_THAT(find(stores, "memory").remark, HasSubstr("resource_stalls.sb is the larger"));
  auto counts = backend(1000, 500, 100, 300, 10, 20);
  counts[resource_stalls_sb].reset();
  const auto loads = compute_rates(counts).backend;
  expect_percent(loads, "memory", 10);
  EXPECT_THAT(find(loads, "memory").remark, HasSubstr("was not counted"));
}

TEST(Backend, SharesAboveAllOrBelowNothingGetAWarning) {
  const auto rates = compute_rates(backend(1000, 1100, 1100, 0, 900, 300));
  EXPECT_TRUE(impossible(find(rates.backend, "productive")));
  EXPECT_TRUE(impossible(find(rates.backend, "stalled")));
  EXPECT_TRUE(impossible(find(rates.backend, "latency")));
  EXPECT_FALSE(impossible(find(rates.backend, "other")));
  const auto warnings = warnings_of(rates);
  EXPECT_THAT(warnings, Contains(HasSubstr("stalled: 110.00% is above 100%")));
  EXPECT_THAT(warnings, Contains(HasSubstr("productive: -10.00% is below 0%")));
  EXPECT_THAT(warnings_of(compute_rates(example())), IsEmpty());
}

TEST(L2RequestRates, AreDerivedFromCountsOfTheSameOrigins) {
  Counts counts;
  // Demand reads: misses and all; RFO: misses and hits; code: hits of both states and all.
  counts.l2_requests = {{0x21, 10}, {0xe1, 40}, {0x22, 30}, {0xc2, 10},
                        {0x44, 8},  {0x84, 2},  {0xe4, 40}};
  const auto rates = compute_rates(counts).l2;
  EXPECT_THAT(rates, SizeIs(6));
  expect_bounds(rates, "demand data read miss", 0.25, 0.25);
  expect_bounds(rates, "demand data read hit", 0.75, 0.75);
  EXPECT_EQ(find(rates, "demand data read miss").formula, "r2124 / re124");
  expect_bounds(rates, "RFO miss", 0.75, 0.75);
  expect_bounds(rates, "RFO hit", 0.25, 0.25);
  expect_bounds(rates, "code read hit", 0.25, 0.25);
  expect_bounds(rates, "code read miss", 0.75, 0.75);
  EXPECT_EQ(find(rates, "code read miss").formula, "(re424 - (r4424 + r8424)) / re424");
}

TEST(L2RequestRates, AreNotMadeAcrossOrigins) {
  Counts counts;
  counts.l2_requests = {{0x3f, 10}, {0xef, 40}, {0x24, 0}, {0x00, 5}, {0xe0, 3}, {0x1f, 9}};
  const auto rates = compute_rates(counts).l2;
  EXPECT_THAT(find(rates, "all miss").missing, ElementsAre("rff24"));
  EXPECT_THAT(find(rates, "all but L2 prefetcher miss").missing, ElementsAre("r2f24"));
  // Masks without an origin or a result count nothing and make no rate.
  EXPECT_THAT(rates, SizeIs(6));
}

}  // namespace
}  // namespace skid::analysis
