// Which instructions can precede another one, and which of these can have caused an event, on
// assembly whose ways are known.
#include "src/code/control_flow.h"

#include "analysis/not_judged.h"
#include "src/code/file_code.h"
#include "src/correct/candidates.h"
#include "src/events/causes.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/support/address.h"
#include "src/support/process.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"
#include "tests/support/assembled_program.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::correct {
namespace {

using analysis::NotJudged;

/// Local labels leave no symbol. Beside an instruction are its number in its function, the
/// instructions that can be executed before it, and those that can have caused a breakpoint at it:
/// of any access of `watched`, and of writes.
constexpr const char* kAssembly = R"(
  function joins
  movq %rdi, %rax                # 0
  cmpq $3, watched(%rip)         # 1, after joins.0
  jne .Ljoin                     # 2
  movq %rax, watched(%rip)       # 3
.Ljoin:
  incq %rax                      # 4, after joins.1 joins.2 joins.3, causes joins.1 joins.3, writers joins.3
  movq other(%rip), %rcx         # 5
  jne .Lfar                      # 6, causes nothing: another datum
  pushq %rax                     # 7
  popq %rcx                      # 8, causes nothing: the stack
  movq (%rsi), %rcx              # 9
.Lfar:
  ret                            # 10, after joins.6 joins.9, causes joins.9: of any address, and no pair
  end joins

  function calls
  call returns                   # 0
  nop                            # 1, after returns.2 returns.3, causes nothing: RET only pops
  call passes                    # 2
  nop                            # 3, after unknown, causes nothing: a tail call, which returns from elsewhere
  call *%rax                     # 4
  jmp .Lpast                     # 5, after unknown: an indirect call
  nop                            # 6
  bswapq %rax                    # 7, after unknown: an exception handler
.Lpast:
  ret                            # 8, after calls.5 calls.7: not through padding
  end calls

  function returns
  testq %rdi, %rdi               # 0, after calls.0 passes.0 unknown, causes unknown, writers nothing
  je .Lzero                      # 1
  ret                            # 2
.Lzero:
  ret                            # 3
  end returns

  function passes
  jmp returns                    # 0
  end passes

  function tables
  jmp *%rax                      # 0
  incq %rax                      # 1, causes tables.2: a jump through a register is none
  jmp *(%rax)                    # 2, after tables.0 tables.1 tables.2
  end tables

  function parts
  movq %rax, watched(%rip)       # 0
  rep stosb                      # 1, causes parts.0 parts.1: itself, repeated
  movl %eax, %ss                 # 2, causes parts.1
  incq %rax                      # 3
  decq %rax                      # 4, causes nothing: descriptors are the kernel's
  movw (%rdi), %ss               # 5
  incq %rax                      # 6, causes parts.5
  decq %rax                      # 7, causes parts.5: MOV to SS delays the trap
  ret                            # 8
  end parts

  function falls
  movq %rax, watched(%rip)       # 0
  end falls
  function into
  ret                            # 0, after falls.0 unknown
  end into

  function marked
  movq %rax, watched(%rip)       # 0
  .globl inner
  .hidden inner
inner:
  incq %rax                      # 1, causes marked.0 unknown, writers marked.0
  ret                            # 2
  end marked

  function absolute
  movq 0x10000000, %rax          # 0
  ret                            # 1
  end absolute

  function past_data
  jmp .Lcode                     # 0
  .byte 0x48, 0xb8, 0             /* MOV of the next 8 bytes to RAX */
.Lcode:
  movq %rax, watched(%rip)
  .globl after_code
  .hidden after_code
after_code:
  nop
  ret
  end past_data

  function ways
  jmp *twice(%rip)               # 0
  jmp .Lways                     # 1
.Lways:
  ret                            # 2
  end ways

  function system
  cpuid                          # 0
  rdtsc                          # 1, causes nothing
  syscall                        # 2, causes nothing
  clflush (%rax)                 # 3, causes nothing
  ret                            # 4, causes system.3
  end system

  function locks
  testq %rdi, %rdi               # 0
  je .Lunlocked+1                # 1
.Lunlocked:
  lock incq watched(%rip)        # 2
  ret                            # 3
  end locks

  .data
  .globl watched, other, twice
  .hidden watched, other, twice
watched: .quad 0
other: .quad 0
twice: .quad 0
)";

