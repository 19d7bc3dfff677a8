// Which samples an audit accuses, on synthetic recordings whose samples lie on chosen instructions.
#include "src/audit/audit.h"

#include "src/output/audit/audit.h"
#include "tests/support/recording_builder.h"
#include "tests/unit/audited_program.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::audit {
namespace {

namespace fs = std::filesystem;
using events::Verdict;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AuditOffCpu, CountsNoRecordOfBpfOutput) {
  const test::TemporaryDirectory directory;
  test::RecordingBuilder::with_off_cpu_times().write(directory / "perf.data");
  const Audit all = audit({directory / "perf.data", {}, nullptr, nullptr}, {});
  ASSERT_THAT(all.events, SizeIs(1));
  EXPECT_EQ(all.events[0].samples, 2u);
}

/// Functions whose instructions are known one by one. Local labels leave no symbol.
constexpr const char* kAssembly = R"(
  .text
  .globl suspects
  .type suspects, @function
suspects:
  movq (%rdi), %rax
  addq %rbx, %rax
  leaq 0x11(%rdi), %rcx
  movq %rax, (%rdi)
  cmpq %rax, (%rdi)
  jne .Lsuspects_end
  cmpq %rax, %rbx
  je .Lsuspects_end
  cmpq $0x12, (%rdi)
  jb .Lsuspects_end
  xchgq %rax, (%rdi)
  prefetcht0 (%rdi)
  lock incq (%rdi)
  mfence
  popq %rdx
  movabsq $0x1122334455667788, %rsi
  nop
.Lsuspects_end:
  ret
  .size suspects, . - suspects

  .globl flow
  .type flow, @function
flow:
  endbr64
  addq %rbx, %rax
  movq (%rdi), %rcx
  leaq 0x21(%rcx), %rdx
  testq %rdx, %rdx
  jne .Lover
  xorq %rbx, %rax
.Lover:
  subq $0x22, %rdx
  call suspects
  incq %rax
  movq %rax, (%rdi)
  rep movsb
  negq %rax
  mov %eax, %ss
  notq %rax
  decq %rbx
  jmp .Lflow_end
  nop
  movq %rcx, %rbx
  bswapq %rbx
.Lflow_end:
  ret
  .size flow, . - flow

  .globl tables
  .type tables, @function
tables:
  addq %rbx, %rax
  subq %rbx, %rax
  jmp *%rax
  .size tables, . - tables

  .globl split
  .type split, @function
split:
  addq %rbx, %rax
  subq %rbx, %rax
  ret
  .size split, . - split
  .type split.cold, @function
split.cold:
  jmp *%rax
  .size split.cold, . - split.cold

  .globl bad
  .type bad, @function
bad:
  .byte 0x06
  addq %rbx, %rax
  subq %rbx, %rax
  ret
  .size bad, . - bad

  .globl thunked
  .type thunked, @function
thunked:
  addq %rbx, %rax
  subq %rbx, %rax
  jmp thunk
  .size thunked, . - thunked
  .globl thunk
  .type thunk, @function
thunk:
  call .Lset
.Lspin:
  pause
  lfence
  jmp .Lspin
.Lset:
  movq %rax, (%rsp)
  ret
  .size thunk, . - thunk

  .globl partly
  .type partly, @function
partly:
  addq %rbx, %rax
  subq %rbx, %rax
  jne .Lnameless
  ret
  .size partly, . - partly
  .section .text.unlikely,"ax",@progbits
.Lnameless:
  jmp *%rax
  .text

  .globl setter
  .type setter, @function
setter:
  addq %rbx, %rax
  movq %rax, (%rdi)
  ret
  .size setter, . - setter

  .globl entered
  .type entered, @function
entered:
  addq %rbx, %rax
  .globl further_entry
  .hidden further_entry
further_entry:
  subq %rbx, %rax
  ret
  .size entered, . - entered

  .globl labelled
  .type labelled, @function
labelled:
  movq %rax, %rcx
  cmpq %rax, (%rdi)
at_jump:
  jne .Llabelled_end
  negq %rax
.Llabelled_end:
  ret
  .size labelled, . - labelled

  .globl parts
  .type parts, @function
parts:
  addq %rbx, %rax
  vpgatherdd %ymm1, (%rdi,%ymm2,4), %ymm0
  addq %rbx, %rax
  rep stosb
  orq %rax, (%rdi)
  jne .Lparts_end
  negq %rax
