// Data addresses of recorded samples against what the target declares.
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/locate/digest.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/profile.h"
#include "src/measure/target_geometry.h"
#include "src/output/report/evidence.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/file.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/runway_fixture.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skid::measure {
namespace {

using analysis::AddressSource;
using perfdata::Attribute;

constexpr std::int32_t kTargetPid = 7;
constexpr std::uint64_t kTargetMappedAt = 0x10000000, kText = 0x400000;

TEST(AddressSource, FollowsFromTheEventTheLevelAndTheCpu) {
  using enum AddressSource;
  struct Case {
    const char* what;
    Attribute attribute;
    const char* pmu;
    const char* vendor;
    std::optional<bool> data_la;
    std::optional<AddressSource> expected;
  };
  const auto of_type = [](std::uint32_t type, std::uint64_t config = 0) {
    return Attribute{
        .type = type, .config = config, .sample_type = PERF_SAMPLE_ADDR, .precise_ip = 2};
  };
  const Attribute raw = of_type(PERF_TYPE_RAW);
  Attribute interrupt = raw, bare = raw;
  interrupt.precise_ip = 0;
  bare.sample_type = PERF_SAMPLE_IP;
  constexpr const char *kIntel = "GenuineIntel", *kAmd = "AuthenticAMD", *kArm = "0x41";
  const std::vector<Case> cases{
      {"not recorded", bare, "cpu", kIntel, true, std::nullopt},
      {"Data_LA", raw, "cpu", kIntel, true, pebs},
      {"no Data_LA", raw, "cpu", kIntel, false, none},
      {"unknown", raw, "cpu", kIntel, {}, unknown},
      {"no PEBS", interrupt, "cpu", kIntel, true, none},
      {"IBS through the core PMU", raw, "cpu", kAmd, {}, tagged},
      {"IBS op", of_type(9), "ibs_op", kAmd, {}, tagged},
      {"IBS fetch", of_type(8), "ibs_fetch", kAmd, {}, unknown},
      {"SPE", of_type(10), "arm_spe_0", kArm, {}, tagged},
      {"Arm", raw, "armv8_pmuv3_0", kArm, {}, none},
      {"page faults", of_type(PERF_TYPE_SOFTWARE, 2), "", "", {}, page_fault},
      {"clock", of_type(PERF_TYPE_SOFTWARE, 0), "", "", {}, none},
      {"breakpoint", of_type(PERF_TYPE_BREAKPOINT), "", "", {}, request},
  };
  for (const Case& one : cases) {
    machine::Machine machine;
    machine.cpu.vendor = one.vendor;
    RecordedEvent event{.attribute = one.attribute, .pmu_name = one.pmu, .machine = machine};
    if (one.data_la) event.entry.emplace().data_la = one.data_la;
    EXPECT_EQ(address_source(event), one.expected) << one.what;
  }
}

TEST(DeclaredData, OfAChaseNeedsTheReportOfItsRun) {
  runway::TargetDescription target;
  target.layout.datum = 0x410000;
  target.data = {{true, 0, 8}, {false, 16, 32}};
  const std::vector<analysis::DeclaredData> of_note{{true, {0x410000, 0x410008}},
                                                    {false, {0x410010, 0x410030}}};
  EXPECT_EQ(declared_data(target, nullptr), of_note);
  target.specification.trigger = runway::trigger_kind_from("load-l3");
  EXPECT_TRUE(declared_data(target, nullptr).empty());
  runway::TargetReport report;
  EXPECT_TRUE(declared_data(target, &report).empty());
  report.chase = AddressRange{0x7f0000000000, 0x7f0000100000};
  const auto declared = declared_data(target, &report);
  ASSERT_EQ(declared.size(), 3u);
  EXPECT_EQ(declared[2], (analysis::DeclaredData{true, *report.chase}));
  target.data.clear();
  EXPECT_TRUE(declared_data(target, &report).empty()) << "a target of old";
}

/// A recording of a target, with data addresses.
class RecordedAddresses : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!test::why_without({runway::compiler_of(runway::kHost)}).empty()) return;
    built_ = std::make_unique<test::TemporaryDirectory>();
    for (const char* const trigger : {"load", "call"}) {
      (void)runway::build_target(runway::specification_of(runway::trigger_kind_from(trigger)),
                                 *built_ / trigger);
    }
  }
  static void TearDownTestSuite() { built_.reset(); }
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(runway::kHost);
    use_target_of("load");
    event_.sample_type |= PERF_SAMPLE_ADDR;
    test::map_file((directory_ / "target").string(), kTargetMappedAt, kTargetPid, builder_);
    run_.machine.cpu.arch = "x86_64";
  }
  void use_target_of(const char* trigger) {
    std::filesystem::copy_file(*built_ / trigger, directory_ / "target",
                               std::filesystem::copy_options::overwrite_existing);
    layout_ = runway::require_target(directory_ / "target").description.layout;
  }
  static constexpr std::uint16_t kExactUser = 2 | PERF_RECORD_MISC_EXACT_IP;

  /// So many samples at `instruction` (0: the trigger) with the data address.
  void sample(unsigned instruction, std::uint64_t address, int count = 1, std::uint16_t mode = 2) {
    sample_at(instruction == 0 ? layout_.trigger.begin : layout_.runway.begin + instruction - 1,
              address, count, mode);
  }
  void sample_at(std::uint64_t at, std::uint64_t address, int count = 1, std::uint16_t mode = 2,
                 std::uint64_t data_source = PERF_MEM_OP_NA) {
    const test::SampleToBuild sample{.ip = kTargetMappedAt + at - kText,
                                     .address = address,
                                     .registers = registers_,
                                     .data_source = data_source,
                                     .misc = mode,
                                     .pid = kTargetPid,
                                     .tid = kTargetPid};
    for (int i = 0; i < count; ++i) test::add_sample(sample, event_, builder_);
  }
  analysis::Measurement measured(std::uint32_t type, std::uint64_t config, unsigned level = 2) {
    event_.type = type;
    event_.config = config;
    event_.precise_ip = level;
    builder_.event(event_);
    builder_.write(directory_ / "perf.data");
    return measure({directory_ / "perf.data", directory_.path(), &run_, nullptr}, {})
        .measurements.at(0);
  }

  static inline std::unique_ptr<test::TemporaryDirectory> built_;  // by all tests once
  test::TemporaryDirectory directory_;
  test::RecordingBuilder builder_;
  test::EventToBuild event_;
  runway::Layout layout_;
  run::Run run_;
  std::vector<std::uint64_t> registers_;  ///< of each sample
};

