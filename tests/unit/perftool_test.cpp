// perf as a tool: the words of its command line, what its messages mean, what a recording came to.
#include "src/run/perftool/perftool.h"

#include "tests/support/prelude.h"

namespace skid::perftool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

machine::PerfTool perf(int major, int minor) {
  machine::PerfTool tool;
  tool.path = "/usr/bin/perf";
  tool.version = std::to_string(major) + "." + std::to_string(minor);
  tool.major = major;
  tool.minor = minor;
  return tool;
}

Recording recording_of(Subject subject) {
  return {.subject = std::move(subject),
          .output = "/run/a.data.partial",
          .target = "/run/target.load",
          .cpu = 1,
          .control = "/tmp/x/control",
          .acknowledge = "/tmp/x/ack"};
}

TEST(PerfCommand, HasThePeriodEventOutputAndTarget) {
  EXPECT_THAT(record_command(perf(6, 1), recording_of({.perf_event = "mem:0x1000/8:rw:pp",
                                                       .period = 7,
                                                       .cross_check = {},
                                                       .length = std::uint64_t{500}})),
              ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "--no-bpf-event", "-e",
                          "mem:0x1000/8:rw:pp", "-c", "7", "-o", "/run/a.data.partial", "-D", "-1",
                          "--control", "fifo:/tmp/x/control,/tmp/x/ack", "--", "/run/target.load",
                          "--iterations", "500", "--cpu", "1", "--control", "/tmp/x/control",
                          "--ack", "/tmp/x/ack"));
}

TEST(PerfCommand, AsksForDataAddressesAndWeights) {
  Subject subject{
      .perf_event = "cycles", .period = 7, .cross_check = {}, .length = std::uint64_t{5}};
  EXPECT_FALSE(has_data_addresses(record_command(perf(6, 1), recording_of(subject))));
  subject.data_addresses = true;
  auto command = record_command(perf(6, 1), recording_of(subject));
  EXPECT_TRUE(has_data_addresses(command));
  EXPECT_THAT(command, Not(Contains("-W")));
  subject.weights = true;
  EXPECT_THAT(record_command(perf(4, 19), recording_of(subject)), Contains("-W"));
  EXPECT_FALSE(has_data_addresses({"perf", "record", "--", "target", "-d"}));
}

TEST(PerfCommand, RecordsCounterValuesWithoutInheritance) {
  const auto command = [](const char* event) {
    return record_command(
        perf(6, 1),
        recording_of(
            {.perf_event = event, .period = 7, .cross_check = {}, .length = std::uint64_t{5}}));
  };
  EXPECT_THAT(command("cycles:uS"), Contains("--no-inherit"));
  EXPECT_THAT(command("cycles:u"), Not(Contains("--no-inherit")));
}

TEST(PerfCommand, WithACrossCheckRecordsThatEveryTime) {
  const auto command_for = [](std::string event) {
    return record_command(perf(6, 1), recording_of({.perf_event = std::move(event),
                                                    .period = 7,
                                                    .cross_check = "exceptions:page_fault_user",
                                                    .length = milliseconds(1500)}));
  };
  EXPECT_THAT(
      command_for("page-faults:upp"),
      ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "--no-bpf-event", "-e",
                  "page-faults/period=7/upp", "-e", "exceptions:page_fault_user", "-c", "1", "-o",
                  "/run/a.data.partial", "-D", "-1", "--control", "fifo:/tmp/x/control,/tmp/x/ack",
                  "--", "/run/target.load", "--seconds", "1.500000000", "--cpu", "1", "--control",
                  "/tmp/x/control", "--ack", "/tmp/x/ack"));
  EXPECT_THAT(command_for("page-faults"), Contains("page-faults/period=7/"));
}

TEST(PerfCommand, HasFrequencyCallGraphBranchesAndCpu) {
  const Extras extras{
      .frequency = 99, .call_graph = "fp", .branch_filter = "any,u", .per_cpu = true};
  EXPECT_THAT(record_command(perf(4, 19), recording_of({.perf_event = "cycles:P",
                                                        .period = 0,
                                                        .extras = extras,
                                                        .cross_check = {},
                                                        .length = std::uint64_t{5}})),
              ElementsAre("taskset", "-c", "1", "/usr/bin/perf", "record", "--no-buildid-cache",
                          "-e", "cycles:P", "-F", "99", "--call-graph", "fp", "-j", "any,u", "-C",
                          "1", "-o", "/run/a.data.partial", "--", "/run/target.load",
                          "--iterations", "5", "--cpu", "1"));
}

