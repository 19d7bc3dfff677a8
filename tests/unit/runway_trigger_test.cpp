// Every kind of trigger: the instruction that was asked for, alone, and what the table says of it.

#include "runway/loop_events.h"
#include "runway/trigger.h"
#include "runway/working_set.h"
#include "src/support/error.h"
#include "src/symbols/disassembler.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::runway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As the disassembler prints it; {} is the address of the first runway byte.
const std::map<TriggerKind, std::string>& x86_texts() {
  static const std::map<TriggerKind, std::string> texts{
      {TriggerKind::load, "mov rax, qword ptr [rdi]"},
      {TriggerKind::load_l2, "mov rdi, qword ptr [rdi]"},
      {TriggerKind::load_l3, "mov rdi, qword ptr [rdi]"},
      {TriggerKind::load_dram, "mov rdi, qword ptr [rdi]"},
      {TriggerKind::xmm_load, "movups xmm0, xmmword ptr [rdi]"},
      {TriggerKind::ymm_load, "vmovups ymm0, ymmword ptr [rdi]"},
      {TriggerKind::zmm_load, "vmovups zmm0, zmmword ptr [rdi]"},
      {TriggerKind::string_load, "rep lodsq rax, qword ptr [rsi]"},
      {TriggerKind::nt_load, "movntdqa xmm0, xmmword ptr [rdi]"},
      {TriggerKind::store, "mov qword ptr [rdi], rax"},
      {TriggerKind::nt_store, "movnti qword ptr [rdi], rax"},
      {TriggerKind::lock_rmw, "lock inc qword ptr [rdi]"},
      {TriggerKind::prefetch, "prefetcht0 byte ptr [rdi]"},
      {TriggerKind::flush, "clflush byte ptr [rdi]"},
      {TriggerKind::mfence, "mfence"},
      {TriggerKind::cpuid, "cpuid"},
      {TriggerKind::div, "div rcx"},
      {TriggerKind::branch_taken, "jmp {}"},
      {TriggerKind::branch_not_taken, "jb {}"},
      {TriggerKind::branch_mispredict, "jb {}"},
      {TriggerKind::call, "call {}"},
      {TriggerKind::ret, "ret"},
      {TriggerKind::fault, "mov rax, qword ptr [rdi]"},
      {TriggerKind::none, "nop"},
  };
  return texts;
}

const std::map<TriggerKind, std::string>& aarch64_texts() {
  static const std::map<TriggerKind, std::string> texts{
      {TriggerKind::load, "ldr x1, [x10]"},  {TriggerKind::store, "str x1, [x10]"},
      {TriggerKind::div, "udiv x1, x2, x3"}, {TriggerKind::branch_taken, "b #{}"},
      {TriggerKind::fault, "ldr x1, [x10]"}, {TriggerKind::none, "nop"},
  };
  return texts;
}

std::string mnemonic_of(const std::string& text) {
  const std::size_t prefix =
      text.starts_with("rep ") || text.starts_with("lock ") ? text.find(' ') + 1 : 0;
  return text.substr(0, text.find(' ', prefix));
}

bool accesses_memory(const std::string& text) {
  return text.find('[') != std::string::npos && !text.starts_with("nop");
}

bool branches(const std::string& text, Arch arch) {
  const std::string mnemonic = mnemonic_of(text);
  if (arch == Arch::x86_64) {
    return mnemonic.front() == 'j' || mnemonic == "call" || mnemonic == "ret" ||
           mnemonic == "syscall";
  }
  return mnemonic == "b" || mnemonic.starts_with("b.") || mnemonic == "svc";
}

struct Case {
  Arch arch;
  TriggerKind kind;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) {
    for (const TriggerKind kind : trigger_kinds_of(arch)) all.push_back({arch, kind});
  }
  return all;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name(name_of(info.param.kind));
  std::replace(name.begin(), name.end(), '-', '_');
  return fmt::format("{}_{}", name_of(info.param.arch), name);
}

class Decoded : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(GetParam().arch);
    target_ = build_target(default_specification(GetParam().arch, GetParam().kind),
                           directory_ / "target");
  }

  std::vector<symbols::Instruction> decode(AddressRange range) const {
    const std::string code = code_of(target_, range);
    return symbols::Disassembler(GetParam().arch)
        .decode(std::as_bytes(std::span(code)), range.begin, code.size());
  }

  const Layout& layout() const { return target_.description.layout; }

  Directory directory_;
  Target target_;
};

