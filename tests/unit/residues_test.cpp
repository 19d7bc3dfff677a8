#include "analysis/evenness.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"
#include "tests/support/prelude.h"

namespace skid::analysis {
namespace {

using test::OffsetModel;
using test::offsets;

TEST(Residues, CountTheSkidsAlone) {
  const auto counts = offsets({{-3, 100}, {0, 1000}, {1, 5}, {4, 7}, {9, 11}, {50, 13}});
  const auto groups = retirement_groups_of(counts, 50);
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->moduli.size(), 7u);
  EXPECT_EQ(groups->moduli[0].counts, (std::vector<std::uint64_t>{7, 16}));
  EXPECT_EQ(groups->moduli[2].counts, (std::vector<std::uint64_t>{7, 16, 0, 0}));
  EXPECT_EQ(groups->moduli[6].counts, (std::vector<std::uint64_t>{0, 16, 0, 0, 7, 0, 0, 0}));
  EXPECT_EQ(retirement_groups_of(counts, std::nullopt)->moduli[0].counts,
            (std::vector<std::uint64_t>{20, 16}));
}

TEST(Residues, TwoSharpPeaksAreNoGroups) {
  // 7 and 19 lie three times four instructions apart; the rest is smooth.
  Random random(84);
  OffsetCounts peaks = OffsetModel::normal(30, 8).draw(random, 300);
  peaks += offsets({{7, 1331}, {19, 1351}});
  const auto groups = retirement_groups_of(peaks, std::nullopt);
  ASSERT_TRUE(groups);
  EXPECT_FALSE(groups->strongest.has_value());
  EXPECT_FALSE(groups->moduli[2].excess.has_value());
}

TEST(Residues, OfHitsAloneAreNone) {
  EXPECT_FALSE(retirement_groups_of(offsets({{0, 1000}, {-2, 10}}), std::nullopt).has_value());
  EXPECT_FALSE(retirement_groups_of({}, std::nullopt).has_value());
}

/// Offsets of a smooth distribution that retire in groups: the first of the next group is next.
OffsetCounts grouped(const OffsetCounts& smooth, std::int64_t group) {
  OffsetCounts result;
  for (const auto& [offset, count] : smooth.counts()) {
    result.add((offset - 1) / group * group + 1, count);
  }
  return result;
}

TEST(Residues, FindGroupsByTheirSize) {
  Random random(83);
  for (const OffsetModel& model : {OffsetModel::falling(60), OffsetModel::normal(200, 30)}) {
    for (const int group : {2, 3, 4, 5, 6, 7, 8}) {
      const auto groups =
          retirement_groups_of(grouped(model.draw(random, 5000), group), std::nullopt);
      ASSERT_TRUE(groups);
      EXPECT_EQ(groups->strongest, group) << model.name();
    }
  }
}

TEST(Residues, FindGroupsThatOnlySomeSamplesKeepTo) {
  Random random(89);
  const auto model = OffsetModel::normal(150, 25);
  OffsetCounts mixed = grouped(model.draw(random, 2000), 4);
  mixed += model.draw(random, 6000);
  EXPECT_EQ(retirement_groups_of(mixed, std::nullopt)->strongest, 4);
}

TEST(Residues, FindNoneInSmoothDistributions) {
  Random random(97);
  constexpr int kRounds = 30;
  const OffsetCounts peak = offsets({{1, 20'000}});
  for (const OffsetModel& model :
       {OffsetModel::normal(100, 20), OffsetModel::normal(30, 4), OffsetModel::normal(12, 1),
        OffsetModel::falling(15), OffsetModel::falling(80), OffsetModel::even(1, 200),
        OffsetModel::hits_and_tail(0.5, 40)}) {
    int found = 0, uneven = 0, compared = 0;
    for (int round = 0; round < kRounds; ++round) {
      OffsetCounts drawn = model.draw(random, 10'000);
      const auto groups = retirement_groups_of(drawn, std::nullopt);
      found += groups->strongest.has_value();
      for (const Residues& residues : groups->moduli) {
        if (!residues.excess) continue;
        ++compared;
        uneven += residues.excess->p < 0.05;
      }
      // Nor where one offset stands out.
      drawn += peak;
      found += retirement_groups_of(drawn, std::nullopt)->strongest.has_value();
    }
    EXPECT_LE(found, 2) << model.name();
    EXPECT_LE(uneven, 0.08 * compared + 4) << model.name();
  }
}

TEST(Residues, OfANarrowDistributionAreNotCompared) {
  Random random(101);
  const auto groups =
      retirement_groups_of(OffsetModel::normal(12, 1).draw(random, 10'000), std::nullopt);
  ASSERT_TRUE(groups);
  for (const Residues& residues : groups->moduli) {
    EXPECT_FALSE(residues.excess.has_value());
    EXPECT_EQ(std::accumulate(residues.counts.begin(), residues.counts.end(), std::uint64_t{0}),
              10'000u);
  }
}

}  // namespace
}  // namespace skid::analysis
