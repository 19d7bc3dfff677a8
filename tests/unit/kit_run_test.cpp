// Reads the run that a kit's script leaves; none of its files is trusted.
#include "runway/specification.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"

namespace skid::run {
namespace {

constexpr const char* kReport =
    R"({"skidscan_target_report": 1, "iterations": 5, "elapsed_seconds": 0.5, )"
    R"("ticks_per_nop": 0.1, "ticks_per_second": 1000, "cpu": 3, "warnings": []})"
    "\n";
constexpr const char* kSession =
    "format=1\nstarted=2026-01-02T03:04:05Z\nperf=/usr/bin/perf\nperf_version=6.1.76\ncpu=3\n";
constexpr const char* kResult =
    "format=1\nstatus=0\nstarted=2026-01-02T03:04:06Z\n"
    "ended=2026-01-02T03:04:07Z\nword=/usr/bin/perf\nword=record\n";
constexpr const char* kCaptured = "[ perf record: Captured and wrote 0.2 MB x (5101 samples) ]\n";

/// A run of a kit with an event counted in iterations and a clock, both recorded.
class KitRun : public ::testing::Test {
 protected:
  void SetUp() override {
    run::Run plan{.tool_version = "0.1.0", .samples = 5000};
    plan.machine.cpu.arch = "x86_64";
    plan.notes = {"of the plan"};
    plan.targets = {{.trigger = "load", .file = "target.load", .build_id = "00"}};
    for (const std::string event : {"access", "cpu-clock"}) {
      PlannedMeasurement measurement;
      measurement.event = measurement.requested = measurement.perf_event = event;
      measurement.period = 7;
      measurement.trigger = "load";
      measurement.length = event == "access" ? runway::RunLength(std::uint64_t{500})
                                             : runway::RunLength(std::chrono::seconds(1));
      measurement.file = event + ".none.data";
      plan.measurements.push_back(measurement);
    }
    put("plan.json", description_of(plan));
    put("session", kSession);
    put("target.load", "");
    put("machine/proc/sys/kernel/osrelease", "6.1.0-test\n");
    put("machine/proc/sys/kernel/hostname", "there\n");
    put("machine/proc/sys/kernel/arch", "x86_64\n");
    put("machine/proc/sys/kernel/perf_event_paranoid", "4\n");
    put("machine/proc/cpuinfo",
        "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 94\nmicrocode : 0xf0\n"
        "flags : fpu hypervisor\n\n");
    put("machine/cpuid-hypervisor", "4b564d4b564d4b564d000000\n000000000000000000000000\n");
    record("access.none.data", kResult);
    record("cpu-clock.none.data", std::string(kResult) + "nanoseconds=2500000000\n");
  }