TEST_P(Decoded, TheTriggerIsExactlyTheInstructionOfItsKind) {
  const auto& texts = GetParam().arch == Arch::x86_64 ? x86_texts() : aarch64_texts();
  const std::vector<symbols::Instruction> decoded = decode(layout().trigger);
  ASSERT_EQ(decoded.size(), 1U);
  const std::string runway = fmt::format("{:#x}", layout().runway.begin);
  EXPECT_EQ(decoded[0].text, fmt::format(fmt::runtime(texts.at(GetParam().kind)), runway));
  EXPECT_EQ(decoded[0].size, layout().trigger.size());
  const TriggerTraits& traits = traits_of(GetParam().kind);
  const std::string_view declared =
      GetParam().arch == Arch::x86_64 ? traits.x86_64 : traits.aarch64;
  EXPECT_TRUE(mnemonic_of(decoded[0].text).starts_with(declared)) << declared;
}

TEST_P(Decoded, NothingElseInTheLoopIsOfThatKindButTheDeclared) {
  const Arch arch = GetParam().arch;
  const std::string trigger = decode(layout().trigger).at(0).text;
  for (const symbols::Instruction& instruction : decode(layout().loop)) {
    const auto lies_in = [&](const AddressRange& range) {
      return range.contains(instruction.address);
    };
    const auto& others = layout().other_triggers;
    if (lies_in(layout().trigger) || std::any_of(others.begin(), others.end(), lies_in)) continue;
    EXPECT_FALSE(branches(trigger, arch) && branches(instruction.text, arch)) << instruction.text;
    EXPECT_FALSE(accesses_memory(trigger) && accesses_memory(instruction.text)) << instruction.text;
    if (accesses_memory(trigger) || trigger == "nop") continue;
    EXPECT_NE(mnemonic_of(instruction.text), mnemonic_of(trigger)) << instruction.text;
  }
}

TEST_P(Decoded, OfSeveralTriggersEachIsTheInstructionInFrontOfItsRunway) {
  Specification specification = target_.description.specification;
  specification.gaps = {30, 50};
  target_ = build_target(specification, directory_ / "target");
  const auto& texts = GetParam().arch == Arch::x86_64 ? x86_texts() : aarch64_texts();
  const std::vector<TriggerBlock> trigger_blocks = layout().trigger_blocks();
  ASSERT_EQ(trigger_blocks.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [trigger, runway] = trigger_blocks[i];
    const std::vector<symbols::Instruction> decoded = decode(trigger);
    ASSERT_EQ(decoded.size(), 1U);
    EXPECT_EQ(decoded[0].text, fmt::format(fmt::runtime(texts.at(GetParam().kind)),
                                           fmt::format("{:#x}", runway.begin)));
    EXPECT_EQ(trigger.end, runway.begin);
    EXPECT_EQ(decode(runway).size(), (std::vector<std::size_t>{30, 50, 5000}[i]));
  }
  // Each with a head of its own where the first has one that serves only once.
  const std::size_t one = trigger_blocks[1].trigger.begin - trigger_blocks[0].runway.end;
  EXPECT_EQ(trigger_blocks[2].trigger.begin - trigger_blocks[1].runway.end, one);
  std::size_t executed = decode(layout().loop).size();
  if (GetParam().kind == TriggerKind::ret) executed -= 3;
  EXPECT_EQ(loop_events_of(specification).instructions, static_cast<double>(executed));
}

TEST_P(Decoded, TheDeclaredOthersAreWhatTheyAreDeclaredFor) {
  for (const AddressRange& other : layout().other_triggers) {
    const std::vector<symbols::Instruction> decoded = decode(other);
    EXPECT_TRUE(std::any_of(decoded.begin(), decoded.end(), [](const auto& instruction) {
      return branches(instruction.text, GetParam().arch);
    }));
  }
}

TEST_P(Decoded, TheInstructionsOfAnIterationAreAsManyAsTheLoopHas) {
  const auto expected = loop_events_of(target_.description.specification).instructions;
  ASSERT_TRUE(expected);
  std::size_t executed = decode(layout().loop).size();
  if (GetParam().kind == TriggerKind::ret) --executed;  // the int3 that only predictions go to
  EXPECT_EQ(*expected, static_cast<double>(executed));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Decoded, ::testing::ValuesIn(cases()), case_name);

TEST(X86Code, AReturnLeadsToTheRunwayByTheStackAndNotByItsPrediction) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const Directory directory;
  const std::string assembly = assembly_of(default_specification(Arch::x86_64, TriggerKind::ret));
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
}

