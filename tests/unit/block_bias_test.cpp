// Which instructions an audit takes for executed equally often, and what it says of their samples,
// on synthetic recordings whose samples are on chosen instructions.
#include "src/audit/block_bias.h"

#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "src/audit/audit.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "src/support/address.h"
#include "tests/support/text.h"
#include "tests/unit/audited_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::audit {
namespace {

using ::testing::DoubleNear;

constexpr const char* kAllLoadsCode = "0x81d0";
constexpr const char* kInstructions = "0x1c0";  // INST_RETIRED.PREC_DIST
constexpr const char* kConditional = "0x1c4";

/// Samples at an instruction, by its number in the function.
struct At {
  std::size_t instruction = 0;
  std::uint64_t samples = 0;
  bool exact = true;         ///< at levels 2 and 3
  std::uint64_t inside = 0;  ///< bytes from the instruction's first
};

using Places = std::vector<std::pair<std::size_t, std::uint64_t>>;

class BlockBiasTest : public AuditedX86Program {
 protected:
  void build(const std::string& work) {
    AuditedProgram::build(
        "  function main\n  ret\n  end main\n  function work\n" + work + "\n  end work\n",
        Arch::x86_64, {});
    addresses_ = test::mapped(assembled_->instructions_of("work"), &symbols::Instruction::address);
  }

  void write_at(const char* config, int level, const std::vector<At>& samples,
                bool exact = true) const {
    const auto places = test::mapped(samples, [&](const At& at) {
      return place(addresses_.at(at.instruction) + at.inside, exact && at.exact && level >= 2,
                   at.samples);
    });
    write({event(level, places, {{"config", config}})}, program_);
  }
  EventAudit audited(const char* config, int level, const std::vector<At>& samples,
                     bool exact = true) const {
    write_at(config, level, samples, exact);
    return audit_recording().events.at(0);
  }

