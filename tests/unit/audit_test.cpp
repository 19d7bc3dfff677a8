// Which samples an audit accuses, on synthetic recordings whose samples lie on chosen instructions,
// of aarch64 too on any host.
#include "src/audit/audit.h"

#include "analysis/not_judged.h"
#include "src/audit/file_judge.h"
#include "src/code/file_code.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/locate/place_counter.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "src/support/address.h"
#include "src/support/process.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/unit/audited_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::audit {
namespace {

using events::Verdict;
using instructions::Categories;
using instructions::Category;

TEST(AuditOffCpu, CountsNoRecordOfBpfOutput) {
  const test::TemporaryDirectory directory;
  test::RecordingBuilder::with_off_cpu_times().write(directory / "perf.data");
  const Audit all = audit({directory / "perf.data", {}, nullptr, nullptr}, {});
  EXPECT_THAT(test::mapped(all.events, &EventAudit::samples), ElementsAre(2));
}

/// Functions with the verdicts on samples at their instructions. Local labels leave no symbol.
constexpr const char* kAssembly = R"(
  function suspects
  movq (%rdi), %rax                     # 2 conditional, fault conditional
  addq %rbx, %rax                       # 2 never, fault unknown_cause: it may not be fetched
  leaq 0x11(%rdi), %rcx                 # 2 never
  movq %rax, (%rdi)                     # 2 never
  cmpq %rax, (%rdi)                     # 2 conditional
  jne .Lsuspects_end                    # 2 conditional: fused with the load before it
  cmpq %rax, %rbx                       # 2 never, 1 conditional, rw conditional: after the pair
  je .Lsuspects_end                     # 2 never
  cmpq $0x12, (%rdi)                    # 2 conditional
  jb .Lsuspects_end                     # 2 never: memory compared with a number does not fuse
  xchgq %rax, (%rdi)                    # 2 maybe, 1 never: after the pair that is none
  prefetcht0 (%rdi)                     # 2 maybe
  lock incq (%rdi)                      # 2 maybe
  mfence                                # 2 never
  popq %rdx                             # 2 maybe
  movabsq $0x1122334455667788, %rsi     # 2 never
  nop                                   # 2 never
.Lsuspects_end:
  ret                                   # 2 maybe
  end suspects

  function flow
  endbr64                               # 1 no_only_predecessor: the function's entry
  addq %rbx, %rax                       # 1 never
  movq (%rdi), %rcx                     # 1 never, rw never: after an addition
  leaq 0x21(%rcx), %rdx                 # 1 conditional, rw conditional, w never: after the load
  testq %rdx, %rdx
  jne .Lover                            # 1 never: after the test
  xorq %rbx, %rax                       # 1 never: after the pair
.Lover:
  subq $0x22, %rdx                      # 1 no_only_predecessor, rw no_only_predecessor: a target
  call suspects                         # 1 never
  incq %rax                             # 1 no_only_predecessor: a return site
  movq %rax, (%rdi)                     # 1 never
  rep movsb                             # 1 conditional, w conditional: after its own repetitions, or a store
  negq %rax                             # 1 conditional: after the string's load
  mov %eax, %ss
  notq %rax                             # 1 unknown_cause, rw unknown_cause: after MOV to SS
  decq %rbx                             # rw unknown_cause: its successor's
  jmp .Lflow_end                        # 1 never
  nop                                   # 1 no_only_predecessor: after the jump
  movq %rcx, %rbx                       # 1 no_only_predecessor: after padding
  bswapq %rbx                           # 1 never
.Lflow_end:
  ret                                   # 1 no_only_predecessor: a branch's target
  end flow

  function tables
  addq %rbx, %rax
  subq %rbx, %rax                       # 1 no_only_predecessor: a computed jump beside it
  jmp *%rax
  end tables

  function split
  addq %rbx, %rax
  subq %rbx, %rax                       # 1 no_only_predecessor: one in its cold part
  ret
  end split
  function split.cold
  jmp *%rax
  end split.cold