TEST_F(RecordedAddresses, OfPageFaultsAreTabulatedByPlaceAndOwner) {
  sample(0, layout_.datum, 4);
  sample(0, layout_.datum + 8);
  sample(1, layout_.datum, 2);
  sample(9, 0);
  sample(0, layout_.datum, 3, /*kernel*/ 1);
  const auto m = measured(PERF_TYPE_SOFTWARE, 2);
  ASSERT_TRUE(m.basis.addresses);
  const analysis::AddressTable& table = m.basis.addresses->samples;
  EXPECT_EQ(m.basis.addresses->source, AddressSource::page_fault);
  EXPECT_EQ(table.trigger.trigger, 4u);
  EXPECT_EQ(table.trigger.other, 1u);
  EXPECT_EQ(table.successor.trigger, 2u);
  EXPECT_EQ(table.elsewhere.none, 1u);
  EXPECT_EQ(table.not_judged.trigger, 3u);
  EXPECT_EQ(table.judged().sum(), m.samples.judged());
  EXPECT_EQ(table.not_judged.sum() + m.samples.judged(), m.samples.read());
}

TEST_F(RecordedAddresses, AreInTheClassesOfTheBreakdownAtEachLevel) {
  SKIP_WITHOUT("x86-64");
  use_target_of("call");
  // Level 1 samples the first instruction of the loop for the back-edge, which the loop counts too.
  sample_at(layout_.loop.begin, layout_.datum, 5);
  sample(1, layout_.datum, 7);
  const auto m = measured(PERF_TYPE_SOFTWARE, 2, 1);
  ASSERT_TRUE(m.basis.addresses);
  const analysis::AddressTable& table = m.basis.addresses->samples;
  EXPECT_EQ(table.judged().sum(), m.samples.judged());
  EXPECT_EQ(table.judged().sum() + table.not_judged.sum(), 12u);
}