TEST(GapsFor, RefuseWhatContradictsItself) {
  EXPECT_THROW(gaps_for(2, {70, 30}, 5000), UsageError);
  EXPECT_THROW(gaps_for(0, {}, 5000), UsageError);
  EXPECT_THROW(gaps_for(17, {}, 5000), UsageError);
  EXPECT_THROW(gaps_for(4, {}, 60), UsageError) << "a gap of 15";
}

TEST(Refusal, NamesTheFeatureThatACpuLacks) {
  const std::vector<std::string> all{"sse", "sse2", "sse4_1", "clflush", "avx", "avx512f"};
  for (const TriggerKind kind : trigger_kinds_of(Arch::x86_64)) {
    EXPECT_FALSE(refusal(kind, Arch::x86_64, all)) << name_of(kind);
    EXPECT_FALSE(refusal(kind, Arch::x86_64, {})) << name_of(kind);
    const std::string flag(traits_of(kind).cpu_flag);
    if (flag.empty()) continue;
    EXPECT_THAT(refusal(kind, Arch::x86_64, without(all, flag)).value_or(""),
                HasSubstr("this CPU lacks " + flag))
        << name_of(kind);
  }
  EXPECT_TRUE(refusal(TriggerKind::zmm_load, Arch::x86_64, {"sse", "avx"}));
  // Flags of x86 say nothing of another architecture's CPU.
  EXPECT_FALSE(refusal(TriggerKind::load, Arch::aarch64, {"sse"}));
}

LoopEvents events_of(TriggerKind kind, Arch arch = Arch::x86_64) {
  return loop_events_of(default_specification(arch, kind));
}

TEST(LoopEventsOf, CountTheBackEdgeWithTheTrigger) {
  const LoopEvents none = events_of(TriggerKind::none);
  EXPECT_EQ(none.instructions, 1 + 200 + 1 + 5000 + 2);
  EXPECT_EQ(none.branches, 1);
  EXPECT_EQ(none.taken_branches, 1);
  EXPECT_EQ(none.loads, 0);
  EXPECT_EQ(none.stores, 0);
  EXPECT_EQ(none.mispredicted_branches, 0);
  EXPECT_EQ(events_of(TriggerKind::branch_taken).taken_branches, 2);
  EXPECT_EQ(events_of(TriggerKind::branch_not_taken).taken_branches, 1);
  EXPECT_EQ(events_of(TriggerKind::branch_not_taken).conditional_branches, 2);
  EXPECT_EQ(events_of(TriggerKind::branch_mispredict).taken_branches, 1.5);
  EXPECT_EQ(events_of(TriggerKind::branch_mispredict).mispredicted_branches, 0.5);
  EXPECT_EQ(events_of(TriggerKind::ret).branches, 3);
  EXPECT_EQ(events_of(TriggerKind::ret).mispredicted_branches, 1);
}