TEST(PerfCommand, LeavesOutWhatAnOldPerfDoesNotKnow) {
  const Recording recording = recording_of(
      {.perf_event = "cycles", .period = 7, .cross_check = {}, .length = std::uint64_t{5}});
  EXPECT_THAT(record_command(perf(4, 19), recording),
              ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "-e", "cycles", "-c",
                          "7", "-o", "/run/a.data.partial", "--", "/run/target.load",
                          "--iterations", "5", "--cpu", "1"));
  EXPECT_THAT(record_command(perf(5, 9), recording), Contains("--no-bpf-event"));
  EXPECT_THAT(record_command(perf(5, 9), recording), Not(Contains("--control")));
  EXPECT_THAT(control_note(perf(5, 9)), HasSubstr("perf 5.9 has no --control"));
  EXPECT_EQ(control_note(perf(5, 10)), "");
}

TEST(NextLength, GrowsWithWhatIsMissingUpToTheLongestTry) {
  EXPECT_EQ(next_length(seconds(1), 5000, 5000), std::nullopt);
  EXPECT_EQ(next_length(seconds(1), 4999, 5000), seconds(2));
  EXPECT_EQ(next_length(seconds(1), 1000, 5000), seconds(6));
  EXPECT_EQ(next_length(seconds(4), 1000, 5000), kLongestTry);
  EXPECT_EQ(next_length(kLongestTry, 4999, 5000), std::nullopt);
  EXPECT_EQ(next_length(std::chrono::nanoseconds(1), 1, 1'000'000'000), milliseconds(1200));
}

TEST(NextLength, OfAnEventThatDoesNotComeEndsSoon) {
  EXPECT_EQ(next_length(seconds(1), 0, 5000), seconds(2));
  EXPECT_EQ(next_length(kLongestEmptyTry, 0, 5000), std::nullopt);
}

/// What a perf that ended so comes to, with a recording there.
Outcome outcome_of(const Completed& left, std::string_view content = "PERFILE2") {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "a.data") << content;
  return judge(left, directory / "a.data", machine::Machine{});
}

constexpr const char* kReport =
    R"({"skidscan_target_report": 1, "iterations": 5, "elapsed_seconds": 0.5, )"
    R"("ticks_per_nop": 0.1, "ticks_per_second": 1000, "cpu": 1, "warnings": []})"
    "\n";

TEST(Outcome, IsRecordedWithTheReportOfTheTarget) {
  const Outcome outcome =
      outcome_of({.code = {},
                  .out = kReport,
                  .err = "[ perf record: Captured and wrote 1 MB a (9 samples) ]"});
  EXPECT_EQ(outcome.ending, Ending::recorded);
  EXPECT_EQ(outcome.messages.samples, 9U);
  ASSERT_TRUE(outcome.report);
  EXPECT_EQ(outcome.report->iterations, 5U);
  EXPECT_EQ(outcome_of({.code = {}, .out = kReport, .err = {}}, "nothing").reason,
            "perf left no recording");
}

TEST(Outcome, IsRefusedWhereTheKernelOrPerfDoesNotTakeTheEvent) {
  const Outcome by_kernel = outcome_of({.code = {.status = 255},
                                        .out = {},
                                        .err = "Error:\nThe r00c4:pp event is not supported.\n"});
  EXPECT_EQ(by_kernel.ending, Ending::refused);
  EXPECT_EQ(by_kernel.reason, "The r00c4:pp event is not supported.");
  const Outcome by_perf = outcome_of({.code = {.status = 129},
                                      .out = {},
                                      .err = "event syntax error: 'nonsense'\n"
                                             "                     \\___ parser error\n"});
  EXPECT_EQ(by_perf.ending, Ending::refused);
  EXPECT_EQ(by_perf.reason, "perf does not support this event (parser error)");
}

TEST(Outcome, TellsDeathsFromRefusals) {
  const Outcome target = outcome_of({.code = {.status = 0, .signal = 9},
                                     .out = {},
                                     .err = "[ perf record: Captured and wrote 1 MB a ]\n"});
  EXPECT_EQ(target.ending, Ending::died);
  EXPECT_THAT(target.reason, HasSubstr("the target was killed by signal 9"));
  const Outcome perf = outcome_of({.code = {.status = 7}, .out = {}, .err = "no idea\n"});
  EXPECT_EQ(perf.ending, Ending::failed);
  EXPECT_EQ(perf.reason, "perf ended with exit status 7: no idea");
  EXPECT_EQ(outcome_of({.code = {.status = 0, .signal = 9}, .out = {}, .err = {}}).ending,
            Ending::died);
  // With what it says of refusals, but after the target began.
  EXPECT_EQ(
      outcome_of({.code = {.status = 1},
                  .out = {},
                  .err = "Error:\nof the target\n[ perf record: Captured and wrote 1 MB a ]\n"})
          .ending,
      Ending::died);
  EXPECT_EQ(outcome_of({.code = {.status = 255},
                        .out = {},
                        .err = "failed to write perf data, error: No space left on device\n"})
                .ending,
            Ending::disk_full);
}

TEST(PerfMessages, OfARecordingGiveItsSamples) {
  const Messages messages = read_messages(
      "Events disabled\nEvents enabled\n[ perf record: Woken up 2 times to write data ]\n"
      "[ perf record: Captured and wrote 0.201 MB x.data (5101 samples) ]\n");
  EXPECT_TRUE(messages.wrote_file);
  EXPECT_EQ(messages.samples, 5101U);
  EXPECT_EQ(messages.refusal, std::nullopt);
  EXPECT_FALSE(messages.no_permission);
  EXPECT_THAT(messages.remarks, IsEmpty());
}

TEST(PerfMessages, WithoutANumberMeanNoSamples) {
  const Messages messages =
      read_messages("[ perf record: Captured and wrote 0.001 MB (x samples) y.data ]\n");
  EXPECT_TRUE(messages.wrote_file);
  EXPECT_EQ(messages.samples, 0U);
}

TEST(PerfMessages, KeepWhatIsNotChatter) {
  const Messages messages = read_messages(
      "WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,\n\n"
      "  check /proc/sys/kernel/kptr_restrict.\n"
      "[ perf record: Woken up 1 times to write data ]\n");
  EXPECT_THAT(messages.remarks,
              ElementsAre("WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,",
                          "check /proc/sys/kernel/kptr_restrict."));
}

TEST(PerfMessages, AreBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(10'000, 'x') + "\n";
  const Messages messages = read_messages(text);
  EXPECT_LE(messages.remarks.size(), 20U);
  EXPECT_LE(messages.remarks.at(0).size(), 500U);
}

TEST(PerfMessages, OfAnEventThatTheKernelRefusesGiveTheReason) {
  EXPECT_EQ(read_messages("Error:\nThe r00c4:pp event is not supported.\n").refusal,
            "The r00c4:pp event is not supported.");
  EXPECT_EQ(read_messages("Error:\ncycles:ppp: PMU Hardware doesn't support "
                          "sampling/overflow-interrupts. Try 'perf stat'\n")
                .refusal,
            "cycles:ppp: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf "
            "stat'");
  EXPECT_EQ(read_messages("Error:\nFailure to open event 'x:pp' on PMU 'cpu' which will be "
                          "removed.\nThe sys_perf_event_open() syscall returned with 22\n")
                .refusal,
            "The sys_perf_event_open() syscall returned with 22");
}

TEST(PerfMessages, OfARefusedPermissionAreNoRefusalOfTheEvent) {
  const Messages messages = read_messages(
      "Error:\nAccess to performance monitoring and observability operations is limited.\n"
      "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n");
  EXPECT_TRUE(messages.no_permission);
  EXPECT_EQ(messages.refusal, std::nullopt);
  EXPECT_TRUE(read_messages("Error:\nNo permission to enable cycles event.\n").no_permission);
  EXPECT_TRUE(
      read_messages("Error:\nYou may not have permission to collect stats.\n").no_permission);
}

TEST(PerfMessages, TellAFullDisk) {
  EXPECT_TRUE(
      read_messages("failed to write perf data, error: No space left on device\n").disk_full);
}

TEST(PermissionReason, NamesTheSettingAndTheRemedy) {
  machine::Machine machine;
  machine.perf_event_paranoid = 2;
  EXPECT_EQ(
      permission_reason(machine),
      "no permission to sample it (kernel.perf_event_paranoid is 2); run as root, or allow it: "
      "sudo sysctl kernel.perf_event_paranoid=1");
  machine.perf_event_paranoid = 1;
  EXPECT_THAT(permission_reason(machine), HasSubstr("docker run --cap-add PERFMON"));
  machine::Machine root = machine;
  root.privileged = true;
  EXPECT_THAT(permission_reason(root), Not(HasSubstr("paranoid"))) << "does not restrict root";
  machine.perf_event_paranoid = std::nullopt;
  EXPECT_THAT(permission_reason(machine), Not(HasSubstr("is ")));
}

}  // namespace
}  // namespace skid::perftool