TEST_F(RecordedAddresses, OfTaggedOperationsDoNotJudgeStackSlots) {
  SKIP_WITHOUT("x86-64");
  use_target_of("call");
  run_.machine.cpu.vendor = "AuthenticAMD";
  sample(0, layout_.datum, 4000);
  const auto m = measured(PERF_TYPE_HARDWARE, 0);
  ASSERT_TRUE(m.basis.addresses);
  EXPECT_TRUE(m.basis.addresses->declared.empty());
  EXPECT_EQ(m.contract.verdict, analysis::Verdict::not_judged);
}

TEST_F(RecordedAddresses, OfBreakpointsRepeatTheRequest) {
  sample(1, layout_.datum, 2);
  const auto m = measured(PERF_TYPE_BREAKPOINT, 0);
  ASSERT_TRUE(m.basis.addresses);
  EXPECT_EQ(m.basis.addresses->samples.judged().sum(), 0u);
  EXPECT_THAT(output::contract_evidence(m), HasSubstr("repeats the request"));
}

TEST_F(RecordedAddresses, JudgeOperationsThatIbsTagged) {
  SKIP_WITHOUT("x86-64");
  run_.machine.cpu.vendor = "AuthenticAMD";
  sample(0, layout_.datum, 4000, kExactUser);
  sample(500, 0, 4000, kExactUser);
  sample(3, layout_.datum, 200);  // IbsRipInvalid: the address of the interrupt
  const auto m = measured(PERF_TYPE_HARDWARE, 0);
  EXPECT_EQ(m.contract.verdict, analysis::Verdict::kept);
  EXPECT_EQ(m.contract.share.total, 4000u);
  EXPECT_THAT(output::contract_evidence(m), HasSubstr("with an address in the trigger's data"));
  EXPECT_EQ(m.hit_ratio.total, 8200u);
}

TEST_F(RecordedAddresses, AreNotOfTheTriggerIfTheDataSourceContradictsIt) {
  SKIP_WITHOUT("x86-64");
  event_.sample_type |= PERF_SAMPLE_DATA_SRC;
  const auto sample_source = [&](std::uint64_t source, int count) {
    sample_at(layout_.trigger.begin, layout_.datum, count, kExactUser, source);
  };
  for (const auto& [vendor, type, config] : {std::tuple("GenuineIntel", PERF_TYPE_RAW, 0x81d0),
                                             std::tuple("AuthenticAMD", PERF_TYPE_HARDWARE, 0)}) {
    builder_ = test::RecordingBuilder();
    test::map_file((directory_ / "target").string(), kTargetMappedAt, kTargetPid, builder_);
    run_.machine.cpu = {.arch = "x86_64", .vendor = vendor};
    if (type == PERF_TYPE_RAW) {
      run_.machine.cpu.family = 6;
      run_.machine.cpu.model = 94;
    }
    sample_source(PERF_MEM_OP_LOAD, 4000);
    sample_source(PERF_MEM_OP_STORE, 40);
    const auto m = measured(type, static_cast<std::uint64_t>(config));
    EXPECT_EQ(m.contract.verdict, analysis::Verdict::broken) << vendor;
    EXPECT_EQ(m.contract.share.count, 4000u) << vendor;
    EXPECT_EQ(m.contract.share.total, 4040u) << vendor;
    EXPECT_EQ(m.hit_ratio.count, 4000u) << vendor;
    EXPECT_EQ(m.basis.addresses->samples.trigger.trigger, 4000u) << vendor;
    EXPECT_EQ(m.basis.tally.contradicted_hits, 40u) << vendor;
  }
}

