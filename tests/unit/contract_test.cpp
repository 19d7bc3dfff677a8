#include "analysis/contract.h"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `samples` at one offset and nothing else.
ContractInput all_at(std::int64_t offset, int level, std::uint64_t samples = 5000) {
  ContractInput input;
  input.level = level;
  input.ledger.add(offset == 0 ? SampleClass::hit : SampleClass::skid, samples);
  input.offsets.add(offset, samples);
  return input;
}

/// A data breakpoint on x86 traps after its instruction, whatever the level.
ContractInput data_breakpoint(int level) {
  ContractInput input = all_at(1, level);
  input.ignores_level = true;
  return input;
}

TEST(Contract, LevelZeroPromisesNothingAndIsDescribed) {
  const Contract contract = judge(data_breakpoint(0));
  EXPECT_EQ(contract.verdict, Verdict::not_judged);
  EXPECT_EQ(contract.promise, "none");
  EXPECT_THAT(contract.evidence, HasSubstr("most common offset +1 instruction, 5000 of 5000"));
}

TEST(Contract, ConstantSkidOfOneIsKeptAtLevelOneAndSaidToBeByDesign) {
  const Contract contract = judge(data_breakpoint(1));
  EXPECT_EQ(contract.promise, "constant skid");
  EXPECT_EQ(contract.verdict, Verdict::kept);
  EXPECT_FALSE(contract.certified);
  EXPECT_THAT(contract.evidence, HasSubstr("by design"));
  EXPECT_THAT(contract.evidence, HasSubstr("accepts a precise level and ignores it"));
}

TEST(Contract, SkidOfOneBreaksLevelsTwoAndThree) {
  for (const int level : {2, 3}) {
    const Contract contract = judge(data_breakpoint(level));
    EXPECT_EQ(contract.verdict, Verdict::broken);
    EXPECT_FALSE(contract.certified);
    EXPECT_THAT(contract.evidence, HasSubstr("offset 0: 0 of 5000"));
    EXPECT_THAT(contract.evidence, HasSubstr("EXACT_IP 0 of 5000"));
    EXPECT_THAT(contract.evidence, HasSubstr("most common offset +1 instruction, 5000 of 5000"));
    EXPECT_THAT(contract.evidence, HasSubstr("accepts a precise level and ignores it"));
    EXPECT_THAT(contract.evidence, Not(HasSubstr("by design")));
  }
}

TEST(Contract, ZeroSkidWithoutExactIpIsKeptButNotCertified) {
  const Contract contract = judge(all_at(0, 2));
  EXPECT_EQ(contract.verdict, Verdict::kept);
  EXPECT_FALSE(contract.certified);
  EXPECT_THAT(contract.evidence, HasSubstr("EXACT_IP 0 of 5000: kept, not certified"));
}

TEST(Contract, ZeroSkidIsCertifiedByExactIpOnEveryHit) {
  ContractInput input = all_at(0, 3);
  input.exact_samples = input.exact_hits = 5000;
  EXPECT_TRUE(judge(input).certified);
  input.exact_samples = input.exact_hits = 4999;
  EXPECT_FALSE(judge(input).certified);
  // Exact samples in the kernel vouch for no hit.
  input.ledger.add(SampleClass::kernel, 1);
  input.exact_samples = 5000;
  EXPECT_FALSE(judge(input).certified);
}

TEST(Contract, LevelOneIsNeverCertified) {
  ContractInput input = all_at(0, 1);
  input.exact_samples = input.exact_hits = 5000;
  EXPECT_EQ(judge(input).verdict, Verdict::kept);
  EXPECT_FALSE(judge(input).certified);
}

TEST(Contract, TooFewSamplesDecideNothingEitherWay) {
  for (const std::int64_t offset : {0, 1}) {
    const Contract contract = judge(all_at(offset, 2, 500));
    EXPECT_EQ(contract.verdict, Verdict::undecided);
    EXPECT_THAT(contract.evidence, HasSubstr("500 samples judged, a verdict needs 3838"));
  }
  EXPECT_EQ(judge(all_at(0, 2, 3837)).verdict, Verdict::undecided);
  EXPECT_EQ(judge(all_at(0, 2, 3838)).verdict, Verdict::kept);
  EXPECT_EQ(judge(all_at(1, 2, 3838)).verdict, Verdict::broken);
}

TEST(Contract, AnIntervalThatHoldsThePromisedShareIsUndecided) {
  ContractInput input = all_at(0, 2, 4998);
  input.ledger.add(SampleClass::skid, 2);
  input.offsets.add(7, 2);
  const Contract contract = judge(input);
  EXPECT_LT(contract.share.low, kPromisedShare);
  EXPECT_GT(contract.share.high, kPromisedShare);
  EXPECT_EQ(contract.verdict, Verdict::undecided);
  EXPECT_THAT(contract.evidence, HasSubstr("more samples decide"));
}

TEST(Contract, LoopSamplesAreHeldAgainstThePromise) {
  ContractInput input = all_at(0, 2, 4900);
  input.ledger.add(SampleClass::loop, 100);
  EXPECT_EQ(judge(input).verdict, Verdict::broken);
  EXPECT_EQ(judge(input).share.total, 5000u);
}

TEST(Contract, OtherCodeIsNotHeldAgainstThePromise) {
  ContractInput input = all_at(0, 2);
  input.ledger.add(SampleClass::other_trigger, 900);
  input.ledger.add(SampleClass::kernel, 900);
  EXPECT_EQ(judge(input).verdict, Verdict::kept);
  EXPECT_THAT(judge(input).evidence, HasSubstr("EXACT_IP 0 of 6800"));
}

