// Which instructions can precede another one, and which of these can have caused an event, on
// assembly whose ways are known.
#include "src/correct/candidates.h"
#include "src/correct/flow.h"
#include "src/events/causes.h"
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::correct {
namespace {

using analysis::NotJudged;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Local labels leave no symbol. Numbers are those of the instructions in their function.
constexpr const char* kAssembly = R"(
  .text
  .macro function name
  .globl \name
  .hidden \name
  .type \name, @function
  \name:
  .endm

  function joins
  movq %rdi, %rax                # 0
  cmpq $3, watched(%rip)         # 1
  jne .Ljoin                     # 2
  movq %rax, watched(%rip)       # 3
.Ljoin:
  incq %rax                      # 4
  movq other(%rip), %rcx         # 5
  jne .Lfar                      # 6
  pushq %rax                     # 7
  popq %rcx                      # 8
  movq (%rsi), %rcx              # 9
.Lfar:
  ret                            # 10
  .size joins, . - joins

  function calls
  call returns                   # 0
  nop                            # 1
  call passes                    # 2
  nop                            # 3
  call *%rax                     # 4
  jmp .Lpast                     # 5
  nop                            # 6
  bswapq %rax                    # 7
.Lpast:
  ret                            # 8
  .size calls, . - calls

  function returns
  testq %rdi, %rdi               # 0
  je .Lzero                      # 1
  ret                            # 2
.Lzero:
  ret                            # 3
  .size returns, . - returns

  function passes
  jmp returns                    # 0
  .size passes, . - passes

  function tables
  jmp *%rax                      # 0
  incq %rax                      # 1
  jmp *(%rax)                    # 2
  .size tables, . - tables

  function parts
  movq %rax, watched(%rip)       # 0
  rep stosb                      # 1
  movl %eax, %ss                 # 2
  incq %rax                      # 3
  decq %rax                      # 4
  movw (%rdi), %ss               # 5
  incq %rax                      # 6
  decq %rax                      # 7
  ret                            # 8
  .size parts, . - parts

  function falls
  movq %rax, watched(%rip)       # 0
  .size falls, . - falls
  function into
  ret                            # 0
  .size into, . - into

  function marked
  movq %rax, watched(%rip)       # 0
  .globl inner
  .hidden inner
inner:
  incq %rax                      # 1
  ret                            # 2
  .size marked, . - marked

  function through
  call *pointer(%rip)            # 0
  ret                            # 1
  .size through, . - through

  function past_data
  jmp .Lcode                     # 0
  .byte 0x48, 0xb8, 0             # MOV of the next 8 bytes to RAX
.Lcode:
  movq %rax, watched(%rip)
  .globl after_code
  .hidden after_code
after_code:
  nop
  ret
  .size past_data, . - past_data

  function switches
  jmp *0x1234(, %rax, 8)         # 0
  nop                            # 1
  ret                            # 2
  .size switches, . - switches

  function ways
  jmp *twice(%rip)               # 0
  jmp .Lways                     # 1
.Lways:
  ret                            # 2
  .size ways, . - ways

  function system
  cpuid                          # 0
  rdtsc                          # 1
  syscall                        # 2
  clflush (%rax)                 # 3
  ret                            # 4
  .size system, . - system

  function locks
  testq %rdi, %rdi               # 0
  je .Lunlocked+1                # 1
.Lunlocked:
  lock incq watched(%rip)        # 2
  ret                            # 3
  .size locks, . - locks

  .data
  .globl watched, other, pointer, twice
  .hidden watched, other, pointer, twice
watched: .quad 0
other: .quad 0
pointer: .quad 0
twice: .quad 0
  .section .note.GNU-stack,"",@progbits
)";

class ControlFlow : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
#if defined(__x86_64__)
    if (!find_program("cc")) return;
    directory_ = std::make_unique<test::TemporaryDirectory>();
    std::ofstream(*directory_ / "code.s") << kAssembly;
    const auto compiled = run_program({"cc", "-shared", "-o", (*directory_ / "code.so").string(),
                                       (*directory_ / "code.s").string()});
    ASSERT_TRUE(compiled.code.success()) << compiled.err;
#endif
  }
  static void TearDownTestSuite() {
    directory_.reset();
  }
  void SetUp() override {
    if (!directory_) GTEST_SKIP() << "assembles x86-64 code with cc";
    module_.emplace(symbols::Module::open(*directory_ / "code.so"));
    flow_.emplace(*module_, Arch::x86_64, std::nullopt);
    watch_.is_breakpoint = true;
    watch_.watched = *module_->symbol_value("watched");
    watch_.length = 8;
    watch_.stack_is_elsewhere = true;
  }

  audit::FunctionCode code_of(const std::string& function) const {
    const AddressRange range = module_->functions_named(function).front().range;
    return {Arch::x86_64, range.begin, module_->code(range)};
  }
  std::uint64_t at(const std::string& function, std::size_t number) const {
    return code_of(function).address_of(number);
  }
  /// "joins 3"
  std::string name_of(std::uint64_t address) const {
    const auto function = module_->function_at(address);
    if (!function) return "nowhere";
    return fmt::format("{} {}", function->name, code_of(function->name).find(address).value());
  }
  std::vector<std::string> before(const std::string& function, std::size_t number) {
    std::vector<std::string> names;
    found_ = flow_->predecessors(at(function, number));
    for (const auto& one : found_.known) names.push_back(name_of(one.address));
    if (found_.anything) names.push_back("anything");
    if (!found_.unknown.empty()) names.push_back("unknown");
    return names;
  }
  std::vector<std::string> causes(const std::string& function, std::size_t number) {
    return causes_at(at(function, number));
  }
  std::vector<std::string> causes_at(std::uint64_t address) {
    std::vector<std::string> names;
    const auto candidates = candidates_of(*flow_, address, watch_);
    for (const auto& one : candidates.known) names.push_back(name_of(one.address));
    if (candidates.unknown) names.push_back("unknown");
    return names;
  }

  inline static std::unique_ptr<test::TemporaryDirectory> directory_;
  std::optional<symbols::Module> module_;
  std::optional<Flow> flow_;
  Suspicion watch_;
  Predecessors found_;
};