TEST_F(RecordedAddresses, OfAnotherInstructionAreNotOfTheTrigger) {
  SKIP_WITHOUT("x86-64");
  event_.sample_type |= PERF_SAMPLE_REGS_INTR;
  event_.sample_regs_intr = 1U << 5U;  // DI
  registers_ = {layout_.datum};
  run_.machine.cpu = {.arch = "x86_64", .vendor = "GenuineIntel", .family = 6, .model = 94};
  for (const unsigned level : {1U, 2U}) {
    builder_ = test::RecordingBuilder();
    const auto target = symbols::Module::open(directory_ / "target");
    test::map_program(target,
                      {.bias = kTargetMappedAt - kText,
                       .file = (directory_ / "target").string(),
                       .pid = kTargetPid},
                      builder_);
    const unsigned at = level == 1 ? 1 : 0;
    const std::uint16_t mode = level == 1 ? 2 : kExactUser;
    sample(at, layout_.datum, 4000, mode);
    sample(at, layout_.datum + 64, 40, mode);
    sample(5, layout_.datum + 64, 1, mode);
    const auto m = measured(PERF_TYPE_RAW, 0x81d0, level);
    EXPECT_EQ(m.contract.verdict, analysis::Verdict::broken) << level;
    EXPECT_EQ(m.contract.share.count, 4000u) << level;
    EXPECT_EQ(m.contract.share.total, 4041u) << level;
    EXPECT_EQ(m.basis.tally.contradicted_addresses, 40u) << level;
    EXPECT_EQ(m.basis.addresses->samples.judged().other, 1u) << level << ": that on the runway";
    EXPECT_THAT(output::contract_evidence(m),
                HasSubstr(level == 1 ? "40 samples after the trigger are not at the instruction "
                                       "after the one that accessed their data address"
                                     : "40 samples on the trigger are not at the instruction "
                                       "that accessed their data address"));
  }
}

TEST_F(RecordedAddresses, OfAFileWithoutABuildIdAreNotComparedWithRegisters) {
  SKIP_WITHOUT("x86-64");
  event_.sample_type |= PERF_SAMPLE_REGS_INTR;
  event_.sample_regs_intr = 1U << 5U;  // DI
  registers_ = {layout_.datum};
  sample(0, layout_.datum + 64, 4000);
  const auto m = measured(PERF_TYPE_SOFTWARE, 2);
  EXPECT_EQ(m.basis.tally.contradicted_addresses, 0u);
  EXPECT_EQ(m.basis.addresses->samples.trigger.other, 4000u);
}

TEST_F(RecordedAddresses, JudgeNothingWithoutDeclaredData) {
  std::string bytes = runway::bytes_of(directory_ / "target");
  bytes.replace(bytes.find("\"data\":["), 6, "\"dota\"");  // a target of old
  write_file_atomically(directory_ / "target", bytes);
  run_.machine.cpu.vendor = "AuthenticAMD";
  sample(0, layout_.datum, 4000);
  const auto m = measured(PERF_TYPE_HARDWARE, 0);
  EXPECT_EQ(m.contract.verdict, analysis::Verdict::not_judged);
  ASSERT_TRUE(m.basis.addresses);
  EXPECT_TRUE(m.basis.addresses->declared.empty());
  EXPECT_THAT(output::describe_addresses(*m.basis.addresses), HasSubstr("no declared data"));
}

TEST(ThirdPartyRecording, WithWeightsHasDataAddresses) {
  SKIP_WITHOUT("recordings");
  const auto file = test::recordings_directory() / "quipper.perf.data.weight_struct";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  auto recording = perfdata::Recording::open(file);
  const auto digest = locate::digest(recording);
  std::map<std::uint32_t, analysis::OwnerCounts> by_event;
  std::uint64_t located = 0;
  locate::visit_records(recording, digest, [&](const locate::VisitedRecord& visited) {
    if (visited.sample == nullptr) return;
    if (!recording.attributes()[visited.sample->attribute].has(PERF_SAMPLE_ADDR)) return;
    by_event[visited.sample->attribute].add(visited.sample->addr, {});
    if (visited.location) ++located;
  });
  EXPECT_FALSE(by_event.empty());
  std::uint64_t valid = 0;
  for (const auto& [event, counts] : by_event) {
    EXPECT_EQ(counts.sum(), digest.totals[event].samples);
    valid += counts.other;
  }
  EXPECT_GT(valid, 0u);
  EXPECT_GT(located, 0u);
}

}  // namespace
}  // namespace skid::measure
