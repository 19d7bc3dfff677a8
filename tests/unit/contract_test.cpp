// What the skid constraint of a level is, how samples meet it, and what their data addresses show
// of the cause.
#include "analysis/contract.h"

#include "analysis/basis.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/merge.h"
#include "analysis/not_judged.h"
#include "analysis/remedy.h"
#include "analysis/repeats.h"
#include "analysis/target_map.h"
#include "src/output/report/evidence.h"
#include "src/output/report/verdict_words.h"
#include "src/support/precise_level.h"
#include "tests/support/prelude.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::analysis {
namespace {

/// Judged samples by offset.
Basis basis_of(const std::vector<std::pair<std::int64_t, std::uint64_t>>& offsets) {
  Basis basis{.geometry = Geometry{}, .not_judged = NotJudged::none};
  for (const auto& [offset, samples] : offsets) {
    basis.tally.breakdown.add(offset == 0 ? SampleClass::hit : SampleClass::skid, samples);
    basis.tally.instructions.add(offset, samples);
  }
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

/// What the verdict at a level follows from, in one line.
std::string evidence_of(int level, const Basis& basis, const std::string& remark = {}) {
  Measurement m;
  m.basis = basis;
  m.contract = judge(level, basis);
  m.event.remark = remark;
  return output::contract_evidence(m);
}

TEST(Contract, IsJudgedByTheShareThatItsLevelConstrains) {
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
  Basis in_kernel = basis_of({});
  in_kernel.tally.breakdown.add(SampleClass::kernel, 77);
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
      {2, rewound, kept, false, {"offset 0: 4750 of 4750", "250 of 5000 samples (5.00%) off "}},
      {2, rewound, kept, false, {"off the trigger without EXACT_IP", "kept, not certified"}},
      {2, late, broken, false, {"offset 0: 4750 of 5000"}},
      {3, exact_in_kernel, kept, false, {}},
      {2, close, undecided, kNot, {"the interval contains 99.90%; record about 11,000 samples"}},
      {2,
       all_at(0, 500),
       undecided,
       kNot,
       {"500 samples judged, 'kept' needs 3838; record about "
        "3,900 samples (--samples 3900)"}},
      {2, all_at(1, 3800), broken, kNot, {"offset 0: 0 of 3800"}},
      {2, all_at(1, 2), broken, kNot, {}},
      {2, all_at(1, 1), undecided, kNot, {"1 off, as many as chance gives in 0.10% of recordings"}},
      {2, basis_of({{0, 498}, {4, 2}}), undecided, kNot, {"2 off, as many as chance gives in 9.0"}},
      {2, basis_of({{0, 496}, {4, 4}}), broken, kNot, {}},
      {2, all_at(0, 3837), undecided, kNot, {}},
      {2, all_at(0, 3838), kept, kNot, {}},
      {2, all_at(1, 3838), broken, kNot, {}},
      {2, loop, broken, kNot, {"4900 of 5000"}},
      {2, other_code, kept, kNot, {"EXACT_IP 0 of 6800"}},
      {1, in_kernel, undecided, kNot, {"no judged samples; all samples are in the kernel: "}},
      {3, in_kernel, undecided, kNot, {"no judged samples; all samples are in the kernel: "}},
      {1, basis_of({}), not_judged, kNot, {"no samples were recorded"}},
      {3, basis_of({}), not_judged, kNot, {"no samples were recorded"}},
  };
  for (const auto& [level, basis, verdict, certified, parts] : cases) {
    const Contract contract = judge(level, basis);
    const std::string evidence = evidence_of(level, basis);
    SCOPED_TRACE(evidence);
    EXPECT_EQ(contract.constraint, static_cast<Constraint>(level));
    EXPECT_EQ(contract.verdict, verdict);
    EXPECT_EQ(contract.certified, certified);
    for (const char* part : parts) EXPECT_THAT(evidence, HasSubstr(part));
    EXPECT_THAT(evidence, Not(HasSubstr("\n")));
    EXPECT_EQ(evidence.find("by design") != std::string::npos,
              level == 1 && basis.tally.instructions.mode() == 1);
  }
}

TEST(Contract, ListsWhatTheSamplesAndTheCatalogueAdd) {
  for (int level = 0; level <= 3; ++level) {
    Basis basis = basis_of({{0, 5000}, {2, 3}});
    basis.tally.exact_off_trigger = basis.tally.exact_samples = 3;
    basis.exact_ip = ExactIp::evidence;
    basis.ignores_level = true;
    const std::string evidence = evidence_of(level, basis, "a remark");
    EXPECT_THAT(evidence, HasSubstr("; 3 samples with EXACT_IP off the trigger"));
    basis.exact_ip = ExactIp::request;
    EXPECT_THAT(evidence_of(level, basis), Not(HasSubstr("off the trigger")));
    EXPECT_THAT(evidence, HasSubstr("; a remark"));
    EXPECT_THAT(evidence, HasSubstr("this event ignores precise levels")) << level;
  }
}

TEST(Contract, OfAnEventThatIgnoresLevelsIsBrokenOffItsKnownOffset) {
  for (int level = 1; level <= 3; ++level) {
    Basis basis = basis_of({{1, 5000}});
    basis.ignores_level = true;
    EXPECT_EQ(judge(level, basis).verdict, Verdict::not_judged) << "its offset is not known";
    basis.known_offset = 1;
    EXPECT_EQ(judge(level, basis).verdict, Verdict::not_judged);
    EXPECT_THAT(evidence_of(level, basis),
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
    EXPECT_THAT(evidence_of(2, basis), HasSubstr(text));
  }
  Basis nowhere = all_at(0);
  nowhere.geometry.reset();
  EXPECT_THAT(evidence_of(2, nowhere), HasSubstr("no trigger address"));
}

TEST(Contract, OfATimerShowsWhichShareToExpect) {
  Basis basis = basis_of({{0, 2}, {700, 4998}});
  basis.not_judged = NotJudged::timer;
  basis.geometry->even_hit_share = 1.0 / 5201;
  const Contract contract = judge(2, basis);
  EXPECT_EQ(contract.verdict, Verdict::not_judged);
  EXPECT_THAT(evidence_of(2, basis), HasSubstr("expected share of hits 0.02%"));
  EXPECT_THAT(evidence_of(2, basis), HasSubstr("measured 2 of 5000"));
  // 5,200 NOPs take 1,300 of 1,625 ticks.
  basis.geometry->trigger_addresses = {0x401000};
  basis.ticks_per_instruction = 0.25;
  basis.ticks_per_iteration = 1625;
  EXPECT_NEAR(expected_hit_share(basis).value(), 0.2, 1e-9);
  EXPECT_THAT(evidence_of(2, basis), HasSubstr("expected share of hits 20"));
  basis.ticks_per_iteration = 1299;
  EXPECT_EQ(expected_hit_share(basis), 1.0 / 5201) << "NOPs cannot take longer than all";
}

std::string words_of(const Contract& contract) {
  Figures figures;
  figures.contract = contract;
  return output::verdict_words(figures);
}

TEST(Contract, OfLevelThreeAddsWhatTheCpuHas) {
  Basis basis = all_at(0);
  const auto words = [&](int level, LevelThree level_three) {
    basis.level_three = level_three;
    return words_of(judge(level, basis));
  };
  EXPECT_EQ(words(3, LevelThree::same_as_level_2), "kept, same as level 2");
  EXPECT_THAT(evidence_of(3, basis), HasSubstr("is the same as level 2 on this CPU"));
  EXPECT_EQ(words(2, LevelThree::same_as_level_2), "kept");
  EXPECT_EQ(words(3, LevelThree::distinct), "kept");
  EXPECT_THAT(evidence_of(3, basis), HasSubstr("precise distribution on this CPU"));
  EXPECT_EQ(words(3, LevelThree::unknown), "kept");
}

TEST(Contract, CallsAMachineAtTheConstraintBrokenInFewOfManyRecordings) {
  // The chance of each number of misses at exactly 99.9%, added up over those that are broken.
  for (const unsigned samples : {1U, 2U, 5U, 10U, 25U, 26U, 60U, 176U, 243U, 500U, 1000U, 2000U,
                                 3000U, 3837U, 3838U, 5000U, 20'000U}) {
    const double n = samples;
    double chance = std::pow(kRequiredShare, n), is_broken = 0, is_kept = 0;
    for (std::uint64_t misses = 0; misses <= samples && misses < 100; ++misses) {
      const Verdict verdict = verdict_of(wilson_interval(samples - misses, samples));
      if (verdict == Verdict::broken) is_broken += chance;
      if (verdict == Verdict::kept) is_kept += chance;
      const auto k = static_cast<double>(misses);
      chance *= (n - k) / (k + 1) * (1 - kRequiredShare) / kRequiredShare;
    }
    EXPECT_LE(is_broken, 0.025) << samples;
    EXPECT_LE(is_kept, 0.0251) << samples;
    EXPECT_EQ(is_kept > 0, samples >= 3838) << samples;
    if (samples >= 2) EXPECT_EQ(verdict_of(wilson_interval(0, samples)), Verdict::broken);
  }
  EXPECT_EQ(verdict_of(wilson_interval(0, std::uint64_t{1} << 53)), Verdict::broken);
}

TEST(Remedy, NamesTheSamplesThatDecideOrWhatElseHelps) {
  const auto remedy = [](const Basis& basis, int level = 2) {
    const Contract contract = judge(level, basis);
    EXPECT_EQ(contract.verdict, Verdict::undecided) << evidence_of(level, basis);
    return contract.remedy.value_or(Remedy{});
  };
  // With as many samples as it names the same share is decided.
  for (const auto& [hits, misses] : {std::pair{3837U, 0U},
                                     {1U, 0U},
                                     {4998U, 2U},
                                     {49'960U, 40U},
                                     {498U, 2U},
                                     {4993U, 7U},
                                     {0U, 1U}}) {
    const Basis basis = basis_of({{0, hits}, {4, misses}});
    const Remedy found = remedy(basis);
    ASSERT_TRUE(found.samples) << output::remedy_text(found);
    const auto samples = *found.samples;
    // Fractions of a sample are taken for the verdict to come.
    const double expected = static_cast<double>(samples) * misses / (hits + misses);
    const bool is_to_break = misses > (hits + misses) * (1 - kRequiredShare);
    const auto missed =
        static_cast<std::uint64_t>(is_to_break ? std::ceil(expected) : std::floor(expected));
    EXPECT_NE(verdict_of(wilson_interval(samples - missed, samples)), Verdict::undecided)
        << hits << ' ' << misses << ": " << samples;
    EXPECT_LE(samples, 400'000U);
  }
  // Half of the samples are not judged.
  Basis half = all_at(0, 500);
  half.tally.breakdown.add(SampleClass::kernel, 500);
  EXPECT_EQ(remedy(half).samples, 7700U);
  const auto expect_other = [&](const Basis& basis, const char* text, int level = 2) {
    const Remedy found = remedy(basis, level);
    EXPECT_FALSE(found.samples);
    EXPECT_THAT(output::remedy_text(found), HasSubstr(text));
  };
  expect_other(basis_of({{0, 999'000}, {4, 1'000}}), "merge --pool");
  Basis others = basis_of({});
  others.geometry->trigger_addresses = {0x401000};
  others.tally.breakdown.add(SampleClass::other_trigger, 5000);
  expect_other(others, "record another period (-c)");
  others.geometry->trigger_addresses = {0x401000, 0x401010};
  expect_other(others, "fewer triggers");
  others = all_at(0, 100);
  others.tally.breakdown.add(SampleClass::other_trigger, 5000);
  expect_other(others, "5000 of 5100 samples are at other triggers: record another period");
  Basis uncorrected = all_at(7);
  uncorrected.exact_ip = ExactIp::evidence;
  expect_other(uncorrected, "the kernel corrected none");
  expect_other(basis_of({{0, 999'000}, {4, 1'000}}), "too near 99.90%", 3);
  EXPECT_FALSE(judge(2, all_at(0)).remedy);
}

TEST(Contract, CountsSamplesThatTheKernelDidNotCorrect) {
  const Contract contract = judge(2, exact(basis_of({{0, 5000}, {3, 5000}}), 5000));
  EXPECT_EQ(contract.not_corrected.count, 5000U);
  EXPECT_EQ(contract.not_corrected.total, 10'000U);
  EXPECT_EQ(words_of(contract), "kept, 5000 of 10000 (50.00%) not corrected");
  EXPECT_EQ(words_of(judge(2, exact(all_at(0), 5000))), "kept, certified");
  EXPECT_EQ(judge(1, exact(all_at(1), 0)).not_corrected.count, 0U) << "level 1 corrects nothing";
}

TEST(ConstantSkid, IsThatOfTheMostCommonOffset) {
  Basis looping = all_at(1);
  looping.tally.breakdown.add(SampleClass::loop, 100);
  for (const auto& [basis, offset, verdict] :
       {std::tuple{all_at(0), 0, Verdict::kept}, std::tuple{all_at(1), 1, Verdict::kept},
        std::tuple{all_at(3, 100), 3, Verdict::undecided},
        std::tuple{basis_of({{4, 40}, {5, 10}}), 4, Verdict::broken},
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
  const AddressTable& samples = addresses.samples;
  Basis basis = basis_of(
      {{0, samples.trigger.sum()}, {1, samples.successor.sum()}, {30, samples.elsewhere.sum()}});
  basis.geometry->trigger_addresses = {0x401000};
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
  EXPECT_THAT(output::describe_addresses(addresses_of({}, AddressSource::request)),
              HasSubstr("repeats the request"));
  EXPECT_THAT(output::describe_addresses(Addresses{AddressSource::pebs, {}, {}}),
              HasSubstr("no declared data"));
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
      // The right address and a wrong IP: the contract is broken.
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
  EXPECT_THAT(evidence_of(2, basis_with_addresses(addresses)), HasSubstr("repeats the request"));
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
  EXPECT_EQ(contract.constraint, Constraint::tagged);
  EXPECT_EQ(contract.share.total, 4000u);
  EXPECT_EQ(judge(2, basis).constraint, Constraint::zero_requested);

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
  EXPECT_THAT(output::count_warnings(measurement),
              ElementsAre(HasSubstr("something else caused them")));
  measurement.basis.addresses->samples.trigger.other = 0;
  complete(measurement);
  EXPECT_TRUE(output::count_warnings(measurement).empty());
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