class ControlFlow : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    if (!program_) {  // built once for all tests
      const test::TemporaryDirectory directory;
      program_.emplace(directory / "code.so", kAssembly, Arch::x86_64,
                       std::vector<std::string>{"-shared"});
    }
    flow_.emplace(program_->module(), std::nullopt, budget_);
    accesses_.emplace(*flow_);
    watch(address_of("watched"));
    watch_.stack_is_elsewhere = true;
  }

  void watch(std::uint64_t address, std::uint64_t bytes = 8) {
    watch_.watched = {.address = address, .bytes = bytes};
  }
  static std::uint64_t address_of(const char* symbol) { return program_->value_of(symbol); }
  static code::FunctionCode code_of(const std::string& function) {
    const AddressRange range = program_->module().functions_named(function).front().range;
    return {Arch::x86_64, range.begin, program_->module().code(range)};
  }
  static std::uint64_t at(const std::string& function, std::size_t number) {
    return code_of(function).address_of(number);
  }
  /// "joins.3"
  static std::string name_of(std::uint64_t address) {
    const auto function = program_->module().function_at(address);
    if (!function) return "nowhere";
    return fmt::format("{}.{}", function->name, code_of(function->name).find(address).value());
  }
  /// "joins.1 joins.3"; "nothing". `more`: what else there is, after them.
  static std::string names_of(const auto& instructions, bool has_more, const char* more) {
    std::vector<std::string> names;
    for (const auto& one : instructions) names.push_back(name_of(one.address));
    if (has_more) names.emplace_back(more);
    return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, " "));
  }
  std::string before(std::uint64_t address) {
    const code::Predecessors found = flow_->predecessors(address);
    EXPECT_FALSE(found.anything);
    std::vector<code::Predecessor> known;
    found.for_each([&](const code::Predecessor& one) { known.push_back(one); });
    std::ranges::sort(known, [](const auto& a, const auto& b) { return a.address < b.address; });
    return names_of(known, !found.unknown.empty(), "unknown");
  }
  Candidates candidates_of(std::uint64_t address) {
    if (watch_.watched) watch_.watched->ip = address;
    return find_candidates(*flow_, *accesses_, address, watch_);
  }
  std::string causes_at(std::uint64_t address) {
    const auto candidates = candidates_of(address);
    return names_of(candidates.known, candidates.unknown, "unknown");
  }
  std::string causes(const std::string& function, std::size_t number) {
    return causes_at(at(function, number));
  }
  /// Compares the notes that begin with this word.
  void expect_as_noted(const std::string& word, const auto& found_at) const {
    int compared = 0;
    for (const auto& one : program_->noted()) {
      for (const std::string& note : one.notes) {
        if (!note.starts_with(word + " ")) continue;
        EXPECT_EQ(found_at(one.address), note.substr(word.size() + 1)) << one.line;
        ++compared;
      }
    }
    EXPECT_GT(compared, 2) << word;
  }

  static inline std::optional<test::AssembledProgram> program_;
  code::CodeBudget budget_;
  std::optional<code::ControlFlow> flow_;
  std::optional<witness::FileAccesses> accesses_;
  Suspicion watch_;
};

TEST_F(ControlFlow, FindsTheInstructionsBeforeEach) {
  expect_as_noted("after", [this](std::uint64_t address) { return before(address); });
}

TEST_F(ControlFlow, FindsTheCandidatesOfEach) {
  expect_as_noted("causes", [this](std::uint64_t address) { return causes_at(address); });
  watch_.writes_only = true;
  expect_as_noted("writers", [this](std::uint64_t address) { return causes_at(address); });
}

TEST_F(ControlFlow, KnowsPairsThatMayBeFused) {
  const auto found = flow_->predecessors(at("joins", 4)).known;
  EXPECT_EQ(found[0].tie, code::Tie::may_fuse) << "Intel's CPUs do not fuse it: CMP with a number";
  EXPECT_EQ(found[0].leads_from, found[1].address);
}

TEST_F(ControlFlow, DecodesWhatABranchEntersInsideAnInstruction) {
  const std::uint64_t sampled = address_of("after_code");
  constexpr std::uint64_t kStore = 7;
  const auto found = flow_->predecessors(sampled);
  EXPECT_THAT(test::mapped(found.known, &code::Predecessor::address), ElementsAre(sampled - kStore))
      << "not what data decodes to";
  EXPECT_FALSE(found.anything);
  const auto locked = flow_->predecessors(at("locks", 3)).known;
  ASSERT_EQ(locked.size(), 2u) << "with the prefix, and without";
  EXPECT_EQ(locked[0].address, at("locks", 2));
  EXPECT_EQ(locked[1].address, at("locks", 2) + 1);
}

TEST_F(ControlFlow, RefusesWhatIsBeyondItsBudget) {
  const std::uint64_t sampled = at("joins", 4);
  EXPECT_EQ(flow_->problem_at(sampled), analysis::NotJudged::none);
  budget_.take(UINT64_MAX);
  EXPECT_EQ(flow_->problem_at(sampled), analysis::NotJudged::too_much_code);
}

TEST_F(ControlFlow, ReportsPlacesWithoutAnInstruction) {
  EXPECT_EQ(flow_->problem_at(at("joins", 0)), NotJudged::none);
  EXPECT_EQ(flow_->problem_at(at("joins", 0) + 1), NotJudged::inside_instruction);
  EXPECT_EQ(flow_->problem_at(1), NotJudged::no_function);
}

