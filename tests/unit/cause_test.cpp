// Data addresses: whose data, and what they show of an event's cause.
#include "analysis/cause.h"

#include "analysis/measurement.h"
#include "analysis/merge.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kDatum = 0x403000, kKernel = 0xffff'8880'0000'0000;
const std::vector<DeclaredData> kDeclared{{true, {kDatum, kDatum + 8}},
                                          {false, {kDatum, kDatum + 4096}}};

OwnerCounts owner_of(std::uint64_t address) {
  OwnerCounts counts;
  counts.add(address, kDeclared);
  return counts;
}

Addresses addresses_of(AddressTable samples, AddressSource source = AddressSource::pebs) {
  return {source, kDeclared, samples};
}

/// Of a target at which all of `samples` were taken, with the breakdown and offsets that follow.
Basis basis_with_addresses(const Addresses& addresses) {
  Basis basis{.geometry = Geometry{}, .not_judged = NotJudged::none};
  basis.geometry->trigger_addresses = {0x401000};
  const auto add = [&basis](std::int64_t offset, std::uint64_t samples) {
    basis.tally.breakdown.add(offset == 0 ? SampleClass::hit : SampleClass::skid, samples);
    basis.tally.instructions.add(offset, samples);
  };
  add(0, addresses.samples.trigger.sum());
  add(1, addresses.samples.successor.sum());
  add(30, addresses.samples.elsewhere.sum());
  basis.addresses = addresses;
  return basis;
}

TEST(DataAddress, IsOfTheTriggerFirstThenOfOtherTriggersThenOfSomethingElse) {
  EXPECT_EQ(owner_of(kDatum).trigger, 1u);
  EXPECT_EQ(owner_of(kDatum + 7).trigger, 1u);
  EXPECT_EQ(owner_of(kDatum + 8).other_trigger, 1u);
  EXPECT_EQ(owner_of(kDatum - 1).other, 1u);
  EXPECT_EQ(owner_of(kKernel).other, 1u);
}

