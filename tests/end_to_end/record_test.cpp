// `skidscan record` as a user runs it, with the perf of this machine: directory, messages, status.
#include "runway/specification.h"
#include "runway/target.h"
#include "src/machine/file_tree.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/record_command.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/names.h"
#include "src/support/process.h"
#include "tests/support/child_process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace skid {
namespace {

using std::chrono::milliseconds;
using test::finish;
using test::wait_until;

bool is_partial(const fs::path& path) {
  return path.string().find(".partial") != std::string::npos;
}

class Record : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT("samples"); }

  static std::vector<std::string> command(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{test::skidscan_program(), "record"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }
  Completed record(const std::vector<std::string>& arguments) const {
    return run_program(command(arguments), here_);
  }
  /// Two small measurements, of an event that every machine samples.
  Completed record_a_little(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.end(), {"-e", "faults", "-p", "none,pp", "--samples", "200"});
    return record(arguments);
  }
  nlohmann::json measurements_of_report() const {
    const Completed report =
        run_program({test::skidscan_program(), "report", "--format", "json"}, here_);
    EXPECT_EQ(report.code.status, 0) << report.err;
    return nlohmann::json::parse(report.out).at("measurements");
  }
  fs::path put_run(const std::string& name) const {
    fs::create_directory(here_ / name);
    std::ofstream(here_ / name / "run.json") << "of " << name;
    return here_ / name;
  }
  std::string mark_of(const std::string& name) const {
    return read_file(here_ / name / "run.json", 1 << 20);
  }
  std::size_t entries() const { return test::names_in(here_).size(); }
  static std::size_t partial_files(const fs::path& directory) {
    return static_cast<std::size_t>(
        std::count_if(fs::directory_iterator(directory), fs::directory_iterator(),
                      [](const auto& entry) { return is_partial(entry.path()); }));
  }
  static std::size_t finished(const run::Run& run) {
    return static_cast<std::size_t>(std::count_if(
        run.measurements.begin(), run.measurements.end(),
        [](const auto& measurement) { return measurement.state == run::State::finished; }));
  }

  test::TemporaryDirectory directory_;
  const fs::path& here_ = directory_.path();
};

/// A process whose command line begins with `path`, or 0.
pid_t process_of(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string argument;
    std::ifstream arguments(entry->path() / "cmdline");
    std::getline(arguments, argument, '\0');
    if (argument == path) return std::stoi(name);
  }
  return 0;
}

pid_t parent_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

TEST_F(Record, WritesEveryFileOfTheRun) {
  put_run("skidscan.run");
  const Completed done = record_a_little({"--repeat", "2"});
  ASSERT_EQ(done.code.status, 0) << done.err;
  EXPECT_EQ(done.out, "skidscan.run: 4 measurements; read it with: skidscan report\n");
  EXPECT_THAT(done.err, AllOf(HasSubstr("4/4 faults:pp #2: "),
                              HasSubstr("skidscan.run is now skidscan.run.old\n")));

  const run::Run run = run::read_run(here_ / "skidscan.run");
  EXPECT_FALSE(run.partial());
  EXPECT_EQ(run.samples, 200U);
  EXPECT_EQ(run.command_line.at(1), "record");
  ASSERT_EQ(run.measurements.size(), 4U);
  for (const auto& measurement : run.measurements) {
    EXPECT_EQ(measurement.state, run::State::finished);
    EXPECT_EQ(read_file(here_ / "skidscan.run" / measurement.file, 1 << 24).substr(0, 8),
              "PERFILE2");
    ASSERT_TRUE(measurement.target_report.has_value());
    EXPECT_EQ(measurement.target_report->cpu, run.cpu);
    EXPECT_EQ(runway::RunLength(measurement.target_report->iterations), measurement.length);
    EXPECT_THAT(measurement.started, MatchesRegex("....-..-..T..:..:..Z"));
  }
  EXPECT_EQ(run.measurements[3].file, "faults.pp.2.data");
  EXPECT_THAT(
      run_program({"perf", "buildid-list", "-i", "skidscan.run/faults.none.1.data"}, here_).out,
      HasSubstr(run.targets.at(0).build_id));
  EXPECT_EQ(partial_files(here_ / "skidscan.run"), 0U);
  EXPECT_EQ(mark_of("skidscan.run.old"), "of skidscan.run");
}