.Lparts_end:
  ret
  .size parts, . - parts
  .section .note.GNU-stack,"",@progbits
)";

constexpr const char* kSapphireRapids =
    R"({"vendor":"GenuineIntel","family":6,"model":143,"stepping":4})";

json place(std::uint64_t address, std::uint64_t samples, bool exact = true) {
  return {{"address", address}, {"samples", samples}, {"exact", exact}};
}

class AuditTest : public AuditedX86Program {
 protected:
  void SetUp() override {
    AuditedX86Program::SetUp();
    if (!IsSkipped()) build(kAssembly);
  }

  void build(const std::string& assembly) const {
    const std::string main = (directory_ / "main.c").string();
    std::ofstream(main) << "int main(void) { return 0; }\n";
    AuditedProgram::build(assembly, {"cc", "-g", main});
  }

  /// Where the instruction begins that Capstone prints so, in a function of the program.
  std::uint64_t at(const std::string& function, const std::string& text) const {
    for (const auto& one : instructions_of(function)) {
      if (one.text.starts_with(text)) return one.address;
    }
    ADD_FAILURE() << function << " has no " << text;
    return 0;
  }

  /// An event of a placement: MEM_LOAD_RETIRED.L3_MISS unless `more` says otherwise.
  static json event(int level, std::vector<json> places, json more = {{"config", "0x20d1"}}) {
    more["event"] = "an-event";
    more["period"] = 1009;
    more["levels"] = json::array({{{"level", level}, {"places", std::move(places)}}});
    return more;
  }
  static json breakpoint(std::uint64_t address, const char* access, std::vector<json> places) {
    return event(0, std::move(places),
                 {{"breakpoint", {{"address", address}, {"access", access}}}});
  }

  std::vector<test::PlacedTruth> write(const std::vector<json>& events, const fs::path& binary,
                                       const std::string& machine = kSkylake) const {
    return AuditedProgram::write(
        {{"binary", binary.string()}, {"machine", json::parse(machine)}, {"events", events}});
  }

  Audit audited(Choices choices = {}) const {
    choices.top = 100'000;
    Audit result = audit_recording(choices);
    for (const EventAudit& event : result.events) {
      const auto left_out =
          std::accumulate(event.not_judged.begin(), event.not_judged.end(), std::uint64_t{0});
      const auto verdicts =
          std::accumulate(event.verdicts.begin(), event.verdicts.end(), std::uint64_t{0});
      EXPECT_EQ(event.judged + left_out, event.samples);
      EXPECT_EQ(event.judged + verdict(event, Verdict::unknown), verdicts);
      EXPECT_EQ(event.impossible.count, verdict(event, Verdict::never));
      EXPECT_EQ(event.impossible.total, event.judged);
    }
    return result;
  }
  /// The audit of a recording of the program with one event.
  EventAudit audit_of(const json& event, const std::string& machine = kSkylake) const {
    write({event}, program_, machine);
    const Audit all = audited();
    EXPECT_THAT(all.events, SizeIs(1));
    return all.events.empty() ? EventAudit() : all.events.front();
  }

  static std::uint64_t verdict(const EventAudit& event, Verdict one) {
    return event.verdicts[static_cast<std::size_t>(one)];
  }
  static std::uint64_t reason(const EventAudit& event, NotJudged one) {
    return event.not_judged[static_cast<std::size_t>(one)];
  }
  static std::set<std::uint64_t> accused(const EventAudit& event) {
    std::set<std::uint64_t> addresses;
    for (const auto& instruction : event.instructions) {
      if (instruction.verdict == Verdict::never) addresses.insert(instruction.address);
    }
    return addresses;
  }
  /// Each of the samples at one place alone, by an event at a level: "never", "conditional", … or
  /// the reason not to judge.
  std::string answer(int level, std::uint64_t address) const {
    return answer_of(audit_of(event(level, {place(address, 7, level >= 2)})));
  }
};

