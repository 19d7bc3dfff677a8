// What an audit makes of recordings of aarch64, on any host: synthetic ones whose samples lie on
// chosen instructions of a program that is built for the test.
#include "src/audit/audit.h"
#include "src/audit/file_judge.h"
#include "tests/support/prelude.h"
#include "tests/unit/audited_program.h"

namespace skid::audit {
namespace {

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
    CodeBudget budget;
    FileJudge judge(module, recorded, std::nullopt, budget);
    return judge.judge({}, Rule::page_fault, offset).not_judged;
  };
  EXPECT_EQ(answer(Arch::x86_64), NotJudged::architecture);
  EXPECT_EQ(answer(Arch::aarch64), NotJudged::none);
  EXPECT_EQ(answer(std::nullopt), NotJudged::none) << "the file has one";
}

TEST_F(AuditOfAarch64, JudgesBreakpointsByTheFileWithoutARecordedArchitecture) {
  CodeBudget budget;
  const FileJudge judge(assembled_->module(), std::nullopt, std::nullopt, budget);
  EXPECT_EQ(judge.rule_here(Rule::data_breakpoint), Rule::data_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::write_breakpoint), Rule::write_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::page_fault), Rule::page_fault);
}

TEST_F(AuditOfAarch64, RefusesPlacementsOfAnotherVendor) {
  machine_ = intel_machine(kSkylakeModel);
  EXPECT_THAT(
      [&] {
        write({event(0, {place(load_, false)}, {{"config", "0x11"}})}, program_);
      },
      ThrowsMessage<Error>(HasSubstr("aarch64 code, which no CPU of the vendor GenuineIntel")));
}

}  // namespace
}  // namespace skid::audit