TEST_F(Record, RecordsTheRequestedSamplesAndTheSkidInEvents) {
  const std::string breakpoints =
      test::why_without({"breakpoints"}).empty() ? "access,execute," : "";
  ASSERT_EQ(record({"-e", breakpoints + "faults,cpu-clock", "-p", "none", "--samples", "300",
                    "--skid-in-events", "-q"})
                .code.status,
            0);
  for (const auto& measurement : run::read_run(here_ / "skidscan.run").measurements) {
    const Completed script = run_program(
        {"perf", "script", "-F", "ip", "-i", "skidscan.run/" + measurement.file}, here_);
    EXPECT_GE(std::count(script.out.begin(), script.out.end(), '\n'), 300) << measurement.file;
  }
  for (const auto& m : measurements_of_report()) {
    const auto& skid = m["skid"]["events"];
    if (m["event"]["label"] == "cpu-clock") {
      EXPECT_TRUE(skid.is_null());
      continue;
    }
    // Software events and breakpoints interrupt at the event itself.
    EXPECT_EQ(skid["samples"], m["samples"]["read"]);
    EXPECT_EQ(skid["max"], 0) << m["event"];
  }
}

TEST_F(Record, AddsUpRecordingsWithDifferentPeriods) {
  ASSERT_EQ(record({"-e", "faults", "-p", "none,p", "--samples", "400", "--vary-period", "-q"})
                .code.status,
            0);
  const auto measurements = measurements_of_report();
  ASSERT_EQ(measurements.size(), 2U);
  for (const auto& m : measurements) {
    EXPECT_EQ(m["merged_from"].size(), 4U);
    EXPECT_GE(m["samples"]["read"], 400);
    EXPECT_EQ(m["samples"]["hit"], m["samples"]["read"]);
    EXPECT_GT(m["period"]["effective"].get<double>(), m["period"]["requested"].get<double>());
    EXPECT_NEAR(m["events_per_iteration"]["measured"].get<double>(), 1, 0.05);
    EXPECT_TRUE(m["warnings"].empty()) << m["warnings"];
  }
}

TEST_F(Record, ReportsTheShareOfEachTrigger) {
  SKIP_WITHOUT("breakpoints");
  // Of 7 triggers a period of 7 would sample the same one every time.
  ASSERT_EQ(record({"-e", "access,execute", "-p", "none", "--samples", "700", "--triggers", "7",
                    "--nops", "400", "-q"})
                .code.status,
            0);
  const auto measurements = measurements_of_report();
  ASSERT_EQ(measurements.size(), 2U);
  const auto& access = measurements[0];
  ASSERT_EQ(access["triggers"].size(), 7U);
  const auto read = access["samples"]["read"].get<std::uint64_t>();
  for (const auto& trigger : access["triggers"]) {
    EXPECT_EQ(trigger["hits"], 0);
    EXPECT_NEAR(trigger["samples"].get<double>(), static_cast<double>(read) / 7, 1);
  }
  EXPECT_EQ(access["skid"]["instructions"]["min"], 1);
  EXPECT_EQ(access["skid"]["instructions"]["max"], 1);
  EXPECT_EQ(access["events_per_iteration"]["expected"], 7);
  EXPECT_NEAR(access["events_per_iteration"]["measured"].get<double>(), 7, 0.1);
  EXPECT_GT(access["bias"]["p"].get<double>(), 0.99);
  EXPECT_TRUE(access["warnings"].empty()) << access["warnings"];

  const auto& execute = measurements[1];
  EXPECT_EQ(execute["triggers"][0]["hits"], execute["samples"]["read"]);
  EXPECT_TRUE(execute["bias"].is_null()) << "its breakpoint is at the first trigger only";
}

TEST_F(Record, RecordsAtAFrequencyWithCallGraphs) {
  SKIP_WITHOUT("samples-of-all");  // --per-cpu
  ASSERT_THAT(record({"-e", "faults:pp", "-F", "4000", "-g", "--duration", "0.1", "--per-cpu",
                      "--repeat", "2"}),
              Exits(0));
  const run::Run run = run::read_run(here_ / "skidscan.run");
  const run::PlannedMeasurement& measurement = run.measurements.at(1);
  EXPECT_EQ(measurement.extras,
            (perftool::Extras{
                .frequency = 4000, .call_graph = "fp", .branch_filter = {}, .per_cpu = true}));
  EXPECT_EQ(measurement.period, 0U);
  const auto recording = perfdata::Recording::open(here_ / "skidscan.run" / measurement.file);
  const perfdata::Attribute& attribute = recording.attributes().at(0);
  EXPECT_TRUE(attribute.frequency);
  EXPECT_TRUE(attribute.has(PERF_SAMPLE_CALLCHAIN));
}

