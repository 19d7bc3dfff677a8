// perf as a tool: the words of its command line, what its messages mean, what a recording came to.
#include "src/run/perftool/perftool.h"

#include "src/machine/machine.h"
#include "src/run/perftool/record_command.h"
#include "src/run/perftool/try_length.h"
#include "src/support/process.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perftool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

machine::PerfTool perf(int major, int minor) {
  return {.path = "/usr/bin/perf",
          .version = std::to_string(major) + "." + std::to_string(minor),
          .major = major,
          .minor = minor};
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

/// The command line for "cycles" with these changes.
std::vector<std::string> command_with(const std::function<void(Subject&)>& change, int major = 6,
                                      int minor = 1) {
  Subject subject{
      .perf_event = "cycles", .period = 7, .cross_check = {}, .length = std::uint64_t{5}};
  change(subject);
  return record_command(perf(major, minor), recording_of(subject));
}

TEST(PerfCommand, AsksForDataAddressesAndWeights) {
  const auto addresses = [](Subject& subject) { subject.data_addresses = true; };
  const auto weights = [](Subject& subject) { subject.data_addresses = subject.weights = true; };
  EXPECT_THAT(command_with([](Subject&) {}), Not(Contains("-d")));
  EXPECT_THAT(command_with(addresses), Contains("-d"));
  EXPECT_THAT(command_with(addresses), Not(Contains("-W")));
  EXPECT_THAT(command_with(weights, 4, 19), Contains("-W"));
  EXPECT_THAT(command_with([](Subject& subject) { subject.registers = true; }),
              Contains("--intr-regs=ax,bx,cx,dx,si,di,bp,sp,r8,r9,r10,r11,r12,r13,r14,r15"));
}

TEST(PerfCommand, AsksForTheRegistersOfIbs) {
  const auto command = [](const char* event) {
    return command_with([=](Subject& subject) { subject.perf_event = event; });
  };
  EXPECT_THAT(command("ibs_op/cnt_ctl=1/p"), Contains("-R"));
  EXPECT_THAT(command("cycles:p"), Not(Contains("-R")));
}

TEST(PerfCommand, RecordsCounterValuesWithoutInheritance) {
  const auto command = [](const char* event) {
    return command_with([=](Subject& subject) { subject.perf_event = event; });
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
  const auto old = [](int major, int minor) { return command_with([](Subject&) {}, major, minor); };
  EXPECT_THAT(old(4, 19), ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "-e",
                                      "cycles", "-c", "7", "-o", "/run/a.data.partial", "--",
                                      "/run/target.load", "--iterations", "5", "--cpu", "1"));
  EXPECT_THAT(old(5, 9), AllOf(Contains("--no-bpf-event"), Not(Contains("--control"))));
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
  // An event that does not come ends soon.
  EXPECT_EQ(next_length(seconds(1), 0, 5000), seconds(2));
  EXPECT_EQ(next_length(kLongestEmptyTry, 0, 5000), std::nullopt);
}

/// What a perf that ended so comes to, with this in its file.
Outcome outcome_of(const Completed& left, std::string_view content = "PERFILE2",
                   const Subject& subject = {}) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "a.data") << content;
  return judge(left, directory / "a.data", subject, machine::Machine{});
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
  ASSERT_TRUE(outcome.report);
  EXPECT_EQ(outcome.report->iterations, 5U);
  EXPECT_EQ(outcome_of({.code = {}, .out = kReport, .err = {}}, "nothing").reason,
            "perf left no recording");
}

TEST(Outcome, DistinguishesRefusalsDeathsFailuresAndAFullDisk) {
  struct Case {
    ExitCode code;
    const char* err;
    Ending ending;
    const char* reason;
  };
  for (const auto& [code, err, ending, reason] : std::vector<Case>{
           {{.status = 255},
            "Error:\nThe r00c4:pp event is not supported.\n",
            Ending::refused,
            "The r00c4:pp event is not supported."},
           {{.status = 129},
            "event syntax error: 'nonsense'\n       \\___ parser error\n",
            Ending::refused,
            "perf does not support this event (parser error)"},
           {{.signal = 9},
            "[ perf record: Captured and wrote 1 MB a ]\n",
            Ending::died,
            "the target was killed by signal 9"},
           {{.signal = 9}, "", Ending::died, ""},
           {{.status = 7}, "no idea\n", Ending::failed, "perf ended with exit status 7: no idea"},
           // With what perf prints of refusals, but after the target began.
           {{.status = 1},
            "Error:\nof the target\n[ perf record: Captured and wrote 1 MB a ]\n",
            Ending::died,
            ""},
           {{.status = 255},
            "failed to write perf data, error: No space left on device\n",
            Ending::disk_full,
            ""}}) {
    const Outcome outcome = outcome_of({.code = code, .out = {}, .err = err}, "");
    EXPECT_EQ(outcome.ending, ending) << err;
    EXPECT_THAT(outcome.reason, HasSubstr(reason));
  }
  // The file shows that the target began, whatever perf prints.
  EXPECT_EQ(
      outcome_of({.code = {.status = 255}, .out = {}, .err = "Error:\nof another kind\n"}).ending,
      Ending::died);
}

