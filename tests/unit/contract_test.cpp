#include "analysis/contract.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void add(std::int64_t offset, std::uint64_t samples, Basis& basis) {
  basis.tally.breakdown.add(offset == 0 ? SampleClass::hit : SampleClass::skid, samples);
  basis.tally.instructions.add(offset, samples);
}

/// Judged samples by offset.
Basis basis_of(const std::vector<std::pair<std::int64_t, std::uint64_t>>& offsets) {
  Basis basis{.geometry = Geometry{}, .not_judged = NotJudged::none};
  for (const auto& [offset, samples] : offsets) add(offset, samples, basis);
  return basis;
}

Basis all_at(std::int64_t offset, std::uint64_t samples = 5000) {
  return basis_of({{offset, samples}});
}

/// With EXACT_IP on so many samples, each of them a hit, on a CPU where it is evidence.
Basis exact(Basis basis, std::uint64_t samples) {
  basis.exact_ip = ExactIp::evidence;
  basis.tally.exact_samples = basis.tally.exact_hits = samples;
  return basis;
}

TEST(Contract, IsJudgedByTheShareThatItsLevelPromises) {
  using enum Verdict;
  constexpr auto kNot = std::nullopt;  // neither certified nor not
  struct Case {
    int level;
    Basis basis;
    Verdict verdict;
    std::optional<bool> certified;
    std::vector<const char*> evidence;
  };
  Basis loop = all_at(0, 4900), other_code = all_at(0);
  loop.tally.breakdown.add(SampleClass::loop, 100);
  other_code.tally.breakdown.add(SampleClass::other_trigger, 900);
  other_code.tally.breakdown.add(SampleClass::kernel, 900);
  // Exact samples in the kernel vouch for no hit.
  Basis exact_in_kernel = exact(all_at(0), 4999);
  exact_in_kernel.tally.exact_samples = 5000;
  // Format 0 and 1: what could not be led back has no flag; where it has one it is wrong.
  Basis rewound = exact(basis_of({{0, 4750}, {1, 250}}), 4750), late = rewound;
  late.tally.exact_samples = 5000;
  late.tally.exact_off_trigger = 250;
  Basis repeating = basis_of({{0, 4000}, {1, 1000}});
  repeating.trigger_repeats = true;
  const Basis spread = basis_of({{8, 3000}, {12, 2000}}), close = basis_of({{0, 4998}, {7, 2}});
  const std::vector<Case> cases{
      {0, all_at(1), not_judged, kNot, {"level 0: arbitrary skid"}},
      {0, all_at(1), not_judged, kNot, {"most common offset +1 instruction, 5000 of 5000"}},
      {1, all_at(1), kept, kNot, {"most common offset +1 instruction: 5000 of 5000", "by design"}},
      {1, spread, broken, kNot, {"executed next: 0 of 5000", "most common offset +8 instructions"}},
      {1, all_at(5), broken, kNot, {"executed next: 0 of 5000"}},
      {1, all_at(0), broken, kNot, {}},
      {1, repeating, kept, kNot, {}},
      {1, exact(all_at(0), 5000), kept, false, {}},
      {2, all_at(1), broken, kNot, {"offset 0: 0 of 5000", "EXACT_IP 0 of 5000"}},
      {2, all_at(1), broken, kNot, {"most common offset +1 instruction, 5000 of 5000"}},
      {3, all_at(1), broken, kNot, {"offset 0: 0 of 5000"}},
      {2, all_at(0), kept, kNot, {"EXACT_IP 0 of 5000"}},
      {2, exact(all_at(0), 0), kept, false, {"EXACT_IP 0 of 5000: kept, not certified"}},
      {3, exact(all_at(0), 5000), kept, true, {"on every hit: certified"}},
      {3, exact(all_at(0), 4999), kept, false, {}},
      {2, rewound, kept, true, {"offset 0: 4750 of 4750", "250 of 5000 samples off the trigger "}},
      {2, rewound, kept, true, {"off the trigger without EXACT_IP"}},
      {2, late, broken, false, {"offset 0: 4750 of 5000"}},
      {3, exact_in_kernel, kept, false, {}},
      {2, close, undecided, kNot, {"the interval contains 99.90%; record more samples"}},
      {2, all_at(0, 500), undecided, kNot, {"500 samples judged, a verdict needs 3838"}},
      {2, all_at(1, 500), undecided, kNot, {"500 samples judged, a verdict needs 3838"}},
      {2, all_at(0, 3837), undecided, kNot, {}},
      {2, all_at(0, 3838), kept, kNot, {}},
      {2, all_at(1, 3838), broken, kNot, {}},
      {2, loop, broken, kNot, {"4900 of 5000"}},
      {2, other_code, kept, kNot, {"EXACT_IP 0 of 6800"}},
      {1, basis_of({}), undecided, kNot, {"no judged samples"}},
      {3, basis_of({}), undecided, kNot, {"no judged samples"}},
  };
  const std::vector<std::string_view> promises{"none", "constant skid", "skid 0 requested",
                                               kPromiseOfLevelThree};
  for (const auto& [level, basis, verdict, certified, evidence] : cases) {
    const Contract contract = judge(level, basis);
    SCOPED_TRACE(contract.evidence);
    EXPECT_EQ(contract.promise, promises.at(static_cast<std::size_t>(level)));
    EXPECT_EQ(contract.verdict, verdict);
    EXPECT_EQ(contract.certified, certified);
    for (const char* part : evidence) EXPECT_THAT(contract.evidence, HasSubstr(part));
    EXPECT_THAT(contract.evidence, Not(HasSubstr("\n")));
    EXPECT_EQ(contract.evidence.find("by design") != std::string::npos,
              level == 1 && basis.tally.instructions.mode() == 1);
  }
}

