// Data addresses of samples against the memory operands of the instructions that they are at.
#include "src/audit/audit.h"
#include "src/output/audit/audit.h"
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/hex.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::audit {
namespace {

using ::testing::HasSubstr;

/// An instruction every 16 bytes.
constexpr const char* kOperandCode = R"(
  .text
  .globl places
  .type places, @function
places:
  movq %rax, datum(%rip)
  .balign 16
  movq %rax, 0x12345678
  .balign 16
  movl (%rdi,%rsi,4), %eax
  .balign 16
  movq 8(%rdi), %rdi
  .balign 16
  pushq datum(%rip)
  .balign 16
  rep stosb
  .balign 16
  movq %fs:0x28, %rax
  .balign 16
  btsq %rax, datum(%rip)
  .balign 16
  prefetcht0 datum(%rip)
  .balign 16
  callq *datum(%rip)
  .balign 16
  addq %rbx, %rax
  .balign 16
  ret
  .size places, . - places
  .bss
  .balign 0x1000
  .skip 0x10000
  .globl datum
datum:
  .skip 0x10000
  .section .note.GNU-stack,"",@progbits
)";
enum OperandPlace {
  kRelative,
  kAbsolute,
  kByRegisters,
  kWritesItsBase,
  kPush,
  kRepeated,
  kSegment,
  kBitTest,
  kPrefetchOperand,
  kCall,
  kNoOperand,
};

constexpr std::uint64_t kPageFaults = 2, kLoadEvent = 0x81d0, kRetired = 0x00c0;
constexpr std::uint64_t kRdi = 1 << 5, kRsi = 1 << 4, kRbx = 1 << 1;  // PERF_REG_X86_*
constexpr const char* kSkylakeCpuid = "GenuineIntel,6,94,3";

class DataAddressesOfSamples : public ::testing::Test {
 protected:
  /// The program is built once for all tests.
  static void SetUpTestSuite() {
#if defined(__x86_64__)
    built_.emplace();
    std::ofstream(*built_ / "places.s") << kOperandCode;
    const auto built =
        run_program({"cc", "-nostdlib", "-static", "-Wl,-e,places", "-Wl,--build-id=sha1", "-o",
                     *built_ / "program", *built_ / "places.s"});
    ASSERT_TRUE(built.code.success()) << built.err;
#endif
  }
  static void TearDownTestSuite() {
    built_.reset();
  }

  void SetUp() override {
    if (!built_) GTEST_SKIP() << "no compiler for x86-64";
    begin_recording();
  }

  /// Of a process that mapped the program at another address than that of its link.
  void begin_recording() {
    builder_ = test::RecordingBuilder();
    const auto module = symbols::Module::open(*built_ / "program");
    begin_ = module.functions_named("places").front().range.begin + kBias;
    datum_ = module.symbol_value("datum").value() + kBias;
    const auto mapping = module.executable_mapping_at(begin_ - kBias);
    ASSERT_TRUE(mapping);
    builder_.mmap(1, mapping->range.begin + kBias, mapping->range.size(), mapping->file_offset,
                  (*built_ / "program").string(), 1);
  }

  std::uint64_t ip_of(OperandPlace place) const {
    return begin_ + 16 * static_cast<std::uint64_t>(place);
  }

  void record_faults(std::uint64_t registers = 0, std::uint64_t of = PERF_SAMPLE_REGS_INTR) {
    record({.type = PERF_TYPE_SOFTWARE, .config = kPageFaults}, registers, of);
  }
  void record_pebs(std::uint64_t config = kLoadEvent, unsigned level = 2,
                   std::uint64_t registers = 0, std::uint64_t of = PERF_SAMPLE_REGS_INTR) {
    record({.type = PERF_TYPE_RAW, .config = config, .precise_ip = level}, registers, of);
  }

  /// `registers`: their values, in the order of the bits of the event's mask.
  void sample(OperandPlace place, std::uint64_t address,
              std::uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
              std::initializer_list<std::uint64_t> registers = {}) {
    auto body = builder_.writer();
    body.u64(ip_of(place)).i32(1).i32(1).u64(++time_).u64(address);
    if (has_registers_) {
      body.u64(registers.size() == 0 ? 0 : 2);  // PERF_SAMPLE_REGS_ABI_64
      for (const std::uint64_t value : registers) body.u64(value);
    }
    builder_.record(PERF_RECORD_SAMPLE, misc, body.bytes());
  }

  Audit audited(const std::string& cpu = kSkylakeCpuid) {
    if (has_build_id_) {
      const auto id = test::hex(symbols::Module::open(*built_ / "program").build_id());
      auto build_id = builder_.writer();
      build_id.raw({reinterpret_cast<const char*>(id.data()), id.size()}).u32(20);
      build_id.text((*built_ / "program").string());
      builder_.feature(perfdata::HEADER_BUILD_ID,
                       builder_.writer()
                           .u32(0)
                           .u16(PERF_RECORD_MISC_USER | perfdata::PERF_RECORD_MISC_BUILD_ID_SIZE)
                           .u16(static_cast<std::uint16_t>(build_id.bytes().size() + 12))
                           .i32(-1)
                           .raw(build_id.bytes())
                           .bytes());
    }
    builder_.feature(perfdata::HEADER_CPUID, builder_.writer().counted_text(cpu).bytes());
    builder_.write(directory_ / "perf.data");
    return audit(measure::Source{directory_ / "perf.data", {}, nullptr, nullptr}, {});
  }
  std::optional<Contradictions> found(const std::string& cpu = kSkylakeCpuid) {
    const Audit all = audited(cpu);
    return all.events.size() == 1 ? all.events.front().data_address : std::nullopt;
  }
  void expect(std::uint64_t contradicted, std::uint64_t judged, std::uint64_t samples) {
    const auto finding = found();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->share.count, contradicted);
    EXPECT_EQ(finding->share.total, judged);
    EXPECT_EQ(finding->samples, samples);
    EXPECT_EQ(finding->undecided(), samples - judged);
  }

  static constexpr std::uint64_t kBias = 0x5555'0000'0000;
  test::TemporaryDirectory directory_;
  test::RecordingBuilder builder_;
  std::uint64_t begin_ = 0, datum_ = 0, time_ = 1;
  bool has_build_id_ = true;

 private:
  void record(test::EventToBuild event, std::uint64_t registers, std::uint64_t of) {
    event.sample_type |= PERF_SAMPLE_ADDR | (registers != 0 ? of : 0);
    (of == PERF_SAMPLE_REGS_INTR ? event.sample_regs_intr : event.sample_regs_user) = registers;
    has_registers_ = registers != 0;
    builder_.event(event);
  }

  static inline std::optional<test::TemporaryDirectory> built_;
  bool has_registers_ = false;
};

