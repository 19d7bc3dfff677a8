// IBS records of samples against the instructions that they are at.
#include "src/audit/audit.h"
#include "src/audit/tagged_records.h"
#include "src/measure/measure.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "tests/support/assembled_program.h"
#include "tests/support/ibs_to_build.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using test::IbsToBuild;
namespace ibs = test::ibs;

/// Each instruction with what tests call it.
constexpr const char* kOperations = R"(
  function operations
  movq (%rdi), %rax                # load
  addq %rbx, %rax                  # no operand
  movq %rax, (%rdi)                # store
  movl (%rdi), %eax                # narrow load
  lock addq %rax, (%rdi)           # locked
  vmovups (%rdi), %ymm0            # wide load
  movq %fs:0x28, %rax              # segment
  prefetcht0 (%rdi)                # prefetch
  nop                              # NOP
  rdtsc                            # unknown
  cmpq (%rdi), %rax                # compare
  jne 1f                           # fused jump
  orq %rbx, %rax                   # OR
  jne 1f                           # jump after OR
  movq %rbx, %rcx
  jne 1f                           # lone jump
1:
  jmp 2f                           # jump
  nop
2:
  nop                              # target
  callq *(%rax)                    # indirect call
  callq callee                     # call
  rep movsb                        # repeated
  ret                              # return
  end operations

  function callee
  ret                              # callee
  end callee
)";

constexpr std::uint32_t kIbsOp = 11, kIbsFetch = 10;
constexpr std::uint16_t kUserMode = PERF_RECORD_MISC_USER;

/// Recordings of a process that mapped the program at another address than that of its link.
class IbsRecordsOfSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    if (!program_) {
      built_.emplace();
      program_.emplace(*built_ / "program", kOperations, Arch::x86_64,
                       std::vector<std::string>{"-nostdlib", "-static", "-Wl,-e,operations"});
    }
    record({.type = kIbsOp, .config = 1 << 19});
  }

  void record(test::EventToBuild event) {
    builder_ = test::RecordingBuilder();
    event_ = std::move(event);
    event_.sample_type |= PERF_SAMPLE_RAW;
    builder_.event(event_);
    test::map_program(program_->module(), {.bias = kBias, .file = (*built_ / "program").string()},
                      builder_);
  }

  static std::uint64_t ip_of(const std::string& place) { return program_->at(place) + kBias; }
  void sample_raw(const std::string& place, std::string raw,
                  std::uint16_t misc = kUserMode | PERF_RECORD_MISC_EXACT_IP) {
    test::add_sample({.ip = ip_of(place), .raw = std::move(raw), .misc = misc}, event_, builder_);
  }
  /// A sample whose record has the same address.
  void sample(const std::string& place, IbsToBuild operation) {
    operation.rip = ip_of(place);
    sample_raw(place, operation.bytes());
  }
  void access(const std::string& place, std::uint64_t data3) { sample(place, {.data3 = data3}); }
  void branch(const std::string& place, std::uint64_t data, std::uint64_t target = 0) {
    sample(place, {.data = ibs::kBranch | data, .target = target});
  }

  Audit audited() {
    auto recording = builder_;
    test::name_machine("x86_64", "AuthenticAMD,25,1,1", recording);
    recording.feature(perfdata::HEADER_PMU_MAPPINGS, recording.writer()
                                                         .u32(3)
                                                         .u32(4)
                                                         .counted_text("cpu")
                                                         .u32(kIbsFetch)
                                                         .counted_text("ibs_fetch")
                                                         .u32(kIbsOp)
                                                         .counted_text("ibs_op")
                                                         .bytes());
    recording.write(directory_ / "perf.data");
    return audit(measure::Source{directory_ / "perf.data", {}, nullptr, nullptr}, {});
  }
  std::optional<Contradictions> found() { return audited().events.at(0).ibs_record; }
  void expect(std::uint64_t contradicted, std::uint64_t judged, std::uint64_t samples) {
    const auto finding = found();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->share.count, contradicted);
    EXPECT_EQ(finding->share.total, judged);
    EXPECT_EQ(finding->samples, samples);
  }

  static constexpr std::uint64_t kBias = 0x5555'0000'0000;
  test::TemporaryDirectory directory_;
  test::RecordingBuilder builder_;
  test::EventToBuild event_;
  // The program is built once for all tests.
  static inline std::optional<test::TemporaryDirectory> built_;
  static inline std::optional<test::AssembledProgram> program_;
};

