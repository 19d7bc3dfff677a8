// Data sources of samples against the instructions that they are at.
#include "src/audit/audit.h"
#include "src/output/audit/audit.h"
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::audit {
namespace {

/// An instruction every 16 bytes.
constexpr const char* kAccessCode = R"(
  .text
  .globl places
  .type places, @function
places:
  movq (%rdi), %rax
  .balign 16
  movq %rax, (%rdi)
  .balign 16
  addq %rax, (%rdi)
  .balign 16
  addq %rbx, %rax
  .balign 16
  rdtsc
  .balign 16
  ret
  .size places, . - places
  .section .note.GNU-stack,"",@progbits
)";
enum AccessPlace { kLoad, kStore, kBoth, kAddition, kUnknown, kReturn };

constexpr std::uint64_t kLoadLatency = 0x1cd;

class DataSources : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "no compiler for x86-64";
#endif
    std::ofstream(directory_ / "places.s") << kAccessCode;
    const auto built = run_program({"cc", "-nostdlib", "-static", "-Wl,-e,places", "-o",
                                    program_.string(), (directory_ / "places.s").string()});
    ASSERT_TRUE(built.code.success()) << built.err;
    begin_recording();
  }

  void begin_recording() {
    builder_ = test::RecordingBuilder();
    const auto module = symbols::Module::open(program_);
    begin_ = module.functions_named("places").front().range.begin;
    const auto mapping = module.executable_mapping_at(begin_);
    ASSERT_TRUE(mapping);
    builder_.mmap(1, mapping->range.begin, mapping->range.size(), mapping->file_offset,
                  program_.string(), 1);
  }

  void record(std::uint64_t config) {
    test::EventToBuild event;
    event.type = PERF_TYPE_RAW;
    event.config = config;
    event.precise_ip = 2;
    event.sample_type |= PERF_SAMPLE_DATA_SRC;
    builder_.event(event);
  }

  void sample(AccessPlace place, std::uint64_t source,
              std::uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP) {
    builder_.record(PERF_RECORD_SAMPLE, misc,
                    builder_.writer()
                        .u64(begin_ + 16 * static_cast<std::uint64_t>(place))
                        .i32(1)
                        .i32(1)
                        .u64(++time_)
                        .u64(source)
                        .bytes());
  }

  Audit audited(const std::string& cpu = {}) {
    if (!cpu.empty()) {
      builder_.feature(perfdata::HEADER_CPUID, builder_.writer().counted_text(cpu).bytes());
    }
    builder_.write(directory_ / "perf.data");
    return audit(measure::Source{directory_ / "perf.data", {}, nullptr, nullptr}, {});
  }
  std::optional<Contradictions> found(const std::string& cpu = {}) {
    const Audit all = audited(cpu);
    return all.events.size() == 1 ? all.events.front().data_source : std::nullopt;
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path program_ = directory_ / "program";
  test::RecordingBuilder builder_;
  std::uint64_t begin_ = 0, time_ = 1;
};

TEST_F(DataSources, OfLoadsAndStoresAgreeWithSuchInstructions) {
  record(kLoadLatency);
  sample(kLoad, PERF_MEM_OP_LOAD);
  sample(kStore, PERF_MEM_OP_STORE);
  sample(kBoth, PERF_MEM_OP_LOAD);
  sample(kBoth, PERF_MEM_OP_STORE);
  sample(kReturn, PERF_MEM_OP_LOAD);
  sample(kLoad, PERF_MEM_OP_PFETCH);
  const auto finding = found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->samples, 6U);
  EXPECT_EQ(finding->share.total, 6U);
  EXPECT_EQ(finding->share.count, 0U);
}

TEST_F(DataSources, AreContradictedByOtherInstructions) {
  record(kLoadLatency);
  sample(kAddition, PERF_MEM_OP_LOAD);
  sample(kAddition, PERF_MEM_OP_STORE);
  sample(kAddition, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE);
  sample(kStore, PERF_MEM_OP_LOAD);
  sample(kLoad, PERF_MEM_OP_STORE);
  sample(kLoad, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE);
  const auto finding = found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->share.total, 6U);
  EXPECT_EQ(finding->share.count, 5U);
  EXPECT_GT(finding->share.low, 0.4);
}

TEST_F(DataSources, OfStoreLatenciesOnIntelCpusMayBeThoseOfLoads) {
  record(0x6d0);
  sample(kStore, PERF_MEM_OP_LOAD);
  sample(kAddition, PERF_MEM_OP_LOAD);
  const auto finding = found("GenuineIntel,6,190,0");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->share.total, 2U);
  EXPECT_EQ(finding->share.count, 1U);
}

TEST_F(DataSources, AreNotJudgedWithoutEvidence) {
  record(kLoadLatency);
  sample(kAddition, PERF_MEM_OP_NA);
  sample(kAddition, PERF_MEM_OP_LOAD, PERF_RECORD_MISC_USER);
  sample(kAddition, PERF_MEM_OP_LOAD, PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP);
  EXPECT_FALSE(found());
  sample(kUnknown, PERF_MEM_OP_LOAD);
  const auto finding = found();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->samples, 1U);
  EXPECT_EQ(finding->share.total, 0U);
}

TEST_F(DataSources, AreARowOfTheCsv) {
  record(kLoadLatency);
  sample(kAddition, PERF_MEM_OP_LOAD);
  sample(kLoad, PERF_MEM_OP_LOAD);
  sample(kLoad, PERF_MEM_OP_LOAD);
  sample(kUnknown, PERF_MEM_OP_LOAD);
  EXPECT_THAT(output::audit_csv({audited()}),
              ::testing::HasSubstr(",data_source,,,,,,,,,,,4,3,1,0.06"));
}

TEST_F(DataSources, AndListsAreTheSameInAnyOrderOfTheSamples) {
  constexpr std::uint64_t kAllLoads = 0x81d0;
  std::vector<std::pair<AccessPlace, std::uint64_t>> samples{
      {kStore, PERF_MEM_OP_STORE},  {kAddition, PERF_MEM_OP_LOAD}, {kReturn, PERF_MEM_OP_STORE},
      {kLoad, PERF_MEM_OP_LOAD},    {kStore, PERF_MEM_OP_LOAD},    {kAddition, PERF_MEM_OP_LOAD},
      {kUnknown, PERF_MEM_OP_LOAD}, {kBoth, PERF_MEM_OP_STORE}};
  std::set<std::string> outputs;
  for (int turn = 0; turn < 8; ++turn) {
    std::rotate(samples.begin(), samples.begin() + 3, samples.end());
    begin_recording();
    record(kAllLoads);
    for (const auto& [place, source] : samples) sample(place, source);
    const Audit all = audited("GenuineIntel,6,94,3");
    outputs.insert(output::audit_json({all}) + output::audit_csv({all}));
    const auto& instructions = all.events.at(0).instructions;
    ASSERT_EQ(instructions.size(), 2U);
    EXPECT_EQ(instructions[0].address, begin_ + 16 * kStore) << "equal counts: by place";
    EXPECT_EQ(instructions[1].address, begin_ + 16 * kAddition);
  }
  EXPECT_EQ(outputs.size(), 1U);
}

}  // namespace
}  // namespace skid::audit