TEST_F(ControlFlow, FindsEveryWayToAJoin) {
  EXPECT_THAT(before("joins", 1), ElementsAre("joins 0"));
  EXPECT_THAT(before("joins", 4), ElementsAre("joins 1", "joins 2", "joins 3"));
  EXPECT_EQ(found_.known[0].tie, Tie::may_fuse) << "Intel's CPUs do not fuse it: CMP with a number";
  EXPECT_EQ(found_.known[0].leads_from, found_.known[1].address);
  EXPECT_THAT(before("joins", 10), ElementsAre("joins 6", "joins 9")) << "MOV fuses with nothing";
}

TEST_F(ControlFlow, FollowsACallToItsReturns) {
  EXPECT_THAT(before("calls", 1), ElementsAre("returns 2", "returns 3"));
  EXPECT_THAT(before("calls", 3), ElementsAre("unknown")) << "a tail call returns from elsewhere";
  EXPECT_THAT(before("calls", 5), ElementsAre("unknown")) << "an indirect call";
}

TEST_F(ControlFlow, FindsCallersOfAFunction) {
  EXPECT_THAT(before("returns", 0), ElementsAre("calls 0", "passes 0", "unknown"));
}

TEST_F(ControlFlow, DoesNotRunThroughPadding) {
  EXPECT_THAT(before("calls", 8), ElementsAre("calls 5", "calls 7"));
  EXPECT_THAT(before("calls", 7), ElementsAre("unknown")) << "an exception handler";
}

TEST_F(ControlFlow, ComputedJumpsLeadAnywhereInTheirFunction) {
  EXPECT_THAT(before("tables", 2), ElementsAre("tables 0", "tables 1", "tables 2"));
}

TEST_F(ControlFlow, FallsIntoTheNextFunction) {
  EXPECT_THAT(before("into", 0), ElementsAre("falls 0", "unknown"));
}