  function bad
  .byte 0x06
  addq %rbx, %rax
  subq %rbx, %rax                       # 2 never, 1 no_only_predecessor: undecoded bytes before
  ret
  end bad

  function thunked
  addq %rbx, %rax
  subq %rbx, %rax                       # 1 no_only_predecessor: jumps through a thunk
  jmp thunk
  end thunked
  function thunk
  call .Lset
.Lspin:
  pause
  lfence                                # 1 no_only_predecessor
  jmp .Lspin
.Lset:
  movq %rax, (%rsp)
  ret
  end thunk

  function partly
  addq %rbx, %rax
  subq %rbx, %rax                       # 1 no_only_predecessor: one in a nameless part
  jne .Lnameless
  ret
  end partly
  .section .text.unlikely,"ax",@progbits
.Lnameless:
  jmp *%rax
  .text

  function setter
  addq %rbx, %rax
  movq %rax, (%rdi)                     # 1 never: a store before RET is no computed jump
  ret
  end setter

  function entered
  addq %rbx, %rax
  .globl further_entry
  .hidden further_entry
further_entry:
  subq %rbx, %rax                       # 1 no_only_predecessor: has a symbol
  ret
  end entered

  function labelled
  movq %rax, %rcx
  cmpq %rax, (%rdi)
at_jump:
  jne .Llabelled_end                    # 2 no_function
  negq %rax                             # 1 no_function
.Llabelled_end:
  ret
  end labelled

  function parts
  addq %rbx, %rax
  vpgatherdd %ymm1, (%rdi,%ymm2,4), %ymm0  # 1 maybe, rw conditional, w never: itself, which reads
  addq %rbx, %rax
  rep stosb                             # 1 never: loads nothing
  orq %rax, (%rdi)
  jne .Lparts_end
  negq %rax                             # w conditional: other CPUs fuse the jump with the OR
.Lparts_end:
  ret
  end parts
)";

class AuditTest : public AuditedX86Program {
 protected:
  void SetUp() override {
    AuditedX86Program::SetUp();
    if (!IsSkipped()) build(kAssembly);
  }

  void build(const std::string& assembly) {
    const std::string main = (directory_ / "main.c").string();
    std::ofstream(main) << "int main(void) { return 0; }\n";
    AuditedProgram::build(assembly, Arch::x86_64, {main});
  }

  /// Where the instruction begins that Capstone prints so, in a function of the program.
  std::uint64_t at(const std::string& function, const std::string& text) const {
    for (const auto& one : assembled_->instructions_of(function)) {
      if (one.text.starts_with(text)) return one.address;
    }
    ADD_FAILURE() << function << " has no " << text;
    return 0;
  }
};

TEST_F(AuditTest, JudgesEachInstructionAsNotedBesideIt) {
  expect_as_noted();
}

TEST_F(AuditTest, CountsExactlyTheImpossibleSamples) {
  std::vector<json> places;
  std::set<std::uint64_t> impossible, accused;
  std::uint64_t samples = 0;
  const AddressRange suspects = assembled_->module().functions_named("suspects").at(0).range;
  for (const auto& one : assembled_->noted()) {
    if (!suspects.contains(one.address)) continue;
    places.push_back(place(one.address, true, ++samples));
    if (one.has("2 never")) impossible.insert(one.address);
  }
  const EventAudit all = audit_of(event(3, places));
  for (const InstructionFinding& one : all.instructions) accused.insert(one.address);
  EXPECT_THAT(accused, SizeIs(9));
  EXPECT_EQ(accused, impossible);
  EXPECT_EQ(all.impossible_instructions, impossible.size());
  ASSERT_THAT(all.functions, SizeIs(1));
  EXPECT_EQ(all.functions.front().function, "suspects");
  EXPECT_EQ(all.functions.front().impossible, all.impossible.count);
  const auto& worst = all.instructions.front();
  for (const auto& one : all.instructions) EXPECT_LE(one.samples, worst.samples);
  EXPECT_EQ(worst.function, "suspects");
  EXPECT_FALSE(worst.text.empty());
  EXPECT_THAT(worst.source_file, HasSubstr("program.s"));
  EXPECT_GT(worst.source_line, 0);
}