TEST(Contract, ListsWhatTheSamplesAndTheCatalogueAdd) {
  for (int level = 0; level <= 3; ++level) {
    Basis basis = basis_of({{0, 5000}, {2, 3}});
    basis.tally.exact_off_trigger = basis.tally.exact_samples = 3;
    basis.exact_ip = ExactIp::evidence;
    basis.ignores_level = true;
    const std::string evidence = judge(level, basis, "a remark").evidence;
    EXPECT_THAT(evidence, HasSubstr("; 3 samples with EXACT_IP off the trigger"));
    basis.exact_ip = ExactIp::request;
    EXPECT_THAT(judge(level, basis).evidence, Not(HasSubstr("off the trigger")));
    EXPECT_THAT(evidence, HasSubstr("; a remark"));
    EXPECT_EQ(evidence.find("this event ignores precise levels") != std::string::npos, level > 0);
  }
}

TEST(Contract, OfAnEventThatIgnoresLevelsIsBrokenOffItsKnownOffset) {
  for (int level = 1; level <= 3; ++level) {
    Basis basis = basis_of({{1, 5000}});
    basis.ignores_level = true;
    EXPECT_EQ(judge(level, basis).verdict, Verdict::not_judged) << "its offset is not known";
    basis.known_offset = 1;
    EXPECT_EQ(judge(level, basis).verdict, level == 1 ? Verdict::kept : Verdict::not_judged);
    EXPECT_THAT(judge(level, basis).evidence,
                HasSubstr("at its known offset +1 instruction: 5000 of 5000"));
    basis.known_offset = 0;
    EXPECT_EQ(judge(level, basis).verdict, Verdict::broken);
    EXPECT_EQ(judge(level, basis).share.count, 0U);
  }
}