TEST_F(IbsRecordsOfSamples, AgreeWithInstructionsThatAccessMemory) {
  access("load", ibs::kLoad | ibs::width(8));
  access("store", ibs::kStore | ibs::width(8));
  access("narrow load", ibs::kLoad | ibs::width(4));
  access("locked", ibs::kLoad | ibs::kStore | ibs::kLocked | ibs::width(8));
  access("wide load", ibs::kLoad | ibs::width(32));
  access("wide load", ibs::kLoad | ibs::width(16));
  access("prefetch", ibs::kLoad | ibs::kPrefetch | ibs::width(8));
  access("return", ibs::kLoad | ibs::width(8));
  access("call", ibs::kStore | ibs::width(8));
  access("indirect call", ibs::kLoad);
  access("repeated", ibs::kLoad | ibs::width(64));
  access("segment", ibs::kLoad | ibs::width(64));
  expect(0, 12, 12);
}

TEST_F(IbsRecordsOfSamples, AreContradictedByAnInstructionOneLater) {
  access("no operand", ibs::kLoad | ibs::width(8));
  access("narrow load", ibs::kStore | ibs::width(8));
  access("NOP", ibs::kPrefetch);
  access("store", ibs::kLoad);
  access("load", ibs::kStore);
  access("lone jump", ibs::kLoad);
  expect(6, 6, 6);
}

TEST_F(IbsRecordsOfSamples, AreContradictedByNarrowerOperandsAndMissingLocks) {
  access("narrow load", ibs::kLoad | ibs::width(8));
  access("wide load", ibs::kLoad | ibs::width(64));
  access("load", ibs::kLoad | ibs::kLocked);
  access("load", ibs::kPrefetch | ibs::kLoad);
  expect(4, 4, 4);
}

TEST_F(IbsRecordsOfSamples, OfBranchesAgreeWithTheirTargets) {
  branch("jump", ibs::kTaken, ip_of("target"));
  branch("call", ibs::kTaken, ip_of("callee"));
  branch("lone jump", ibs::kTaken, ip_of("jump"));
  branch("lone jump", 0, 0x1234);  // not taken
  branch("indirect call", ibs::kTaken, 0x1234);
  branch("return", ibs::kTaken | ibs::kReturn, 0x1234);
  branch("jump", ibs::kTaken);  // no target
  expect(0, 7, 7);
}

TEST_F(IbsRecordsOfSamples, OfBranchesAreContradictedByOtherInstructions) {
  branch("target", ibs::kTaken, ip_of("target"));  // a NOP, one late
  branch("no operand", 0);
  branch("jump", ibs::kTaken, ip_of("target") + 1);
  branch("jump", 0);  // not taken
  branch("call", ibs::kTaken, program_->at("callee"));
  branch("jump", ibs::kTaken | ibs::kReturn);
  branch("callee", ibs::kTaken);  // no return
  expect(7, 7, 7);
}

TEST_F(IbsRecordsOfSamples, OfPairsThatMayBeFusedAreOfBothInstructions) {
  for (const char* place : {"compare", "fused jump", "OR", "jump after OR"}) {
    branch(place, ibs::kTaken, ip_of("jump"));
    branch(place, ibs::kTaken, ip_of("jump") + 1);
  }
  access("fused jump", ibs::kLoad | ibs::width(8));
  access("compare", ibs::kLoad | ibs::width(8));
  access("jump after OR", ibs::kLoad);
  expect(5, 11, 11);
}