TEST_F(Record, IsRefusedBranchStacksOfBreakpoints) {
  SKIP_WITHOUT("breakpoints");
  EXPECT_THAT(record({"-e", "access", "-p", "none,pp", "-b"}),
              Exits(1, HasSubstr("access:pp: refused: a breakpoint records no branch stack")));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Record, KeepsApartThatNoSamplesCame) {
  // The period is longer than the run.
  const Completed done = record({"-e", "faults:pp", "-c", "1000000", "--iterations", "100"});
  EXPECT_THAT(done, Exits(1, HasSubstr("no measurement has a sample: ")));
  EXPECT_THAT(
      done.out,
      HasSubstr("1 measurement, 1 of them without samples: faults pp (accepted, and no samples "
                "came); read it"));
  const run::Run run = run::read_run(here_ / "skidscan.run");
  EXPECT_EQ(run.measurements.at(0).state, run::State::finished);
  EXPECT_EQ(run.measurements.at(0).reason, "accepted, and no samples came");
}

TEST_F(Record, RunsForTheRequestedDuration) {
  ASSERT_EQ(record({"-e", "cpu-clock", "-p", "none", "--duration", "0.3"}).code.status, 0);
  const run::Run run = run::read_run(here_ / "skidscan.run");
  EXPECT_EQ(run.samples, 0U);
  EXPECT_EQ(run.duration_seconds, 0.3);
  const double elapsed = run.measurements.at(0).target_report->elapsed_seconds;
  EXPECT_GE(elapsed, 0.3);
  EXPECT_LT(elapsed, 5) << "longer only where other programs have the CPU";
}

TEST_F(Record, ReplacesANamedRunOnlyWithForce) {
  put_run("mine");
  EXPECT_THAT(
      record_a_little({"-o", "mine"}),
      Exits(1, "skidscan: mine: exists; replace it with --force, or name another with -o\n"));
  EXPECT_EQ(mark_of("mine"), "of mine");

  EXPECT_THAT(record_a_little({"-o", "mine", "--force"}),
              Exits(0, ::testing::_, "mine: 2 measurements; read it with: skidscan report mine\n"));
  EXPECT_FALSE(run::read_run(here_ / "mine").partial());
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Record, ResumesAfterCtrlC) {
  ChildProcess child(command({"-e", "faults,cpu-clock", "--samples", "3000"}), here_);
  ASSERT_TRUE(wait_until(child, [&] {
    return child.result().err.find("\n2/8") != std::string::npos ||
           child.result().err.find("1/8") != std::string::npos;
  })) << child.result().err;
  ASSERT_EQ(::kill(child.pid(), SIGINT), 0);
  finish(child);
  EXPECT_EQ(child.result().code.status, 130);
  EXPECT_EQ(child.result().code.signal, 0);
  EXPECT_THAT(child.result().err,
              HasSubstr("of 8 measurements kept; finish with: skidscan record --resume "
                        "skidscan.run\n"));

  const run::Run partial = run::read_run(here_ / "skidscan.run");
  EXPECT_TRUE(partial.partial());
  EXPECT_GE(finished(partial), 1U);
  EXPECT_EQ(partial_files(here_ / "skidscan.run"), 0U);
  const std::string first = read_file(here_ / "skidscan.run/faults.none.data", 1 << 24);

  // What a crash would have left.
  std::ofstream(here_ / "skidscan.run/cpu-clock.ppp.data.partial") << "x";
  EXPECT_THAT(record({"--resume", "skidscan.run"}),
              Exits(0, ::testing::_, StartsWith("skidscan.run: 8 measurements;")));
  const run::Run whole = run::read_run(here_ / "skidscan.run");
  EXPECT_EQ(finished(whole), 8U);
  EXPECT_EQ(partial_files(here_ / "skidscan.run"), 0U);
  EXPECT_EQ(read_file(here_ / "skidscan.run/faults.none.data", 1 << 24), first);
  EXPECT_EQ(whole.started, partial.started);

  EXPECT_THAT(record({"--resume", "skidscan.run"}),
              Exits(0, ::testing::_, "skidscan.run: nothing is pending\n"));
}

