// Data addresses of samples against the operands of the instructions that they are at.
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "src/audit/audit.h"
#include "src/measure/measure.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "src/output/report/evidence.h"
#include "src/support/address.h"
#include "tests/support/assembled_program.h"
#include "tests/support/contradicting.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using test::Contradicting;

class DataAddressesOfSamples : public Contradicting {
 protected:
  /// `registers`: those that `of`, PERF_SAMPLE_REGS_USER or _INTR, records.
  void record_addresses(test::EventToBuild event, std::uint64_t registers = 0,
                        std::uint64_t of = PERF_SAMPLE_REGS_INTR) {
    (of == PERF_SAMPLE_REGS_INTR ? event.sample_regs_intr : event.sample_regs_user) = registers;
    record(std::move(event), PERF_SAMPLE_ADDR | (registers != 0 ? of : 0));
  }
  void record_faults(std::uint64_t registers = 0, std::uint64_t of = PERF_SAMPLE_REGS_INTR) {
    constexpr std::uint64_t kPageFaults = 2;
    record_addresses({.type = PERF_TYPE_SOFTWARE, .config = kPageFaults}, registers, of);
  }
  void fault(const std::string& place, std::uint64_t address,
             std::vector<std::uint64_t> registers = {}) {
    sample(place, {.address = address, .registers = std::move(registers), .misc = kUser});
  }
  void exact(const std::string& place, std::uint64_t address,
             std::vector<std::uint64_t> registers = {}) {
    sample(place, {.address = address, .registers = std::move(registers)});
  }
  std::optional<Contradictions> found() override { return audited().events.at(0).data_address; }
};

TEST_F(DataAddressesOfSamples, WithinTheOperandAreNotContradicted) {
  record_faults();
  for (std::uint64_t byte = 0; byte < 8; ++byte) {
    fault("relative", datum_ + byte);
    fault("absolute", 0x12345678 + byte);
  }
  expect(0, 16, 16);
}

TEST_F(DataAddressesOfSamples, OutsideTheOperandAreContradicted) {
  record_faults();
  fault("relative", datum_ - 1);
  fault("relative", datum_ + 8);
  fault("relative", datum_ - kBias);
  fault("absolute", 0x12345677);
  fault("absolute", 0x12345680);
  fault("absolute", 0x12345678 + kBias);
  expect(6, 6, 6);
}

TEST_F(DataAddressesOfSamples, ChangedInAnyByteAreContradicted) {
  record_faults();
  const std::uint64_t page = ip_of("relative") >> 12;
  std::uint64_t contradicted = 0, fetches = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    for (std::uint64_t flipped = 1; flipped < 256; ++flipped) {
      const std::uint64_t address = datum_ ^ flipped << (8 * byte);
      fault("relative", address);
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
  fault("relative", 0x1000);
  expect(0, 0, 1);
}

TEST_F(DataAddressesOfSamples, OfFetchedPagesAreUndecidedButForTheInstructionItself) {
  record_faults();
  fault("relative", ip_of("relative"));
  fault("relative", (ip_of("relative") & ~0xfffULL) + 0xfff);
  expect(0, 1, 2);
}

TEST_F(DataAddressesOfSamples, OfInstructionsWithoutOneOperandOfKnownAddressAreUndecided) {
  record_faults(kRdi | kRsi);
  const std::vector<const char*> places{"by registers", "writes its base", "push",     "repeated",
                                        "segment",      "bit test",        "prefetch", "call"};
  for (const char* place : places) {
    // Without registers, and where registers do not decide.
    fault(place, 0x1000);
    if (place != places[0] && place != places[1] && place != places[3]) {
      fault(place, 0x1000, {1, 2});
    }
  }
  expect(0, 0, 8 + 5);
  const auto reasons = audited().events.at(0).data_address.value().reasons;
  const auto of = [&](witness::Unknown reason) {
    return reasons.at(static_cast<std::size_t>(reason));
  };
  using enum witness::Unknown;
  EXPECT_EQ(of(not_recorded), 2U + 2U + 1U);
  EXPECT_EQ(of(segment), 2U);
  EXPECT_EQ(of(operand), 2U);
  EXPECT_EQ(of(instruction), 2U + 2U);
}

TEST_F(DataAddressesOfSamples, OfInstructionsWithoutAnOperandAreContradicted) {
  record_faults();
  fault("no operand", 0x1000);
  fault("NOP", 0x1000);
  expect(2, 2, 2);
}

TEST_F(DataAddressesOfSamples, OfFaultsInStringsAreComparedWithTheRegisters) {
  record_faults(kRdi);
  fault("repeated", 0x7000'0000, {0x7000'0000});
  fault("repeated", 0x7000'0001, {0x7000'0000});
  expect(1, 2, 2);
}