TEST_F(IbsRecordsOfSamples, WithoutEvidenceAreUndecided) {
  access("load", 0);
  access("unknown", ibs::kLoad | ibs::width(8));
  sample("no operand", {.data = ibs::kMicrocode, .data3 = ibs::kLoad});
  branch("unknown", ibs::kTaken);
  test::add_sample({.ip = 0x1234, .raw = IbsToBuild{.rip = 0x1234}.bytes()}, event_, builder_);
  expect(0, 0, 5);
}

TEST_F(IbsRecordsOfSamples, WithAnotherAddressAreContradicted) {
  sample_raw("load", IbsToBuild{.rip = ip_of("store"), .data3 = ibs::kLoad}.bytes());
  sample_raw("load", IbsToBuild{.rip = ip_of("load"), .data = ibs::kRipInvalid}.bytes());
  expect(2, 2, 2);
}

TEST_F(IbsRecordsOfSamples, OfTheInterruptAreLeftOut) {
  const IbsToBuild invalid{.data = ibs::kRipInvalid, .data3 = ibs::kLoad};
  sample_raw("no operand", invalid.bytes(), kUserMode);
  sample_raw("no operand", invalid.bytes(), PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP);
  EXPECT_FALSE(found());
}

TEST_F(IbsRecordsOfSamples, ThatCannotBeReadAreCounted) {
  IbsToBuild operation{.rip = ip_of("load"), .data3 = ibs::kLoad};
  sample_raw("load", operation.bytes());
  sample_raw("load", operation.bytes().substr(0, 40));
  sample_raw("load", "");
  operation.capabilities = 0;
  sample_raw("load", operation.bytes());
  expect(0, 1, 1);
  EXPECT_EQ(found()->without, 3U);
  EXPECT_THAT(output::audit_text({audited()}, {.width = 200, .details = false}),
              HasSubstr("IBS        3 of 4 samples have raw data that is no IBS record"));
}

TEST_F(IbsRecordsOfSamples, AreThoseOfEventsThatTheKernelHandsToIbsOp) {
  const auto finding_of = [&](test::EventToBuild event) {
    record(std::move(event));
    access("no operand", ibs::kLoad);
    return found();
  };
  EXPECT_TRUE(finding_of({.type = kIbsOp}));
  EXPECT_TRUE(finding_of({.type = PERF_TYPE_HARDWARE, .config = 0, .precise_ip = 2}));
  EXPECT_TRUE(finding_of({.type = PERF_TYPE_RAW, .config = 0xc1, .precise_ip = 1}));
  EXPECT_FALSE(finding_of({.type = PERF_TYPE_RAW, .config = 0xc1}));
  EXPECT_FALSE(finding_of({.type = kIbsFetch}));
  EXPECT_FALSE(finding_of({.config = PERF_COUNT_SW_CPU_CLOCK}));
}

TEST_F(IbsRecordsOfSamples, AreShownInEachFormat) {
  for (int i = 0; i < 3; ++i) access("load", ibs::kLoad | ibs::width(8));
  access("no operand", ibs::kLoad | ibs::width(8));
  access("no operand", 0);
  const std::vector<Audit> audits{audited()};
  EXPECT_THAT(output::audit_json(audits), HasSubstr(R"("ibs_record": {
            "samples": 5,
            "without": 0,
            "judged": 4,
            "undecided": 1,
            "contradicted": 1,)"));
  EXPECT_THAT(output::audit_csv(audits), HasSubstr(",ibs_record,,,,,,,,,,,5,4,1,0.04"));
  EXPECT_THAT(
      output::audit_text(audits, {.width = 200, .details = false}),
      StartsWith("1 of 4 judged samples (25.00%) is at an instruction that cannot be that of "
                 "its IBS record; no sample is judged by its event"));
  for (const bool details : {false, true}) {
    EXPECT_THAT(output::audit_text(audits, {.width = 200, .details = details}),
                HasSubstr("IBS        1 of 4 judged samples (25.00%, 4.56–69.94%) is at "
                          "an instruction that cannot be that of its IBS record; 1 undecided"));
  }
}

}  // namespace
}  // namespace skid::audit