  /// The places of the judged blocks, by number of the instruction, with their samples.
  std::vector<Places> blocks(const EventAudit& event) const {
    std::vector<Places> all;
    for (const BlockFinding& block : event.bias.blocks) {
      auto& places = all.emplace_back();
      for (const PlaceSamples& place : block.samples.places) {
        const auto found = std::find(addresses_.begin(), addresses_.end(), place.address);
        places.emplace_back(static_cast<std::size_t>(found - addresses_.begin()), place.samples);
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<std::uint64_t> addresses_;
};

/// A loop that is entered at its condition, as compilers write it without optimization.
constexpr const char* kLoop = R"(
  pushq %rbp
  movq %rsp, %rbp
  jmp .Lcondition
.Lbody:
  movq -0x10(%rbp), %rax
  leaq 0(,%rax,4), %rdx
  movq -0x18(%rbp), %rax
  movq %rax, -0x20(%rbp)
  addq $1, -0x10(%rbp)
.Lcondition:
  movq -0x10(%rbp), %rax
  cmpq %rax, -0x20(%rbp)
  jb .Lbody
  movl -4(%rbp), %eax
  popq %rbp
  ret
)";

TEST_F(BlockBiasTest, JoinsTheBodyOfALoopWithItsCondition) {
  build(kLoop);
  // CMP and JB may be fused: the load is sampled at the jump.
  const std::vector<At> samples{{3, 51}, {5, 1614}, {7, 3341}, {8, 1}, {10, 3}};
  const EventAudit event = audited(kAllLoadsCode, 2, samples);
  EXPECT_THAT(blocks(event), ElementsAre(Places{{3, 51}, {5, 1614}, {7, 3341}, {8, 1}, {10, 3}}));
  EXPECT_EQ(event.bias.judged, 1U);
  EXPECT_EQ(event.bias.biased, 1U);
  ASSERT_TRUE(event.bias.misplaced);
  EXPECT_NEAR(event.bias.misplaced->value, (1614 + 3341 - 2 * 5010 / 5.0) / 5010, 0.02);
  const BlockFinding& block = event.bias.blocks.front();
  EXPECT_EQ(block.function, "work");
  EXPECT_DOUBLE_EQ(block.samples.expected(), 1002);
  EXPECT_EQ(block.samples.range, (AddressRange{addresses_[3], addresses_[11]}));
  EXPECT_TRUE(block.evenness.is_biased);
  EXPECT_EQ(event.impossible.count, 0U) << "every sample is on a load";
}

TEST_F(BlockBiasTest, KnowsTheInstructionsOfALoopThatADelayHides) {
  build(kLoop);
  write_at(kAllLoadsCode, 2, {{5, 2010}, {7, 1002}, {10, 1988}});
  const Audit all = audit_recording({.delay = 2});
  const BlockBias& bias = all.events.at(0).bias;
  ASSERT_THAT(bias.loops, SizeIs(1));
  EXPECT_THAT(bias.loops[0].samples.distances, ElementsAre(2, 2, 1, 2, 1));
  ASSERT_TRUE(bias.loops[0].shadow);
  // The first load that retires two instructions after the overflow or later.
  EXPECT_THAT(bias.loops[0].shadow->shares, ElementsAre(0, 0.4, 0.2, 0, 0.4));
  // The counter restarts at each sample: of independent ones 0.4² + 0.2² + 0.4² follow by a delay.
  EXPECT_THAT(bias.loops[0].shadow->expected,
              ElementsAre(0, DoubleNear(0.402, 0.001), DoubleNear(0.2, 0.001), 0,
                          DoubleNear(0.398, 0.001)));
  ASSERT_TRUE(bias.loops[0].shadow->predicted);
  EXPECT_NEAR(*bias.loops[0].shadow->predicted, 0.36, 0.02);
  EXPECT_FALSE(bias.loops[0].shadow->p) << "the expected counts are of the same samples";
  EXPECT_THAT(output::audit_text({all}, {.width = 400, .details = false}),
              HasSubstr("2 of 5 cannot be sampled: after each overflow another one is the "
                        "first to retire 2 or more instructions later"));
  write_at(kAllLoadsCode, 2, {{3, 1000}, {5, 1000}, {7, 1000}, {8, 1000}, {10, 1000}});
  EXPECT_FALSE(audit_recording({.delay = 2}).events.at(0).bias.loops.at(0).shadow->is_locked());
  // Of too few pairs nothing is expected.
  write_at(kAllLoadsCode, 2, {{5, 40}, {7, 20}, {10, 40}});
  const Audit few = audit_recording({.delay = 2});
  ASSERT_TRUE(few.events.at(0).bias.loops.at(0).shadow);
  EXPECT_THAT(few.events[0].bias.loops[0].shadow->expected, IsEmpty());
}

TEST_F(BlockBiasTest, TakesTheDelayThatARunMeasuredOnTheSameMachine) {
  build(kLoop);
  write_at(kAllLoadsCode, 2, {{5, 2010}, {7, 1002}, {10, 1988}});
  const Audit unknown = audit_recording();
  EXPECT_FALSE(unknown.events.at(0).bias.loops.at(0).shadow);
  analysis::Measurement run;
  run.run = "delay.run";
  run.event.type = PERF_TYPE_RAW;
  run.event.config = 0x81d0;
  run.precise.recorded = 2;
  run.synthetic = unknown.synthetic;
  run.cpu = unknown.cpu;
  run.kernel = unknown.kernel;
  run.delay = analysis::Delay{.low = 2, .high = 2};
  const auto with = [&](const analysis::Measurement& one) {
    const std::vector<analysis::Measurement> runs{one};
    return audit_recording({.measured = runs}).events.at(0);
  };
  const EventAudit known = with(run);
  ASSERT_TRUE(known.bias.loops.at(0).shadow);
  EXPECT_EQ(known.bias.loops[0].shadow->delay.low, 2U);
  EXPECT_FALSE(known.missing_delay);
  const auto is_refused = [&](const analysis::Measurement& one, const MissingDelay& reason) {
    const EventAudit refused = with(one);
    EXPECT_FALSE(refused.bias.loops.at(0).shadow);
    ASSERT_TRUE(refused.missing_delay);
    EXPECT_EQ(refused.missing_delay->run, reason.run);
    EXPECT_EQ(refused.missing_delay->differing, reason.differing);
  };
  analysis::Measurement other = run;
  other.delay->high = 3;  // with which the shares differ
  EXPECT_FALSE(with(other).bias.loops.at(0).shadow);
  other = run;
  other.cpu.model = 85;
  is_refused(other, {"delay.run", {"CPU model"}});
  other = run;
  other.precise.recorded = 3;
  is_refused(other, {});
}

TEST_F(BlockBiasTest, TakesNoLoopWithABranchInsideForStraight) {
  for (const char* inside :
       {"testq %rcx, %rcx\n  je .Lother\n  incq %rbx\n.Lother:", "call main"}) {
    build(fmt::format(R"(
.Lbody:
  movq (%rdi), %rax
  movq 8(%rdi), %rdx
  {}
  movq (%rdi), %rax
  movq 8(%rdi), %rdx
  decq %rsi
  jnz .Lbody
  ret
)",
                      inside));
    const EventAudit event = audited(kAllLoadsCode, 2, {{0, 100}, {1, 100}});
    ASSERT_THAT(event.bias.loops, Not(IsEmpty())) << inside;
    EXPECT_THAT(event.bias.loops[0].samples.distances, IsEmpty()) << inside;
  }
}

TEST_F(BlockBiasTest, KeepsApartWhatALoopThatIsOftenEnteredExecutesUnequallyOften) {
  build(kLoop);
  // Two iterations: the condition is executed three times, what follows the loop once.
  const EventAudit event = audited(
      kAllLoadsCode, 2, {{3, 2000}, {5, 2000}, {7, 2000}, {8, 3000}, {10, 3000}, {11, 1000}});
  EXPECT_THAT(blocks(event),
              ElementsAre(Places{{3, 2000}, {5, 2000}, {7, 2000}}, Places{{8, 3000}, {10, 3000}}));
  EXPECT_EQ(event.bias.biased, 0U);
  EXPECT_EQ(event.bias.misplaced->value, 0);
  EXPECT_EQ(event.bias.misplaced->low, 0);
}

TEST_F(BlockBiasTest, KeepsALoopApartWhereAShadowStarvesTheBlockBeforeIt) {
  // The loop is entered from the block before it alone: both sides are known.
  build(R"(
  movq (%rdi), %rax
.Lcondition:
  movq (%rsi), %rax
  movq 8(%rsi), %rax
  testq %rax, %rax
  je .Lexit
  movq 16(%rsi), %rbx
  movq 24(%rsi), %rbx
  jmp .Lcondition
.Lexit:
  movq (%rdx), %rax
  ret
)");
  // Two iterations; the load before the loop has none of its 1000 samples.
  const EventAudit event =
      audited(kAllLoadsCode, 2, {{1, 3000}, {2, 3000}, {5, 2000}, {6, 2000}, {8, 1000}});
  EXPECT_THAT(blocks(event),
              ElementsAre(Places{{1, 3000}, {2, 3000}}, Places{{5, 2000}, {6, 2000}}));
  EXPECT_EQ(event.bias.biased, 0U);
}

TEST_F(BlockBiasTest, LeavesOutBlocksWithInexactSamples) {
  build(R"(
  movq (%rdi), %rax
  movq 8(%rdi), %rax
  nop
  nop
  call main
  movq (%rdi), %rbx
  movq 8(%rdi), %rbx
  ret
)");
  std::vector<At> places{{0, 1000}, {1, 10}, {5, 20}, {6, 20}};
  EXPECT_EQ(audited(kAllLoadsCode, 2, places).bias.biased, 1U);
  places.push_back({2, 1, false});
  EXPECT_THAT(blocks(audited(kAllLoadsCode, 2, places)), ElementsAre(Places{{5, 20}, {6, 20}}));
}

TEST_F(BlockBiasTest, JudgesFunctionsWithASampleInsideAnInstruction) {
  build("  movq (%rdi), %rax\n  movq 8(%rdi), %rax\n  ret\n");
  const EventAudit event = audited(kAllLoadsCode, 2, {{0, 1, true, 1}, {0, 1000}, {1, 10}});
  EXPECT_EQ(event.bias.biased, 1U);
}

TEST_F(BlockBiasTest, NamesTheMissingFileOfEventsJudgedByBlocksAlone) {
  build("  nop\n  movq (%rdi), %rax\n  nop\n  ret\n");
  write_at(kInstructions, 2, {{0, 100}, {1, 90}, {2, 9, false}});
  fs::remove(program_);
  const Audit all = audit_recording();
  ASSERT_THAT(all.missing, SizeIs(1));
  EXPECT_EQ(all.missing[0].file, program_);
  EXPECT_EQ(all.missing[0].samples, 190U);
  EXPECT_EQ(all.events.at(0).bias.reason, "no_file");
  EXPECT_EQ(all.events.at(0).judged, 0U);
}

TEST_F(BlockBiasTest, ListsOfManyPlacesThoseWithMostSamples) {
  std::string code;
  for (int i = 0; i < 20; ++i) code += "  movq (%rdi), %rax\n";
  build(code + "  ret\n");
  Audit audit;
  audit.events.push_back(audited(kAllLoadsCode, 2, {{1, 100}, {19, 5000}}));
  const std::string text = output::audit_text({audit}, {.width = 400, .details = false});
  EXPECT_THAT(text, HasSubstr(fmt::format("{:#x}: 5,000", addresses_[19])));
  EXPECT_THAT(text, HasSubstr("and 4 more"));
}

TEST_F(BlockBiasTest, IsPrintedAfterTheImpossibleSamples) {
  build(kLoop);
  Audit audit;
  audit.events.push_back(
      audited(kAllLoadsCode, 2, {{3, 51}, {5, 1614}, {7, 3341}, {8, 1}, {10, 3}}));
  audit.events.back().bias.blocks[0].samples.range = {0x1000, 0x1030};
  const std::string text = output::audit_text({audit}, {.width = 80, .details = false});
  EXPECT_THAT(text, HasSubstr("5,010       1       1     57.78%"));
  EXPECT_THAT(text, HasSubstr("    5,010        1002  3,341       1  work at 0x1000 to 0x1030\n"));
  EXPECT_THAT(text, HasSubstr(" 51 1,614 3,341 1 3\n"));
  EXPECT_THAT(text, HasSubstr("another period, a prime one, or with -F")) << "the period is fixed";
  EXPECT_LT(text.find("cannot cause"), text.find("execute equally often"));
  audit.events.back().period.reset();
  EXPECT_THAT(output::audit_text({audit}, {.width = 80}), Not(HasSubstr("a prime period")));
  audit.events[0] = audited("0x20d1", 2, {{3, 51}});
  EXPECT_THAT(output::audit_text({audit}, {.width = 80}),
              HasSubstr("blocks     not judged: not an"));
}

TEST_F(BlockBiasTest, EndsBlocksAtBranchesTargetsAndCalls) {
  build(R"(
  movq (%rdi), %rax
  movq 8(%rdi), %rax
  call main
  movq (%rdi), %rbx
  movq 8(%rdi), %rbx
  testq %rbx, %rbx
  je .Lnext
  movq (%rdi), %rcx
  movq 8(%rdi), %rcx
.Lnext:
  movq (%rdi), %rdx
  movq 8(%rdi), %rdx
  syscall
  movq (%rdi), %rsi
  movq 8(%rdi), %rsi
  ret
)");
  std::vector<At> samples;
  const std::vector<Places> expected{{{0, 10}, {1, 10}},
                                     {{3, 20}, {4, 20}},
                                     {{7, 30}, {8, 30}},
                                     {{9, 40}, {10, 40}},
                                     {{12, 50}, {13, 50}}};
  for (const Places& block : expected) {
    for (const auto& [instruction, count] : block) samples.push_back({instruction, count});
  }
  const EventAudit event = audited(kAllLoadsCode, 2, samples);
  EXPECT_EQ(blocks(event), expected);
  EXPECT_EQ(event.bias.biased, 0U);
}

TEST_F(BlockBiasTest, JudgesNeitherPartsNorComputedJumpsNorWhatIsUncertain) {
  const std::vector<At> two{{0, 1000}, {1, 10}};
  for (const auto& [rest, what] :
       {std::pair{"movq 8(%rdi), %rax\n  rep movsb\n  ret", "a string instruction"},
        {"movq 8(%rdi), %rax\n  jmp *%rax", "a computed jump"},
        {"popq %rax\n  ret", "POP may or may not count"},
        {"vmaskmovps (%rdi), %xmm1, %xmm2\n  ret", "loads by a mask"}}) {
    build(std::string("  movq (%rdi), %rax\n  ") + rest);
    EXPECT_EQ(audited(kAllLoadsCode, 2, two).bias.reason, "no_block") << what;
  }
  build("  movq (%rdi), %rax\n  movq 8(%rdi), %rax\n  ret");
  EXPECT_EQ(audited(kAllLoadsCode, 2, two).bias.biased, 1U);
  EXPECT_EQ(audited(kAllLoadsCode, 2, {{0, 5}, {1, 4}}).bias.reason, "no_block") << "too few";
}

TEST_F(BlockBiasTest, JudgesOnlyEventsThatInstructionsCauseOnce) {
  build("  movq (%rdi), %rax\n  movq 8(%rdi), %rax\n  nop\n  ret");
  const std::vector<At> two{{0, 1000}, {1, 10}};
  EXPECT_EQ(audited("0x20d1", 2, two).bias.reason, "not_once") << "L3 misses";
  EXPECT_EQ(audited("0x1d1", 2, two).bias.reason, "not_once") << "L1 hits";
  EXPECT_EQ(audited("0x10081d0", 2, two).bias.reason, "unknown_precision") << "with a counter mask";
  EXPECT_EQ(audited(kAllLoadsCode, 0, two).bias.reason, "level_0");
  EXPECT_EQ(audited(kAllLoadsCode, 2, two, false).bias.reason, "no_block") << "not exact";
  machine_ = intel_machine(kHaswellModel);
  EXPECT_EQ(audited(kAllLoadsCode, 2, two).bias.reason, "not_once") << "counts uops";
}

TEST_F(BlockBiasTest, TakesTheFollowingInstructionAtLevel1) {
  build(R"(
  nop
  movq (%rdi), %rax
  nop
  movq 8(%rdi), %rax
  nop
  movq 16(%rdi), %rax
  ret
)");
  const EventAudit event = audited(kAllLoadsCode, 1, {{2, 700}, {4, 300}, {6, 500}});
  EXPECT_THAT(blocks(event), ElementsAre(Places{{1, 700}, {3, 300}, {5, 500}}));
  EXPECT_EQ(event.bias.biased, 1U);
}

TEST_F(BlockBiasTest, LeavesOutPairsThatMayBeFusedOfInstructions) {
  build(R"(
  nop
.Lagain:
  addq %rbx, %rax
  leaq 1(%rax), %rcx
  cmpq %rcx, %rdi
  jne .Lagain
  ret
)");
  const EventAudit event = audited(kInstructions, 2, {{1, 500}, {2, 500}, {4, 900}, {0, 1}});
  EXPECT_THAT(blocks(event), ElementsAre(Places{{1, 500}, {2, 500}}));
}

TEST_F(BlockBiasTest, JoinsLoopsThatAreLeftInTheMiddleForConditionalBranches) {
  build(R"(
  testq %rax, %rax
  je .Lend
.Lagain:
  movq (%rdi), %rbx
  testq %rbx, %rbx
  je .Lend
  addq $8, %rdi
  cmpq %rdi, %rsi
  jne .Lagain
  testq %rdi, %rdi
  je .Lend
  nop
.Lend:
  testq %rdx, %rdx
  je .Lout
  nop
.Lout:
  ret
)");
  const EventAudit rare = audited(kConditional, 2, {{1, 2}, {4, 4000}, {7, 1000}, {12, 2}});
  EXPECT_THAT(blocks(rare), ElementsAre(Places{{4, 4000}, {7, 1000}}));
  EXPECT_EQ(rare.bias.biased, 1U);
  const EventAudit often = audited(kConditional, 2, {{1, 1000}, {4, 4000}, {7, 3000}, {12, 1000}});
  EXPECT_THAT(blocks(often), IsEmpty()) << "each part has one branch";
  EXPECT_EQ(often.bias.reason, "no_block");
}

}  // namespace
}  // namespace skid::audit