TEST_F(AuditTest, NamesThePredecessorThatItJudgesAtLevel1) {
  const EventAudit all = audit_of(event(1, {place(at("flow", "mov rcx"), false)}));
  ASSERT_THAT(all.instructions, SizeIs(1));
  EXPECT_EQ(all.instructions.front().judged_address, at("flow", "add rax, rbx"));
  EXPECT_EQ(all.instructions.front().address, at("flow", "mov rcx"));
}

TEST_F(AuditTest, JudgesExactSamplesOfLevel1AtTheirAddress) {
  const auto load = at("suspects", "mov rax, qword ptr [rdi]");
  EXPECT_EQ(answer_of(audit_of(event(1, {place(load, true)}))), "conditional");
}

TEST_F(AuditTest, CountsUnjudgedSamplesByReason) {
  const auto add = at("suspects", "add rax, rbx");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, false)}))), "not_exact");
  EXPECT_EQ(answer_of(audit_of(event(0, {place(add, true)}))), "level_0");
  EXPECT_EQ(answer(2, add, {{"config", "0x412e"}}), "imprecise");
  EXPECT_EQ(answer(2, add, {{"config", "0xffff"}}), "unknown_event");
  EXPECT_EQ(answer(2, add, {{"config", 0}, {"type", 1}}), "timer");
  EXPECT_EQ(answer(2, at("suspects", "movabs") + 1), "inside_instruction");
  EXPECT_EQ(answer(2, at("bad", ".byte")), "not_decoded");

  json with_kernel = event(2, {place(add, true, 90)});
  with_kernel["levels"][0]["kernel"] = 0.1;
  const EventAudit mixed = audit_of(with_kernel);
  EXPECT_EQ(mixed.samples, 100U);
  EXPECT_EQ(count_of(mixed, NotJudged::kernel), 10U);
  EXPECT_EQ(mixed.impossible.count, 90U);

  machine_ = {{"vendor", "AnotherVendor"}, {"family", 1}, {"model", 1}, {"stepping", 1}};
  EXPECT_EQ(answer(2, add), "unknown_cpu");
  machine_ = intel_machine(kSapphireRapidsModel);
  EXPECT_EQ(answer(2, add, {{"config", "0xc0"}}), "unknown_cause") << "any instruction retires";
}

TEST_F(AuditTest, JudgesBranchEventsByTheKindOfBranch) {
  machine_ = intel_machine(kSapphireRapidsModel);
  const auto verdict = [&](const char* config, int level, std::uint64_t address) {
    return answer(level, address, {{"config", config}});
  };
  const auto add = at("suspects", "add rax, rbx"), je = at("suspects", "je"),
             ret = at("suspects", "ret"), lea = at("suspects", "lea rcx");
  EXPECT_EQ(verdict("0x11c4", 2, je), "can") << "BR_INST_RETIRED.COND";
  EXPECT_EQ(verdict("0x11c4", 2, ret), "never");
  EXPECT_EQ(verdict("0x8c4", 2, ret), "can") << "BR_INST_RETIRED.NEAR_RETURN";
  EXPECT_EQ(verdict("0x8c4", 2, je), "never");
  EXPECT_EQ(verdict("0x20c4", 2, add), "never") << "BR_INST_RETIRED.NEAR_TAKEN";
  EXPECT_EQ(verdict("0xc4", 2, add), "unknown_cause") << "an interrupt there counts as a branch";
  EXPECT_EQ(verdict("0x11c4", 1, lea), "never") << "only direct branches have a condition";
  EXPECT_EQ(verdict("0x20c4", 1, lea), "no_only_predecessor") << "a return can go anywhere";
}

