// Which addresses instructions before a sample can have accessed, and what that shows, on assembly
// whose paths are known.
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/support/address.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"
#include "tests/support/assembled_program.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::witness {
namespace {

constexpr const char* kAssembly = R"(
  function adds
  movq 8(%rdi), %rax             # load
  addq $16, %rdi                 # add
  pushq %rax                     # push
  movq datum(%rip), %rcx         # relative
  xorl %eax, %eax                # zero
  popq %rbx                      # pop
  leaq -8(%rsi), %rsi            # lea
  movq (%rdi,%rsi,4), %rdx       # index
  movl %ecx, %edi                # lost
  cmpq $1, (%rsi)                # compare
  jne .Lend                      # jump
  movq %fs:0x28, %r8             # segment
.Lend:
  incq %rsi                      # end
  ret                            # return
  end adds

  function calls
  call callee                    # call
  nop                            # after call
  ret
  end calls

  function callee
  pushq %rbp                     # entry
  movq %rsp, %rbp
  movq %rax, -16(%rbp)           # local
  leave                          # leave
  ret                            # callee's return
  end callee

  function strings
  rep stosb                      # string
  nop                            # after string
  movsl                          # move string
  lodsb                          # load string
  ret
  end strings

  function copies
  movq %rdi, %rbx
  leaq 16(%rbx), %rbp
  cmpq %rsi, (%rdi)
  jg .Lright
  addq $8, %rdi
  movq 8(%rdi), %rdi             # on one path
  ret
.Lright:
  movq %rdi, %r9
  movl $0, %ebx
  movq 24(%rdi,%rdx,2), %rdi     # by the newest copy
  jmp .Lboth
.Lleft:
  leaq -8(%rcx), %rax            # after a jump
.Lboth:
  movq (%rax), %rax              # on two paths
  movl %ecx, %eax
  movq (%rax), %rax              # of half a register
  pushq %rsi
  movq %rdx, %rsi
  movq (%rsi,%rdx), %rdx         # copied from
  call chase
  movq (%rdx), %rdx              # after a callee
  jmp .Lleft
  end copies

  function computes
  movl %edi, %eax
  andl $15, %edi
  movzbl (%rdx,%rdi), %edi       # by low bits
  movl %esi, %r10d
  addq %rdx, %r10
  nop
  andl $0x7fff, %esi
  movzwl (%rdx,%rsi,2), %esi     # undone
  leal 3(%r8), %r9d
  addl $1, %r8d
  movb (%rdx,%r9), %r9b          # half registers
  movq %rcx, %r11
  subq %rdx, %r11
  movq 8(%rbx,%r11), %r11        # difference
  movslq %ebp, %r12
  movq (%rbx,%r12,8), %r12       # sign
  movslq %ebp, %r12
  movzbl %r12b, %r12d
  movq (%rbx,%r12,8), %r12       # low bits of sign
  leaq (%rcx,%rbp,4), %r13
  leaq 1(%r13), %r14
  xorl %ebp, %ebp
  movq (%rcx,%r13), %r13         # one less
  leaq (%rcx,%rdx,2), %r15
  addq %rbx, %r15
  movq (%r15), %r15              # of three
  movzbl %al, %ebp
  addl $1, %ebp
  movq (%rbp), %rbp              # added to low bits
  ret
  end computes

  function chase
  movq %rax, %rdx
.Lchase:
  movq (%rax), %rax              # chase
  testq %rax, %rax
  jne .Lchase
  ret
  end chase

  .macro copies paths
  .set number, 0
  .rept \paths
  leaq number(%rbx), %rdi
  jmp 1f
  .set number, number + 16
  .endr
1:
  .endm
  function many
  copies 30
  movq (%rdi), %rdi              # after 30 copies
  copies 40
  movq (%rdi), %rdi              # after 40 copies
  movq %rbx, %rdi
  .rept 30
  nop
  .endr
  movq (%rdi), %rdi              # 30 after a copy
  movq %rbx, %rdi
  .rept 40
  nop
  .endr
  movq (%rdi), %rdi              # 40 after a copy
  ret
  end many

  .data
  .globl datum
  .hidden datum
datum: .quad 0
)";