TEST(LoopEventsOf, TellTheLevelThatServesAChase) {
  const auto misses = [](TriggerKind kind) {
    const LoopEvents events = events_of(kind);
    return std::vector<double>{*events.loads, *events.l1_misses, *events.l2_misses,
                               *events.l3_misses};
  };
  EXPECT_EQ(misses(TriggerKind::load), (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(misses(TriggerKind::load_l2), (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(misses(TriggerKind::load_l3), (std::vector<double>{1, 1, 1, 0}));
  EXPECT_EQ(misses(TriggerKind::load_dram), (std::vector<double>{1, 1, 1, 1}));
}

TEST(LoopEventsOf, SayNothingOfWhatDependsOnTheCpuOrTheKernel) {
  EXPECT_FALSE(events_of(TriggerKind::string_load).loads);
  EXPECT_FALSE(events_of(TriggerKind::fault).branches);
  EXPECT_EQ(events_of(TriggerKind::fault).page_faults, 1);
  Specification refused;
  refused.arch = Arch::aarch64;
  refused.trigger = TriggerKind::cpuid;
  EXPECT_EQ(loop_events_of(refused), LoopEvents());
}

TEST(LoopEventsOf, CountTheLongWayBackOfAarch64) {
  Specification specification = default_specification(Arch::aarch64, TriggerKind::none);
  EXPECT_EQ(loop_events_of(specification).branches, 1);
  specification.nops = 1'000'000;
  EXPECT_EQ(loop_events_of(specification).branches, 2);
  EXPECT_EQ(loop_events_of(specification).taken_branches, 1);
}

TEST(Watched, BytesAreThoseThatADebugRegisterTakes) {
  const auto watched = [](TriggerKind kind) {
    return watched_bytes(default_specification(Arch::x86_64, kind));
  };
  EXPECT_EQ(watched(TriggerKind::zmm_load), 8U);
  EXPECT_EQ(watched(TriggerKind::load), 8U);
  Specification narrow = default_specification(Arch::x86_64, TriggerKind::load);
  narrow.access_bytes = 2;
  EXPECT_EQ(watched_bytes(narrow), 2U);
  narrow.trigger = TriggerKind::string_load;
  EXPECT_EQ(watched_bytes(narrow), 8U);
  EXPECT_EQ(string_repetitions(narrow), 5U);
}

constexpr std::uint64_t kKibibyte = 1024, kMebibyte = 1024 * kKibibyte,
                        kGibibyte = 1024 * kMebibyte;

TEST(WorkingSetFor, LiesBetweenTheLevels) {
  const MemorySizes skylake{32 * kKibibyte, 256 * kKibibyte, 8 * kMebibyte, 16 * kGibibyte};
  EXPECT_EQ(working_set_for(TriggerKind::load_l2, skylake).bytes, 128 * kKibibyte);
  EXPECT_EQ(working_set_for(TriggerKind::load_l3, skylake).bytes, 4 * kMebibyte);
  EXPECT_EQ(working_set_for(TriggerKind::load_dram, skylake).bytes, 64 * kMebibyte);
  EXPECT_EQ(working_set_for(TriggerKind::load, skylake).bytes, 0U);
  const MemorySizes server{48 * kKibibyte, 2 * kMebibyte, 105 * kMebibyte, 64 * kGibibyte};
  EXPECT_EQ(working_set_for(TriggerKind::load_l3, server).bytes, 32 * kMebibyte);
  EXPECT_EQ(working_set_for(TriggerKind::load_dram, server).bytes, 840 * kMebibyte);
}

TEST(WorkingSetFor, RefusesWhereNoSizeLiesBetween) {
  const MemorySizes none{32 * kKibibyte, 512 * kKibibyte, 0, kGibibyte};
  EXPECT_THAT(working_set_for(TriggerKind::load_l3, none).refusal, HasSubstr("no level 3"));
  EXPECT_EQ(working_set_for(TriggerKind::load_dram, none).bytes, 4 * kMebibyte);
  const MemorySizes narrow{32 * kKibibyte, 2 * kMebibyte, 4 * kMebibyte, kGibibyte};
  EXPECT_THAT(working_set_for(TriggerKind::load_l3, narrow).refusal,
              HasSubstr("half of the level 3 cache (4 MiB) is not far above level 2 (2 MiB)"));
  const MemorySizes little{32 * kKibibyte, kMebibyte, 256 * kMebibyte, 2 * kGibibyte};
  EXPECT_THAT(working_set_for(TriggerKind::load_dram, little).refusal, HasSubstr("memory"));
  // A quarter of the memory bounds it before it is refused.
  const MemorySizes enough{32 * kKibibyte, kMebibyte, 256 * kMebibyte, 6 * kGibibyte};
  EXPECT_EQ(working_set_for(TriggerKind::load_dram, enough).bytes, 1536 * kMebibyte);
}

TEST(WorkingSetFor, AnUnknownCpuIsTheUsualOneWithARemark) {
  const WorkingSet set = working_set_for(TriggerKind::load_dram, {});
  EXPECT_EQ(set.bytes, 256 * kMebibyte);
  EXPECT_THAT(set.refusal, IsEmpty());
  EXPECT_THAT(set.remark, HasSubstr("256 MiB; --working-set"));
}

TEST(SizeText, TakesTheLargestWholeUnit) {
  EXPECT_EQ(size_text(2080 * kMebibyte), "2080 MiB");
  EXPECT_EQ(size_text(384 * kKibibyte), "384 KiB");
  EXPECT_EQ(size_text(100), "100 bytes");
}

TEST(Specification, TakesAWorkingSetWithAChaseOnly) {
  const auto refused = [](TriggerKind kind, std::uint64_t bytes) {
    Specification specification = default_specification(Arch::x86_64, kind);
    specification.working_set_bytes = bytes;
    try {
      check(specification);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(TriggerKind::load_l2, 64 * kKibibyte), "");
  EXPECT_EQ(refused(TriggerKind::load_l2, 1024 + 64), "");
  EXPECT_THAT(refused(TriggerKind::load_l3, 1024 + 64), HasSubstr("multiples of 128"));
  EXPECT_THAT(refused(TriggerKind::load_dram, 0), HasSubstr("working set bytes: 0"));
  EXPECT_THAT(refused(TriggerKind::load, 4096), HasSubstr("allowed 0 for the trigger load"));
}

}  // namespace
}  // namespace skid::runway