TEST_F(DataAddressesOfSamples, WithinTheOperandAreNotContradicted) {
  record_faults();
  for (std::uint64_t byte = 0; byte < 8; ++byte) {
    sample(kRelative, datum_ + byte, PERF_RECORD_MISC_USER);
    sample(kAbsolute, 0x12345678 + byte, PERF_RECORD_MISC_USER);
  }
  expect(0, 16, 16);
}

TEST_F(DataAddressesOfSamples, OutsideTheOperandAreContradicted) {
  record_faults();
  sample(kRelative, datum_ - 1, PERF_RECORD_MISC_USER);
  sample(kRelative, datum_ + 8, PERF_RECORD_MISC_USER);
  sample(kRelative, datum_ - kBias, PERF_RECORD_MISC_USER);
  sample(kAbsolute, 0x12345677, PERF_RECORD_MISC_USER);
  sample(kAbsolute, 0x12345680, PERF_RECORD_MISC_USER);
  sample(kAbsolute, 0x12345678 + kBias, PERF_RECORD_MISC_USER);
  expect(6, 6, 6);
}

TEST_F(DataAddressesOfSamples, ChangedInAnyByteAreContradicted) {
  record_faults();
  const std::uint64_t page = ip_of(kRelative) >> 12;
  std::uint64_t contradicted = 0, fetches = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    for (std::uint64_t flipped = 1; flipped < 256; ++flipped) {
      const std::uint64_t address = datum_ ^ flipped << (8 * byte);
      sample(kRelative, address, PERF_RECORD_MISC_USER);
      if (address >> 56 != 0 && address >> 56 != 0xff) continue;  // not canonical
      if (address - datum_ < 8) continue;                         // the datum's other bytes
      ++(address >> 12 == page ? fetches : contradicted);
    }
  }
  const auto finding = found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->share.count, contradicted);
  EXPECT_EQ(finding->undecided(), fetches);
  EXPECT_EQ(finding->share.total, contradicted + 7);
}