TEST_F(Record, RestoresTheOldRunWhenInterruptedEarly) {
  put_run("skidscan.run");
  ChildProcess child(command({"-e", "cpu-clock", "--duration", "30"}), here_);
  ASSERT_TRUE(wait_until(child, [&] {
    return process_of(here_ / "skidscan.run" / "target.load") != 0;
  })) << child.result().err;
  ASSERT_EQ(::kill(child.pid(), SIGTERM), 0);
  finish(child);
  EXPECT_EQ(child.result().code.status, 143);
  EXPECT_THAT(child.result().err, EndsWith("skidscan: interrupted: nothing was recorded\n"));
  EXPECT_EQ(mark_of("skidscan.run"), "of skidscan.run");
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(process_of(here_ / "skidscan.run" / "target.load"), 0);
}

TEST_F(Record, RefusesToResumeWithAnotherTargetOrMachine) {
  ASSERT_EQ(record_a_little().code.status, 0);
  run::Run run = run::read_run(here_ / "skidscan.run");
  run.measurements.at(1).state = run::State::pending;
  const std::string build_id = std::exchange(run.targets.at(0).build_id, "00");
  run::write_run(run, here_ / "skidscan.run");
  EXPECT_THAT(record({"--resume", "skidscan.run"}),
              Exits(1, HasSubstr("is not the target that this run was begun with")));
  run.targets.at(0).build_id = build_id;
  run.machine.kernel = "2.6.18";
  run::write_run(run, here_ / "skidscan.run");
  EXPECT_THAT(record({"--resume", "skidscan.run"}),
              Exits(1, HasSubstr("this one has changed (kernel 2.6.18, now ")));
}

TEST_F(Record, ResumesEachMeasurementWithItsTarget) {
  ASSERT_EQ(record({"-e", "cpu-clock", "-p", "none,p", "--duration", "0.1"}).code.status, 0);
  const fs::path directory = here_ / "skidscan.run";
  run::Run run = run::read_run(directory);
  runway::Specification specification =
      runway::read_target(directory / "target.load")->description.specification;
  specification.nops = 20;
  const auto target = runway::build_target(specification, directory / "target.load.short");
  run.targets.push_back({"load", "target.load.short", target.build_id});
  run.measurements.at(1).target = "target.load.short";
  run.measurements.at(1).state = run::State::pending;
  run::write_run(run, directory);
  ASSERT_EQ(record({"--resume", "skidscan.run", "--pack", "run.tar"}).code.status, 0);
  const auto report = nlohmann::json::parse(
      run_program({test::skidscan_program(), "report", "run.tar", "--format", "json"}, here_).out);
  std::vector<int> highest;  // offsets of the runways
  for (const auto& measurement : report.at("measurements")) {
    highest.push_back(measurement["basis"]["geometry"]["highest_offset"]);
  }
  EXPECT_THAT(highest, ElementsAre(5000, 20));
}

TEST_F(Record, KeepsTheOldRunOnAnUnknownEvent) {
  put_run("skidscan.run");
  const Completed done = record({"-e", "faults,no_such_event"});
  EXPECT_THAT(
      done,
      Exits(1, AllOf(StartsWith("skidscan: no_such_event: perf does not support this event ("),
                     HasSubstr("see 'perf list'"))));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  EXPECT_EQ(mark_of("skidscan.run"), "of skidscan.run");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Record, ContinuesAfterRefusedEvents) {
  SKIP_WITHOUT("no-core-pmu");
  EXPECT_THAT(record({"-e", "instructions:u", "-e", "faults", "-p", "pp", "--samples", "200"}),
              Exits(0, ::testing::_,
                    StartsWith("skidscan.run: 1 measurement, 1 refused by this machine;")));
  const run::Run run = run::read_run(here_ / "skidscan.run");
  EXPECT_EQ(run.measurements.at(0).state, run::State::refused);
  EXPECT_THAT(run.measurements.at(0).reason, HasSubstr("not supported"));
  EXPECT_EQ(run.measurements.at(1).state, run::State::finished);
  EXPECT_FALSE(run.partial());
}