TEST(DataAddress, OfZeroOrNotCanonicalIsNone) {
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1} << 56,
                                      std::uint64_t{1} << 63, 0x00ff'ffff'0000'0000ul << 4}) {
    EXPECT_EQ(owner_of(address).none, 1u) << std::hex << address;
  }
  EXPECT_TRUE(is_data_address(UINT64_MAX));
  EXPECT_TRUE(is_data_address(0x00ff'ffff'ffff'ffff >> 1));
}

TEST(AddressTable, CountsByPlaceAndLeavesOutWhatIsNotJudged) {
  AddressTable table;
  const auto at = [&table](SampleClass sample_class, std::int64_t offset = 0) -> OwnerCounts& {
    Classified place;
    place.sample_class = sample_class;
    if (offset != 0) place.offset = Offset{offset, offset};
    return table.at(place);
  };
  at(SampleClass::hit).trigger = 1;
  at(SampleClass::skid, 1).trigger = 2;
  at(SampleClass::skid, 2).other = 4;
  at(SampleClass::loop).none = 8;
  at(SampleClass::kernel).trigger = 16;
  at(SampleClass::other_trigger).other_trigger = 32;
  EXPECT_EQ(table.successor.trigger, 2u);
  EXPECT_EQ(table.judged().trigger, 3u);
  EXPECT_EQ(table.judged().sum(), 15u);
  EXPECT_EQ(table.not_judged.sum(), 48u);
}

TEST(Cause, IsJudgedByTheShareThatContradicts) {
  const auto verdict = [](std::uint64_t own, std::uint64_t other) {
    return cause_of(addresses_of({.trigger = {.trigger = own, .other = other, .none = 77}}))
        .verdict;
  };
  EXPECT_EQ(verdict(5000, 0), Verdict::kept);
  EXPECT_EQ(verdict(4999, 1), Verdict::undecided);
  EXPECT_EQ(verdict(4950, 50), Verdict::broken);
  EXPECT_EQ(verdict(3000, 0), Verdict::undecided);
  EXPECT_EQ(verdict(0, 0), Verdict::not_judged);
}

TEST(Cause, IsNotShownByARequestAnUnknownSourceOrWithoutDeclaredData) {
  const AddressTable foreign{.trigger = {.other = 5000}};
  for (const auto source : {AddressSource::request, AddressSource::unknown, AddressSource::none,
                            AddressSource::tagged}) {
    EXPECT_EQ(cause_of(addresses_of(foreign, source)).verdict, Verdict::not_judged);
  }
  EXPECT_EQ(cause_of({AddressSource::pebs, {}, {}}).verdict, Verdict::not_judged);
  EXPECT_THAT(describe(addresses_of({}, AddressSource::request)), HasSubstr("repeats the request"));
  EXPECT_THAT(describe({AddressSource::pebs, {}, {}}), HasSubstr("no declared data"));
}

struct Judged {
  AddressTable samples;
  int level;
  Verdict verdict;
};

TEST(ContractWithAddresses, IsOfSamplesThatTheTriggerCaused) {
  const OwnerCounts own{.trigger = 5000}, foreign{.other = 5000}, few{.other = 50};
  const std::vector<Judged> cases{
      {{.trigger = own}, 2, Verdict::kept},
      // The right address and a wrong IP: the promise is broken.
      {{.trigger = own, .successor = own}, 2, Verdict::broken},
      {{.successor = own}, 1, Verdict::kept},
      // Sound, and something else causes the event elsewhere: neither broken nor kept.
      {{.trigger = own, .elsewhere = foreign}, 2, Verdict::undecided},
      {{.trigger = own, .elsewhere = foreign}, 3, Verdict::undecided},
      {{.successor = own, .elsewhere = foreign}, 1, Verdict::undecided},
      {{.trigger = own, .elsewhere = few}, 2, Verdict::undecided},
      // On the trigger, and caused by something else.
      {{.trigger = foreign}, 2, Verdict::undecided},
      {{.trigger = {.trigger = 5000, .other = 50}}, 2, Verdict::undecided},
      // Broken whatever else causes the event.
      {{.trigger = own, .successor = own, .elsewhere = foreign}, 2, Verdict::broken},
      // A missing address contradicts nothing.
      {{.trigger = {.none = 5000}}, 2, Verdict::kept},
      {{.trigger = own, .elsewhere = {.none = 5000}}, 2, Verdict::broken},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Basis basis = basis_with_addresses(addresses_of(cases[i].samples));
    EXPECT_EQ(judge(cases[i].level, basis).verdict, cases[i].verdict) << "case " << i;
  }
}

TEST(ContractWithAddresses, IgnoresThoseThatIdentifyNothing) {
  Addresses addresses = addresses_of({.trigger = {.trigger = 5000}, .elsewhere = {.other = 5000}},
                                     AddressSource::unknown);
  EXPECT_EQ(judge(2, basis_with_addresses(addresses)).verdict, Verdict::broken);
  addresses.source = AddressSource::request;
  const Contract contract = judge(2, basis_with_addresses(addresses));
  EXPECT_EQ(contract.verdict, Verdict::broken);
  EXPECT_THAT(contract.evidence, HasSubstr("repeats the request"));
}

TEST(ContractWithAddresses, OfTaggedOperationsIsOfThoseThatAccessTheTriggersData) {
  // Most operations are NOPs without an address, as they should be.
  Addresses addresses = addresses_of({.trigger = {.trigger = 4000},
                                      .successor = {.none = 900'000},
                                      .elsewhere = {.none = 900'000},
                                      .not_judged = {.trigger = 5, .other = 40}},
                                     AddressSource::tagged);
  Basis basis = basis_with_addresses(addresses);
  basis.not_judged = NotJudged::every_instruction;
  Contract contract = judge(0, basis);
  EXPECT_EQ(contract.verdict, Verdict::kept);
  EXPECT_EQ(contract.promise, "tagged operation");
  EXPECT_EQ(contract.share.total, 4000u);
  EXPECT_EQ(judge(2, basis).promise, "skid 0 requested");

  basis.addresses->samples.successor.trigger = 40;
  EXPECT_EQ(judge(2, basis).verdict, Verdict::broken);
  basis.addresses->samples = {.trigger = {.trigger = 100}};
  EXPECT_EQ(judge(2, basis).verdict, Verdict::undecided);
  basis.addresses->declared.clear();
  EXPECT_EQ(judge(2, basis).verdict, Verdict::not_judged);
}

TEST(ContractWithAddresses, IsWarnedOfWhereSomethingElseCausesTheEvent) {
  Measurement measurement;
  measurement.precise.recorded = 2;
  measurement.basis =
      basis_with_addresses(addresses_of({.trigger = {.trigger = 5000, .other = 50}}));
  complete(measurement);
  ASSERT_EQ(measurement.count_warnings.size(), 1u);
  EXPECT_THAT(measurement.count_warnings.front(), HasSubstr("something else caused them"));
  measurement.basis.addresses->samples.trigger.other = 0;
  complete(measurement);
  EXPECT_TRUE(measurement.count_warnings.empty());
}

TEST(MergedAddresses, AddUpAndKeepTheDataOfEachRun) {
  std::vector<Measurement> measurements(2);
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    Measurement& m = measurements[i];
    m.file = i == 0 ? "a" : "b";
    m.basis = basis_with_addresses(addresses_of({.trigger = {.trigger = 10 + i, .other = 1}}));
    complete(m);
  }
  measurements[1].basis.addresses->declared = {{true, {0x7000, 0x8000}}};
  const auto merged = merge(measurements, {0, 1}, RepeatPolicy::pool).measurements;
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].basis.addresses->samples.trigger.trigger, 21u);
  EXPECT_EQ(merged[0].basis.addresses->samples.trigger.other, 2u);
  EXPECT_EQ(merged[0].basis.addresses->declared.size(), 3u);

  measurements[1].basis.addresses.reset();
  EXPECT_EQ(merge(measurements, {0, 1}, RepeatPolicy::pool).measurements.size(), 2u);
}

}  // namespace
}  // namespace skid::analysis