class Witness : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    if (!program_) {
      const test::TemporaryDirectory directory;
      program_.emplace(directory / "code.so", kAssembly, Arch::x86_64,
                       std::vector<std::string>{"-shared"});
    }
    flow_.emplace(program_->module(), std::nullopt, budget_);
    file_.emplace(*flow_);
  }
  /// "rdi", "rdi-1*rsi", "(rdi+3, 8 bits)": without what is added to all of it, which is added to
  /// `displacement`.
  static std::string text(Value value, std::uint64_t scale, std::uint64_t& displacement) {
    constexpr std::array kNames{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const bool is_whole = value.bits == 64;
    if (is_whole) displacement += std::exchange(value.addend, 0) * scale;
    std::string text = kNames.at(value.from);
    if (value.scale != 0) text += fmt::format("{:+}*{}", value.scale, kNames.at(value.second));
    if (value.addend != 0) text += fmt::format("{:+}", static_cast<std::int64_t>(value.addend));
    return is_whole ? text : fmt::format("({}, {} bits)", text, value.bits);
  }
  /// "rdi-8", "rdi+4*rsi+16", "datum": relative to the IP at `place`.
  static std::string text(const Address& address, const std::string& place) {
    std::uint64_t displacement = address.displacement;
    if (address.from_instruction) {
      const std::uint64_t at = program_->at(place) + displacement;
      if (at == program_->value_of("datum")) return "datum";
      return at == program_->at(place) ? "fetch" : "?";
    }
    std::string text = address.base ? Witness::text(*address.base, 1, displacement) : "";
    if (address.index) {
      text += fmt::format("+{}*{}", address.scale,
                          Witness::text(*address.index, address.scale, displacement));
    }
    const auto added = static_cast<std::int64_t>(displacement);
    return added == 0 ? text : fmt::format("{}{:+}", text, added);
  }
  static std::string text(const Accesses& accesses, const std::string& place) {
    std::vector<std::string> parts;
    for (const Address& one : accesses.known) parts.push_back(text(one, place));
    if (accesses.unknown != Unknown::none) parts.emplace_back(name_of(accesses.unknown));
    return fmt::format("{}", fmt::join(parts, " "));
  }
  std::string of_sample(const std::string& place, Moment moment) {
    return text(file_->of_sample(program_->at(place), moment), place);
  }
  /// "1 index rdi+4*rsi" for each candidate, in their order.
  std::vector<std::string> before(const std::string& place, Moment moment, unsigned longest) {
    std::vector<std::string> found;
    for (const Candidate& one : file_->before(program_->at(place), moment)) {
      if (one.distance > longest) continue;
      std::string name = "caller";
      for (const auto& noted : program_->noted()) {
        if (one.address == noted.address) name = noted.notes.front();
      }
      found.push_back(fmt::format("{} {}: {}", one.distance, name, text(one.accesses, place)));
    }
    return found;
  }

  static inline std::optional<test::AssembledProgram> program_;
  code::CodeBudget budget_;
  std::optional<code::ControlFlow> flow_;
  std::optional<FileAccesses> file_;
};

TEST_F(Witness, KnowsWhatTheSampledInstructionAccessed) {
  EXPECT_EQ(of_sample("load", Moment::before), "fetch rdi+8");
  EXPECT_EQ(of_sample("load", Moment::after), "rdi+8");
  EXPECT_EQ(of_sample("load", Moment::unrelated), "not_recorded");
  EXPECT_EQ(of_sample("relative", Moment::unrelated), "datum");
  EXPECT_EQ(of_sample("push", Moment::before), "fetch rsp-8");
  EXPECT_EQ(of_sample("push", Moment::after), "rsp");
  EXPECT_EQ(of_sample("pop", Moment::after), "rsp-8");
  EXPECT_EQ(of_sample("zero", Moment::after), "");
  EXPECT_EQ(of_sample("segment", Moment::after), "segment");
  EXPECT_EQ(of_sample("leave", Moment::before), "fetch rbp");
  EXPECT_EQ(of_sample("leave", Moment::after), "rsp-8");
  EXPECT_EQ(of_sample("return", Moment::after), "rsp-8");
  EXPECT_EQ(of_sample("return", Moment::before), "fetch rsp instruction") << "or the shadow stack";
  EXPECT_EQ(of_sample("call", Moment::before), "fetch rsp-8 instruction");
  EXPECT_EQ(of_sample("string", Moment::before), "fetch rdi");
  EXPECT_EQ(of_sample("string", Moment::after), "rdi-1 rdi+1 operand") << "its last part";
  EXPECT_EQ(of_sample("move string", Moment::after), "rdi-4 rsi-4 rdi+4 rsi+4");
  EXPECT_EQ(of_sample("load string", Moment::after), "rsi-1 rsi+1");
  EXPECT_EQ(of_sample("string", Moment::unrelated), "operand");
  EXPECT_EQ(of_sample("jump", Moment::after), "rsi") << "one instruction with the comparison";
}