TEST_F(AuditTest, CountsExactlyTheImpossibleSamples) {
  const std::map<std::string, std::string> expected{
      {"mov rax, qword ptr [rdi]", "conditional"},
      {"add rax, rbx", "never"},
      {"lea rcx", "never"},
      {"mov qword ptr [rdi], rax", "never"},
      {"cmp qword ptr [rdi], rax", "conditional"},
      {"jne", "conditional"},  // fused with the preceding load
      {"cmp rbx, rax", "never"},
      {"je", "never"},
      {"cmp qword ptr [rdi], 0x12", "conditional"},
      {"jb", "never"},  // memory compared with a number does not fuse
      {"xchg", "maybe"},
      {"prefetcht0", "maybe"},
      {"lock inc", "maybe"},
      {"mfence", "never"},
      {"pop", "maybe"},
      {"movabs", "never"},
      {"nop", "never"},
      {"ret", "maybe"}};
  std::vector<json> places;
  std::set<std::uint64_t> impossible;
  std::uint64_t samples = 0;
  for (const auto& [text, wanted] : expected) {
    EXPECT_EQ(answer(2, at("suspects", text)), wanted) << text;
    places.push_back(place(at("suspects", text), ++samples));
    if (wanted == "never") impossible.insert(at("suspects", text));
  }
  const EventAudit all = audit_of(event(3, places));
  EXPECT_EQ(accused(all), impossible);
  EXPECT_EQ(all.impossible_instructions, impossible.size());
  ASSERT_THAT(all.functions, SizeIs(1));
  EXPECT_EQ(all.functions.front().function, "suspects");
  EXPECT_EQ(all.functions.front().impossible, all.impossible.count);
  const auto& worst = all.instructions.front();
  EXPECT_EQ(worst.samples,
            std::max_element(all.instructions.begin(), all.instructions.end(),
                             [](const auto& a, const auto& b) { return a.samples < b.samples; })
                ->samples);
  EXPECT_EQ(worst.function, "suspects");
  EXPECT_FALSE(worst.text.empty());
  EXPECT_THAT(worst.source_file, HasSubstr("functions.s"));
  EXPECT_GT(worst.source_line, 0);
}

TEST_F(AuditTest, FindsNoImpossibleSampleOnLoads) {
  const auto load = at("suspects", "mov rax, qword ptr [rdi]");
  const EventAudit all = audit_of(event(2, {place(load, 5000)}));
  EXPECT_EQ(all.judged, 5000U);
  EXPECT_EQ(all.impossible.count, 0U);
  EXPECT_THAT(all.instructions, IsEmpty());
}

TEST_F(AuditTest, JudgesTheOnlyPredecessorAtLevel1) {
  const std::map<std::string, std::string> expected{
      {"endbr64", "no_only_predecessor"},       // the function's entry
      {"add rax, rbx", "never"},                // after endbr64
      {"mov rcx, qword ptr [rdi]", "never"},    // after the addition
      {"lea rdx", "conditional"},               // after the load
      {"jne", "never"},                         // after the test
      {"xor", "never"},                         // after the pair
      {"sub", "no_only_predecessor"},           // a branch's target
      {"call", "never"},                        // after the subtraction
      {"inc", "no_only_predecessor"},           // a return site
      {"mov qword ptr [rdi], rax", "never"},    // after it
      {"rep movsb", "conditional"},             // after its own first repetitions
      {"neg", "conditional"},                   // after the string's load
      {"not", "unknown_cause"},                 // after MOV to SS
      {"jmp", "never"},                         //
      {"nop", "no_only_predecessor"},           // after the jump
      {"mov rbx, rcx", "no_only_predecessor"},  // after padding
      {"bswap", "never"},                       //
      {"ret", "no_only_predecessor"}};          // a branch's target
  for (const auto& [text, wanted] : expected) {
    EXPECT_EQ(answer(1, at("flow", text)), wanted) << text;
  }
  EXPECT_EQ(answer(1, at("tables", "sub")), "no_only_predecessor") << "a computed jump beside it";
  EXPECT_EQ(answer(1, at("split", "sub")), "no_only_predecessor") << "one in its cold part";
  EXPECT_EQ(answer(1, at("bad", "sub")), "no_only_predecessor") << "undecoded bytes before it";
  EXPECT_EQ(answer(2, at("bad", "sub")), "never");

  write({event(1, {place(at("flow", "mov rcx"), 7, false)})}, program_);
  const Audit all = audited();
  ASSERT_THAT(all.events.front().instructions, SizeIs(1));
  EXPECT_EQ(all.events.front().instructions.front().judged_address, at("flow", "add rax, rbx"));
  EXPECT_EQ(all.events.front().instructions.front().address, at("flow", "mov rcx"));
}

