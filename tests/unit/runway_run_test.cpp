#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/target_run.h"
#include "runway/trigger.h"
#include "src/support/address.h"
#include "src/support/file.h"
#include "src/support/names.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/text.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::runway {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr const char* kLine =
    R"json({"skidscan_target_report": 1, "iterations": 12, "elapsed_seconds": 0.000000345, )json"
    R"json("ticks_per_nop": 0.25, "ticks_per_second": 2596145587, "cpu": 3, )json"
    R"json("warnings": ["mlockall refused (errno 12)"]})json";

std::string line_with(const std::string& from, const std::string& to) {
  std::string line = kLine;
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

TEST(TargetReport, IsFoundAmongOtherOutput) {
  const auto report =
      parse_target_report("hello\n{\"a\": 1}\n" + std::string(kLine) + "\ngoodbye {\n\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 12U);
  EXPECT_DOUBLE_EQ(report->elapsed_seconds, 345e-9);
  EXPECT_DOUBLE_EQ(report->ticks_per_nop, 0.25);
  EXPECT_DOUBLE_EQ(report->ticks_per_second, 2596145587.0);
  EXPECT_EQ(report->cpu, 3);
  EXPECT_THAT(report->warnings, ElementsAre("mlockall refused (errno 12)"));
}

TEST(TargetReport, HasCpuMinusOneOfAnUnpinnedTargetAndIsMissingWhenItDied) {
  EXPECT_EQ(parse_target_report(line_with("\"cpu\": 3", "\"cpu\": -1")).value().cpu, -1);
  EXPECT_FALSE(parse_target_report(""));
  EXPECT_FALSE(parse_target_report("Segmentation fault\n"));
  EXPECT_FALSE(parse_target_report(std::string(kLine).substr(0, 90)));
}

TEST(TargetReport, IsRefusedWithImplausibleValues) {
  const auto parses = [](const std::string& line) { return parse_target_report(line).has_value(); };
  EXPECT_TRUE(parses(kLine));
  EXPECT_FALSE(parses(line_with("report\": 1", "report\": 2")));
  EXPECT_FALSE(parses(line_with("\"iterations\": 12", "\"iterations\": -12")));
  EXPECT_FALSE(parses(line_with("\"iterations\": 12", "\"iterations\": 1e300")));
  EXPECT_FALSE(parses(line_with("0.000000345", "1e11")));
  EXPECT_FALSE(parses(line_with("0.25", "-0.25")));
  EXPECT_FALSE(parses(line_with("0.25", "\"0.25\"")));
  EXPECT_FALSE(parses(line_with("2596145587", "null")));
  EXPECT_FALSE(parses(line_with("\"cpu\": 3", "\"cpu\": 18446744073709551615")));
  EXPECT_FALSE(parses(line_with("\"cpu\": 3", "\"cpu\": -2")));
  EXPECT_FALSE(parses(line_with("\"cpu\": 3, ", "")));
  EXPECT_FALSE(parses(line_with("[\"mlockall refused (errno 12)\"]", "[1]")));
  EXPECT_FALSE(parses(std::string(100'000, '[') + "skidscan_target_report"));
}

TEST(TargetCommandLine, ContainsEachPartOfTheRun) {
  Target target;
  target.path = "/tmp/a b/target";
  EXPECT_THAT(command_line(target, {}), ElementsAre("/tmp/a b/target"));
  TargetRun run{
      .length = std::uint64_t{77}, .cpu = 0, .control = "/tmp/c", .acknowledge = "/tmp/a"};
  EXPECT_THAT(command_line(target, run),
              ElementsAre("/tmp/a b/target", "--iterations", "77", "--cpu", "0", "--control",
                          "/tmp/c", "--ack", "/tmp/a"));
  target.path = "target";
  run = {};
  run.length = nanoseconds{2'000'000'001};
  EXPECT_THAT(command_line(target, run), ElementsAre("./target", "--seconds", "2.000000001"));
}

/// Targets of this machine, run.
class Running : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_COMPILER(kHost); }

  Target build(TriggerKind kind) const {
    return build_target(specification_of(kind), directory_ / std::string(name_of(kind)));
  }

  static Completed run_with(const Target& target, const std::vector<std::string>& arguments) {
    std::vector<std::string> command{target.path.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_program(command);
  }

  Directory directory_;
};

TEST_F(Running, WithoutArgumentsFollowsItsSpecification) {
  Specification specification = specification_of("load"_trigger);
  specification.length = std::uint64_t{2468};
  const Target target = build_target(specification, directory_ / "own-length");
  const auto report = parse_target_report(run_with(target, {}).out);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 2468U);
}

TEST_F(Running, LastsTheSecondsOfItsArgument) {
  const Target target = build("store"_trigger);
  TargetRun run{.length = milliseconds{300}};
  const auto report = parse_target_report(run_program(command_line(target, run)).out);
  ASSERT_TRUE(report);
  EXPECT_GE(report->elapsed_seconds, 0.300);
  // A batch lasts some milliseconds; the rest is for a machine that is busy with something else.
  EXPECT_LT(report->elapsed_seconds, 0.900);
  EXPECT_GT(report->iterations, 1000U);
}

TEST_F(Running, PinsItselfOrWarns) {
  const Target target = build("load"_trigger);
  const auto on_cpu = [&](const std::string& cpu) {
    return parse_target_report(run_with(target, {"--iterations", "10", "--cpu", cpu}).out);
  };
  const auto pinned = on_cpu("0"), missing = on_cpu("8000");
  ASSERT_TRUE(pinned && missing);
  EXPECT_EQ(pinned->cpu, 0);
  EXPECT_THAT(pinned->warnings, ::testing::Not(::testing::Contains(HasSubstr("affinity"))));
  EXPECT_EQ(missing->cpu, -1);
  EXPECT_THAT(missing->warnings, ElementsAre(HasSubstr("sched_setaffinity refused (errno 22)")));
}

TEST_F(Running, MeasuresPlausibleTicksPerNop) {
  SKIP_WITHOUT("x86-64");
  for (const std::uint32_t nops : {20U, 5000U, 200'000U}) {
    Specification specification = specification_of("load"_trigger);
    specification.nops = nops;
    const Target target = build_target(specification, directory_ / std::to_string(nops));
    const auto report = parse_target_report(run_with(target, {"--iterations", "10"}).out);
    ASSERT_TRUE(report);
    // From 16 NOPs a tick (pairs fused, a turbo above the counter's rate) to 5 ticks a NOP.
    EXPECT_GT(report->ticks_per_nop, 1.0 / 32) << nops;
    EXPECT_LT(report->ticks_per_nop, 5.0) << nops;
  }
}

TEST_F(Running, AcceptsDecimalSecondsAndRefusesMalformedArguments) {
  const Target target = build("load"_trigger);
  for (const std::string& line : test::lines_of(
           "--iterations\n--iterations 0\n--iterations 1x\n--iterations 18446744073709551616\n"
           "--seconds -1\n--seconds .\n--seconds 1.0000000001\n--seconds 1 --iterations 1\n"
           "--cpu x\n--control /tmp/fifo\n--ack /tmp/fifo\n--turbo 1\nx")) {
    const Completed completed = run_with(target, test::words_of(line));
    EXPECT_EQ(completed.code.status, 64) << line;
    EXPECT_EQ(completed.out, "") << line;
    EXPECT_THAT(completed.err, HasSubstr("skidscan-target: ")) << line;
  }
  EXPECT_EQ(run_with(target, {""}).code.status, 64);
  for (const char* const seconds : {"0.001", ".001", "0.001000000"}) {
    const Completed completed = run_with(target, {"--seconds", seconds});
    EXPECT_TRUE(completed.code.success()) << seconds;
    EXPECT_TRUE(parse_target_report(completed.out)) << seconds;
  }
}

/// The other side of the control FIFOs, as perf is.
class ControlledRun : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(::mkfifo((directory_ / "control").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((directory_ / "ack").c_str(), 0600), 0);
    // Both ways, as perf opens them, so that neither side waits for the other in open.
    control_ = FileDescriptor(::open((directory_ / "control").c_str(), O_RDWR | O_CLOEXEC));
    ack_ = FileDescriptor(::open((directory_ / "ack").c_str(), O_RDWR | O_CLOEXEC));
  }

  std::vector<std::string> command(const Target& target) const {
    TargetRun run{.length = std::uint64_t{100},
                  .control = directory_ / "control",
                  .acknowledge = directory_ / "ack"};
    return command_line(target, run);
  }

  /// What arrives within ten seconds, up to a newline.
  std::string next_command() const {
    std::string line;
    for (;;) {
      pollfd ready{control_.get(), POLLIN, 0};
      char byte = 0;
      if (::poll(&ready, 1, 10'000) != 1 || ::read(control_.get(), &byte, 1) != 1) return line;
      if (byte == '\n') return line;
      line += byte;
    }
  }

  void answer(std::string_view text) const {
    ASSERT_EQ(::write(ack_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// The memory of a target that waits, all in its place, for the answer to "enable".
  FileDescriptor memory_of(const ChildProcess& process) const {
    EXPECT_EQ(next_command(), "enable");
    const std::string memory = fmt::format("/proc/{}/mem", process.pid());
    return FileDescriptor(::open(memory.c_str(), O_RDONLY | O_CLOEXEC));
  }

  /// Lets a target that waits for the answer to "enable" run to its end; its report.
  std::optional<TargetReport> finish(ChildProcess& process) const {
    answer("ack\n");
    EXPECT_EQ(next_command(), "disable");
    answer("ack\n");
    EXPECT_TRUE(process.wait(milliseconds{10'000}));
    return parse_target_report(process.result().out);
  }

  FileDescriptor control_, ack_;
};

/// The word at an address of another process.
std::uint64_t word_at(const FileDescriptor& memory, std::uint64_t address) {
  std::uint64_t word = 0;
  EXPECT_EQ(::pread(memory.get(), &word, sizeof word, static_cast<off_t>(address)), 8)
      << std::hex << address;
  return word;
}

TEST_F(ControlledRun, CountsOnlyBetweenTheAnswersToEnableAndDisable) {
  ChildProcess process(command(build("load"_trigger)));
  EXPECT_EQ(next_command(), "enable");
  EXPECT_FALSE(process.wait(milliseconds{100})) << "went on before the answer";
  answer(std::string_view("ack\n\0", 5));  // as perf answers: with the terminator of its C string
  EXPECT_EQ(next_command(), "disable");
  EXPECT_FALSE(process.wait(milliseconds{100})) << "went on before the answer";
  EXPECT_EQ(process.result().out, "") << "reported before counting had ended";
  answer("ack\n");  // without it
  ASSERT_TRUE(process.wait(milliseconds{10'000}));
  const auto report = parse_target_report(process.result().out);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->iterations, 100U);
}

TEST_F(ControlledRun, ChasesAllElementsInOneRandomCycle) {
  SKIP_WITHOUT("x86-64");
  for (const TriggerKind kind : {"load-l2"_trigger, "load-l3"_trigger, "load-dram"_trigger}) {
    Specification specification = specification_of(kind);
    specification.working_set_bytes = std::uint64_t{3} << 20;
    const Target target = build_target(specification, directory_ / "chase");
    ChildProcess process(command(target));
    const FileDescriptor memory = memory_of(process);
    if (!memory) GTEST_SKIP() << "its memory cannot be read here";

    std::vector<std::uint64_t> chase;
    std::uint64_t at = target.description.layout.datum;
    do {
      chase.push_back(at);
      at = word_at(memory, at);
      ASSERT_FALSE(HasFailure());
    } while (at != chase.front() && chase.size() <= elements_of(specification));
    EXPECT_EQ(chase.size(), elements_of(specification)) << name_of(kind);

    // Neighbours follow each other as rarely as in any random order.
    const std::uint64_t stride = chase_stride(kind);
    const auto steps = [&](std::uint64_t step) {
      int count = 0;
      for (std::size_t i = 1; i < chase.size(); ++i) {
        if (chase[i] - chase[i - 1] == step * stride) ++count;
      }
      return count;
    };
    EXPECT_LT(steps(1), 10);
    EXPECT_LT(steps(2), 10);
    std::sort(chase.begin(), chase.end());
    for (std::size_t i = 2; i < chase.size(); ++i) {  // the first is the datum
      ASSERT_EQ(chase[i] - chase[i - 1], stride);
    }
    const auto report = finish(process);
    ASSERT_TRUE(report && report->chase);
    EXPECT_EQ(*report->chase, (AddressRange{chase[1], chase.back() + stride}));
  }
}

TEST_F(ControlledRun, PushesReturnAddressesToTheDeclaredData) {
  SKIP_WITHOUT("x86-64");
  for (const TriggerKind kind : {"call"_trigger, "ret"_trigger}) {
    Specification specification = specification_of(kind);
    specification.gaps = {20, 40};
    const Target target = build_target(specification, directory_ / "stack");
    ChildProcess process(command(target));
    const FileDescriptor memory = memory_of(process);  // after the loop was warmed up
    if (!memory) GTEST_SKIP() << "its memory cannot be read here";
    const auto& [specified, layout, expectations, data, version] = target.description;
    ASSERT_EQ(data.size(), 1u);
    const std::uint64_t top = layout.datum + data[0].offset + data[0].bytes;
    const auto triggers = layout.trigger_blocks();
    const bool is_call = kind == "call"_trigger;
    ASSERT_EQ(data[0].bytes, is_call ? 8 * triggers.size() : 8);
    for (std::size_t i = 0; i < triggers.size(); ++i) {
      // A RET takes its return address from the stack again, so that the next has the same place.
      if (!is_call && i + 1 < triggers.size()) continue;
      const std::uint64_t pushed = word_at(memory, top - 8 * (is_call ? i + 1 : 1));
      EXPECT_EQ(pushed, triggers[i].runway.begin) << name_of(kind) << ' ' << i;
    }
    finish(process);
  }
}

TEST_F(ControlledRun, PlacesTheChaseInHugePagesOrWarns) {
  SKIP_WITHOUT("x86-64");
  ChildProcess process(command(build("load-l3"_trigger)));
  ASSERT_EQ(next_command(), "enable");
  const std::string smaps = fmt::format("/proc/{}/smaps_rollup", process.pid());
  std::istringstream words(read_file(smaps, 1 << 16));
  std::uint64_t huge_kib = 0;
  for (std::string word; words >> word;) {
    if (word == "AnonHugePages:") words >> huge_kib;
  }
  const auto report = finish(process);
  ASSERT_TRUE(report);
  const bool warned = ::testing::Matches(
      ::testing::Contains(AnyOf(HasSubstr("huge pages"), HasSubstr("HUGEPAGE"))))(report->warnings);
  EXPECT_EQ(warned, huge_kib < 4096) << huge_kib << " KiB in huge pages";
}

TEST_F(ControlledRun, ReportsThatPerfClosedTheFifo) {
  ChildProcess process(command(build("load"_trigger)));
  EXPECT_EQ(next_command(), "enable");
  ack_ = FileDescriptor();
  ASSERT_TRUE(process.wait(milliseconds{10'000}));
  EXPECT_EQ(process.result().code.status, 1);
  EXPECT_THAT(process.result().err, HasSubstr("closed before the answer came"));
}

TEST_F(ControlledRun, ReportsAMissingFifo) {
  const Completed completed = run_with(
      build("load"_trigger), {"--control", "/nonexistent/control", "--ack", "/nonexistent/ack"});
  EXPECT_EQ(completed.code.status, 1);
  EXPECT_THAT(completed.err, HasSubstr("/nonexistent/control cannot be opened"));
}

TEST(RunningUnderQemu, LoopsOverTheLongestRunwayOfAarch64) {
  if (kHost == Arch::aarch64) GTEST_SKIP() << "this machine runs them itself";
  SKIP_WITHOUT_COMPILER(Arch::aarch64);
  SKIP_WITHOUT("qemu-aarch64-static");
  const Directory directory;
  // On both sides of the reach of a conditional branch.
  for (const std::uint32_t nops : {261'500U, 262'500U}) {
    Specification specification = specification_of("load"_trigger, Arch::aarch64);
    specification.nops = nops;
    const Target target = build_target(specification, directory / "target");
    const Completed completed =
        run_program({"qemu-aarch64-static", target.path.string(), "--iterations", "3"});
    const auto report = parse_target_report(completed.out);
    ASSERT_TRUE(report) << nops << completed.err;
    EXPECT_EQ(report->iterations, 3U);
  }
}

}  // namespace
}  // namespace skid::runway