TEST_F(Witness, KnowsWhatTheInstructionBeforeAccessedAtLevel1) {
  EXPECT_EQ(of_sample("add", Moment::successor), "rdi+8");
  EXPECT_EQ(of_sample("zero", Moment::successor), "datum");
  EXPECT_EQ(of_sample("pop", Moment::successor), "") << "XOR";
  EXPECT_EQ(of_sample("lea", Moment::successor), "rsp-8");
  EXPECT_EQ(of_sample("lost", Moment::successor), "rdi+4*rsi");
  EXPECT_EQ(of_sample("end", Moment::successor), "rsi segment")
      << "the fused comparison, or the load of FS";
  EXPECT_EQ(of_sample("after call", Moment::successor), "rsp-8") << "RET of the callee";
  EXPECT_EQ(of_sample("string", Moment::successor), "rsp rsp-8 rdi-1 rdi+1 predecessor")
      << "a call or a RET from elsewhere, a jump through memory, a part of the string";
  EXPECT_EQ(of_sample("after string", Moment::successor), "rdi-1 rdi+1 operand");
  EXPECT_EQ(of_sample("move string", Moment::successor), "");
  EXPECT_EQ(of_sample("load string", Moment::successor), "rdi-4 rsi-4 rdi+4 rsi+4");
}

TEST_F(Witness, FindsAnOverwrittenRegisterWhereItWasCopied) {
  EXPECT_EQ(of_sample("on one path", Moment::after), "rbx+16");
  EXPECT_EQ(of_sample("by the newest copy", Moment::after), "r9+2*rdx+24");
  EXPECT_EQ(of_sample("on two paths", Moment::after), "rcx-8 overwritten") << "no copy on one";
  EXPECT_EQ(of_sample("of half a register", Moment::after), "(rcx, 32 bits)");
  EXPECT_EQ(of_sample("copied from", Moment::after), "rsi+1*rsi");
  EXPECT_EQ(of_sample("after a callee", Moment::after), "overwritten") << "which may change copies";
  EXPECT_EQ(of_sample("chase", Moment::after), "rdx overwritten") << "only the first of the loop";
  EXPECT_EQ(of_sample("on one path", Moment::unrelated), "not_recorded");
  EXPECT_THAT(before("of half a register", Moment::successor, 2),
              ElementsAre("2 on two paths: rcx-8 overwritten"));
}

TEST_F(Witness, FindsAnOverwrittenRegisterByWhatWasComputedFromIt) {
  EXPECT_EQ(of_sample("by low bits", Moment::after), "rdx+1*(rax, 4 bits)");
  EXPECT_EQ(of_sample("undone", Moment::after), "rdx+2*(r10-1*rdx, 15 bits)");
  EXPECT_EQ(of_sample("half registers", Moment::after), "rdx+1*(r8+2, 32 bits)");
  EXPECT_EQ(of_sample("difference", Moment::after), "rbx+1*rcx-1*rdx+8");
  EXPECT_EQ(of_sample("sign", Moment::after), "overwritten") << "it may be negative";
  EXPECT_EQ(of_sample("low bits of sign", Moment::after), "rbx+8*(rbp, 8 bits)");
  EXPECT_EQ(of_sample("one less", Moment::after), "rcx+1*r14-1") << "RBP is lost";
  EXPECT_EQ(of_sample("of three", Moment::after), "overwritten") << "of three registers";
  EXPECT_EQ(of_sample("added to low bits", Moment::after), "overwritten");
}

TEST_F(Witness, LooksForFewCopies) {
  const auto known = [&](const char* place) {
    return file_->of_sample(program_->at(place), Moment::after).known.size();
  };
  EXPECT_EQ(known("after 30 copies"), 30u);
  EXPECT_EQ(known("after 40 copies"), 0u);
  EXPECT_EQ(of_sample("after 40 copies", Moment::after), "overwritten");
  EXPECT_EQ(of_sample("30 after a copy", Moment::after), "rbx");
  EXPECT_EQ(of_sample("40 after a copy", Moment::after), "overwritten");
  budget_.take(UINT64_MAX);
  EXPECT_EQ(of_sample("after 30 copies", Moment::after), "overwritten") << "the budget ended";
}

