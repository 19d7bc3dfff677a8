// What an audit makes of recordings of aarch64, on any host: synthetic ones whose samples lie on
// chosen instructions of a program that is built for the test.
#include "src/audit/audit.h"
#include "src/audit/file_judge.h"
#include "tests/unit/audited_program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::audit {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Every fourth byte of `suspects` is an instruction; the word of data does not decode.
constexpr const char* kAarch64Assembly = R"(
  .text
  .globl _start
  .type _start, %function
_start:
  bl suspects
  b _start
  .size _start, . - _start

  .globl suspects
  .type suspects, %function
suspects:
  ldr x1, [x0]
  str x1, [x0]
  ldp x1, x2, [x0]
  ldxr x3, [x0]
  stxr w4, x3, [x0]
  .inst 0xf8e10002 // ldaddal x1, x2, [x0]
  prfm pldl1keep, [x0]
  dc zva, x0
  add x1, x1, x2
  cbz x1, 1f
1:
  ret
  .word 0
  .size suspects, . - suspects
)";
enum Suspect {
  kArmLoad,
  kArmStore,
  kArmPair,
  kArmLoadExclusive,
  kArmStoreExclusive,
  kArmAtomic,
  kArmPrefetch,
  kArmZero,
  kArmAdd,
  kArmBranch,
  kArmReturn,
  kArmData
};

constexpr std::uint64_t kDatum = 0x420000;

class AuditOfAarch64 : public AuditedProgram {
 protected:
  void SetUp() override {
    constexpr const char* kCompiler = "aarch64-linux-gnu-gcc";
    if (!find_program(kCompiler)) GTEST_SKIP() << "no " << kCompiler << " in PATH";
    build(kAarch64Assembly, {kCompiler, "-nostdlib", "-static"});
  }

  std::uint64_t at(Suspect suspect) const {
    const auto found = symbols::Module::open(program_).functions_named("suspects");
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? 0 : found.front().range.begin + 4 * static_cast<std::uint64_t>(suspect);
  }

  EventAudit audit_of(std::uint64_t address, json event, int level = 0) const {
    event["event"] = "an-event";
    event["period"] = 1009;
    const json place{{"address", address}, {"samples", 7}, {"exact", level >= 2}};
    event["levels"] = json::array({{{"level", level}, {"places", json::array({place})}}});
    write({{"binary", program_.string()}, {"events", json::array({event})}});
    Choices choices;
    choices.all = true;
    const Audit all = audit_recording(choices);
    EXPECT_EQ(all.cpu.arch, "aarch64");
    EXPECT_THAT(all.events, SizeIs(1));
    return all.events.empty() ? EventAudit() : all.events.front();
  }
  std::string of_breakpoint(Suspect suspect, const char* access, std::uint64_t watched) const {
    return answer_of(
        audit_of(at(suspect), {{"breakpoint", {{"address", watched}, {"access", access}}}}));
  }
};

TEST_F(AuditOfAarch64, JudgesWatchpointsByTheSampledInstruction) {
  for (const Suspect suspect :
       {kArmLoad, kArmStore, kArmPair, kArmLoadExclusive, kArmStoreExclusive, kArmAtomic}) {
    EXPECT_EQ(of_breakpoint(suspect, "rw", kDatum), "conditional") << suspect;
  }
  for (const Suspect suspect : {kArmStore, kArmStoreExclusive, kArmAtomic}) {
    EXPECT_EQ(of_breakpoint(suspect, "w", kDatum), "conditional") << suspect;
  }
  for (const Suspect suspect : {kArmLoad, kArmPair, kArmLoadExclusive}) {
    EXPECT_EQ(of_breakpoint(suspect, "w", kDatum), "never") << "a load does not write" << suspect;
  }
}

TEST_F(AuditOfAarch64, CountsOnlyLoadsAsImpossibleForWriteWatchpoints) {
  for (const Suspect suspect : {kArmPrefetch, kArmZero, kArmAdd, kArmBranch, kArmReturn}) {
    EXPECT_EQ(of_breakpoint(suspect, "rw", kDatum), "unknown_cause") << suspect;
    EXPECT_EQ(of_breakpoint(suspect, "w", kDatum), "unknown_cause") << suspect;
  }
  EXPECT_EQ(of_breakpoint(kArmData, "rw", kDatum), "not_decoded");
}