TEST_F(DataAddressesOfSamples, OfFilesWithoutABuildIdAreUndecided) {
  has_build_id_ = false;
  record_faults();
  sample(kRelative, 0x1000, PERF_RECORD_MISC_USER);
  expect(0, 0, 1);
}

TEST_F(DataAddressesOfSamples, OfFetchedPagesAreUndecided) {
  record_faults();
  sample(kRelative, ip_of(kRelative), PERF_RECORD_MISC_USER);
  sample(kRelative, (ip_of(kRelative) & ~0xfffULL) + 0xfff, PERF_RECORD_MISC_USER);
  expect(0, 0, 2);
}

TEST_F(DataAddressesOfSamples, OfInstructionsWithoutOneOperandOfKnownAddressAreUndecided) {
  record_faults(kRdi | kRsi);
  const std::vector<OperandPlace> places{kByRegisters, kWritesItsBase,   kPush, kRepeated, kSegment,
                                         kBitTest,     kPrefetchOperand, kCall, kNoOperand};
  for (const OperandPlace place : places) {
    // Without registers, and where registers do not decide.
    sample(place, 0x1000, PERF_RECORD_MISC_USER, {});
    if (place != kByRegisters && place != kWritesItsBase)
      sample(place, 0x1000, PERF_RECORD_MISC_USER, {1, 2});
  }
  expect(0, 0, 9 + 7);
}

TEST_F(DataAddressesOfSamples, OfFaultsAreComparedWithTheRegisters) {
  for (const std::uint64_t of : {PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_REGS_USER}) {
    begin_recording();
    record_faults(kRbx | kRdi | kRsi, of);
    // RBX, RSI, RDI: the order of the bits.
    sample(kByRegisters, 0x7000'0000 + 4 * 3 + 3, PERF_RECORD_MISC_USER, {0, 3, 0x7000'0000});
    sample(kByRegisters, 0x7000'0000 + 4 * 3 + 4, PERF_RECORD_MISC_USER, {0, 3, 0x7000'0000});
    sample(kByRegisters, 0x7000'0000 - 4, PERF_RECORD_MISC_USER, {0, UINT64_MAX, 0x7000'0000});
    sample(kWritesItsBase, 0x7000'0008, PERF_RECORD_MISC_USER, {0, 0, 0x7000'0000});
    sample(kWritesItsBase, 0x7000'0000, PERF_RECORD_MISC_USER, {0, 0, 0x7000'0000});
    expect(2, 5, 5);
  }
}

TEST_F(DataAddressesOfSamples, OfPointersWithDataInUnusedBitsAreNotContradicted) {
  record_faults(kRdi | kRsi);
  sample(kWritesItsBase, 0x7000'0008, PERF_RECORD_MISC_USER, {0, 0x1234'0000'7000'0000});
  sample(kWritesItsBase, 0x7000'0018, PERF_RECORD_MISC_USER, {0, 0x1234'0000'7000'0000});
  expect(1, 2, 2);
}

