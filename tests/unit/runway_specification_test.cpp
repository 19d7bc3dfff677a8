#include "runway/specification.h"
#include "tests/support/prelude.h"
#include "tests/support/trigger_kinds.h"

namespace skid::runway {
namespace {

std::string refusal_of(const Specification& specification) {
  return test::message_of<UsageError>([&] { check(specification); });
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
    EXPECT_THAT(test::message_of<UsageError>([&, text = name] { trigger_kind_from(text); }),
                AllOf(HasSubstr(name), HasSubstr(expected)));
  }
}

TEST(TriggerKinds, AreRefusedOnAnArchitectureWithoutThem) {
  Specification specification = default_specification(Arch::aarch64);
  specification.trigger = "cpuid"_trigger;
  EXPECT_EQ(refusal_of(specification), *refusal("cpuid"_trigger, Arch::aarch64));
  EXPECT_THAT(refusal_of(specification),
              AllOf(HasSubstr("'cpuid' does not exist for aarch64"), HasSubstr("load, store")));
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
  EXPECT_THROW(arch_from("riscv64"), UsageError);
}

TEST(Specification, RefusesValuesOutOfBoundsWithTheExpectedOnes) {
  Specification specification;
  specification.nops = 19;
  EXPECT_EQ(refusal_of(specification), "runway NOPs: 19 given; expected 20 to 1000000");
  specification.nops = 1'000'001;
  EXPECT_THAT(refusal_of(specification), HasSubstr("1000001 given"));

  specification = {};
  specification.gaps = {0, 1'000'001};
  EXPECT_EQ(refusal_of(specification),
            "NOPs between two triggers: 1000001 given; expected 0 to 1000000");

  specification = {};
  specification.access_bytes = 3;
  EXPECT_EQ(refusal_of(specification),
            "access bytes: 3 given; expected 1, 2, 4, 8 for the trigger load");

  specification = {};
  specification.nop_bytes = 10;
  EXPECT_EQ(refusal_of(specification), "NOP bytes: 10 given; expected 1 to 9 on x86_64");
  specification.nop_bytes = 0;
  EXPECT_NE(refusal_of(specification), "no error");

  specification = {};
  specification.lead_in_nops = 1'000'001;
  EXPECT_THAT(refusal_of(specification), HasSubstr("lead-in NOPs"));

  specification = {};
  specification.length = std::uint64_t{0};
  EXPECT_THAT(refusal_of(specification), HasSubstr("iterations: 0 given"));
  specification.length = std::chrono::nanoseconds{-1};
  EXPECT_THAT(refusal_of(specification), HasSubstr("duration"));
  specification.length = std::chrono::hours{25};
  EXPECT_THAT(refusal_of(specification), HasSubstr("24 h"));
}

TEST(Specification, AcceptsOnlyFourByteNopsOnAarch64) {
  Specification specification = default_specification(Arch::aarch64);
  specification.nop_bytes = 1;
  EXPECT_EQ(refusal_of(specification), "NOP bytes: 1 given; expected 4 on aarch64");
}

}  // namespace
}  // namespace skid::runway