TEST_F(AuditTest, UsesTheCausesOfTheRecordedCpu) {
  machine_ = intel_machine(kHaswellModel);
  EXPECT_EQ(answer(2, at("suspects", "mfence")), "maybe") << "never on a Skylake";
  EXPECT_EQ(answer(2, at("suspects", "lea")), "never");
}

TEST_F(AuditTest, UsesOnlyTheRecordedBinary) {
  const auto add = at("suspects", "add rax, rbx");
  write({event(2, {place(add, true)})}, program_);
  const fs::path kept = directory_ / "kept";
  fs::rename(program_, kept);
  const auto missing = audit_recording();
  EXPECT_EQ(answer_of(missing.events.front()), "no_file");
  EXPECT_THAT(missing.remarks, ElementsAre(HasSubstr(program_.string())));

  Choices choices;
  choices.places.symfs = directory_ / "root";
  fs::create_directories((directory_ / "root") / program_.parent_path().relative_path());
  fs::copy_file(kept, (directory_ / "root") / program_.relative_path());
  EXPECT_EQ(answer_of(audit_recording(choices).events.front()), "never");

  if (find_program("objcopy")) {
    const auto id = symbols::Module::open(kept).build_id();
    const fs::path debug = directory_ / "debug" / ".build-id" / id.substr(0, 2);
    fs::create_directories(debug);
    const auto copied = run_program({"objcopy", "--only-keep-debug", kept.string(),
                                     (debug / (id.substr(2) + ".debug")).string()});
    ASSERT_TRUE(copied.code.success()) << copied.err;
    choices = {};
    choices.places.by_build_id.debug_directories = {directory_ / "debug"};
    EXPECT_EQ(answer_of(audit_recording(choices).events.front()), "no_code");
  }

  build(std::string(kAssembly) + "\n  .text\n  .byte 1, 2, 3\n");
  EXPECT_EQ(answer_of(audit_recording().events.front()), "refused");
}

TEST_F(AuditTest, JudgesSampledInstructionsWithoutSymbols) {
  const auto add = at("suspects", "add rax, rbx"), jump = at("suspects", "je"),
             test = at("flow", "xor");
  const auto stripped = run_program({"strip", program_.string()});
  ASSERT_TRUE(stripped.code.success()) << stripped.err;
  EXPECT_EQ(answer(2, add), "never");
  EXPECT_EQ(answer(2, jump), "no_function") << "the preceding instruction may be fused with it";
  EXPECT_EQ(answer(1, test), "no_function");
}

TEST_F(AuditTest, PrintsNothingOfBlocksForBreakpoints) {
  Audit audit;
  audit.events = {
      audit_of(event(0, {place(at("flow", "lea rdx"), false)}, breakpoint(kDatum, "rw")))};
  EXPECT_THAT(output::audit_text({audit}, {.width = 80}), ::testing::Not(HasSubstr("blocks")));
}

TEST_F(AuditTest, JudgesBreakpointsOnExecutionByTheirAddress) {
  const auto add = at("suspects", "add rax, rbx");
  const std::uint64_t bias = 0x5555'5555'4000;  // of what is linked to address 0
  const bool is_moved = add < 0x10000;
  const json watched = breakpoint(add + (is_moved ? bias : 0), "x");
  EXPECT_EQ(answer(0, add, watched), "can");
  EXPECT_EQ(answer(0, at("suspects", "lea"), watched), "never");
}

/// Instructions of a binary's functions, but those that may be one half of a macro-fused pair.
std::vector<std::pair<std::uint64_t, Categories>> instructions_in(const fs::path& path) {
  const auto module = symbols::Module::open(path);
  std::vector<std::pair<std::uint64_t, Categories>> all;
  for (const std::uint64_t start : module.function_starts()) {
    const auto function = module.function_at(start);
    if (!function || function->range.begin != start) continue;
    const auto bytes = module.code(function->range);
    instructions::for_each_instruction(Arch::x86_64, bytes, start,
                                       [&](std::uint64_t address, const auto& one) {
                                         if (one && one->fusion == instructions::Fusion::none) {
                                           all.emplace_back(address, one->categories);
                                         }
                                       });
  }
  return all;
}