TEST_F(Record, FailsWhenEveryEventIsRefused) {
  SKIP_WITHOUT("no-core-pmu");
  put_run("skidscan.run");
  EXPECT_THAT(record({"-e", "instructions:u", "-q"}),
              Exits(1, StartsWith("skidscan: this machine refused every measurement")));
  EXPECT_EQ(mark_of("skidscan.run"), "of skidscan.run");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Record, NamesThePackageOfAMissingPerf) {
  EXPECT_THAT(
      run_program({"env", "-i", "PATH=/nonexistent", test::skidscan_program(), "record"}, here_),
      Exits(1, StartsWith("skidscan: perf: not found in PATH; install it")));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Record, NamesTheSettingOfAMissingPermission) {
  SKIP_WITHOUT("user-samples-only", "another-user");
  std::vector<std::string> argv{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  for (const std::string& word : command({"-e", "cpu-clock:k"})) argv.push_back(word);
  ASSERT_EQ(::chmod(here_.c_str(), 0777), 0);
  EXPECT_THAT(run_program(argv, here_),
              Exits(1, AllOf(StartsWith("skidscan: cpu-clock:k: no permission to sample it "
                                        "(kernel.perf_event_paranoid is "),
                             HasSubstr("sysctl kernel.perf_event_paranoid=1"))));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Record, KeepsFinishedMeasurementsOnAFullDisk) {
  SKIP_WITHOUT("mount");
  const Completed one = record({"-e", "faults", "-p", "none", "--samples", "5000", "-o", "one"});
  ASSERT_TRUE(one.code.success()) << one.err;
  // Room for one and a half recordings, and for the target.
  const auto bytes = fs::file_size(here_ / "one/faults.none.data") * 3 / 2 + (64 << 10);
  const test::SmallDisk disk(here_ / "disk", std::to_string(bytes >> 10) + "k");
  ASSERT_TRUE(disk.mounted());
  EXPECT_THAT(record({"-e", "faults", "-p", "none,p", "--samples", "5000", "-o", "disk/run"}),
              Exits(1, HasSubstr("disk/run/faults.p.data: cannot be written: no space left on "
                                 "device; 1 of 2 measurements kept; finish with: skidscan record "
                                 "--resume disk/run\n")));
  const run::Run run = run::read_run(here_ / "disk/run");
  EXPECT_EQ(run.measurements.at(0).state, run::State::finished);
  EXPECT_EQ(run.measurements.at(1).state, run::State::pending);
  EXPECT_EQ(partial_files(here_ / "disk/run"), 0U);
}

TEST_F(Record, LeavesNothingOnATooSmallDisk) {
  SKIP_WITHOUT("mount");
  const test::SmallDisk disk(here_ / "disk", "64k");
  ASSERT_TRUE(disk.mounted());
  const Completed done =
      record({"-e", "faults", "-p", "none", "--samples", "5000", "-o", "disk/run", "-q"});
  EXPECT_THAT(done, Exits(1, HasSubstr("no space left on device")));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  EXPECT_TRUE(fs::is_empty(here_ / "disk"));
}

TEST_F(Record, NamesAFileSystemThatExecutesNothing) {
  SKIP_WITHOUT("mount");
  const test::SmallDisk home(here_ / "home", "1m");
  ASSERT_TRUE(home.mounted() && home.make_noexec());
  EXPECT_THAT(
      record_a_little({"-o", "home/run"}),
      Exits(1, HasSubstr("home/run/target.fault: cannot be executed; expected a file system "
                         "without noexec; name a directory elsewhere with -o\n")));
  EXPECT_TRUE(fs::is_empty(here_ / "home"));
  // The file may be there.
  EXPECT_THAT(record_a_little({"-o", "run", "--pack", "home/run.tar"}), Exits(0));
  EXPECT_EQ(test::names_in(here_ / "home").size(), 1U);
}

TEST_F(Record, ReportsThatPerfOrTheTargetDied) {
  for (const std::string killed : {"target", "perf"}) {
    ChildProcess child(command({"-e", "cpu-clock", "--duration", "30", "-q"}), here_);
    const fs::path target = here_ / "skidscan.run" / "target.load";
    ASSERT_TRUE(wait_until(child, [&] {
      return fs::exists(here_ / "skidscan.run/cpu-clock.none.data.partial") &&
             process_of(target) != 0;
    })) << child.result().err;
    const pid_t pid = killed == "perf" ? parent_of(process_of(target)) : process_of(target);
    ASSERT_NE(pid, child.pid());
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    finish(child);
    EXPECT_EQ(child.result().code.status, 1);
    EXPECT_THAT(child.result().err,
                HasSubstr("cpu-clock: " + (killed == "perf" ? killed : "the " + killed) +
                          " was killed by signal 9 (Killed)"));
    EXPECT_EQ(entries(), 0U);
    // It was killed, and ends as soon as the kernel schedules it.
    for (int looks = 0; looks < 100 && process_of(target) != 0; ++looks) {
      std::this_thread::sleep_for(milliseconds{50});
    }
    EXPECT_EQ(process_of(target), 0);
  }
}

TEST_F(Record, LeavesNoProcessAndTheOldRunWhenKilled) {
  put_run("skidscan.run");
  ChildProcess child(command({"-e", "cpu-clock", "--duration", "30", "-q"}), here_);
  const fs::path target = here_ / "skidscan.run" / "target.load";
  ASSERT_TRUE(wait_until(child, [&] { return process_of(target) != 0; })) << child.result().err;
  // Alone: its group would be killed by the program that started it.
  const fs::path perf = "/proc/" + std::to_string(parent_of(process_of(target))) + "/exe";
  ASSERT_EQ(::kill(child.pid(), SIGKILL), 0);
  finish(child);
  for (int looks = 0; looks < 100 && (process_of(target) != 0 || fs::exists(perf)); ++looks) {
    std::this_thread::sleep_for(milliseconds{50});
  }
  EXPECT_EQ(process_of(target), 0);
  EXPECT_FALSE(fs::exists(perf));

  const Completed report = run_program({test::skidscan_program(), "report"}, here_);
  EXPECT_THAT(report.err, HasSubstr("/skidscan.run.replaced: the run that skidscan.run was to "
                                    "replace\n"));
  EXPECT_EQ(record({"-e", "no_such_event"}).code.status, 1);
  EXPECT_EQ(mark_of("skidscan.run"), "of skidscan.run");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Record, ResumesNoRunOfAnotherUser) {
  SKIP_WITHOUT("root");
  ASSERT_EQ(record({"-e", "cpu-clock", "-p", "none", "--duration", "0.1"}).code.status, 0);
  run::Run run = run::read_run(here_ / "skidscan.run");
  run.measurements.at(0).state = run::State::pending;
  run::write_run(run, here_ / "skidscan.run");
  constexpr uid_t kNobody = 65534;
  for (const std::string file : {"", "run.json", "target.load"}) {
    const fs::path path = here_ / "skidscan.run" / file;
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    EXPECT_THAT(record({"--resume", "skidscan.run"}),
                Exits(1, HasSubstr("belongs to another user (uid 65534)")))
        << file;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(record({"--resume", "skidscan.run"}).code.status, 0);
}

TEST_F(Record, RecordsAgainAfterADebugException) {
  ChildProcess child(command({"-e", "cpu-clock", "-p", "none", "--duration", "2"}), here_);
  const fs::path target = here_ / "skidscan.run" / "target.load";
  ASSERT_TRUE(wait_until(child, [&] { return process_of(target) != 0; })) << child.result().err;
  ASSERT_EQ(::kill(process_of(target), SIGTRAP), 0);
  finish(child);
  EXPECT_EQ(child.result().code.status, 0) << child.result().err;
  EXPECT_THAT(child.result().out + child.result().err,
              HasSubstr("cpu-clock: a debug exception ended the target; recorded again"));
}

TEST_F(Record, RejectsWrongArguments) {
  for (const std::string& arguments : test::lines_of(
           "--samples many\n--samples 0\n--samples 10 --duration 1\n--samples 10 --iterations 1\n"
           "--iterations 10 --duration 1\n-e {cycles,instructions}\n-e cycles:P -p pp\n-c 7 -F "
           "100\n"
           "-b -j any\n-j any;id\n--call-graph tree\n-e cycles:pp -p p\n-e access -e access\n"
           "-p pppp\n-p p,p\n-c 0\n--trigger sneeze\n--nops 1\n--nop-bytes 12\n--repeat 0\n"
           "--resume skidscan.run -e access\n--resume skidscan.run --force\n--no-such-option\n"
           "argument")) {
    EXPECT_THAT(record(test::words_of(arguments)), Exits(64, StartsWith("skidscan: ")))
        << arguments;
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Record, RefusesToResumeAMissingRun) {
  EXPECT_THAT(record({"--resume", "missing"}),
              Exits(1, HasSubstr("missing/run.json: no such file or directory")));
}

}  // namespace
}  // namespace skid
