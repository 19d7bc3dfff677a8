// Rates against hand-computed examples, and their intervals against points within the simplex.
#include "analysis/rates.h"

#include "tests/support/prelude.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using enum Quantity;

/// Counts of loads that fulfil the identities: 1000 loads, 100 of them each from L2 or beyond.
Counts published_counts() {
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

/// By name the bounds of the rates that have any.
using Expected = std::map<std::string, std::pair<double, double>>;

void expect_bounds(const std::vector<Rate>& rates, const Expected& expected) {
  for (const auto& [name, bounds] : expected) {
    const Rate& rate = find(rates, name);
    ASSERT_TRUE(rate.value) << name << ": " << rate.remark;
    EXPECT_NEAR(rate.value->low, bounds.first, 1e-12) << name;
    EXPECT_NEAR(rate.value->high, bounds.second, 1e-12) << name;
  }
}

/// The same of rates that the counts leave nothing open of.
void expect_values(const std::vector<Rate>& rates, const std::map<std::string, double>& expected) {
  for (const auto& [name, value] : expected) expect_bounds(rates, {{name, {value, value}}});
}

TEST(CacheRates, OfLoadsAreIntervalsWhereTheSharesAreUnknown) {
  const auto rates = compute_rates(published_counts()).loads;
  EXPECT_THAT(rates, SizeIs(10));
  expect_bounds(rates, {{"L1 miss", {0.3, 0.3}},
                        {"L1 hit", {0.7, 0.7}},
                        {"local L2 miss", {40 / 300.0, 240 / 300.0}},
                        {"local L2 hit", {60 / 300.0, 260 / 300.0}},
                        {"global L2 miss", {0.04, 0.24}},
                        {"global L2 hit", {0.06, 0.26}},
                        {"local L3 miss", {15 / 240.0, 215 / 240.0}},
                        {"local L3 hit", {25 / 240.0, 225 / 240.0}},
                        {"global L3 miss", {0.015, 0.215}},
                        {"global L3 hit", {0.025, 0.225}}});
  EXPECT_EQ(find(rates, "L1 hit").formula, "L1_HIT / (HIT_LFB + L1_MISS + L1_HIT)");
  EXPECT_EQ(find(rates, "local L3 miss").formula,
            "((1-a-b) HIT_LFB + L3_MISS) / ((1-a) HIT_LFB + L2_MISS)");
}

TEST(CacheRates, OfLoadsAreNumbersWhereTheSharesAreKnown) {
  expect_values(compute_rates(published_counts(), {.l2 = 0.5, .l3 = 0.25}).loads,
                {{"local L2 miss", 140 / 300.0},
                 {"local L2 hit", 160 / 300.0},
                 {"global L2 miss", 0.14},
                 {"global L2 hit", 0.16},
                 {"local L3 miss", 65 / 140.0},
                 {"local L3 hit", 75 / 140.0},
                 {"global L3 miss", 0.065},
                 {"global L3 hit", 0.075}});
}

TEST(CacheRates, OfLoadsWithOnePinnedShareLeaveTheOtherItsRest) {
  expect_bounds(compute_rates(published_counts(), {.l2 = 0.5, .l3 = {}}).loads,
                {{"local L2 miss", {140 / 300.0, 140 / 300.0}},
                 {"local L3 miss", {15 / 140.0, 115 / 140.0}}});
  // a = 0 gives 165 / 240, a = 0.75 gives 15 / 90.
  expect_bounds(compute_rates(published_counts(), {.l2 = {}, .l3 = 0.25}).loads,
                {{"local L2 miss", {90 / 300.0, 240 / 300.0}},
                 {"global L3 hit", {0.075, 0.075}},
                 {"local L3 miss", {15 / 90.0, 165 / 240.0}}});
}

TEST(CacheRates, OfLinesTakeNoShareOfHitLfb) {
  auto counts = published_counts();
  counts[hit_lfb].reset();
  const auto rates = compute_rates(counts).lines;
  EXPECT_THAT(rates, SizeIs(6));
  expect_values(rates, {{"L2 miss", 0.4},
                        {"L2 hit", 0.6},
                        {"local L3 miss", 0.375},
                        {"local L3 hit", 0.625},
                        {"global L3 miss", 0.15},
                        {"global L3 hit", 0.25}});
  EXPECT_EQ(find(rates, "local L3 hit").formula, "L3_HIT / L2_MISS");
}

TEST(CacheRates, NameMissingCounts) {
  auto counts = published_counts();
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
  auto counts = published_counts();
  counts[l2_miss] = counts[l3_hit] = counts[l3_miss] = 0;
  // Past L2 there is nothing but what HIT_LFB brings there, of which L3 served none or all.
  expect_bounds(compute_rates(counts).loads, {{"local L3 miss", {0, 1}}});
  const auto all_in_l2 = compute_rates(counts, {.l2 = 1, .l3 = 0}).loads;
  EXPECT_FALSE(find(all_in_l2, "local L3 miss").value);
  EXPECT_THAT(find(all_in_l2, "local L3 miss").remark, HasSubstr("denominator is 0"));
}

TEST(GeneralRates, KeepTheirRemarkWhereTheDenominatorIs0) {
  Counts counts;
  counts[cache_misses] = counts[cache_references] = counts[l1d_loads] = counts[l1d_load_misses] = 0;
  const auto rates = compute_rates(counts).general;
  EXPECT_THAT(find(rates, "cache miss").remark,
              MatchesRegex("generic events: .* on AMD Zen; the denominator is 0"));
  EXPECT_EQ(find(rates, "L1 data cache load miss").remark, "the denominator is 0");
}

TEST(CacheRates, CountsThatDisagreeHaveNoUpperBound) {
  auto counts = published_counts();
  counts[l2_miss] = 0;  // and yet 15 loads missed L3
  const auto rates = compute_rates(counts).loads;
  EXPECT_FALSE(find(rates, "local L3 miss").value);
  EXPECT_THAT(find(rates, "local L3 miss").remark, HasSubstr("disagree"));
}

TEST(CacheRates, IntervalsHoldEveryPointOfTheSimplexAndNoMore) {
  std::mt19937_64 random(20240607);
  std::uniform_real_distribution<double> unit(0, 1), magnitude(0, 12);
  for (int round = 0; round < 300; ++round) {
    Counts counts;
    // Also counts that contradict each other: multiplexing gives such.
    for (const Quantity q : {hit_lfb, l1_hit, l1_miss, l2_hit, l2_miss, l3_hit, l3_miss}) {
      counts[q] = std::floor(std::pow(10, magnitude(random))) + 1;
    }
    LfbShares shares;
    if (unit(random) < 0.3) shares.l2 = unit(random);
    if (unit(random) < 0.3) shares.l3 = (1 - shares.l2.value_or(0)) * unit(random);
    const std::vector<Rate> rates = compute_rates(counts, shares).loads;
    std::vector<double> least(rates.size(), 1e300), most(rates.size(), -1e300);
    // The corners are allowed; points between them are inside the bounds.
    for (int point = 0; point < 20; ++point) {
      const double a = shares.l2.value_or(point < 2   ? 0
                                          : point < 4 ? 1 - shares.l3.value_or(0)
                                                      : unit(random) * (1 - shares.l3.value_or(0)));
      const double b = shares.l3.value_or((1 - a) * (point % 2 == 0 ? 0
                                                     : point < 4    ? 1
                                                                    : unit(random)));
      const auto pinned = compute_rates(counts, {.l2 = a, .l3 = b}).loads;
      for (std::size_t i = 0; i < rates.size(); ++i) {
        ASSERT_TRUE(pinned[i].value) << rates[i].name;
        EXPECT_EQ(pinned[i].value->low, pinned[i].value->high);
        least[i] = std::min(least[i], pinned[i].value->low);
        most[i] = std::max(most[i], pinned[i].value->high);
      }
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      ASSERT_TRUE(rates[i].value) << rates[i].name;
      const double slack = 1e-9 * (1 + rates[i].value->high);
      EXPECT_NEAR(least[i], rates[i].value->low, slack) << rates[i].name;
      EXPECT_NEAR(most[i], rates[i].value->high, slack) << rates[i].name;
    }
  }
}

TEST(CacheRates, RefuseSharesAndCountsThatCannotBe) {
  EXPECT_THROW(compute_rates(published_counts(), {.l2 = 0.7, .l3 = 0.4}), std::invalid_argument);
  EXPECT_THROW(compute_rates(published_counts(), {.l2 = -0.1, .l3 = {}}), std::invalid_argument);
  EXPECT_THROW(compute_rates(published_counts(), {.l2 = {}, .l3 = std::nan("")}),
               std::invalid_argument);
  EXPECT_NO_THROW(compute_rates(published_counts(), {.l2 = 0.9, .l3 = 0.1}));
  auto counts = published_counts();
  counts[l1_hit] = -1;
  EXPECT_THROW(compute_rates(counts), std::invalid_argument);
}

TEST(Identities, ShowTheirResiduals) {
  auto counts = published_counts();
  counts[l1_miss] = 110;
  const auto identities = compute_rates(counts).identities;
  ASSERT_THAT(identities, SizeIs(3));
  EXPECT_EQ(identities[0].formula, "ALL_LOADS = HIT_LFB + L1_HIT + L2_HIT + L3_HIT + L3_MISS");
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

void expect_percent(const std::vector<Rate>& rates, const std::map<std::string, double>& expected) {
  for (const auto& [name, percent] : expected) {
    const Rate& rate = find(rates, name);
    ASSERT_TRUE(rate.value) << name;
    EXPECT_EQ(rate.value->low, rate.value->high);
    EXPECT_EQ(std::round(rate.value->low * 1e4), std::round(percent * 100)) << name;
  }
}

TEST(Backend, FollowsTheCounts) {
  // STREAM as in the article.
  expect_percent(compute_rates(backend(6'219'060'933'176, 5'968'672'825'601, 5'312'257'710'841,
                                       245'370'423'703, 1'491'679'451'897, 2'528'175'472'523))
                     .backend,
                 {{"productive", 4.03},
                  {"stalled", 95.97},
                  {"memory", 85.42},
                  {"bandwidth", 64.64},
                  {"latency", 20.78},
                  {"other", 10.55}});
  // x264, of which the article gives other numbers for these counts.
  expect_percent(compute_rates(backend(1'006'171'527'484, 491'458'850'680, 91'391'287'054,
                                       19'777'655'122, 13'236'384'103, 4'762'008'291))
                     .backend,
                 {{"productive", 51.16},
                  {"stalled", 48.84},
                  {"memory", 9.08},
                  {"bandwidth", 1.79},
                  {"latency", 7.29},
                  {"other", 39.76}});
}

TEST(Backend, TakesTheLargerOfLoadsAndStoresForMemory) {
  const auto stores = compute_rates(backend(1000, 500, 100, 300, 10, 20)).backend;
  expect_percent(stores, {{"memory", 30}});
  EXPECT_THAT(find(stores, "memory").remark, HasSubstr("resource_stalls.sb is the larger"));
  auto counts = backend(1000, 500, 100, 300, 10, 20);
  counts[resource_stalls_sb].reset();
  const auto loads = compute_rates(counts).backend;
  expect_percent(loads, {{"memory", 10}});
  EXPECT_THAT(find(loads, "memory").remark, HasSubstr("was not counted"));
}

TEST(Backend, SharesAboveAllOrBelowNothingGetAWarning) {
  const auto rates = compute_rates(backend(1000, 1100, 1100, 0, 900, 300));
  for (const auto& [name, is_impossible] :
       {std::pair{"productive", true}, {"stalled", true}, {"latency", true}, {"other", false}}) {
    EXPECT_EQ(impossible(find(rates.backend, name)), is_impossible) << name;
  }
  const auto warnings = warnings_of(rates);
  EXPECT_THAT(warnings, Contains(HasSubstr("stalled: 110.00% is above 100%")));
  EXPECT_THAT(warnings, Contains(HasSubstr("productive: -10.00% is below 0%")));
  EXPECT_THAT(warnings_of(compute_rates(published_counts())), IsEmpty());
}

TEST(L2RequestRates, AreDerivedFromCountsOfTheSameOrigins) {
  Counts counts;
  // Demand reads: misses and all; RFO: misses and hits; code: hits of both states and all.
  counts.l2_requests = {{0x21, 10}, {0xe1, 40}, {0x22, 30}, {0xc2, 10},
                        {0x44, 8},  {0x84, 2},  {0xe4, 40}};
  const auto rates = compute_rates(counts).l2;
  EXPECT_THAT(rates, SizeIs(6));
  expect_values(rates, {{"demand data read miss", 0.25},
                        {"demand data read hit", 0.75},
                        {"RFO miss", 0.75},
                        {"RFO hit", 0.25},
                        {"code read hit", 0.25},
                        {"code read miss", 0.75}});
  EXPECT_EQ(find(rates, "demand data read miss").formula, "r2124 / re124");
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