/// Samples at up to 40 of these instructions that are of a category, spread over all.
std::vector<std::pair<std::uint64_t, Categories>> some_of(
    const std::vector<std::pair<std::uint64_t, Categories>>& all, Category category) {
  constexpr std::size_t kMost = 40;
  std::vector<std::pair<std::uint64_t, Categories>> of_it, some;
  std::ranges::copy_if(all, std::back_inserter(of_it),
                       [&](const auto& one) { return one.second.contains(category); });
  EXPECT_GE(of_it.size(), kMost) << instructions::name_of(category);
  for (std::size_t i = 0; i < kMost; ++i) some.push_back(of_it.at(i * of_it.size() / kMost));
  return some;
}

TEST_F(AuditTest, CountsExactlyTheImpossibleSamplesOfRealBinaries) {
  const auto misses = test::catalogue_of("skl").find_code(0x20d1, 0).at(0);
  bool is_any = false;
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/bin/bash"}) {
    if (!fs::exists(path)) continue;
    is_any = true;
    SCOPED_TRACE(path);
    const auto all = instructions_in(path);
    std::map<std::uint64_t, Categories> chosen;
    using enum Category;
    for (const Category category : {gp_load, store, lea, no_memory}) {
      for (const auto& one : some_of(all, category)) chosen.insert(one);
    }
    std::vector<json> places;
    std::set<std::uint64_t> impossible, accused;
    for (const auto& [address, categories] : chosen) {
      places.push_back(place(address, true));
      if (events::verdict_on(events::causes_of(misses), categories) == Verdict::never) {
        impossible.insert(address);
      }
    }
    write({event(2, places)}, path);
    const EventAudit found = audit_recording().events.at(0);
    // What has no symbol may be a jump that its neighbour is fused with.
    EXPECT_EQ(count_of(found, NotJudged::no_function), 0U);
    for (const auto& instruction : found.instructions) accused.insert(instruction.address);
    EXPECT_EQ(accused, impossible);
    EXPECT_GT(impossible.size(), 80U);
    EXPECT_EQ(found.impossible.count, impossible.size() * kSamplesAtAPlace);
    EXPECT_EQ(found.samples, chosen.size() * kSamplesAtAPlace);
  }
  if (!is_any) GTEST_SKIP() << "no libc where it is expected";
}

TEST_F(AuditTest, DoesNotCountUnknownCausesAsImpossible) {
  const fs::path libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!fs::exists(libc)) GTEST_SKIP() << libc << " is not here";
  std::vector<json> places, events;
  for (const auto& [address, categories] : some_of(instructions_in(libc), Category::other)) {
    places.push_back(place(address, true));
  }
  for (const char* config :
       {"0x81d0", "0x21d0", "0x1d1", "0x2d1", "0x4d1", "0x8d1", "0x10d1", "0x20d1", "0x40d1"}) {
    for (const int level : {2, 3}) events.push_back(event(level, places, {{"config", config}}));
  }
  write(events, libc);
  const Audit all = audit_recording();
  ASSERT_EQ(all.events.size(), events.size());
  for (const EventAudit& event : all.events) {
    EXPECT_EQ(event.impossible.count, 0U) << event.identity.label;
    EXPECT_GT(count_of(event, NotJudged::unknown_cause), 0U);
  }
}

/// With the verdicts of watchpoints and page faults. The word of data does not decode.
constexpr const char* kAarch64Assembly = R"(
  function _start
  bl suspects
  b _start
  end _start

  function suspects
  ldr x1, [x0]           // rw conditional, w never: a load does not write
  str x1, [x0]           // rw conditional, w conditional, fault conditional
  ldp x1, x2, [x0]       // rw conditional, w never
  ldxr x3, [x0]          // rw conditional, w never
  stxr w4, x3, [x0]      // rw conditional, w conditional
  .inst 0xf8e10002       // rw conditional, w conditional: ldaddal x1, x2, [x0]
  prfm pldl1keep, [x0]   // rw unknown_cause, w unknown_cause
  dc zva, x0             // rw unknown_cause, w unknown_cause
  add x1, x1, x2         // rw unknown_cause, w unknown_cause, fault unknown_cause: may not be fetched
  cbz x1, 1f             // rw unknown_cause, w unknown_cause