TEST_F(AuditTest, DoesNotJudgeAtLevel1WhereCodeCanBeEnteredUnseen) {
  EXPECT_EQ(answer(1, at("thunked", "sub")), "no_only_predecessor") << "jumps through a thunk";
  EXPECT_EQ(answer(1, at("thunk", "lfence")), "no_only_predecessor");
  EXPECT_EQ(answer(1, at("setter", "mov")), "never") << "a store before RET is no computed jump";
  EXPECT_EQ(answer(1, at("partly", "sub")), "no_only_predecessor") << "one in a nameless part";
  EXPECT_EQ(answer(1, at("entered", "sub")), "no_only_predecessor") << "has a symbol";
}

TEST_F(AuditTest, DoesNotJudgeAJumpAfterALabelAlone) {
  EXPECT_EQ(answer(2, at("at_jump", "jne")), "no_function");
  EXPECT_EQ(answer(1, at("at_jump", "neg")), "no_function");
}

TEST_F(AuditTest, JudgesInstructionsExecutedInPartsAsTheirOwnPredecessor) {
  EXPECT_EQ(answer(1, at("parts", "vpgatherdd")), "maybe");
  EXPECT_EQ(answer(1, at("parts", "rep stosb")), "never") << "loads nothing";
}

TEST_F(AuditTest, JudgesTheFollowingPairAsOneAtLevel1) {
  const auto xchg = at("suspects", "xchg");  // after the pair that is none
  EXPECT_EQ(answer(1, xchg), "never");
  EXPECT_EQ(answer(1, at("suspects", "cmp rbx, rax")), "conditional") << "after cmp [rdi] and jne";
}

TEST_F(AuditTest, JudgesExactSamplesOfLevel1AtTheirAddress) {
  const auto load = at("suspects", "mov rax, qword ptr [rdi]");
  const auto exact = audit_of(event(1, {place(load, 7, true)}));
  EXPECT_EQ(answer_of(exact), "conditional");
}

TEST_F(AuditTest, CountsUnjudgedSamplesByReason) {
  const auto add = at("suspects", "add rax, rbx");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7, false)}))), "not_exact");
  EXPECT_EQ(answer_of(audit_of(event(0, {place(add, 7)}))), "level_0");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7)}, {{"config", "0x412e"}}))), "imprecise");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7)}, {{"config", "0xffff"}}))),
            "unknown_event");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7)}, {{"config", 0}, {"type", 1}}))), "timer");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7)}),
                               R"({"vendor":"Nobody","family":1,"model":1,"stepping":1})")),
            "unknown_cpu");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(add, 7)}, {{"config", "0xc0"}}), kSapphireRapids)),
            "unknown_cause")
      << "any instruction retires";
  EXPECT_EQ(answer(2, at("suspects", "movabs") + 1), "inside_instruction");
  EXPECT_EQ(answer(2, at("bad", ".byte")), "not_decoded");

  json with_kernel = event(2, {place(add, 90)});
  with_kernel["levels"][0]["kernel"] = 0.1;
  const EventAudit mixed = audit_of(with_kernel);
  EXPECT_EQ(mixed.samples, 100U);
  EXPECT_EQ(reason(mixed, NotJudged::kernel), 10U);
  EXPECT_EQ(mixed.impossible.count, 90U);
}

TEST_F(AuditTest, JudgesBranchEventsByTheKindOfBranch) {
  const auto verdict = [&](const char* config, int level, std::uint64_t at) {
    return answer_of(
        audit_of(event(level, {place(at, 7, level >= 2)}, {{"config", config}}), kSapphireRapids));
  };
  const auto add = at("suspects", "add rax, rbx"), je = at("suspects", "je"),
             ret = at("suspects", "ret");
  EXPECT_EQ(verdict("0x11c4", 2, je), "can") << "BR_INST_RETIRED.COND";
  EXPECT_EQ(verdict("0x11c4", 2, ret), "never");
  EXPECT_EQ(verdict("0x8c4", 2, ret), "can") << "BR_INST_RETIRED.NEAR_RETURN";
  EXPECT_EQ(verdict("0x8c4", 2, je), "never");
  EXPECT_EQ(verdict("0x20c4", 2, add), "never") << "BR_INST_RETIRED.NEAR_TAKEN";
  EXPECT_EQ(verdict("0xc4", 2, add), "unknown_cause") << "an interrupt there counts as a branch";
  const auto lea = at("suspects", "lea rcx");
  EXPECT_EQ(verdict("0x11c4", 1, lea), "never") << "only direct branches have a condition";
  EXPECT_EQ(verdict("0x20c4", 1, lea), "no_only_predecessor") << "a return can go anywhere";
}

