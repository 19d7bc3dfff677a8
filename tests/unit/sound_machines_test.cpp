// Machines whose precise levels work, as breakdowns: none of them may be accused.
#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/target_map.h"
#include "src/events/kernel_rules.h"
#include "src/machine/cpu_identity.h"
#include "src/output/report/evidence.h"
#include "src/support/precise_level.h"
#include "tests/support/event_tables.h"
#include "tests/support/prelude.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {
namespace {

using test::intel_cpu;

constexpr std::uint64_t kSamples = 5000;

machine::CpuIdentity amd(int family, int model) {
  return {.arch = "x86_64", .vendor = "AuthenticAMD", .family = family, .model = model};
}

/// All samples at one offset; `exact` of them with EXACT_IP.
Measurement at(std::int64_t offset, int level, std::uint64_t exact, const machine::CpuIdentity& cpu,
               bool ibs = false, NotJudged not_judged = NotJudged::none) {
  Measurement m;
  m.precise.recorded = level;
  Basis& basis = m.basis;
  basis.geometry =
      Geometry{.lowest_offset = -200, .highest_offset = 5000, .trigger_addresses = {0x401000}};
  basis.not_judged = not_judged;
  basis.exact_ip = events::exact_ip_of(cpu, ibs);
  Tally& tally = basis.tally;
  tally.breakdown.add(offset == 0 ? SampleClass::hit : SampleClass::skid, kSamples);
  tally.instructions.add(offset, kSamples);
  tally.bytes.add(offset, kSamples);
  tally.exact_samples = exact;
  (offset == 0 ? tally.exact_hits : tally.exact_off_trigger) = exact;
  complete(m);
  return m;
}

void expect_kept(const Measurement& m, std::optional<bool> certified) {
  SCOPED_TRACE(output::contract_evidence(m));
  EXPECT_EQ(m.contract.verdict, Verdict::kept);
  EXPECT_EQ(m.contract.certified, certified);
  EXPECT_THAT(output::count_warnings(m), IsEmpty());
}

constexpr int kIvyBridge = 58, kHaswell = 60, kSkylake = 94, kIceLakeServer = 106;

TEST(SoundMachine, IvyBridgeRewindsEachSample) {
  const auto cpu = intel_cpu(kIvyBridge);
  expect_kept(at(1, 1, 0, cpu), false);
  expect_kept(at(0, 2, kSamples, cpu), true);
  const Measurement one_missed = at(0, 2, kSamples - 1, cpu);
  expect_kept(one_missed, false);
  EXPECT_THAT(output::contract_evidence(one_missed), HasSubstr("kept, not certified"));
}

TEST(SoundMachine, HaswellAndSkylakeSetTheFlagOnRequest) {
  for (const int model : {kHaswell, kSkylake}) {
    expect_kept(at(1, 1, 0, intel_cpu(model)), std::nullopt);
    for (const int level : {2, 3}) {
      const Measurement m = at(0, level, kSamples, intel_cpu(model));
      expect_kept(m, std::nullopt);
      EXPECT_THAT(output::contract_evidence(m),
                  HasSubstr("follows the requested level on this CPU"));
      EXPECT_THAT(output::contract_evidence(m), Not(HasSubstr("certified")));
      EXPECT_THAT(output::contract_evidence(at(0, level, kSamples / 2, intel_cpu(model))),
                  HasSubstr("though the kernel sets it by the requested level alone"));
    }
  }
}

TEST(SoundMachine, GuestWithoutBaselineHasLevelTwoAtLevelOne) {
  // The basic record contains the eventing IP alone, and every record has the flag.
  for (const int level : {1, 2}) {
    const Measurement m = at(0, level, kSamples, intel_cpu(kIceLakeServer));
    expect_kept(m, std::nullopt);
    ASSERT_TRUE(m.constant_skid);
    EXPECT_EQ(m.constant_skid->offset, 0);
    EXPECT_EQ(m.constant_skid->verdict, Verdict::kept);
  }
  EXPECT_THAT(output::contract_evidence(at(1, 1, 0, intel_cpu(kIceLakeServer))),
              HasSubstr("by design"));
}

TEST(SoundMachine, OfAnImpreciseEventOnIceLakeIsNotAccusedForItsFlag) {
  // Adaptive records have the flag without a level, too.
  const Measurement m = at(40, 0, kSamples, intel_cpu(kIceLakeServer), false, NotJudged::imprecise);
  EXPECT_EQ(m.contract.verdict, Verdict::not_judged);
  EXPECT_THAT(output::count_warnings(m), IsEmpty());
}

TEST(SoundMachine, Zen4IbsReportsValidAddresses) {
  const auto cpu = amd(0x19, 0x11);
  for (const int level : {1, 2}) expect_kept(at(0, level, kSamples, cpu, true), level == 2);
  // Samples of ops are mostly on NOPs.
  const Measurement ops = at(700, 2, kSamples, cpu, true, NotJudged::every_instruction);
  EXPECT_EQ(ops.contract.verdict, Verdict::not_judged);
}

TEST(SoundMachine, NeoverseAndPower9NeverSetTheFlag) {
  const machine::CpuIdentity neoverse{.arch = "aarch64", .vendor = "0x41", .model = 0xd0c};
  const machine::CpuIdentity power{.arch = "ppc64le"};
  for (const auto& cpu : {neoverse, power}) {
    const Measurement m = at(30, 3, 0, cpu, false, NotJudged::no_precise_levels);
    EXPECT_EQ(m.contract.verdict, Verdict::not_judged);
    EXPECT_THAT(output::contract_evidence(m), HasSubstr("EXACT_IP 0 of 5000, which is never set"));
  }
}

TEST(ExactIp, OfUnknownCpusIsUnknown) {
  using events::exact_ip_of;
  EXPECT_EQ(exact_ip_of({}, false), ExactIp::unknown);
  EXPECT_EQ(exact_ip_of({.arch = "x86_64", .vendor = "GenuineIntel"}, false), ExactIp::unknown);
  EXPECT_EQ(exact_ip_of(intel_cpu(55), false), ExactIp::unknown) << "Silvermont";
  EXPECT_EQ(exact_ip_of({.arch = "s390x"}, false), ExactIp::unknown);
  EXPECT_EQ(exact_ip_of(amd(0x19, 0x11), false), ExactIp::never);
  EXPECT_EQ(exact_ip_of(intel_cpu(42), false), ExactIp::evidence);
  EXPECT_EQ(exact_ip_of(intel_cpu(143), false), ExactIp::request);
}

}  // namespace
}  // namespace skid::analysis