TEST(Contract, OfWhatCannotBeJudgedGivesTheReason) {
  for (const auto& [reason, text] :
       {std::pair{NotJudged::every_instruction, "any instruction can cause this event"},
        {NotJudged::every_instruction, "measured share of hits 5000 of 5000"},
        {NotJudged::imprecise, "not a precise event on this CPU"},
        {NotJudged::no_trigger, "--hit FUNCTION --runway FUNCTION"},
        {NotJudged::no_precise_levels, "have no precise levels and ignore one"},
        {NotJudged::no_precise_levels, "offset 0: 5000 of 5000"},
        {NotJudged::not_caused, "is not known to cause this event"}}) {
    Basis basis = all_at(0);
    basis.not_judged = reason;
    const Contract contract = judge(2, basis);
    EXPECT_EQ(contract.verdict, Verdict::not_judged);
    EXPECT_THAT(contract.evidence, HasSubstr(text));
  }
  Basis nowhere = all_at(0);
  nowhere.geometry.reset();
  EXPECT_THAT(judge(2, nowhere).evidence, HasSubstr("no trigger address"));
}

TEST(Contract, OfATimerShowsWhichShareToExpect) {
  Basis basis = basis_of({{0, 2}, {700, 4998}});
  basis.not_judged = NotJudged::timer;
  basis.geometry->even_hit_share = 1.0 / 5201;
  const Contract contract = judge(2, basis);
  EXPECT_EQ(contract.verdict, Verdict::not_judged);
  EXPECT_THAT(contract.evidence, HasSubstr("expected share of hits 0.02%"));
  EXPECT_THAT(contract.evidence, HasSubstr("measured 2 of 5000"));
  // 5,200 NOPs take 1,300 of 1,625 ticks.
  basis.geometry->trigger_addresses = {0x401000};
  basis.ticks_per_instruction = 0.25;
  basis.ticks_per_iteration = 1625;
  EXPECT_NEAR(expected_hit_share(basis).value(), 0.2, 1e-9);
  EXPECT_THAT(judge(2, basis).evidence, HasSubstr("expected share of hits 20"));
  basis.ticks_per_iteration = 1299;
  EXPECT_EQ(expected_hit_share(basis), 1.0 / 5201) << "NOPs cannot take longer than all";
}

TEST(Contract, OfLevelThreeAddsWhatTheCpuHas) {
  Basis basis = all_at(0);
  const auto words = [&](int level, LevelThree level_three) {
    basis.level_three = level_three;
    return verdict_words(judge(level, basis));
  };
  EXPECT_EQ(words(3, LevelThree::same_as_level_2), "kept, same as level 2");
  EXPECT_THAT(judge(3, basis).evidence, HasSubstr("is the same as level 2 on this CPU"));
  EXPECT_EQ(words(2, LevelThree::same_as_level_2), "kept");
  EXPECT_EQ(words(3, LevelThree::distinct), "kept");
  EXPECT_THAT(judge(3, basis).evidence, HasSubstr("precise distribution on this CPU"));
  EXPECT_EQ(words(3, LevelThree::unknown), "kept");
}

TEST(ConstantSkid, IsThatOfTheMostCommonOffset) {
  Basis looping = all_at(1);
  looping.tally.breakdown.add(SampleClass::loop, 100);
  for (const auto& [basis, offset, verdict] :
       {std::tuple{all_at(0), 0, Verdict::kept}, std::tuple{all_at(1), 1, Verdict::kept},
        std::tuple{all_at(3, 100), 3, Verdict::undecided},
        std::tuple{basis_of({{4, 4000}, {5, 1000}}), 4, Verdict::broken},
        std::tuple{looping, 1, Verdict::broken}}) {
    const auto constant = constant_skid(basis.tally);
    ASSERT_TRUE(constant);
    EXPECT_EQ(constant->offset, offset);
    EXPECT_EQ(constant->verdict, verdict);
  }
  EXPECT_FALSE(constant_skid({}).has_value());
}

TEST(Verdict, NamesAreThoseOfTheSchema) {
  EXPECT_EQ(name_of(Verdict::kept), "kept");
  EXPECT_EQ(name_of(Verdict::broken), "broken");
  EXPECT_EQ(name_of(Verdict::undecided), "undecided");
  EXPECT_EQ(name_of(Verdict::not_judged), "not judged");
}

}  // namespace
}  // namespace skid::analysis
