// `skidscan audit` on branch records, as a user runs it.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

using namespace perfdata;

constexpr std::uint64_t kCode = 0x40'0000;

class BranchRecordsCommand : public ::testing::Test {
 protected:
  /// A recording with one stack, the newest first, in a program whose file is nowhere.
  void record(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& stack,
              std::uint64_t stated_entries) const {
    test::RecordingBuilder builder;
    test::EventToBuild event;
    event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
    builder.event(event);
    auto mapping = builder.writer();
    mapping.i32(7).i32(7).u64(kCode).u64(0x10000).u64(0).u8(20).u8(0).u16(0);
    mapping.raw(std::string(20, '\xab')).u32(5).u32(2).text("/nowhere/evil\x1b[31m");
    builder.record(PERF_RECORD_MMAP2, 2 | PERF_RECORD_MISC_MMAP_BUILD_ID,
                   mapping.i32(7).i32(7).u64(1).bytes());
    auto sample = builder.writer();
    sample.u64(kCode).i32(7).i32(7).u64(2).u64(stated_entries);
    for (const auto& [from, to] : stack) sample.u64(kCode + from).u64(kCode + to).u64(2);
    builder.record(PERF_RECORD_SAMPLE, 2, sample.bytes());
    builder.feature(HEADER_ARCH, builder.writer().counted_text("x86_64").bytes());
    builder.write(directory_ / "perf.data");
  }
  Completed audit(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"audit", "perf.data"});
    return test::skidscan(options, directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(BranchRecordsCommand, FailsOnImpossibleRecords) {
  record({{0x30, 0x10}, {0x20, 0x28}, {0x50, 0x18}}, 3);
  for (const std::string condition : {"impossible", "branches"}) {
    EXPECT_EQ(audit({"--fail-on", condition}).code.status, test::kDone) << condition;
  }
  record({{0x30, 0x10}, {0x20, 0x38}, {0x50, 0x18}}, 3);
  EXPECT_EQ(audit({"--fail-on", "samples"}).code.status, 5) << "of which none is judged";
  for (const std::string condition : {"impossible", "branches"}) {
    EXPECT_THAT(audit({"--fail-on", condition}),
                Exits(test::kGateFailed, HasSubstr("1 of 2 judged branch records")));
  }
  EXPECT_EQ(audit({"--fail-on", "everything"}).code.status, test::kUsage);
}

TEST_F(BranchRecordsCommand, ReportsPlacesAndTheMissingFile) {
  record({{0x30, 0x10}, {0x20, 0x38}, {0x50, 0x18}}, 3);
  const auto text = audit();
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("1 of 2 judged branch records (50.00%) is impossible"),
                    HasSubstr("0x30 (evil\\x1b[31m) to 0x10: before the target of the "),
                    HasSubstr("3 branch records are in 1 file whose code is missing: /nowhere/"),
                    HasSubstr("--debuginfod"), Not(HasSubstr("\x1b"))));
  const json recording = json::parse(audit({"--format", "json"}).out)["recordings"][0];
  const json& records = recording["events"][0]["branch_records"];
  EXPECT_EQ(records["records"], 3);
  EXPECT_EQ(records["by_addresses"], 2);
  EXPECT_EQ(records["reasons"], json({{"backward", 1}}));
  EXPECT_EQ(records["not_judged"], json({{"no_file", 1}}));
  EXPECT_EQ(records["worst"][0]["from"], "0x30");
  EXPECT_EQ(records["worst"][0]["preceding_to"], "0x38");
  EXPECT_EQ(recording["missing"][0]["build_id"],
            std::string("abababababababababababababababababababab"));
  EXPECT_EQ(recording["missing"][0]["branch_records"], 3);
  const auto csv = audit({"--format", "csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr(",branch_records,"), HasSubstr(",branch_reason,,backward,"),
                             HasSubstr(",branch_not_judged,,no_file,"), HasSubstr(",1,,,,,0x10,")));
}

TEST_F(BranchRecordsCommand, CountsStacksLargerThanTheirSample) {
  record({{0x30, 0x10}}, std::uint64_t{1} << 60);
  const auto done = audit({"--format", "json"});
  EXPECT_EQ(done.code.status, test::kDone) << done.err;
  const json records = json::parse(done.out)["recordings"][0]["events"][0]["branch_records"];
  EXPECT_EQ(records["damaged_stacks"], 1);
  EXPECT_EQ(records["records"], 0);
}