  void put(const std::string& name, const std::string& content) const {
    directory_.write(name, content);
  }
  void record(const std::string& file, const std::string& result) const {
    put(file, "PERFILE2");
    put("results/" + file + ".out", kReport);
    put("results/" + file + ".err", kCaptured);
    put("results/" + file + ".result", result);
  }
  void refuse(const std::string& file, const std::string& standard_error, int status) const {
    fs::remove(directory_ / file);
    put("results/" + file + ".out", "");
    put("results/" + file + ".err", standard_error);
    put("results/" + file + ".result", "format=1\nstatus=" + std::to_string(status) + "\n");
  }
  run::Run read() const { return read_run(directory_.path()); }
  PlannedMeasurement first() const { return read().measurements.at(0); }
  std::string complaint() const {
    return test::message_of<InputError>(read_run, directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(KitRun, ReadsLikeARunOfRecord) {
  EXPECT_TRUE(is_run(directory_.path()));
  const run::Run run = read();
  EXPECT_TRUE(run.by_kit);
  EXPECT_FALSE(run.partial());
  test::expect_golden("kit_run.json", description_of(run));
}

TEST_F(KitRun, LeavesOutTheCrossCheckOfNewAndOldKits) {
  run::Run plan = read_description(directory_ / "plan.json");
  plan.measurements.at(0).cross_check = "exceptions:page_fault_user";
  put("plan.json", description_of(plan));
  for (const std::string line : {"cross_check=no\n", "witness=no\n"}) {
    record("access.none.data", kResult + line);
    EXPECT_EQ(first().cross_check, "") << line;
  }
}

TEST_F(KitRun, MarksPendingMeasurements) {
  // Killed before the recording had its name, and before there was a result.
  fs::rename(directory_ / "access.none.data", directory_ / "access.none.data.partial");
  fs::remove(directory_ / "results/cpu-clock.none.data.result");
  const run::Run run = read();
  EXPECT_EQ(run.measurements.at(0).state, State::pending);
  EXPECT_EQ(run.measurements.at(1).state, State::pending);
  EXPECT_THAT(run.measurements.at(0).command, IsEmpty());
  EXPECT_TRUE(run.partial());
}

TEST_F(KitRun, DistinguishesRefusalFromDeathAndAFullDisk) {
  struct Case {
    const char* standard_error;
    int status;
    State state;
    const char* reason;
  };
  for (const auto& [standard_error, status, state, reason] : std::vector<Case>{
           {"Error:\nThe access event is not supported.\n", 255, State::refused,
            "The access event is not supported."},
           {"event syntax error: 'access'\n   \\___ parser error\n", 129, State::refused,
            "perf does not support this event (parser error)"},
           {"Error:\nAccess to performance monitoring is limited.\n", 255, State::refused,
            "kernel.perf_event_paranoid is 4"},
           {"no idea\n", 255, State::refused, "perf ended with exit status 255: no idea"},
           {kCaptured, 137, State::pending, "the target was killed by signal 9"},
           {"Events disabled\n", 137, State::pending, "perf was killed by signal 9"},
           {kCaptured, 1, State::pending, "the target ended before its end"},
           {"failed to write perf data, error: No space left on device\n", 255, State::pending,
            ""}}) {
    refuse("access.none.data", standard_error, status);
    EXPECT_EQ(first().state, state) << standard_error;
    EXPECT_THAT(first().reason, HasSubstr(reason));
  }
  EXPECT_EQ(read().measurements.at(1).state, State::finished);
}

TEST_F(KitRun, AcceptsADamagedRecording) {
  put("access.none.data", "");
  EXPECT_EQ(first().state, State::finished);
}

TEST_F(KitRun, NotesMissingSamples) {
  auto recording = test::RecordingBuilder().event({});
  for (std::uint64_t time = 1; time <= 12; ++time) recording.sample(0x1000, 1, time);
  put("access.none.data", recording.bytes());
  EXPECT_THAT(first().messages, Contains("12 of 5000 requested samples"))
      << "perf's own number is " << kCaptured;
}

TEST_F(KitRun, NotesVersionsOfPerf) {
  put("session", std::string(kSession) +
                     "started=2026-01-03T00:00:00Z\nperf=/opt/perf\nperf_version=5.4.1\ncpu=3\n"
                     "note=a note\n");
  const run::Run run = read();
  EXPECT_EQ(run.perf.version, "5.4.1");
  EXPECT_EQ(run.started, "2026-01-02T03:04:05Z");
  EXPECT_THAT(run.notes, ElementsAre(HasSubstr("perf 5.4.1 has no --control"), "of the plan",
                                     "begun with perf 6.1.76, resumed with perf 5.4.1", "a note"));
}

TEST_F(KitRun, IsNotARunWithoutASession) {
  fs::remove(directory_ / "session");
  EXPECT_FALSE(is_run(directory_.path()));
  EXPECT_THAT(complaint(), HasSubstr("a kit that has not recorded anything here"));
}

TEST_F(KitRun, RejectsInvalidValues) {
  const std::string result = "results/access.none.data.result",
                    clock = "results/cpu-clock.none.data.result";
  for (const auto& [file, content, message] :
       std::vector<std::tuple<std::string, std::string, const char*>>{
           {"session", "format=2\n", "format \"2\""},
           {"session", "format=1\nno key\n", "a line without a key"},
           {"session", "format=1\ncpu=-1\n", "cpu \"-1\""},
           {"session", "format=1\ncpu=99999999999\n", "expected a number from 0"},
           {"session", "format=1\ncpu=1\nstarted=\x1b[2J\n", "ISO 8601"},
           {result, "format=1\nstatus=many\n", "access.none.data.result"},
           {result, std::string(2 << 20, 'x'), "access.none.data.result"},
           {clock, std::string(kResult) + "nanoseconds=-5\n", "nanoseconds \"-5\""}}) {
    const std::string before = read_file(directory_ / file, 1 << 20);
    put(file, content);
    EXPECT_THAT(complaint(), HasSubstr(message));
    put(file, before);
  }
  fs::remove(directory_ / "results/access.none.data.out");
  EXPECT_THAT(complaint(), HasSubstr("access.none.data.out: no such file"));
}

TEST_F(KitRun, RefusesSymbolicLinks) {
  const test::TemporaryDirectory elsewhere;
  const auto link_instead = [&](const std::string& name) {
    fs::rename(directory_ / name, elsewhere / "moved");
    fs::create_symlink(elsewhere / "moved", directory_ / name);
    const std::string said = complaint();
    fs::remove(directory_ / name);
    fs::rename(elsewhere / "moved", directory_ / name);
    return said;
  };
  for (const std::string name :
       {"plan.json", "session", "machine", "target.load", "results", "access.none.data",
        "results/access.none.data.result", "results/access.none.data.err"}) {
    EXPECT_THAT(link_instead(name), HasSubstr("a symbolic link")) << name;
  }
  run::Run plan = read_description(directory_ / "plan.json");
  plan.measurements.at(0).file = "below/access.none.data";
  const std::string before = read_file(directory_ / "plan.json", 1 << 20);
  put("plan.json", description_of(plan));
  EXPECT_THAT(complaint(), HasSubstr("a directory in a name"));
  put("plan.json", before);
  fs::remove(directory_ / "machine/proc/cpuinfo");
  fs::create_symlink("/proc/cpuinfo", directory_ / "machine/proc/cpuinfo");
  EXPECT_EQ(read().machine.cpu.vendor, "");
}

TEST_F(KitRun, ReadsTheHypervisorSignature) {
  for (const std::string signature :
       {"", "4b564d", "zz564d4b564d4b564d000000", "4b564d4b564d4b564d00000000"}) {
    put("machine/cpuid-hypervisor", signature + "\n");
    EXPECT_EQ(read().machine.cpu.hypervisor, "unknown hypervisor") << signature;
  }
  put("machine/cpuid-hypervisor",
      "nonsense\n564d7761726556"
      "4d77617265\n");
  EXPECT_EQ(read().machine.cpu.hypervisor, "VMware");
}

TEST_F(KitRun, PrefersRunJson) {
  run::Run other = read();
  other.tool_version = "other";
  write_run(other, directory_.path());
  EXPECT_EQ(read().tool_version, "other");
  EXPECT_FALSE(read().by_kit);
}

}  // namespace
}  // namespace skid::run
