// `skidscan samples` where it is not perf script's question: pipes, and many files at once.
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

constexpr std::int32_t kPid = 7;
constexpr std::uint64_t kAddress = 0x1000;

class Samples : public ::testing::Test {
 protected:
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }

  /// Lists the recording as it comes through a pipe.
  Completed list_pipe(const test::RecordingBuilder& builder, const std::string& options) const {
    std::ofstream(directory_ / "pipe", std::ios::binary) << builder.pipe_bytes();
    return run_program({"sh", "-c", "cat \"$1\" | \"$2\" samples - " + options, "sh",
                        in_directory("pipe"), test::skidscan_program()});
  }

  test::TemporaryDirectory directory_;
};

/// However many rounds later the mapping comes.
TEST_F(Samples, OfAPipeAreInTheMappingOfTheirTime) {
  auto builder = test::RecordingBuilder().event({}).mmap(kPid, 0, 0x10000, 0, "/nowhere/old", 1);
  for (const std::uint64_t time : {200U, 100U, 300U, 400U}) {
    builder.sample(kAddress, kPid, time).record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "");
  }
  builder.mmap(kPid, 0, 0x10000, 0, "/nowhere/new", 150).sample(kAddress, kPid, 500);
  const auto listed = list_pipe(builder, "--columns time,dso");
  EXPECT_EQ(listed.code.status, 0) << listed.err;
  EXPECT_EQ(listed.out,
            "time\tdso\n200\t/nowhere/new\n100\t/nowhere/old\n300\t/nowhere/new\n"
            "400\t/nowhere/new\n500\t/nowhere/new\n")
      << "in the order of the pipe";
  EXPECT_EQ(list_pipe(builder, "--columns time").out, "time\n200\n100\n300\n400\n500\n");
}

/// The kernel defines six of the eight modes that three bits can hold.
TEST_F(Samples, OfUndefinedModesAreOfUnknownMode) {
  auto builder = test::RecordingBuilder().event({});
  for (std::uint16_t mode = 0; mode < 8; ++mode) builder.sample(kAddress, kPid, mode, mode);
  EXPECT_EQ(list_pipe(builder, "--columns time,mode").out,
            "time\tmode\n0\tunknown\n1\tkernel\n2\tuser\n3\thypervisor\n4\tguest_kernel\n"
            "5\tguest_user\n6\tunknown\n7\tunknown\n");
}

TEST_F(Samples, OfFilesWithOddNamesHaveThemEscaped) {
  auto builder =
      test::RecordingBuilder().event({}).mmap(kPid, 0, 0x10000, 0, "/a\"\\\tb\x1b\u00e9\xff", 1);
  builder.sample(kAddress, kPid, 2);
  EXPECT_EQ(list_pipe(builder, "--columns dso").out, "dso\n/a\"\\\\x09b\\x1b\u00e9\\xff\n");
  EXPECT_EQ(list_pipe(builder, "--columns dso --format jsonl").out,
            R"({"dso":"/a\"\\\tb\u001b\u00e9\ufffd"})"
            "\n");
}

TEST_F(Samples, OfNothingReportTheRemedy) {
  for (const std::string command : {"samples", "inspect"}) {
    EXPECT_THAT(test::skidscan({command}, directory_.path()),
                Exits(1, AllOf(HasSubstr("perf.data: no such file here"),
                               HasSubstr("make it with 'perf record'"))));
  }
}

TEST_F(Samples, OfMoreFilesThanTheSoftLimitOfOpenOnesHaveTheirSymbols) {
  constexpr int kFiles = 200, kSoftLimit = 64;
  SKIP_WITHOUT("cc");
  const auto built = test::skidscan({"target", "-o", in_directory("target")});
  ASSERT_TRUE(built.code.success()) << built.err;
  const auto layout =
      json::parse(test::skidscan({"target", "--read", in_directory("target"), "--format", "json"})
                      .out)["layout"];
  const std::uint64_t trigger =
      std::stoull(layout["trigger"]["begin"].get<std::string>(), nullptr, 16);

  const auto module = symbols::Module::open(in_directory("target"));
  std::uint64_t offset = 0;
  while (module.address_at(offset) != trigger) ASSERT_LT(++offset, 0x100000u);
  auto builder = test::RecordingBuilder().event({});
  for (int i = 0; i < kFiles; ++i) {
    const auto copy = in_directory("target-" + std::to_string(i));
    std::filesystem::copy_file(in_directory("target"), copy);
    const std::uint64_t address = 0x10000000 + static_cast<std::uint64_t>(i) * 0x100000;
    test::map_file(copy, address, kPid, builder);
    builder.sample(address + offset, kPid, 2);
  }
  builder.write(directory_ / "perf.data");
  const auto listed = run_program(
      {"sh", "-c", "ulimit -S -n " + std::to_string(kSoftLimit) + "; exec \"$1\" samples \"$2\"",
       "sh", test::skidscan_program(), in_directory("perf.data")});
  EXPECT_EQ(listed.code.status, 0) << listed.err;
  std::size_t with_symbol = 0;
  for (auto at = listed.out.find("\tskid_trigger\t"); at != std::string::npos;
       at = listed.out.find("\tskid_trigger\t", at + 1)) {
    ++with_symbol;
  }
  EXPECT_EQ(with_symbol, kFiles) << listed.err.substr(0, 1000);
}

}  // namespace
}  // namespace skid
