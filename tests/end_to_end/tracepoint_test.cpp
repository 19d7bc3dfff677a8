// Payloads of tracepoints in `samples`, compared with perf; page faults checked by them.
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The lines of a text, sorted: perf prints samples by time, skidscan as the file has them.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    // perf pads between its columns; its text of an event begins after the padding.
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Tracepoint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = test::why_perf_cannot_record(directory_.path()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    if (!can_record("exceptions:page_fault_user")) {
      GTEST_SKIP() << "no tracepoint exceptions:page_fault_user here (x86, tracefs and root)";
    }
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }

  bool can_record(const std::string& event) const {
    return run_program({"perf", "record", "--no-bpf-event", "-q", "-o", in_directory("probe"), "-e",
                        event, "--", "true"})
        .code.success();
  }
  static std::vector<std::string> of_perf(const std::string& file) {
    // Plugins print some events in words of their own, which are not those of the recording.
    const auto printed = run_program(
        {"env", "TRACEEVENT_PLUGIN_DIR=/nonexistent", "perf", "script", "-i", file, "-F", "trace"});
    EXPECT_TRUE(printed.code.success()) << printed.err;
    return sorted_lines(printed.out);
  }
  static std::vector<std::string> of_skidscan(const std::string& file) {
    const auto printed = test::skidscan({"samples", file, "--columns", "trace"});
    EXPECT_EQ(printed.code.status, 0) << printed.err;
    return sorted_lines(printed.out.substr(printed.out.find('\n') + 1));
  }

  test::TemporaryDirectory directory_;
};

/// Their print formats are "field=value" too, in the order of the fields.
TEST_F(Tracepoint, PayloadsArePrintedAsPerfPrintsThem) {
  std::vector<std::string> command{"perf", "record", "--no-bpf-event",         "-q", "-a", "-c",
                                   "1",    "-o",     in_directory("perf.data")};
  std::size_t events = 0;
  for (const char* event : {"exceptions:page_fault_user", "sched:sched_process_exec"}) {
    if (!can_record(event)) continue;
    command.insert(command.end(), {"-e", event});
    ++events;
  }
  ASSERT_GE(events, 1u);
  command.insert(command.end(), {"--", "sh", "-c", "ls /; ls / | cat; echo x >/dev/null"});
  const auto recorded = run_program(command);
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto expected = of_perf(in_directory("perf.data"));
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(of_skidscan(in_directory("perf.data")), expected);
}

TEST_F(Tracepoint, FieldsAreNamedInJsonLines) {
  ASSERT_TRUE(
      run_program({"perf", "record", "--no-bpf-event", "-q", "-o", in_directory("perf.data"), "-e",
                   "sched:sched_process_exec", "-e", "exceptions:page_fault_user", "-e",
                   "cpu-clock", "--", "/bin/sh", "-c", "/bin/true; /bin/true"})
          .code.success());
  const auto printed = test::skidscan(
      {"samples", in_directory("perf.data"), "--columns", "event,tid,trace", "--format", "jsonl"});
  ASSERT_EQ(printed.code.status, 0) << printed.err;
  std::istringstream lines(printed.out);
  std::size_t execs = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = json::parse(text);
    const auto& trace = line["trace"];
    if (line["event"] == "sched:sched_process_exec") {
      ++execs;
      EXPECT_EQ(trace["pid"], line["tid"]);
      EXPECT_THAT(trace["filename"].get<std::string>(), ::testing::StartsWith("/"));
    } else if (line["event"] == "exceptions:page_fault_user") {
      EXPECT_TRUE(trace["ip"].is_number()) << "an address of user code is below 2^53";
    } else {
      EXPECT_TRUE(trace.is_null()) << text;
    }
  }
  EXPECT_GE(execs, 2u);
}

TEST_F(Tracepoint, PayloadsOfAnotherMachineAreAllPrinted) {
  const char* named = std::getenv("SKIDSCAN_RECORDINGS");
  const std::filesystem::path recordings = named != nullptr ? named : SKIDSCAN_RECORDINGS_DIRECTORY;
  const auto piped = recordings / "linuxtracepoints.TestOutput_pipe.data";
  if (!std::filesystem::exists(piped)) GTEST_SKIP() << piped << " is not here";
  const auto printed = of_skidscan(piped.string());
  EXPECT_EQ(printed.size(), 551u);
  for (const auto& text : printed) EXPECT_THAT(text, HasSubstr("=")) << text;
}

TEST_F(Tracepoint, AgreesWithEverySampledPageFaultOfATarget) {
  const auto run = in_directory("run");
  const auto recorded = test::skidscan(
      {"record", "-e", "faults", "-p", "none,pp", "--check-ip", "--samples", "1000", "-o", run});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto reported = test::skidscan({"report", run, "--format", "json"});
  ASSERT_EQ(reported.code.status, 0) << reported.err;
  const auto measurements = json::parse(reported.out)["measurements"];
  ASSERT_EQ(measurements.size(), 2u) << "the tracepoint is no measurement of its own";
  for (const auto& found : measurements) {
    const auto& check = found["ip_check"];
    EXPECT_EQ(check["tracepoint"], "exceptions:page_fault_user");
    EXPECT_GE(check["compared"], 1000);
    EXPECT_EQ(check["agreeing"], check["compared"]);
    EXPECT_EQ(check["compared"].get<int>() + check["unpaired"].get<int>(),
              found["samples"]["read"].get<int>() - found["samples"]["kernel"].get<int>());
    EXPECT_EQ(found["period"]["effective"], 7);
    EXPECT_EQ(found["event"]["swapped"], false);
    EXPECT_EQ(found["samples"]["hit"], found["judged_samples"]);
    EXPECT_TRUE(found["warnings"].empty()) << found["warnings"];
  }
  const auto text = test::skidscan({"report", run});
  EXPECT_THAT(text.out, HasSubstr("IP check"));
}

TEST_F(Tracepoint, AgreesWithPageFaultsOfAnyProgramAndPeriod) {
  ASSERT_TRUE(run_program({"perf", "record", "--no-bpf-event", "-q", "-o",
                           in_directory("perf.data"), "-c", "1", "-e", "page-faults/period=3/",
                           "-e", "exceptions:page_fault_user", "--", "sh", "-c", "ls /; ls /"})
                  .code.success());
  const auto reported = test::skidscan({"report", in_directory("perf.data"), "--format", "json"});
  ASSERT_EQ(reported.code.status, 0) << reported.err;
  const auto measurements = json::parse(reported.out)["measurements"];
  ASSERT_EQ(measurements.size(), 1u);
  const auto& check = measurements[0]["ip_check"];
  EXPECT_GT(check["compared"], 10);
  EXPECT_EQ(check["agreeing"], check["compared"]);
  EXPECT_EQ(measurements[0]["event"]["requested"], "page-faults/period=3/");
}

TEST(IpCheck, OfNoPageFaultsIsWrongUsage) {
  const auto refused = test::skidscan({"record", "-e", "cpu-clock", "--check-ip"});
  if (!find_program("perf")) GTEST_SKIP() << "perf is not installed";
  EXPECT_EQ(refused.code.status, 64);
  EXPECT_THAT(refused.err, HasSubstr("add -e faults"));
}

}  // namespace
}  // namespace skid