TEST_F(AuditTest, UsesTheCausesOfTheRecordedCpu) {
  const auto fence = at("suspects", "mfence");
  const char* haswell = R"({"vendor":"GenuineIntel","family":6,"model":60,"stepping":3})";
  EXPECT_EQ(answer_of(audit_of(event(2, {place(fence, 7)}))), "never");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(fence, 7)}), haswell)), "maybe");
  EXPECT_EQ(answer_of(audit_of(event(2, {place(at("suspects", "lea"), 7)}), haswell)), "never");
}

TEST_F(AuditTest, UsesOnlyTheRecordedBinary) {
  const auto add = at("suspects", "add rax, rbx");
  write({event(2, {place(add, 7)})}, program_);
  const fs::path kept = directory_ / "kept";
  fs::rename(program_, kept);
  const auto missing = audited();
  EXPECT_EQ(answer_of(missing.events.front()), "no_file");
  ASSERT_THAT(missing.remarks, SizeIs(1));
  EXPECT_THAT(missing.remarks.front(), HasSubstr(program_.string()));

  Choices choices;
  choices.places.symfs = directory_ / "root";
  fs::create_directories((directory_ / "root") / program_.parent_path().relative_path());
  fs::copy_file(kept, (directory_ / "root") / program_.relative_path());
  EXPECT_EQ(answer_of(audited(choices).events.front()), "never");

  const auto id = symbols::Module::open(kept).build_id();
  const fs::path cache = directory_ / "cache";
  fs::create_directories(cache / ".build-id" / id.substr(0, 2) / id.substr(2));
  fs::copy_file(kept, cache / ".build-id" / id.substr(0, 2) / id.substr(2) / "elf");
  choices = {};
  choices.places.by_build_id.build_id_cache = cache;
  EXPECT_EQ(answer_of(audited(choices).events.front()), "never");

  if (find_program("objcopy")) {
    const fs::path debug = directory_ / "debug" / ".build-id" / id.substr(0, 2);
    fs::create_directories(debug);
    const auto copied = run_program({"objcopy", "--only-keep-debug", kept.string(),
                                     (debug / (id.substr(2) + ".debug")).string()});
    ASSERT_TRUE(copied.code.success()) << copied.err;
    choices = {};
    choices.places.by_build_id.debug_directories = {directory_ / "debug"};
    EXPECT_EQ(answer_of(audited(choices).events.front()), "no_code");
  }

  build(std::string(kAssembly) + "\n  .text\n  .byte 1, 2, 3\n");
  EXPECT_EQ(answer_of(audited().events.front()), "refused");
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
  audit.events = {audit_of(breakpoint(0x404040, "rw", {place(at("flow", "lea rdx"), 7, false)}))};
  EXPECT_THAT(output::audit_text({audit}, {.width = 80}), ::testing::Not(HasSubstr("blocks")));
}

TEST_F(AuditTest, JudgesBreakpointsByTheInstructionThatTriggersThem) {
  const auto answer_at = [&](const char* access, std::uint64_t address, std::uint64_t watched) {
    return answer_of(audit_of(breakpoint(watched, access, {place(address, 7, false)})));
  };
  const std::uint64_t datum = 0x404040;
  EXPECT_EQ(answer_at("rw", at("flow", "lea rdx"), datum), "conditional") << "after a load";
  EXPECT_EQ(answer_at("w", at("flow", "lea rdx"), datum), "never") << "a load does not write";
  EXPECT_EQ(answer_at("w", at("flow", "rep movsb"), datum), "conditional") << "itself, or a store";
  EXPECT_EQ(answer_at("rw", at("flow", "mov rcx"), datum), "never") << "after an addition";
  EXPECT_EQ(answer_at("rw", at("flow", "not"), datum), "unknown_cause") << "after MOV to SS";
  EXPECT_EQ(answer_at("rw", at("flow", "dec"), datum), "unknown_cause") << "its successor's";
  EXPECT_EQ(answer_at("rw", at("suspects", "cmp rbx, rax"), datum), "conditional")
      << "after a pair that loads";
  EXPECT_EQ(answer_at("rw", at("flow", "sub"), datum), "no_only_predecessor");
  EXPECT_EQ(answer_at("rw", at("parts", "vpgatherdd"), datum), "conditional") << "itself";
  EXPECT_EQ(answer_at("w", at("parts", "vpgatherdd"), datum), "never") << "it only reads";
  EXPECT_EQ(answer_at("w", at("parts", "neg"), datum), "conditional")
      << "other CPUs fuse other pairs: the jump counts with the OR";

  const auto add = at("suspects", "add rax, rbx");
  const std::uint64_t bias = 0x5555'5555'4000;  // of what is linked to address 0
  const bool is_moved = add < 0x10000;
  const std::uint64_t recorded = add + (is_moved ? bias : 0);
  EXPECT_EQ(answer_at("x", add, recorded), "can");
  EXPECT_EQ(answer_at("x", at("suspects", "lea"), recorded), "never");
}