TEST(Outcome, IsRefusedWherePerfLeftOutAnEvent) {
  const Subject checked{.perf_event = "page-faults:u", .cross_check = "exceptions:page_fault_user"};
  // Printed by perf 7.2, which then records the tracepoint alone and succeeds.
  const Completed left{.code = {},
                       .out = kReport,
                       .err =
                           "Error:\nFailure to open event 'page-faults:u' on PMU 'software' "
                           "which will be removed.\nThe page-faults:u event is not supported.\n"};
  test::RecordingBuilder recording;
  recording.event({.type = PERF_TYPE_TRACEPOINT, .config = 7});
  recording.event({.config = PERF_COUNT_SW_DUMMY});
  EXPECT_EQ(outcome_of(left, recording.bytes()).ending, Ending::recorded) << "as was asked";
  const Outcome outcome = outcome_of(left, recording.bytes(), checked);
  EXPECT_EQ(outcome.ending, Ending::refused);
  EXPECT_EQ(outcome.reason, "The page-faults:u event is not supported.");
  recording.event({.config = PERF_COUNT_SW_PAGE_FAULTS});
  EXPECT_EQ(outcome_of(left, recording.bytes(), checked).ending, Ending::recorded);
}

TEST(SamplesOfFirstEvent, AreCountedInTheFile) {
  const test::TemporaryDirectory directory;
  constexpr std::uint64_t kType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  test::RecordingBuilder recording;
  recording.event({.sample_type = kType, .ids = {1}});
  recording.event({.config = PERF_COUNT_SW_DUMMY, .sample_type = kType, .ids = {2}});
  for (const std::uint64_t id : {1U, 2U, 1U, 1U}) {
    recording.record(PERF_RECORD_SAMPLE, 2, recording.writer().u64(id).u64(0x1000).bytes());
  }
  recording.write(directory / "a.data");
  EXPECT_EQ(samples_of_first_event(directory / "a.data"), 3U);
}

TEST(PerfMessages, OfARecordingAreNoRemarks) {
  const Messages messages = read_messages(
      "Events disabled\nEvents enabled\n[ perf record: Woken up 2 times to write data ]\n"
      "[ perf record: Captured and wrote 0.201 MB x.data (5101 samples) ]\n");
  EXPECT_TRUE(messages.wrote_file);
  EXPECT_EQ(messages.refusal, std::nullopt);
  EXPECT_FALSE(messages.no_permission);
  EXPECT_THAT(messages.remarks, IsEmpty());
  // perf 7.2 and 7.3.
  const Messages later = read_messages(
      "[ perf record: Woken up 1 times to write data ]\nFailed to open /proc/schedstat\n"
      "[ perf record: Captured and wrote 0.007 MB y.data ]\n");
  EXPECT_TRUE(later.wrote_file);
  EXPECT_THAT(later.remarks, IsEmpty());
}

TEST(PerfMessages, KeepWhatIsNotChatterUpToABound) {
  EXPECT_THAT(
      read_messages("WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,\n\n"
                    "  check /proc/sys/kernel/kptr_restrict.\n"
                    "[ perf record: Woken up 1 times to write data ]\n")
          .remarks,
      ElementsAre("WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,",
                  "check /proc/sys/kernel/kptr_restrict."));
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(10'000, 'x') + "\n";
  EXPECT_LE(read_messages(text).remarks.size(), 20U);
  EXPECT_LE(read_messages(text).remarks.at(0).size(), 500U);
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
  // perf 7.2.
  EXPECT_EQ(read_messages("Error:\nFailure to open event 'r20d1:upp' on PMU 'cpu' which will be "
                          "removed.\nThe r20d1:upp event is not supported.\nError:\nFailure to "
                          "open any events for recording.\n")
                .refusal,
            "The r20d1:upp event is not supported.");
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

TEST(PermissionReason, NamesTheSettingAndTheRemedy) {
  machine::Machine machine{.perf_event_paranoid = 2};
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