TEST_F(ControlFlow, DecodesWhatABranchEntersInsideAnInstruction) {
  const std::uint64_t sampled = *module_->symbol_value("after_code");
  constexpr std::uint64_t kStore = 7;
  found_ = flow_->predecessors(sampled);
  ASSERT_EQ(found_.known.size(), 1u);
  EXPECT_EQ(found_.known[0].address, sampled - kStore) << "not what data decodes to";
  EXPECT_FALSE(found_.anything);
  found_ = flow_->predecessors(at("locks", 3));
  ASSERT_EQ(found_.known.size(), 2u) << "with the prefix, and without";
  EXPECT_EQ(found_.known[0].address, at("locks", 2));
  EXPECT_EQ(found_.known[1].address, at("locks", 2) + 1);
}

TEST_F(ControlFlow, ReportsPlacesWithoutAnInstruction) {
  EXPECT_EQ(flow_->problem_at(at("joins", 0)), NotJudged::none);
  EXPECT_EQ(flow_->problem_at(at("joins", 0) + 1), NotJudged::inside_instruction);
  EXPECT_EQ(flow_->problem_at(1), NotJudged::no_function);
}

TEST_F(ControlFlow, BlocksEndAtBranchesAndTargets) {
  const auto block = flow_->block_at(at("joins", 8));
  EXPECT_EQ(block.begin, at("joins", 7));
  EXPECT_EQ(block.end, at("joins", 10));
}

TEST_F(ControlFlow, AccessesOfTheWatchedDatumAreCandidates) {
  EXPECT_THAT(causes("joins", 4), ElementsAre("joins 1", "joins 3"));
  watch_.writes_only = true;
  EXPECT_THAT(causes("joins", 4), ElementsAre("joins 3"));
}

TEST_F(ControlFlow, InstructionsWithoutAnOperandDoNotTouchTheDatum) {
  for (const std::size_t number : {1u, 2u, 3u}) EXPECT_THAT(causes("system", number), IsEmpty());
  EXPECT_THAT(causes("system", 4), ElementsAre("system 3"));
}

TEST_F(ControlFlow, TablesOfConstantsAreNotTheDatum) {
  EXPECT_THAT(causes("switches", 1), ElementsAre("switches 0"));
  const std::vector<AddressRange> elsewhere{{0x2000, 0x3000}}, constants{{0x1000, 0x2000}};
  watch_.read_only = elsewhere;
  EXPECT_THAT(causes("switches", 1), ElementsAre("switches 0"));
  watch_.read_only = constants;
  EXPECT_THAT(causes("switches", 1), IsEmpty());
}

TEST_F(ControlFlow, PairsThatAreNotFusedDoNotLeadPastTheirJump) {
  watch_.fuses_as_intel = true;
  EXPECT_THAT(causes("joins", 4), ElementsAre("joins 3")) << "CMP with a number";
  watch_.fuses_as_intel = false;
  const std::set<std::uint64_t> unfused{at("joins", 2)};
  watch_.unfused = &unfused;
  EXPECT_THAT(causes("joins", 2), ElementsAre("joins 1"));
  EXPECT_THAT(causes("joins", 4), ElementsAre("joins 3"));
}

TEST_F(ControlFlow, AccessesElsewhereAreNone) {
  EXPECT_THAT(causes("joins", 6), IsEmpty()) << "another datum";
  EXPECT_THAT(causes("joins", 8), IsEmpty()) << "the stack";
  EXPECT_THAT(causes("joins", 10), ElementsAre("joins 9")) << "any address";
  EXPECT_THAT(causes("calls", 1), IsEmpty()) << "RET only pops";
  EXPECT_THAT(causes("calls", 3), IsEmpty()) << "so does an unknown one";
  watch_.stack_is_elsewhere = false;
  EXPECT_THAT(causes("joins", 8), ElementsAre("joins 7"));
  EXPECT_THAT(causes("calls", 1), ElementsAre("returns 2", "returns 3"));
  EXPECT_THAT(causes("calls", 3), ElementsAre("unknown"));
}

TEST_F(ControlFlow, AbsoluteOperandsDoNotMoveWithTheFile) {
  constexpr std::array kMove{std::byte{0x48}, std::byte{0x8b}, std::byte{0x04}, std::byte{0x25},
                             std::byte{0x00}, std::byte{0x00}, std::byte{0x00}, std::byte{0x10}};
  const auto move = instructions::classify(Arch::x86_64, kMove, 0x1000);  // mov rax, [0x10000000]
  ASSERT_TRUE(move);
  for (const std::uint64_t bias : {0x0ULL, 0x555555554000ULL}) {
    watch_.bias = bias;
    watch_.watched = 0x10000004 - bias;
    EXPECT_TRUE(watch_.allows(*move)) << bias;
    watch_.watched += 4;
    EXPECT_FALSE(watch_.allows(*move)) << bias;
  }
}