TEST_F(AuditOfAarch64, ReportsTheRuleAndTheInstruction) {
  const json watch{{"breakpoint", {{"address", kDatum}, {"access", "w"}}}};
  const EventAudit event = audit_of(at(kArmLoad), watch);
  EXPECT_EQ(event.rule, Rule::write_watchpoint);
  ASSERT_THAT(event.instructions, SizeIs(1));
  EXPECT_EQ(event.instructions[0].text, "ldr x1, [x0]");
  EXPECT_EQ(event.instructions[0].function, "suspects");
  EXPECT_EQ(event.instructions[0].judged_address, at(kArmLoad));
  EXPECT_EQ(names_of(event.instructions[0].categories), "LOAD");
}

TEST_F(AuditOfAarch64, CountsSamplesInsideAWordAsNoInstruction) {
  const json watch{{"breakpoint", {{"address", kDatum}, {"access", "rw"}}}};
  EXPECT_EQ(answer_of(audit_of(at(kArmLoad) + 2, watch)), "inside_instruction");
}

TEST_F(AuditOfAarch64, JudgesExecuteBreakpointsAndFaultsAsOnX86) {
  EXPECT_EQ(of_breakpoint(kArmAdd, "x", at(kArmAdd)), "can");
  EXPECT_EQ(of_breakpoint(kArmLoad, "x", at(kArmAdd)), "never");
  const json faults{{"config", 2}, {"type", 1}};
  EXPECT_EQ(answer_of(audit_of(at(kArmStore), faults)), "conditional");
  EXPECT_EQ(answer_of(audit_of(at(kArmAdd), faults)), "unknown_cause") << "it may not be fetched";
}

TEST_F(AuditOfAarch64, DoesNotJudgeEventsOfTheCore) {
  // Codes that mean loads on Skylake and cycles here; no instruction is accused.
  for (const int level : {0, 1, 2, 3}) {
    for (const char* config : {"0x11", "0x81d0", "0x3"}) {
      EXPECT_EQ(answer_of(audit_of(at(kArmAdd), {{"config", config}}, level)), "no_precise_levels")
          << config << " at level " << level;
    }
  }
}

TEST_F(AuditOfAarch64, DoesNotJudgeCodeOfAnotherArchitecture) {
  const auto module = symbols::Module::open(program_);
  const std::uint64_t offset = at(kArmLoad) -
                               module.executable_mapping_at(at(kArmLoad))->range.begin +
                               module.executable_mapping_at(at(kArmLoad))->file_offset;
  const auto answer = [&](std::optional<Arch> recorded) {
    return FileJudge(module, recorded, std::nullopt).judge({}, Rule::page_fault, offset);
  };
  ASSERT_TRUE(std::holds_alternative<NotJudged>(answer(Arch::x86_64)));
  EXPECT_EQ(std::get<NotJudged>(answer(Arch::x86_64)), NotJudged::architecture);
  EXPECT_TRUE(std::holds_alternative<Judgement>(answer(Arch::aarch64)));
  EXPECT_TRUE(std::holds_alternative<Judgement>(answer(std::nullopt))) << "the file has one";
}

TEST_F(AuditOfAarch64, JudgesBreakpointsByTheFileWithoutARecordedArchitecture) {
  const auto module = symbols::Module::open(program_);
  const FileJudge judge(module, std::nullopt, std::nullopt);
  EXPECT_EQ(judge.rule_here(Rule::data_breakpoint), Rule::data_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::write_breakpoint), Rule::write_watchpoint);
  EXPECT_EQ(judge.rule_here(Rule::page_fault), Rule::page_fault);
}

TEST_F(AuditOfAarch64, RefusesPlacementsOfAnotherVendor) {
  const json document{
      {"binary", program_.string()},
      {"machine", {{"vendor", "GenuineIntel"}, {"family", 6}, {"model", 94}, {"stepping", 3}}},
      {"events",
       json::array({{{"event", "r11"},
                     {"config", "0x11"},
                     {"period", 1009},
                     {"levels", json::array({{{"level", 0},
                                              {"places", json::array({{{"address", at(kArmAdd)},
                                                                       {"samples", 1}}})}}})}}})}};
  try {
    write(document);
    FAIL() << "an Intel CPU ran aarch64 code";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("aarch64 code, which no CPU of the vendor GenuineIntel"));
  }
}

}  // namespace
}  // namespace skid::audit
