// What follows from a trigger kind: refusals, expected counts, the watched bytes and the working
// set.

#include "analysis/measurement.h"
#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/unit/runway_fixture.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::runway {
namespace {

TEST(ReturnTrigger, LeadsToTheRunwayByTheStackAndNotByItsPrediction) {
  const std::string assembly = assembly_of(default_specification(Arch::x86_64, "ret"_trigger));
  EXPECT_THAT(assembly, HasSubstr("call .Lpushed\n"));
  EXPECT_THAT(assembly, HasSubstr("\tint3\n.Lpushed:\n\tmovq $.Lrunway, (%rsp)\n"));
}

std::vector<std::string> without(std::vector<std::string> flags, std::string_view flag) {
  std::erase(flags, flag);
  return flags;
}

TEST(GapsFor, GrowEvenlyUpToTheRunway) {
  EXPECT_THAT(gaps_for(std::nullopt, {}, 5000), IsEmpty());
  EXPECT_THAT(gaps_for(1, {}, 5000), IsEmpty());
  EXPECT_THAT(gaps_for(4, {}, 5000), ElementsAre(1250, 2500, 3750));
  EXPECT_THAT(gaps_for(std::nullopt, {70, 30}, 5000), ElementsAre(70, 30));
  EXPECT_THAT(gaps_for(3, {70, 30}, 5000), ElementsAre(70, 30));
  // Contradictions.
  EXPECT_THROW(gaps_for(2, {70, 30}, 5000), ValueError);
  EXPECT_THROW(gaps_for(0, {}, 5000), ValueError);
  EXPECT_THROW(gaps_for(17, {}, 5000), ValueError);
  EXPECT_THROW(gaps_for(4, {}, 60), ValueError) << "a gap of 15";
}

TEST(Refusal, NamesTheMissingCpuFeature) {
  std::vector<std::string> all{"fpu"};
  for (const TriggerKind kind : all_trigger_kinds()) all.emplace_back(kind_of(kind).cpu_flag);
  for (const TriggerKind kind : trigger_kinds_of(Arch::x86_64)) {
    EXPECT_FALSE(refusal(kind, Arch::x86_64, all)) << name_of(kind);
    EXPECT_FALSE(refusal(kind, Arch::x86_64, {})) << name_of(kind);
    const std::string flag(kind_of(kind).cpu_flag);
    if (flag.empty()) continue;
    EXPECT_THAT(refusal(kind, Arch::x86_64, without(all, flag)).value_or(""),
                HasSubstr("this CPU lacks " + flag))
        << name_of(kind);
  }
  EXPECT_TRUE(refusal("zmm-load"_trigger, Arch::x86_64, {"sse", "avx"}));
  // Flags of x86 do not concern another architecture's CPU.
  EXPECT_FALSE(refusal("load"_trigger, Arch::aarch64, {"sse"}));
}

std::optional<double> events_of(TriggerKind kind, Counted counted, Arch arch = Arch::x86_64) {
  return events_per_iteration(default_specification(arch, kind), counted);
}

TEST(EventsPerIteration, CountTheBackEdgeWithTheTrigger) {
  EXPECT_EQ(events_of("none"_trigger, Counted::instructions), 1 + 200 + 1 + 5000 + 2);
  EXPECT_EQ(events_of("none"_trigger, Counted::branches), 1);
  EXPECT_EQ(events_of("none"_trigger, Counted::taken_conditional_branches), 1);
  EXPECT_EQ(events_of("none"_trigger, Counted::loads), 0);
  EXPECT_EQ(events_of("none"_trigger, Counted::mispredicted), 0);
  EXPECT_EQ(events_of("branch-taken"_trigger, Counted::taken_branches), 2);
  EXPECT_EQ(events_of("branch-not-taken"_trigger, Counted::taken_branches), 1);
  EXPECT_EQ(events_of("branch-not-taken"_trigger, Counted::conditional_branches), 2);
}

TEST(ShareOfTriggers, LeavesOutWhatTheRestOfTheLoopCauses) {
  const auto share = [](TriggerKind kind, Counted counted, std::vector<std::uint32_t> gaps = {}) {
    Specification specification = default_specification(Arch::x86_64, kind);
    specification.gaps = std::move(gaps);
    return share_of_triggers(specification, counted);
  };
  EXPECT_EQ(share("branch-taken"_trigger, Counted::taken_branches), 0.5);
  EXPECT_EQ(share("branch-taken"_trigger, Counted::taken_branches, {100, 100}), 0.75);
  EXPECT_EQ(share("branch-taken"_trigger, Counted::other), 0.5) << "not known";
  EXPECT_EQ(share("ret"_trigger, Counted::taken_branches), 1.0 / 3);
  EXPECT_EQ(share("ret"_trigger, Counted::returns), 1);
  EXPECT_EQ(share("call"_trigger, Counted::calls), 1);
  EXPECT_EQ(share("branch-mispredict"_trigger, Counted::mispredicted), 1);
  EXPECT_EQ(share("branch-mispredict"_trigger, Counted::taken_branches), 1.0 / 3);
  EXPECT_EQ(share("load"_trigger, Counted::loads), 1);
  EXPECT_EQ(share("load"_trigger, Counted::other), 1);
  EXPECT_EQ(share("branch-taken"_trigger, Counted::loads), 1) << "not judged";
}

/// Counts of a kind that must fit each other, where they do not depend on the CPU.
TEST(EventsPerIteration, AddUpForEveryKind) {
  const std::vector<std::vector<Counted>> sums{
      {Counted::loads, Counted::l1_hits, Counted::l1_misses},
      {Counted::l1_misses, Counted::l2_hits, Counted::l2_misses},
      {Counted::l2_misses, Counted::l3_hits, Counted::l3_misses},
      {Counted::branches, Counted::taken_branches, Counted::untaken_conditional_branches},
      {Counted::conditional_branches, Counted::taken_conditional_branches,
       Counted::untaken_conditional_branches},
      {Counted::mispredicted, Counted::mispredicted_conditional, Counted::mispredicted_returns}};
  for (const TriggerKind kind : trigger_kinds_of(Arch::x86_64)) {
    for (const std::vector<Counted>& sum : sums) {
      const auto whole = events_of(kind, sum[0]);
      const auto one = events_of(kind, sum[1]), other = events_of(kind, sum[2]);
      if (!whole || !one || !other) continue;
      EXPECT_EQ(*whole, *one + *other) << name_of(kind) << ", " << static_cast<int>(sum[0]);
    }
  }
}

TEST(EventsPerIteration, AreUnknownWhereTheyDependOnTheCpuOrTheKernel) {
  EXPECT_EQ(events_of("string-load"_trigger, Counted::loads), std::nullopt);
  EXPECT_EQ(events_of("fault"_trigger, Counted::branches), std::nullopt);
  EXPECT_EQ(events_of("load"_trigger, Counted::cycles), std::nullopt);
  Specification refused{.arch = Arch::aarch64, .trigger = "cpuid"_trigger};
  EXPECT_EQ(events_per_iteration(refused, Counted::branches), std::nullopt);
}

TEST(EventsPerIteration, CountTheLongBackEdgeOfAarch64) {
  Specification specification = default_specification(Arch::aarch64, "none"_trigger);
  EXPECT_EQ(events_per_iteration(specification, Counted::branches), 1);
  specification.nops = 1'000'000;
  EXPECT_EQ(events_per_iteration(specification, Counted::branches), 2);
  EXPECT_EQ(events_per_iteration(specification, Counted::taken_branches), 1);
}

TEST(WatchedBytes, FitADebugRegister) {
  EXPECT_EQ(watched_bytes(default_specification(Arch::x86_64, "zmm-load"_trigger)), 8U);
  EXPECT_EQ(watched_bytes(default_specification(Arch::x86_64, "load"_trigger)), 8U);
  EXPECT_EQ(watched_bytes({.trigger = "load"_trigger, .access_bytes = 2}), 2U);
  const Specification string{.trigger = "string-load"_trigger, .access_bytes = 2};
  EXPECT_EQ(watched_bytes(string), 8U);
  EXPECT_EQ(string_repetitions(string), 5U);
}

constexpr std::uint64_t kKibibyte = 1024, kMebibyte = 1024 * kKibibyte,
                        kGibibyte = 1024 * kMebibyte;

TEST(WorkingSetFor, IsBetweenTheLevels) {
  const MemorySizes skylake{32 * kKibibyte, 256 * kKibibyte, 8 * kMebibyte, 16 * kGibibyte};
  EXPECT_EQ(working_set_for("load-l2"_trigger, skylake).bytes, 128 * kKibibyte);
  EXPECT_EQ(working_set_for("load-l3"_trigger, skylake).bytes, 4 * kMebibyte);
  EXPECT_EQ(working_set_for("load-dram"_trigger, skylake).bytes, 64 * kMebibyte);
  EXPECT_EQ(working_set_for("load"_trigger, skylake).bytes, 0U);
  const MemorySizes server{48 * kKibibyte, 2 * kMebibyte, 105 * kMebibyte, 64 * kGibibyte};
  EXPECT_EQ(working_set_for("load-l3"_trigger, server).bytes, 32 * kMebibyte);
  EXPECT_EQ(working_set_for("load-dram"_trigger, server).bytes, 840 * kMebibyte);
}

TEST(WorkingSetFor, RefusesLevelsTooCloseToEachOther) {
  const MemorySizes none{32 * kKibibyte, 512 * kKibibyte, 0, kGibibyte};
  EXPECT_THAT(working_set_for("load-l3"_trigger, none).refusal, HasSubstr("no level 3"));
  EXPECT_EQ(working_set_for("load-dram"_trigger, none).bytes, 4 * kMebibyte);
  const MemorySizes narrow{32 * kKibibyte, 2 * kMebibyte, 4 * kMebibyte, kGibibyte};
  EXPECT_THAT(working_set_for("load-l3"_trigger, narrow).refusal,
              HasSubstr("half of the level 3 cache (4 MiB) is not far above level 2 (2 MiB)"));
  const MemorySizes little{32 * kKibibyte, kMebibyte, 256 * kMebibyte, 2 * kGibibyte};
  EXPECT_THAT(working_set_for("load-dram"_trigger, little).refusal, HasSubstr("memory"));
  // A quarter of the memory bounds it before it is refused.
  const MemorySizes enough{32 * kKibibyte, kMebibyte, 256 * kMebibyte, 6 * kGibibyte};
  EXPECT_EQ(working_set_for("load-dram"_trigger, enough).bytes, 1536 * kMebibyte);
}

TEST(WorkingSetFor, HasARemarkForAnUnknownCpu) {
  const WorkingSet set = working_set_for("load-dram"_trigger, {});
  EXPECT_EQ(set.bytes, 256 * kMebibyte);
  EXPECT_THAT(set.refusal, IsEmpty());
  EXPECT_THAT(set.remark, HasSubstr("256 MiB; another working set"));
}

TEST(SizeText, UsesTheLargestWholeUnit) {
  EXPECT_EQ(size_text(2080 * kMebibyte), "2080 MiB");
  EXPECT_EQ(size_text(384 * kKibibyte), "384 KiB");
  EXPECT_EQ(size_text(100), "100 bytes");
}

TEST(Specification, TakesAWorkingSetWithAChaseOnly) {
  const auto refused = [](TriggerKind kind, std::uint64_t bytes) {
    Specification specification = default_specification(Arch::x86_64, kind);
    specification.working_set_bytes = bytes;
    return test::message_of<ValueError>([&] { check(specification); });
  };
  EXPECT_EQ(refused("load-l2"_trigger, 64 * kKibibyte), "no error");
  EXPECT_EQ(refused("load-l2"_trigger, 1024 + 64), "no error");
  EXPECT_THAT(refused("load-l3"_trigger, 1024 + 64), HasSubstr("multiples of 128"));
  EXPECT_THAT(refused("load-dram"_trigger, 0), HasSubstr("working set bytes: 0"));
  EXPECT_THAT(refused("load"_trigger, 4096), HasSubstr("expected 0 for the trigger load"));
}

std::string refusal_of(const Specification& specification) {
  return test::message_of<ValueError>([&] { check(specification); });
}

TEST(TriggerKindNames, AreParsedToTheirKinds) {
  for (const TriggerKind kind : all_trigger_kinds()) {
    EXPECT_EQ(trigger_kind_from(name_of(kind)), kind);
  }
  EXPECT_EQ(name_of(trigger_kind_from("branch")), "branch-taken") << "its old name";
}

TEST(TriggerKindNames, AreListedIfOneIsUnknown) {
  for (const auto& [name, expected] : {std::pair{"laod", "did you mean load?"},
                                       std::pair{"17", "load, load-l2, load-l3, load-dram"}}) {
    EXPECT_THAT(test::message_of<ValueError>([&, text = name] { trigger_kind_from(text); }),
                AllOf(HasSubstr(name), HasSubstr(expected)));
  }
}

TEST(TriggerKinds, AreRefusedOnAnArchitectureWithoutThem) {
  Specification specification = default_specification(Arch::aarch64);
  specification.trigger = "cpuid"_trigger;
  EXPECT_EQ(refusal_of(specification), *refusal("cpuid"_trigger, Arch::aarch64));
  EXPECT_THAT(refusal_of(specification),
              AllOf(HasSubstr("'cpuid' does not exist for aarch64"),
                    HasSubstr("load, load-l2, load-l3, load-dram, store")));
  EXPECT_THAT(trigger_kinds_of(Arch::aarch64),
              ::testing::Not(::testing::Contains("cpuid"_trigger)));
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
    for (const TriggerKind kind : trigger_kinds_of(arch)) {
      EXPECT_EQ(refusal_of(default_specification(arch, kind)), "no error") << name_of(kind);
    }
  }
}