TEST(Contract, SpreadSamplesBreakConstantSkid) {
  ContractInput input;
  input.level = 1;
  input.ledger.add(SampleClass::skid, 5000);
  input.offsets.add(8, 3000);
  input.offsets.add(12, 2000);
  const Contract contract = judge(input);
  EXPECT_EQ(contract.verdict, Verdict::broken);
  EXPECT_EQ(contract.share.count, 3000u);
  EXPECT_THAT(contract.evidence, HasSubstr("most common offset +8 instructions: 3000 of 5000"));
}

TEST(Contract, ExactSamplesOffTheTriggerAreAlwaysListed) {
  for (int level = 0; level <= 3; ++level) {
    ContractInput input = all_at(0, level);
    input.ledger.add(SampleClass::skid, 3);
    input.offsets.add(2, 3);
    input.exact_off_trigger = input.exact_samples = 3;
    EXPECT_THAT(judge(input).evidence, HasSubstr("3 samples with EXACT_IP off the trigger"));
  }
}

TEST(Contract, ATimerIsNotJudgedAndShowsWhatToExpect) {
  ContractInput input;
  input.level = 2;
  input.not_judged = NotJudged::timer;
  input.ignores_level = true;
  input.ledger.add(SampleClass::skid, 4998);
  input.ledger.add(SampleClass::hit, 2);
  input.offsets.add(0, 2);
  input.offsets.add(700, 4998);
  input.expected_hit_share = 1.0 / 5201;
  const Contract contract = judge(input);
  EXPECT_EQ(contract.verdict, Verdict::not_judged);
  EXPECT_THAT(contract.evidence, HasSubstr("expected share of hits 0.02%"));
  EXPECT_THAT(contract.evidence, HasSubstr("measured 2 of 5000"));
}

TEST(Contract, WhatCannotBeJudgedSaysWhy) {
  ContractInput input = all_at(0, 2);
  input.not_judged = NotJudged::every_instruction;
  EXPECT_THAT(judge(input).evidence, HasSubstr("any instruction can cause this event"));
  EXPECT_EQ(judge(input).verdict, Verdict::not_judged);
  input.not_judged = NotJudged::imprecise;
  EXPECT_EQ(judge(input).verdict, Verdict::not_judged);
  EXPECT_THAT(judge(input).evidence, HasSubstr("imprecise by catalogue"));
  input.not_judged = NotJudged::no_trigger;
  EXPECT_THAT(judge(input).evidence, HasSubstr("--hit FUNCTION --runway FUNCTION"));
  EXPECT_EQ(judge(input).verdict, Verdict::not_judged);
  input.not_judged = NotJudged::no_precise_levels;
  EXPECT_EQ(judge(input).verdict, Verdict::not_judged);
  EXPECT_THAT(judge(input).evidence, HasSubstr("have no precise levels and ignore one"));
  EXPECT_THAT(judge(input).evidence, HasSubstr("offset 0: 5000 of 5000")) << "but described";
  input.not_judged = NotJudged::not_caused;
  EXPECT_THAT(judge(input).evidence, HasSubstr("is not known to cause this event"));
  EXPECT_EQ(judge(input).verdict, Verdict::not_judged);
}

TEST(Contract, WithoutJudgedSamplesNothingIsDecided) {
  for (int level = 1; level <= 3; ++level) {
    ContractInput input;
    input.level = level;
    input.ledger.add(SampleClass::kernel, 10000);
    EXPECT_EQ(judge(input).verdict, Verdict::undecided);
    EXPECT_THAT(judge(input).evidence, HasSubstr("no judged samples"));
  }
}

TEST(Contract, EvidenceIsOneLine) {
  for (int level = 0; level <= 3; ++level) {
    EXPECT_THAT(judge(data_breakpoint(level)).evidence, Not(HasSubstr("\n")));
  }
}

TEST(ConstantSkid, IsJudgedAsLevelOneJudgesIt) {
  ContractInput spread = all_at(4, 1, 4000);
  spread.ledger.add(SampleClass::skid, 1000);
  spread.offsets.add(5, 1000);
  ContractInput looping = all_at(1, 1);
  looping.ledger.add(SampleClass::loop, 100);
  for (const ContractInput& input :
       {all_at(0, 1), all_at(1, 1), all_at(3, 1, 100), spread, looping}) {
    const auto constant = constant_skid(input.ledger, input.offsets);
    ASSERT_TRUE(constant);
    const Contract contract = judge(input);
    EXPECT_EQ(constant->verdict, contract.verdict);
    EXPECT_EQ(constant->share.low, contract.share.low);
    EXPECT_EQ(constant->offset, input.offsets.mode());
  }
  EXPECT_EQ(constant_skid(all_at(1, 1).ledger, all_at(1, 1).offsets)->verdict, Verdict::kept);
  EXPECT_EQ(constant_skid(spread.ledger, spread.offsets)->verdict, Verdict::broken);
  EXPECT_FALSE(constant_skid({}, {}).has_value());
}

TEST(Verdict, NamesAreThoseOfTheSchema) {
  EXPECT_EQ(name_of(Verdict::kept), "kept");
  EXPECT_EQ(name_of(Verdict::broken), "broken");
  EXPECT_EQ(name_of(Verdict::undecided), "undecided");
  EXPECT_EQ(name_of(Verdict::not_judged), "not judged");
}

}  // namespace
}  // namespace skid::analysis