TEST_F(DataAddressesOfSamples, OfAnUnrecordedRegisterAreUndecided) {
  record_faults(kRdi);
  sample(kByRegisters, 0x1000, PERF_RECORD_MISC_USER, {0x7000'0000});
  sample(kWritesItsBase, 0x7000'0008, PERF_RECORD_MISC_USER, {0x7000'0000});
  expect(0, 1, 2);
}

TEST_F(DataAddressesOfSamples, OfPebsAreComparedWithConstantsAndUnchangedRegisters) {
  record_pebs(kLoadEvent, 2, kRdi | kRsi);
  sample(kRelative, datum_);
  sample(kRelative, datum_ + 8);
  sample(kByRegisters, 0x7000'0004, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
         {1, 0x7000'0000});
  sample(kByRegisters, 0x7000'0008, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
         {1, 0x7000'0000});
  sample(kWritesItsBase, 0x1000, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
         {1, 0x7000'0000});  // overwritten by the load
  expect(2, 4, 5);
}

TEST_F(DataAddressesOfSamples, OfPebsAreNotComparedWithRegistersOfTheInterrupt) {
  record_pebs(kLoadEvent, 2, kRdi | kRsi, PERF_SAMPLE_REGS_USER);
  sample(kByRegisters, 0x1000, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, {1, 0x7000'0000});
  expect(0, 0, 1);
}

TEST_F(DataAddressesOfSamples, AreNotJudgedWithoutEvidence) {
  record_pebs();
  sample(kRelative, 0x1000, PERF_RECORD_MISC_USER);                                // not exact
  sample(kRelative, 0x1000, PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP);  // the kernel's
  sample(kRelative, 0);                                                            // no address
  sample(kRelative, 0x0100'0000'0000'0000);                                        // not canonical
  EXPECT_FALSE(found());
}

TEST_F(DataAddressesOfSamples, OfOtherEventsAreNotJudged) {
  const auto finding_of = [&](test::EventToBuild event, const char* cpu) {
    begin_recording();
    event.sample_type |= PERF_SAMPLE_ADDR;
    builder_.event(event);
    sample(kRelative, 0x1000);
    return found(cpu);
  };
  const auto raw = [](std::uint64_t config, unsigned level) {
    return test::EventToBuild{.type = PERF_TYPE_RAW, .config = config, .precise_ip = level};
  };
  EXPECT_TRUE(finding_of(raw(kLoadEvent, 2), kSkylakeCpuid));
  EXPECT_FALSE(finding_of(raw(kLoadEvent, 0), kSkylakeCpuid)) << "no PEBS record";
  EXPECT_FALSE(finding_of(raw(kRetired, 2), kSkylakeCpuid)) << "its records have no data address";
  EXPECT_FALSE(finding_of(raw(kLoadEvent, 2), "GenuineIntel,6,9999,3")) << "unknown CPU";
  EXPECT_FALSE(finding_of({.type = PERF_TYPE_BREAKPOINT}, kSkylakeCpuid)) << "repeats the request";
  EXPECT_FALSE(finding_of({.config = PERF_COUNT_SW_CPU_CLOCK}, kSkylakeCpuid));
}

TEST_F(DataAddressesOfSamples, AreShownInEachFormat) {
  record_faults();
  for (int i = 0; i < 3; ++i) sample(kRelative, datum_, PERF_RECORD_MISC_USER);
  sample(kRelative, datum_ + 8, PERF_RECORD_MISC_USER);
  sample(kNoOperand, 0x1000, PERF_RECORD_MISC_USER);
  const std::vector<Audit> audits{audited()};
  EXPECT_THAT(output::audit_json(audits), HasSubstr(R"("data_address": {
            "samples": 5,
            "judged": 4,
            "undecided": 1,
            "contradicted": 1,)"));
  EXPECT_THAT(output::audit_csv(audits), HasSubstr(",data_address,,,,,,,,,,,5,4,1,0.04"));
  for (const bool details : {false, true}) {
    output::Page page;
    page.details = details;
    page.width = 200;
    EXPECT_THAT(output::audit_text(audits, page),
                HasSubstr("addresses  1 of 4 judged samples (25.00%, 4.56–69.94%) are at "
                          "instructions that do not access their data address; 1 undecided"));
  }
}

}  // namespace
}  // namespace skid::audit