TEST_F(ControlFlow, PairsThatAreNotFusedDoNotLeadPastTheirJump) {
  watch_.fuses_as_intel = true;
  EXPECT_EQ(causes("joins", 4), "joins.3") << "CMP with a number";
  watch_.fuses_as_intel = false;
  const std::set<std::uint64_t> unfused{at("joins", 2)};
  watch_.unfused = &unfused;
  EXPECT_EQ(causes("joins", 2), "joins.1");
  EXPECT_EQ(causes("joins", 4), "joins.3");
}

TEST_F(ControlFlow, AccessesOfTheStackAreCandidatesIfTheDatumMayBeThere) {
  watch_.stack_is_elsewhere = false;
  EXPECT_EQ(causes("joins", 8), "joins.7");
  EXPECT_EQ(causes("calls", 1), "returns.2 returns.3");
  EXPECT_EQ(causes("calls", 3), "unknown");
}

TEST_F(ControlFlow, AbsoluteOperandsDoNotMoveWithTheFile) {
  const std::uint64_t sampled = at("absolute", 1);
  for (const std::uint64_t bias : {0x0ULL, 0x555555554000ULL}) {
    const auto is_candidate = [&](std::uint64_t address) {
      watch_.watched = {.ip = sampled + bias, .address = address};
      return !find_candidates(*flow_, *accesses_, sampled, watch_).known.empty();
    };
    EXPECT_TRUE(is_candidate(0x10000004)) << bias;
    EXPECT_FALSE(is_candidate(0x10000008)) << bias;
  }
}

TEST_F(ControlFlow, PartialOverlapIsAnAccess) {
  watch(address_of("watched") + 7, 1);
  EXPECT_EQ(causes("joins", 4), "joins.1 joins.3");
  watch(address_of("watched") - 3, 4);
  EXPECT_EQ(causes("joins", 4), "joins.1 joins.3");
  watch(address_of("watched") + 8, 1);
  EXPECT_EQ(causes("joins", 4), "nothing");
  EXPECT_EQ(causes("joins", 6), "joins.5") << "the first byte of the next datum";
}

TEST_F(ControlFlow, CandidatesKeepTheirWaysToTheSample) {
  const auto known = candidates_of(at("joins", 4)).known;
  ASSERT_EQ(known.size(), 2u);
  EXPECT_THAT(known[0].branches, ElementsAre(at("joins", 2)));
  EXPECT_FALSE(known[0].falls_through);
  EXPECT_TRUE(known[1].branches.empty());
  EXPECT_TRUE(known[1].falls_through);
  watch(address_of("twice"));
  EXPECT_EQ(causes("ways", 2), "ways.0");
}

TEST_F(ControlFlow, CausesOfACoreEventDecide) {
  const auto loads = events::causes_of(
      {.name = "MEM_INST_RETIRED.ALL_LOADS", .core = events::Core::skylake, .config = 0x81d0});
  watch_ = {.causes = loads};
  EXPECT_EQ(causes("joins", 6), "joins.5");
  EXPECT_EQ(causes("joins", 5), "nothing");
  EXPECT_EQ(causes("joins", 4), "nothing") << "Intel's CPUs do not fuse CMP with a number";
  EXPECT_EQ(causes("calls", 1), "returns.2 returns.3");
}

TEST(StrippedCode, KnowsThePartsOfAFunctionByTheJumpsBetweenThem) {
  SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
  SKIP_WITHOUT("strip");
  constexpr const char* kParts = R"(
  .globl first, second, cold
  .hidden first, second, cold
first:
  .cfi_startproc
  testq %rdi, %rdi
  je cold
  ret
  .cfi_endproc
second:
  .cfi_startproc
  addq %rdi, %rax
  ret
  .cfi_endproc
cold:
  .cfi_startproc
  jmp *%rax
  .cfi_endproc
)";
  const test::TemporaryDirectory directory;
  const auto path = directory / "code.so";
  const test::AssembledProgram whole(path, kParts, Arch::x86_64, {"-shared"});
  const std::uint64_t first = whole.value_of("first"), second = whole.value_of("second");
  ASSERT_TRUE(run_program({"strip", path.string()}).code.success());
  const auto module = symbols::Module::open(path);
  code::CodeBudget budget;
  code::FileCode file(module, Arch::x86_64, std::nullopt, budget);
  const auto computes_jumps = [&](std::uint64_t address) {
    const auto function = file.function_at(address).function;
    return function && file.computes_jumps(*function);
  };
  EXPECT_TRUE(computes_jumps(first));
  EXPECT_FALSE(computes_jumps(second));
  EXPECT_TRUE(file.function_at(second).function) << "found by the unwind table";
}

}  // namespace
}  // namespace skid::correct
