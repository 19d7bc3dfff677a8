// Reads the run that a kit's script leaves; none of its files is trusted.
#include "src/run/run.h"
#include "tests/support/prelude.h"

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
    run::Run plan;
    plan.tool_version = "0.1.0";
    plan.samples = 5000;
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
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
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
    try {
      read();
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

  test::TemporaryDirectory directory_;
};

TEST_F(KitRun, ReadsLikeARunOfRecord) {
  EXPECT_TRUE(is_run(directory_.path()));
  const run::Run run = read();
  EXPECT_TRUE(run.by_kit);
  EXPECT_FALSE(run.partial());
  EXPECT_EQ(run.machine.kernel, "6.1.0-test");
  EXPECT_EQ(run.machine.hostname, "there");
  EXPECT_EQ(run.machine.cpu.model, 94);
  EXPECT_EQ(run.machine.cpu.microcode, "0xf0");
  EXPECT_EQ(run.machine.cpu.hypervisor, "KVM");
  EXPECT_EQ(run.perf.version, "6.1.76");
  EXPECT_EQ(run.perf.path, "/usr/bin/perf");
  EXPECT_EQ(run.cpu, 3);
  EXPECT_EQ(run.started, "2026-01-02T03:04:05Z");
  EXPECT_EQ(run.ended, "2026-01-02T03:04:07Z");
  EXPECT_THAT(run.notes, ElementsAre("of the plan"));

  const PlannedMeasurement& access = run.measurements.at(0);
  EXPECT_EQ(access.state, State::finished);
  EXPECT_THAT(access.command, ElementsAre("/usr/bin/perf", "record"));
  EXPECT_EQ(access.started, "2026-01-02T03:04:06Z");
  ASSERT_TRUE(access.target_report);
  EXPECT_EQ(access.target_report->cpu, 3);
  EXPECT_EQ(std::get<std::uint64_t>(access.length), 500U);
  EXPECT_THAT(access.messages, IsEmpty());
  const PlannedMeasurement& clock = run.measurements.at(1);
  EXPECT_EQ(std::get<std::chrono::nanoseconds>(clock.length), std::chrono::milliseconds(2500));
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

TEST_F(KitRun, GivesTheReasonOfARefusal) {
  refuse("access.none.data", "Error:\nThe access event is not supported.\n", 255);
  EXPECT_EQ(first().state, State::refused);
  EXPECT_EQ(first().reason, "The access event is not supported.");
  refuse("access.none.data", "event syntax error: 'access'\n   \\___ parser error\n", 129);
  EXPECT_EQ(first().reason, "perf does not support this event (parser error)");
  refuse("access.none.data", "Error:\nAccess to performance monitoring is limited.\n", 255);
  EXPECT_THAT(first().reason, HasSubstr("kernel.perf_event_paranoid is 4"));
  refuse("access.none.data", "no idea\n", 255);
  EXPECT_EQ(first().state, State::refused);
  EXPECT_EQ(first().reason, "perf ended with exit status 255: no idea");
  EXPECT_EQ(read().measurements.at(1).state, State::finished);
}

TEST_F(KitRun, DistinguishesDeathFromRefusal) {
  refuse("access.none.data", kCaptured, 137);
  EXPECT_EQ(first().state, State::pending);
  EXPECT_THAT(first().reason, HasSubstr("the target was killed by signal 9"));
  refuse("access.none.data", "Events disabled\n", 137);
  EXPECT_EQ(first().state, State::pending);
  EXPECT_THAT(first().reason, HasSubstr("perf was killed by signal 9"));
  refuse("access.none.data", kCaptured, 1);
  EXPECT_EQ(first().state, State::pending);
  EXPECT_THAT(first().reason, HasSubstr("the target ended before its end"));
}

TEST_F(KitRun, AcceptsADamagedRecording) {
  put("access.none.data", "");
  EXPECT_EQ(first().state, State::finished);
}

TEST_F(KitRun, TreatsAFullDiskAsPending) {
  refuse("access.none.data", "failed to write perf data, error: No space left on device\n", 255);
  EXPECT_EQ(first().state, State::pending);
}

TEST_F(KitRun, NotesMissingSamples) {
  put("results/access.none.data.err", "[ perf record: Captured and wrote 1 MB x (12 samples) ]\n");
  EXPECT_THAT(first().messages, Contains("12 of 5000 requested samples"));
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
  put("session", "format=2\n");
  EXPECT_THAT(complaint(), HasSubstr("format \"2\""));
  put("session", "format=1\nno key\n");
  EXPECT_THAT(complaint(), HasSubstr("a line without a key"));
  put("session", "format=1\ncpu=-1\n");
  EXPECT_THAT(complaint(), HasSubstr("cpu \"-1\""));
  put("session", "format=1\ncpu=99999999999\n");
  EXPECT_THAT(complaint(), HasSubstr("expected a number from 0"));
  put("session", "format=1\ncpu=1\nstarted=\x1b[2J\n");
  EXPECT_THAT(complaint(), HasSubstr("ISO 8601"));
  put("session", kSession);
  put("results/access.none.data.result", "format=1\nstatus=many\n");
  EXPECT_THAT(complaint(), HasSubstr("access.none.data.result"));
  put("results/access.none.data.result", std::string(2 << 20, 'x'));
  EXPECT_THAT(complaint(), HasSubstr("access.none.data.result"));
  put("results/access.none.data.result", kResult);
  put("results/cpu-clock.none.data.result", std::string(kResult) + "nanoseconds=-5\n");
  EXPECT_THAT(complaint(), HasSubstr("nanoseconds \"-5\""));
  put("results/cpu-clock.none.data.result", kResult);
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