TEST_F(DataAddressesOfSamples, OfFaultsAreComparedWithTheRegisters) {
  for (const std::uint64_t of : {PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_REGS_USER}) {
    record_faults(kRbx | kRdi | kRsi, of);
    // RBX, RSI, RDI: the order of the bits.
    fault("by registers", 0x7000'0000 + 4 * 3 + 3, {0, 3, 0x7000'0000});
    fault("by registers", 0x7000'0000 + 4 * 3 + 4, {0, 3, 0x7000'0000});
    fault("by registers", 0x7000'0000 - 4, {0, UINT64_MAX, 0x7000'0000});
    fault("writes its base", 0x7000'0008, {0, 0, 0x7000'0000});
    fault("writes its base", 0x7000'0000, {0, 0, 0x7000'0000});
    expect(2, 5, 5);
  }
}

TEST_F(DataAddressesOfSamples, OfPointersWithDataInUnusedBitsAreNotContradicted) {
  record_faults(kRdi | kRsi);
  fault("writes its base", 0x7000'0008, {0, 0x1234'0000'7000'0000});
  fault("writes its base", 0x7000'0018, {0, 0x1234'0000'7000'0000});
  expect(1, 2, 2);
}

TEST_F(DataAddressesOfSamples, OfAnUnrecordedRegisterAreUndecided) {
  record_faults(kRdi);
  fault("by registers", 0x1000, {0x7000'0000});
  fault("writes its base", 0x7000'0008, {0x7000'0000});
  expect(0, 1, 2);
}

TEST_F(DataAddressesOfSamples, OfPebsAreComparedWithConstantsAndUnchangedRegisters) {
  record_addresses(raw(kAllLoads), kRdi | kRsi);
  exact("relative", datum_);
  exact("relative", datum_ + 8);
  exact("by registers", 0x7000'0004, {1, 0x7000'0000});
  exact("by registers", 0x7000'0008, {1, 0x7000'0000});
  exact("writes its base", 0x1000, {1, 0x7000'0000});  // overwritten by the load
  expect(2, 4, 5);
}

TEST_F(DataAddressesOfSamples, OfPebsAreNotComparedWithRegistersOfTheInterrupt) {
  record_addresses(raw(kAllLoads), kRdi | kRsi, PERF_SAMPLE_REGS_USER);
  exact("by registers", 0x1000, {1, 0x7000'0000});
  expect(0, 0, 1);
}

TEST_F(DataAddressesOfSamples, AreTheFirstLineWhereTheEventJudgesNone) {
  record_faults();
  fault("no operand", ip_of("no operand"));  // fetched
  const std::string text = output::audit_text({audited()}, {.width = 200, .details = false});
  EXPECT_THAT(text,
              StartsWith("0 of 1 judged samples (0%) are not at the instruction that accessed "
                         "their data address\n"));
}

TEST_F(DataAddressesOfSamples, OfPebsBeforeLinux418AreNotComparedByRbpAndRspOfACallChain) {
  for (const auto& [kernel, judged] :
       {std::pair("4.15.0-20-generic", 0U), std::pair("4.18.0", 1U)}) {
    test::EventToBuild event = raw(kAllLoads);
    event.sample_type |= PERF_SAMPLE_CALLCHAIN;
    record_addresses(event, 1U << 7U);  // SP
    kernel_ = kernel;
    exact("push", 0x7000'0000, {0x7000'0000});
    expect(0, judged, 1);
  }
}

TEST_F(DataAddressesOfSamples, OfTheKernelsLastInstructionAreUndecidedAtLevel1) {
  record_addresses(raw(kAllLoads, 1));
  sample("absolute", {.address = datum_, .misc = kUser});
  sample("absolute", {.address = 0x1000, .misc = kUser});
  sample("absolute", {.address = 0xffff'8880'0000'1000, .misc = kUser});
  expect(1, 2, 3);
  EXPECT_EQ(audited().events.at(0).data_address->reasons.at(
                static_cast<std::size_t>(witness::Unknown::predecessor)),
            1U);
}

TEST_F(DataAddressesOfSamples, FromWhichAJumpReadWhereToGoProveAnEntryAtLevel1) {
  const test::AssembledProgram library(directory_ / "library.so", R"(
  function entry
  nop                              # entry
  ret
  end entry
)",
                                       Arch::x86_64, {"-shared"});
  constexpr std::uint64_t kBiasOfLibrary = 0x7f00'0000'0000;
  record_addresses(raw(kAllLoads, 1));
  for (const std::int32_t pid : {1, 2}) {
    test::map_program(
        library.module(),
        {.bias = kBiasOfLibrary, .file = (directory_ / "library.so").string(), .pid = pid},
        builder_);
  }
  const auto enter = [&](std::uint64_t address, std::int32_t pid = 1) {
    test::add_sample({.ip = library.at("entry") + kBiasOfLibrary,
                      .address = address,
                      .misc = kUser,
                      .pid = pid,
                      .tid = pid},
                     event_, builder_);
  };
  enter(datum_);  // where the program is mapped is not known before its first sample
  sample("relative", {.address = datum_, .misc = kUser});  // CALL reads the datum
  sample("relative", {.address = datum_ + 8, .misc = kUser});
  enter(datum_);
  enter(datum_ + 8);
  enter(datum_, 2);                                    // does not execute the program
  sample("load", {.address = datum_, .misc = kUser});  // where CALL returns to
  expect(0, 2, 7);
}

TEST_F(DataAddressesOfSamples, AreNotJudgedWithoutEvidence) {
  record_addresses(raw(kAllLoads));
  fault("relative", 0x1000);  // not exact
  sample("relative",
         {.address = 0x1000, .misc = PERF_RECORD_MISC_KERNEL | kExact});  // the kernel's
  exact("relative", 0x0100'0000'0000'0000);                               // not canonical
  EXPECT_FALSE(found());
}

TEST_F(DataAddressesOfSamples, OfPebsWithoutAnyAreReported) {
  record_addresses(raw(kAllLoads));
  exact("relative", 0);
  exact("relative", 0);
  const auto finding = found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->without, 2u);
  EXPECT_EQ(finding->samples, 0u);
  EXPECT_THAT(output::audit_text({audited()}, {.width = 200, .details = false}),
              HasSubstr("2 of 2 samples have no data address, although the event's records have"));
}

TEST_F(DataAddressesOfSamples, ThatTheHitFunctionContradictsAreNoHits) {
  record_faults(kRdi);
  fault("relative", datum_, {0});
  fault("relative", datum_ + 8, {0});
  fault("no operand", datum_, {0});
  fault("load", 0x7000'0000, {0x7000'0000});
  fault("load", 0x7000'0008, {0x7000'0000});
  fault("by registers", 0x1000, {0});  // RSI was not recorded
  fault("segment", 0x1000, {0});
  fault("NOP", datum_, {0});
  expect(4, 6, 8);
  const auto m = measured().measurements.at(0);
  using enum analysis::SampleClass;
  EXPECT_EQ(m.samples[hit], 4u);
  EXPECT_EQ(m.samples[loop], 3u);
  EXPECT_EQ(m.samples[skid], 1u);
  EXPECT_EQ(m.basis.tally.contradicted_addresses, 3u);
  EXPECT_EQ(m.basis.tally.contradicted_hits, 0u);
  EXPECT_THAT(output::contract_evidence(m),
              HasSubstr("3 samples on the trigger are not at the instruction that accessed their "
                        "data address: no hits"));
}

TEST_F(DataAddressesOfSamples, OfOtherEventsAreNotJudged) {
  const auto finding_of = [&](const test::EventToBuild& event) {
    record_addresses(event);
    exact("relative", 0x1000);
    return found();
  };
  EXPECT_TRUE(finding_of(raw(kAllLoads)));
  EXPECT_FALSE(finding_of(raw(kAllLoads, 0))) << "no PEBS record";
  EXPECT_FALSE(finding_of(raw(kRetired))) << "its records have no data address";
  EXPECT_FALSE(finding_of({.type = PERF_TYPE_BREAKPOINT})) << "repeats the request";
  EXPECT_FALSE(finding_of({.config = PERF_COUNT_SW_CPU_CLOCK}));
  cpuid_ = "GenuineIntel,6,9999,3";
  EXPECT_FALSE(finding_of(raw(kAllLoads))) << "unknown CPU";
}

TEST_F(DataAddressesOfSamples, AreShownInEachFormat) {
  record_faults();
  for (int i = 0; i < 3; ++i) fault("relative", datum_);
  fault("relative", datum_ + 8);
  fault("segment", 0x1000);
  const std::vector<Audit> audits{audited()};
  EXPECT_THAT(output::audit_json(audits), HasSubstr(R"("data_address": {
            "samples": 5,
            "without": 0,
            "judged": 4,
            "undecided": 1,
            "contradicted": 1,)"));
  EXPECT_THAT(output::audit_csv(audits), HasSubstr(",data_address,,,,,,,,,,,5,4,1,0.04"));
  for (const bool details : {false, true}) {
    output::Page page{.width = 200, .details = details};
    EXPECT_THAT(output::audit_text(audits, page),
                HasSubstr("addresses  1 of 4 decided samples (25.00%, 4.56–69.94%) is not at the "
                          "instruction that accessed its data address: for 1 it was not found; 1 "
                          "is undecided (1 relative to FS or GS)"));
    EXPECT_THAT(output::audit_text(audits, page),
                HasSubstr("1 of 5 judged samples (20.00%) is at the wrong instruction, by what it "
                          "does or by its data address"));
  }
}

}  // namespace
}  // namespace skid::audit