TEST_F(AuditTest, FindsNoImpossiblePageFault) {
  const auto faults = [&](std::uint64_t address) {
    return answer_of(audit_of(event(0, {place(address, 7, false)}, {{"config", 2}, {"type", 1}})));
  };
  EXPECT_EQ(faults(at("suspects", "mov rax, qword ptr [rdi]")), "conditional");
  EXPECT_EQ(faults(at("suspects", "add rax, rbx")), "unknown_cause") << "it may not be fetched";
}

/// What an audit of any binary has to agree with: the truth beside the recording.
void expect_as_placed(const std::vector<test::PlacedTruth>& truth, const Audit& audit) {
  ASSERT_EQ(truth.size(), audit.events.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    std::set<std::uint64_t> impossible, accused;
    std::uint64_t samples = 0;
    for (const auto& placed : truth[i].places) {
      if (placed.verdict != Verdict::never) continue;
      impossible.insert(placed.address);
      samples += placed.samples;
    }
    for (const auto& instruction : audit.events[i].instructions) {
      accused.insert(instruction.address);
    }
    EXPECT_EQ(accused, impossible);
    EXPECT_EQ(audit.events[i].impossible.count, samples);
    EXPECT_EQ(audit.events[i].samples, truth[i].samples);
  }
}

TEST_F(AuditTest, CountsExactlyTheImpossibleSamplesOfRealBinaries) {
  bool is_any = false;
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/bin/bash"}) {
    if (!fs::exists(path)) continue;
    is_any = true;
    SCOPED_TRACE(path);
    std::vector<json> places;
    for (const char* category :
         {"gp_load", "xmm_load", "ymm_load", "store", "lea", "no_memory", "branch", "nop"}) {
      places.push_back({{"category", category}, {"instructions", 40}, {"samples", 400}});
    }
    if (std::string(path) == "/bin/bash") places = {places[0], places[3], places[4], places[5]};
    const auto truth = write({event(2, places)}, path);
    const Audit all = audited();
    // What has no symbol may be a jump that its neighbour is fused with.
    EXPECT_EQ(reason(all.events.front(), NotJudged::no_function), 0U);
    expect_as_placed(truth, all);
    EXPECT_GT(all.events.front().impossible.count, 1000U);
  }
  if (!is_any) GTEST_SKIP() << "no libc where it is expected";
}

TEST_F(AuditTest, DoesNotCountUnknownCausesAsImpossible) {
  const fs::path libc = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!fs::exists(libc)) GTEST_SKIP() << libc << " is not here";
  std::vector<json> events;
  for (const char* config :
       {"0x81d0", "0x21d0", "0x1d1", "0x2d1", "0x4d1", "0x8d1", "0x10d1", "0x20d1", "0x40d1"}) {
    for (const int level : {2, 3}) {
      events.push_back(event(level,
                             {{{"category", "other"}, {"instructions", 100}, {"samples", 200}}},
                             {{"config", config}}));
    }
  }
  write(events, libc);
  const Audit all = audited();
  ASSERT_EQ(all.events.size(), events.size());
  for (const EventAudit& event : all.events) {
    EXPECT_EQ(event.impossible.count, 0U) << event.event;
    EXPECT_GT(reason(event, NotJudged::unknown_cause), 0U);
  }
}

}  // namespace
}  // namespace skid::audit