TEST_F(ControlFlow, PartialOverlapIsAnAccess) {
  watch_.length = 1;
  watch_.watched += 7;
  EXPECT_THAT(causes("joins", 4), ElementsAre("joins 1", "joins 3"));
  ++watch_.watched;
  EXPECT_THAT(causes("joins", 4), IsEmpty());
  EXPECT_THAT(causes("joins", 6), ElementsAre("joins 5")) << "the first byte of the next datum";
}

TEST_F(ControlFlow, ComputedEntriesMayReadTheDatumButNotWriteIt) {
  EXPECT_THAT(causes("returns", 0), ElementsAre("unknown"));
  EXPECT_THAT(causes("marked", 1), ElementsAre("marked 0", "unknown"));
  EXPECT_THAT(causes("tables", 1), ElementsAre("tables 2")) << "a jump through a register is none";
  watch_.writes_only = true;
  EXPECT_THAT(causes("returns", 0), IsEmpty());
  EXPECT_THAT(causes("marked", 1), ElementsAre("marked 0"));
}

TEST_F(ControlFlow, BranchesThroughTheDatumLeadToFunctions) {
  watch_.watched = *module_->symbol_value("pointer");
  EXPECT_THAT(causes("returns", 0), ElementsAre("through 0", "unknown"));
  EXPECT_THAT(causes("returns", 1), IsEmpty());
  watch_.writes_only = true;
  EXPECT_THAT(causes("returns", 0), IsEmpty()) << "they read it";
}

TEST_F(ControlFlow, RepeatedInstructionsAreTheirOwnCandidates) {
  EXPECT_THAT(causes("parts", 1), ElementsAre("parts 0", "parts 1"));
  EXPECT_THAT(causes("parts", 2), ElementsAre("parts 1"));
}

TEST_F(ControlFlow, MovToSsDelaysTheTrap) {
  EXPECT_THAT(causes("parts", 6), ElementsAre("parts 5"));
  EXPECT_THAT(causes("parts", 7), ElementsAre("parts 5"));
  EXPECT_THAT(causes("parts", 4), IsEmpty()) << "descriptors are the kernel's";
}

TEST_F(ControlFlow, LongerSkidsAreTracedStepByStep) {
  watch_.skid = 2;
  EXPECT_THAT(causes("joins", 5), ElementsAre("joins 1", "joins 3"));
  watch_.skid = 3;
  EXPECT_THAT(causes("joins", 6), ElementsAre("joins 1", "joins 3"));
  EXPECT_THAT(causes("calls", 1), ElementsAre("unknown"))
      << "before the callee's first instruction";
}

TEST_F(ControlFlow, CandidatesKeepAllWaysToTheSample) {
  watch_.skid = 2;
  const auto known = candidates_of(*flow_, at("joins", 5), watch_).known;
  ASSERT_EQ(known.size(), 2u);
  EXPECT_THAT(known[0].leads_from, ElementsAre(at("joins", 4)));
  watch_.watched = *module_->symbol_value("twice");
  const auto twice = candidates_of(*flow_, at("ways", 2), watch_).known;
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_THAT(twice[0].leads_from, ElementsAre(at("ways", 0), at("ways", 1)));
}

TEST_F(ControlFlow, CausesOfACoreEventDecide) {
  const auto loads = events::causes_of({.core = events::Core::skylake},
                                       {.name = "MEM_INST_RETIRED.ALL_LOADS", .config = 0x81d0});
  watch_ = {.causes = loads};
  EXPECT_THAT(causes("joins", 6), ElementsAre("joins 5"));
  EXPECT_THAT(causes("joins", 5), IsEmpty());
  EXPECT_THAT(causes("joins", 4), IsEmpty()) << "Intel's CPUs do not fuse CMP with a number";
  EXPECT_THAT(causes("calls", 1), ElementsAre("returns 2", "returns 3"));
}

}  // namespace
}  // namespace skid::correct
