#include "src/commands/record_perf.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::commands {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

machine::PerfTool perf(int major, int minor) {
  machine::PerfTool tool;
  tool.path = "/usr/bin/perf";
  tool.major = major;
  tool.minor = minor;
  return tool;
}

TEST(PerfCommand, HasThePeriodEventOutputAndTarget) {
  const PerfRecording recording{.event = "mem:0x1000/8:rw:pp",
                                .period = 7,
                                .witness = {},
                                .output = "/run/a.data.partial",
                                .control = "/tmp/x/control",
                                .acknowledge = "/tmp/x/ack",
                                .target = {"/run/target.load", "--cpu", "1"}};
  EXPECT_THAT(perf_record_command(perf(6, 1), recording),
              ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "--no-bpf-event", "-e",
                          "mem:0x1000/8:rw:pp", "-c", "7", "-o", "/run/a.data.partial", "-D", "-1",
                          "--control", "fifo:/tmp/x/control,/tmp/x/ack", "--", "/run/target.load",
                          "--cpu", "1"));
}

TEST(PerfCommand, WithAWitnessRecordsThatEveryTime) {
  const auto command_for = [](std::string event) {
    return perf_record_command(perf(6, 1), {.event = std::move(event),
                                            .period = 7,
                                            .witness = "exceptions:page_fault_user",
                                            .output = "a",
                                            .control = {},
                                            .acknowledge = {},
                                            .target = {"t"}});
  };
  EXPECT_THAT(command_for("page-faults:upp"),
              ElementsAre("/usr/bin/perf", "record", "--no-buildid-cache", "--no-bpf-event", "-e",
                          "page-faults/period=7/upp", "-e", "exceptions:page_fault_user", "-c", "1",
                          "-o", "a", "--", "t"));
  EXPECT_THAT(command_for("page-faults"), Contains("page-faults/period=7/"));
}

TEST(PerfCommand, LeavesOutWhatAnOldPerfDoesNotKnow) {
  const PerfRecording recording{.event = "cycles",
                                .period = 7,
                                .witness = {},
                                .output = "a",
                                .control = {},
                                .acknowledge = {},
                                .target = {"t"}};
  const auto command = perf_record_command(perf(4, 19), recording);
  EXPECT_THAT(command, Not(Contains("--no-bpf-event")));
  EXPECT_THAT(command, Not(Contains("--control")));
  EXPECT_THAT(command, Not(Contains("-D")));
}

TEST(PerfMessages, OfARecordingGiveItsSamples) {
  const PerfMessages messages = read_perf_messages(
      "Events disabled\nEvents enabled\n[ perf record: Woken up 2 times to write data ]\n"
      "[ perf record: Captured and wrote 0.201 MB x.data (5101 samples) ]\n");
  EXPECT_TRUE(messages.wrote_file);
  EXPECT_EQ(messages.samples, 5101U);
  EXPECT_EQ(messages.refusal, std::nullopt);
  EXPECT_FALSE(messages.no_permission);
  EXPECT_THAT(messages.remarks, IsEmpty());
}

TEST(PerfMessages, WithoutANumberMeanNoSamples) {
  const PerfMessages messages =
      read_perf_messages("[ perf record: Captured and wrote 0.001 MB (x samples) y.data ]\n");
  EXPECT_TRUE(messages.wrote_file);
  EXPECT_EQ(messages.samples, 0U);
}

TEST(PerfMessages, KeepWhatIsNotChatter) {
  const PerfMessages messages = read_perf_messages(
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
  const PerfMessages messages = read_perf_messages(text);
  EXPECT_LE(messages.remarks.size(), 20U);
  EXPECT_LE(messages.remarks.at(0).size(), 500U);
}

TEST(PerfMessages, OfAnEventThatTheKernelRefusesGiveTheReason) {
  EXPECT_EQ(read_perf_messages("Error:\nThe r00c4:pp event is not supported.\n").refusal,
            "The r00c4:pp event is not supported.");
  EXPECT_EQ(read_perf_messages("Error:\ncycles:ppp: PMU Hardware doesn't support "
                               "sampling/overflow-interrupts. Try 'perf stat'\n")
                .refusal,
            "cycles:ppp: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf "
            "stat'");
  EXPECT_EQ(read_perf_messages("Error:\nFailure to open event 'x:pp' on PMU 'cpu' which will be "
                               "removed.\nThe sys_perf_event_open() syscall returned with 22\n")
                .refusal,
            "The sys_perf_event_open() syscall returned with 22");
}

TEST(PerfMessages, OfARefusedPermissionAreNoRefusalOfTheEvent) {
  const PerfMessages messages = read_perf_messages(
      "Error:\nAccess to performance monitoring and observability operations is limited.\n"
      "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n");
  EXPECT_TRUE(messages.no_permission);
  EXPECT_EQ(messages.refusal, std::nullopt);
  EXPECT_TRUE(read_perf_messages("Error:\nNo permission to enable cycles event.\n").no_permission);
  EXPECT_TRUE(
      read_perf_messages("Error:\nYou may not have permission to collect stats.\n").no_permission);
}

TEST(PerfMessages, TellAFullDisk) {
  EXPECT_TRUE(
      read_perf_messages("failed to write perf data, error: No space left on device\n").disk_full);
}

TEST(PermissionMessage, NamesTheSettingAndTheRemedy) {
  machine::Machine machine;
  machine.perf_event_paranoid = 2;
  EXPECT_EQ(permission_message(machine, "cycles:k"),
            "cycles:k: no permission to sample it (kernel.perf_event_paranoid is 2); allow it with "
            "'sysctl kernel.perf_event_paranoid=1', or run as root");
  machine.perf_event_paranoid = 1;
  EXPECT_THAT(permission_message(machine, "cycles"), HasSubstr("CAP_PERFMON"));
  machine.perf_event_paranoid = std::nullopt;
  EXPECT_THAT(permission_message(machine, "cycles"), Not(HasSubstr("is ")));
}

}  // namespace
}  // namespace skid::commands