TEST_F(BranchRecordsCommand, PrintsWhatFollowsTheFixedFieldsOfSamples) {
  test::RecordingBuilder builder;
  test::EventToBuild event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.sample_type |= PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
                       PERF_SAMPLE_REGS_INTR;
  event.sample_regs_intr = 1U | 1U << 23U | std::uint64_t{1} << 35U;
  event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  builder.event(event);
  constexpr std::uint64_t kTaken = 1U | 1U << 2U | 7U << 4U | 4U << 20U | 3U << 24U,
                          kExtended = 2U | 15U << 20U | 2U << 26U | std::uint64_t{1} << 33U;
  test::add_sample({.ip = kCode,
                    .branches = {{0x30, 0x10, kTaken},
                                 {0x20, 0xffff'ffff'8100'0000, 2},
                                 {0x40, 0x18, kExtended}},
                    .registers = {5, 6, 7},
                    .weight = (std::uint64_t{99} << 32U) + 41,
                    .data_source = 0x1e05080021},
                   event, builder);
  builder.feature(HEADER_ARCH, builder.writer().counted_text("x86_64").bytes());
  builder.feature(HEADER_SIMPLEPERF_META_INFO,
                  std::string("arch\0x\0event_type_info\0no,1\ninst-retired,0,1\nother,1,0\0", 55));
  builder.write(directory_ / "perf.data");
  const auto printed = test::skidscan(
      {"samples", "perf.data", "--columns", "event,weight,data_src,brstack,iregs,uregs"},
      directory_.path());
  EXPECT_EQ(printed.out,
            "event\tweight\tdata_src\tbrstack\tiregs\turegs\n"
            "inst-retired\t41\t1e05080021\t0x30/0x10/M/X/-/7/CALL/SPEC_CORRECT_PATH "
            "0x20/0xffffffff81000000/P/-/-/0//- 0x40/0x18/PN/-/-/0/FAULT_INST/-\tAX:0x5 R15:0x6 "
            "XMM1:0x7\t\n")
      << printed.err;
}

TEST_F(BranchRecordsCommand, RefusesABinaryThatDoesNotExist) {
  record({{0x30, 0x10}}, 1);
  EXPECT_EQ(audit({"--binary", "nowhere"}).code.status, test::kUsage);
  EXPECT_EQ(audit({"--binary", "perf.data"}).code.status, test::kDone);
}

TEST_F(BranchRecordsCommand, FindsNoImpossibleRecordInTheBranchesOfARealProgram) {
  SKIP_WITHOUT("single-steps");
  const auto traced =
      run_program({SKIDSCAN_TRACE_BRANCHES, "perf.data", "8000", "32", "true"}, directory_.path());
  ASSERT_TRUE(traced.code.success()) << traced.err;
  const auto done = audit({"--format", "json", "--fail-on", "branches"});
  ASSERT_EQ(done.code.status, test::kDone) << done.err;
  const json records = json::parse(done.out)["recordings"][0]["events"][0]["branch_records"];
  EXPECT_GT(records["judged"], 300);
  EXPECT_EQ(records["impossible"], 0);
}

TEST_F(BranchRecordsCommand, FindsNoImpossibleRecordInThirdPartyRecordings) {
  SKIP_WITHOUT("recordings");
  for (const char* name :
       {"autofdo.hierarchical_discriminator_test.data", "quipper.perf.data.branch-4.14",
        "quipper.perf.data.callgraph_and_branch-3.4"}) {
    const auto done = test::skidscan(
        {"audit", (test::recordings_directory() / name).string(), "--format", "json"},
        directory_.path());
    ASSERT_EQ(done.code.status, test::kDone) << done.err;
    const json records = json::parse(done.out)["recordings"][0]["events"][0]["branch_records"];
    EXPECT_GT(records["judged"], 50) << name;
    EXPECT_EQ(records["impossible"], 0) << name;
    EXPECT_EQ(records["not_contiguous"], nullptr);
  }
}

}  // namespace
}  // namespace skid