1:
  ret                    // rw unknown_cause, w unknown_cause
  .word 0
  end suspects
)";

class AuditOfAarch64 : public AuditedProgram {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
    build(kAarch64Assembly, Arch::aarch64, {"-nostdlib", "-static"});
    load_ = assembled_->module().functions_named("suspects").at(0).range.begin;
  }

  // Distances from the first instruction, which loads.
  static constexpr std::uint64_t kAdd = 32, kData = 44;
  std::uint64_t load_ = 0;
};

TEST_F(AuditOfAarch64, JudgesWatchpointsAndFaultsByTheSampledInstruction) {
  expect_as_noted();
  EXPECT_EQ(audit_recording().cpu.arch, "aarch64");
}

TEST_F(AuditOfAarch64, ReportsTheRuleAndTheInstruction) {
  const EventAudit all = audit_of(event(0, {place(load_, false)}, breakpoint(kDatum, "w")));
  EXPECT_EQ(all.rule, Rule::write_watchpoint);
  ASSERT_THAT(all.instructions, SizeIs(1));
  EXPECT_EQ(all.instructions[0].text, "ldr x1, [x0]");
  EXPECT_EQ(all.instructions[0].function, "suspects");
  EXPECT_EQ(all.instructions[0].judged_address, load_);
  EXPECT_EQ(names_of(all.instructions[0].categories), "LOAD");
}

TEST_F(AuditOfAarch64, JudgesBreakpointsOnExecutionByTheirAddress) {
  const json watch = breakpoint(kDatum, "rw"), execute = breakpoint(load_ + kAdd, "x");
  EXPECT_EQ(answer(0, load_ + kData, watch), "not_decoded");
  EXPECT_EQ(answer(0, load_ + 2, watch), "inside_instruction");
  EXPECT_EQ(answer(0, load_ + kAdd, execute), "can");
  EXPECT_EQ(answer(0, load_, execute), "never");
}

TEST_F(AuditOfAarch64, DoesNotJudgeEventsOfTheCore) {
  // Codes that mean loads on Skylake and cycles here; no instruction is accused.
  for (const int level : {0, 1, 2, 3}) {
    for (const char* config : {"0x11", "0x81d0", "0x3"}) {
      EXPECT_EQ(answer(level, load_ + kAdd, {{"config", config}}), "no_precise_levels")
          << config << " at level " << level;
    }
  }
}

TEST_F(AuditOfAarch64, DoesNotJudgeCodeOfAnotherArchitecture) {
  const symbols::Module& module = assembled_->module();
  const auto mapping = module.executable_mapping_at(load_).value();
  const std::uint64_t offset = load_ - mapping.range.begin + mapping.file_offset;
  const auto answer = [&](std::optional<Arch> recorded) {
    code::CodeBudget budget;
    FileJudge judge(module, recorded, std::nullopt, budget);
    return judge.judge({}, Rule::page_fault, offset).not_judged;
  };
  EXPECT_EQ(answer(Arch::x86_64), NotJudged::architecture);
  EXPECT_EQ(answer(Arch::aarch64), NotJudged::none);
  EXPECT_EQ(answer(std::nullopt), NotJudged::none) << "the file has one";
}

TEST_F(AuditOfAarch64, JudgesBreakpointsByTheFileWithoutARecordedArchitecture) {
  code::CodeBudget budget;
  const FileJudge judge(assembled_->module(), std::nullopt, std::nullopt, budget);
  EXPECT_EQ(judge.rule_here(Rule::data_breakpoint), Rule::data_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::write_breakpoint), Rule::write_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::page_fault), Rule::page_fault);
}

}  // namespace
}  // namespace skid::audit