TEST_F(Witness, FindsTheInstructionsBefore) {
  const auto level1 = Moment::successor;
  EXPECT_THAT(before("lost", level1, 7), ElementsAre("1 index: rdi+4*rsi", "3 pop: rsp-8",
                                                     "5 relative: datum", "6 push: rsp-8"));
  EXPECT_THAT(before("compare", level1, 2), ElementsAre("2 index: overwritten"));
  EXPECT_THAT(before("pop", level1, 5),
              ElementsAre("2 relative: datum", "3 push: rsp", "5 load: rdi-8"));
  // The registers of a late record may also be those before the sampled instruction.
  EXPECT_THAT(before("zero", Moment::after, 2),
              ElementsAre("1 relative: datum", "1 relative: datum", "2 push: rsp", "2 push: rsp"));
  EXPECT_THAT(before("pop", Moment::after, 3), ElementsAre("2 relative: datum", "2 relative: datum",
                                                           "3 push: rsp", "3 push: rsp-8"));
  EXPECT_THAT(before("local", level1, 3),
              ElementsAre("2 entry: rsp", "3 caller: rsp+8 rsp predecessor", "3 call: rsp+8"));
}

TEST_F(Witness, JudgesByRegisters) {
  const std::array<std::uint64_t, 2> values{0x1000, 0x7000'0000};
  const Registers registers{1U << 4U | 1U << 5U, std::as_bytes(std::span(values)),
                            kHostOrder};  // RSI, RDI
  const auto verdict = [&](const Accesses& accesses, std::uint64_t address) {
    return judge(accesses, {.ip = 0x401000, .address = address, .registers = registers});
  };
  const Address index{.base = {{7}}, .index = {{6}}, .scale = 4, .bytes = 8};
  EXPECT_EQ(verdict({{index}}, 0x7000'4000).verdict, Verdict::proven);
  EXPECT_EQ(verdict({{index}}, 0x7000'4007).verdict, Verdict::proven);
  EXPECT_EQ(verdict({{index}}, 0x7000'4008).verdict, Verdict::contradicted);
  EXPECT_EQ(verdict({{index}}, 0x7000'3fff).verdict, Verdict::contradicted);
  EXPECT_EQ(verdict({}, 0x1000).verdict, Verdict::contradicted) << "no access";
  EXPECT_EQ(verdict({{index}, Unknown::segment}, 0x7000'4000).verdict, Verdict::proven);
  EXPECT_EQ(verdict({{index}, Unknown::segment}, 0).reason, Unknown::segment);
  EXPECT_EQ(verdict({{{.base = {{0}}, .bytes = 8}}}, 0).reason, Unknown::not_recorded);
  const Address relative{.from_instruction = true, .displacement = 0x100, .bytes = 1};
  EXPECT_EQ(verdict({{relative}}, 0x401100).verdict, Verdict::proven);
  const Address masked{.base = {{7, 6, -2, 32, 0xf}}, .displacement = 1, .bytes = 1};
  EXPECT_EQ(verdict({{masked}}, 0x6fff'e010).verdict, Verdict::proven);
  EXPECT_EQ(verdict({{masked}}, 0x6fff'e011).verdict, Verdict::contradicted);
  const Address unknown{.base = {{7, 0, 1}}, .bytes = 8};
  EXPECT_EQ(verdict({{unknown}}, 0).reason, Unknown::not_recorded);
  Registers of_interrupt = registers;
  of_interrupt.other_time = 1U << 4U;
  EXPECT_EQ(judge({{index}}, {0x401000, 0x7000'4000, of_interrupt}).reason, Unknown::not_recorded);
}

/// Distances of samples, each of which fits candidates at these distances.
Distances::Located located(const std::vector<std::vector<unsigned>>& samples) {
  Distances distances;
  for (const auto& sample : samples) {
    std::vector<Candidate> candidates;
    for (const unsigned distance : sample) {
      candidates.push_back({.address = 0x1000 + candidates.size(),
                            .distance = distance,
                            .accesses = {{{.displacement = 8, .bytes = 1}}}});
    }
    distances.add(candidates, {.ip = 0, .address = 8, .registers = {}});
  }
  return distances.locate();
}

TEST(Distances, AreThoseOfTheInstructionsThatFit) {
  EXPECT_EQ(located({{1}, {1}, {2}}), (Distances::Located{{{1, 2}, {2, 1}}, 0, 0}));
  EXPECT_EQ(located({{}, {}, {3}}), (Distances::Located{{{3, 1}}, 0, 2}));
  EXPECT_EQ(located({{5}, {5}, {9}}), (Distances::Located{{{5, 2}}, 1, 0}))
      << "far away, and at the distance of few";
  EXPECT_EQ(located({{5}, {5}, {2, 5}, {5, 7}}), (Distances::Located{{{5, 4}}, 0, 0}))
      << "the distance of most";
  EXPECT_EQ(located({{2, 3}, {2, 2}}), (Distances::Located{{}, 2, 0}));
  EXPECT_EQ(located({{2}, {2, 2}}), (Distances::Located{{{2, 1}}, 1, 0}));
}

}  // namespace
}  // namespace skid::witness