TEST(ArchNames, AcceptBothSpellings) {
  EXPECT_EQ(arch_from("amd64"), Arch::x86_64);
  EXPECT_EQ(arch_from("x86_64"), Arch::x86_64);
  EXPECT_EQ(arch_from("arm64"), Arch::aarch64);
  EXPECT_EQ(arch_from("aarch64"), Arch::aarch64);
  EXPECT_THROW(arch_from("riscv64"), ValueError);
}

TEST(Specification, RefusesValuesOutOfBoundsWithTheExpectedOnes) {
  using std::chrono::nanoseconds;
  for (const auto& [specification, message] : std::vector<std::pair<Specification, const char*>>{
           {{.nops = 19}, "runway NOPs: 19 given; expected 20 to 1000000"},
           {{.nops = 1'000'001}, "1000001 given"},
           {{.gaps = {0, 1'000'001}},
            "NOPs between two triggers: 1000001 given; expected 0 to 1000000"},
           {{.access_bytes = 3}, "access bytes: 3 given; expected 1, 2, 4, 8 for the trigger load"},
           {{.nop_bytes = 10}, "NOP bytes: 10 given; expected 1 to 9 on x86_64"},
           {{.nop_bytes = 0}, "NOP bytes: 0 given"},
           {{.arch = Arch::aarch64, .nop_bytes = 1}, "NOP bytes: 1 given; expected 4 on aarch64"},
           {{.lead_in_nops = 1'000'001}, "lead-in NOPs"},
           {{.length = std::uint64_t{0}}, "iterations: 0 given"},
           {{.length = nanoseconds{-1}}, "duration"},
           {{.length = std::chrono::hours{25}}, "24 h"}}) {
    EXPECT_THAT(refusal_of(specification), HasSubstr(message));
  }
}

}  // namespace
}  // namespace skid::runway
