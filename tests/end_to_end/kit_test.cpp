// A kit from outside: it is packed, its run.sh is run by the shells that there are with the perf of
// this machine or one that we made, and what it leaves is read.
#include "src/machine/machine.h"
#include "src/perftool/messages.h"
#include "src/perftool/retry.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/child_process.h"
#include "tests/support/program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace skid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using run::State;
using test::finish;
using test::wait_until;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

class Kit : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = test::why_perf_cannot_record(here_.path());
    if (!why.empty()) GTEST_SKIP() << why;
    fs::remove(here_ / "probe");
  }

  fs::path path(const std::string& name) const { return here_ / name; }

  Completed kit(Words arguments) const {
    arguments.insert(arguments.begin(), "kit");
    return test::skidscan(arguments, here_.path());
  }
  /// A kit in the directory "kit".
  void make_kit(Words arguments) const {
    arguments.insert(arguments.end(), {"-q", "-o", "kit/"});
    const Completed done = kit(arguments);
    ASSERT_EQ(done.code.status, 0) << done.err;
  }
  /// Two small measurements.
  void make_small_kit() const { make_kit({"-e", "access", "-p", "none,pp", "--samples", "200"}); }
  Completed run_kit(Words arguments = {}, Words shell = {"sh"}) const {
    shell.emplace_back("kit/run.sh");
    shell.insert(shell.end(), arguments.begin(), arguments.end());
    return run_program(shell, here_.path());
  }
  /// A program named perf, which comes before the real one in the PATH of run_with().
  void make_perf(const std::string& script) const {
    fs::create_directory(path("bin"));
    std::ofstream(path("bin/perf")) << "#!/bin/sh\n" << script;
    fs::permissions(path("bin/perf"), fs::perms{0755});
  }
  Words with_that_perf() const {
    return {"env", fmt::format("PATH={}:{}", path("bin").string(), std::getenv("PATH")), "sh"};
  }
  static std::string real_perf() { return find_program("perf")->string(); }
  run::Run read(const std::string& name = "skidscan.run") const {
    return run::read_run(path(name));
  }
  bool exists(const std::string& name) const { return fs::exists(path(name)); }

  test::TemporaryDirectory here_;
};

std::ptrdiff_t count(const run::Run& run, State state) {
  return std::count_if(run.measurements.begin(), run.measurements.end(),
                       [state](const auto& measurement) { return measurement.state == state; });
}

class KitShell : public Kit, public ::testing::WithParamInterface<Words> {};

TEST_P(KitShell, RecordsEveryMeasurement) {
  if (!find_program(GetParam().front())) GTEST_SKIP() << GetParam().front() << " is missing";
  make_kit({"-e", "access,faults,cpu-clock", "-p", "none,pp", "--samples", "200"});
  const Completed done = run_kit({}, GetParam());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("skidscan.run: 6 measurements\n"));
  EXPECT_THAT(done.out, HasSubstr("read it with: skidscan report skidscan.run\n"));
  EXPECT_THAT(done.err, HasSubstr("run.sh: [6/6] cpu-clock:pp: "));
  const run::Run run = read();
  EXPECT_EQ(count(run, State::finished), 6);
  for (const auto& measurement : run.measurements) {
    EXPECT_TRUE(measurement.target_report) << measurement.requested;
  }
  EXPECT_FALSE(exists("skidscan.run/lock"));
  EXPECT_EQ(test::skidscan({"report"}, here_.path()).code.status, 0);
}
INSTANTIATE_TEST_SUITE_P(Shells, KitShell,
                         ::testing::Values(Words{"dash"}, Words{"busybox", "sh"}, Words{"bash"},
                                           Words{"bash", "--posix"}));

TEST_F(Kit, PassesShellcheck) {
  if (!find_program("shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  make_kit({"--check-ip"});
  const Completed done = run_program({"shellcheck", "--shell=sh", "kit/run.sh"}, here_.path());
  EXPECT_TRUE(done.code.success()) << done.out;
}

/// The words with what differs from one recording to the next replaced.
Words without_paths(Words words, const fs::path& directory) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::size_t at = word->find(directory.string() + "/");
    if (at == 0) *word = "RUN" + word->substr(directory.string().size());
    if (word->starts_with("fifo:")) *word = "FIFOS";
    if (word->ends_with("/control") || word->ends_with("/acknowledge")) {
      *word = fs::path(*word).filename();
    }
    // Where there were too few samples it was recorded again for longer.
    if (word != words.begin() && *(word - 1) == "--seconds") *word = "SECONDS";
  }
  return words;
}

TEST_F(Kit, RecordsWhatRecordDoes) {
  const Words what{"-e", "access,execute,faults,cpu-clock", "-p", "none,pp", "--samples", "300"};
  Words arguments = what;
  arguments.insert(arguments.begin(), "record");
  arguments.insert(arguments.end(), {"-q", "-o", "a.run"});
  ASSERT_EQ(test::skidscan(arguments, here_.path()).code.status, 0);
  make_kit(what);
  ASSERT_EQ(run_kit({"-o", "b.run"}).code.status, 0);
  const run::Run a = read("a.run"), b = read("b.run");

  EXPECT_EQ(a.cpu, b.cpu);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.perf.path, b.perf.path);
  EXPECT_EQ(a.perf.version, b.perf.version);
  EXPECT_EQ(json::parse(run::description_of(a))["machine"],
            json::parse(run::description_of(b))["machine"]);
  ASSERT_EQ(a.targets.size(), b.targets.size());
  for (std::size_t i = 0; i < a.targets.size(); ++i) {
    EXPECT_EQ(a.targets[i].file, b.targets[i].file);
    EXPECT_EQ(a.targets[i].build_id, b.targets[i].build_id);
  }
  ASSERT_EQ(a.measurements.size(), 8U);
  ASSERT_EQ(b.measurements.size(), 8U);
  for (std::size_t i = 0; i < a.measurements.size(); ++i) {
    const run::PlannedMeasurement &one = a.measurements[i], &other = b.measurements[i];
    EXPECT_EQ(one.requested, other.requested);
    EXPECT_EQ(one.perf_event, other.perf_event);
    EXPECT_EQ(one.period, other.period);
    EXPECT_EQ(one.file, other.file);
    EXPECT_EQ(one.state, other.state);
    EXPECT_EQ(without_paths(one.command, fs::canonical(path("a.run"))),
              without_paths(other.command, fs::canonical(path("b.run"))));
  }

  const auto skids = [this](const std::string& run) {
    const Completed done = test::skidscan({"report", "--format", "json", run}, here_.path());
    EXPECT_EQ(done.code.status, 0) << done.err;
    std::vector<std::string> modes;
    const json document = json::parse(done.out);
    for (const json& measurement : document["measurements"]) {
      const std::string event = measurement["event"]["requested"];
      if (event.starts_with("cpu-clock")) continue;
      modes.push_back(
          fmt::format("{} {}", event, measurement["skid"]["instructions"]["mode"].get<int>()));
    }
    return modes;
  };
  EXPECT_EQ(skids("a.run"), skids("b.run"));
  EXPECT_THAT(skids("b.run"), Contains("access 1"));
  EXPECT_THAT(skids("b.run"), Contains("execute:pp 0"));
  const Completed compared =
      test::skidscan({"compare", "--baseline", "a.run", "b.run", "--format", "json"}, here_.path());
  EXPECT_EQ(compared.code.status, 0) << compared.err;
}

TEST_F(Kit, WithoutPerfSaysWhatToInstall) {
  make_small_kit();
  // All that there is but perf.
  const Completed done = run_kit({}, {"sh", "-c",
                                      "mkdir bin; for d in /usr/sbin /usr/bin /sbin /bin; do for f "
                                      "in $d/*; do [ \"${f##*/}\" = perf ] || ln -s $f bin/ "
                                      "2>/dev/null; done; done; PATH=$PWD/bin exec sh \"$@\"",
                                      "sh"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, StartsWith("run.sh: perf: not found in PATH; install it (Debian: "));
  EXPECT_EQ(done.out, "");
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, WithAPerfThatDoesNotRunSaysWhatItSaid) {
  make_small_kit();
  make_perf("echo 'WARNING: perf not found for kernel 6.5.0' >&2; exit 2\n");
  const Completed done = run_kit({}, with_that_perf());
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, HasSubstr("does not run: WARNING: perf not found for kernel 6.5.0; "
                                  "install it"));
  EXPECT_FALSE(exists("skidscan.run"));
}

/// What perf 6.1 says to a user where kernel.perf_event_paranoid is 4.
constexpr const char* kParanoid = R"(cat >&2 <<'END'
Error:
Access to performance monitoring and observability operations is limited.
Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open
access to performance monitoring and observability operations for processes
without CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.
END
exit 255
)";

TEST_F(Kit, WhereNothingMayBeSampledNamesTheSettingAndLeavesNothing) {
  make_small_kit();
  make_perf(std::string("[ \"$1\" = --version ] && { echo perf version 6.1.0; exit; }\n") +
            kParanoid);
  const Completed done = run_kit({}, with_that_perf());
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, StartsWith("run.sh: nothing can be sampled here: no permission "
                                   "(kernel.perf_event_paranoid is "));
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, WhereOneEventMayNotBeSampledNotesItAndGoesOn) {
  make_kit({"-e", "execute,access", "-p", "none", "--samples", "200"});
  make_perf("case \" $* \" in *' record '*:x' '*) " + std::string(kParanoid) + ";; esac\nexec " +
            real_perf() + " \"$@\"\n");
  const Completed done = run_kit({}, with_that_perf());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("execute: not recorded: no permission to sample it"));
  const run::Run run = read();
  EXPECT_EQ(run.measurements.at(0).state, State::refused);
  EXPECT_THAT(run.measurements.at(0).reason, StartsWith("no permission to sample it (kernel."));
  EXPECT_EQ(run.measurements.at(1).state, State::finished);
}

TEST_F(Kit, OfAnotherUserRecordsWhatThatOneMay) {
  if (machine::inspect().perf_event_paranoid.value_or(0) != 2) {
    GTEST_SKIP() << "kernel.perf_event_paranoid is not 2";
  }
  const Words nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  if (::geteuid() != 0 || !find_program("setpriv")) GTEST_SKIP() << "no other user can be had";
  make_kit({"-e", "cpu-clock:k,cpu-clock:u", "-p", "none", "--samples", "50"});
  ASSERT_EQ(::chmod(here_.path().c_str(), 0777), 0);
  Words shell = nobody;
  shell.emplace_back("sh");
  const Completed done = run_kit({}, shell);
  EXPECT_EQ(done.code.status, 0) << done.err;
  const run::Run run = read();
  EXPECT_EQ(run.measurements.at(0).state, State::refused);
  EXPECT_THAT(run.measurements.at(0).reason,
              HasSubstr("no permission to sample it (kernel.perf_event_paranoid is 2)"));
  EXPECT_EQ(run.measurements.at(1).state, State::finished);
}

TEST_F(Kit, GoesOnAfterEventsThatPerfOrTheKernelDoesNotKnow) {
  make_kit(
      {"-e", "nonsense_event,no_such_pmu/event=0x1/,access", "-p", "none,ppp", "--samples", "200"});
  const Completed done = run_kit();
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(": 2 measurements, 4 refused by this machine\n"));
  const run::Run run = read();
  EXPECT_THAT(run.measurements.at(0).reason, StartsWith("perf does not know this event ("));
  EXPECT_EQ(run.measurements.at(2).state, State::refused);
  EXPECT_NE(run.measurements.at(2).reason, "");
  EXPECT_EQ(run.measurements.at(5).state, State::finished);
  const Completed report = test::skidscan({"report"}, here_.path());
  EXPECT_EQ(report.code.status, 0) << report.err;
  EXPECT_THAT(report.err, HasSubstr("nonsense_event:ppp was not recorded: perf does not know"));
}

TEST_F(Kit, WhereEverythingIsRefusedSaysWhyAndLeavesNothing) {
  make_kit({"-e", "nonsense_event", "-p", "none,p", "--samples", "200"});
  const Completed done = run_kit({"-q"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, StartsWith("run.sh: nothing was recorded: this machine refused every "
                                   "measurement; of the first perf said: nonsense_event: "));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, WithAnOldPerfLeavesOutItsOptions) {
  make_small_kit();
  make_perf(
      "case \" $* \" in\n  ' --version ') echo perf version 5.0.21; exit ;;\n"
      "  *' --control fifo:'*|*' --no-bpf-event '*) echo unknown option >&2; exit 129 ;;\n"
      "esac\nexec " +
      real_perf() + " \"$@\"\n");
  const Completed done = run_kit({}, with_that_perf());
  EXPECT_EQ(done.code.status, 0) << done.err;
  const run::Run run = read();
  EXPECT_EQ(run.perf.version, "5.0.21");
  EXPECT_EQ(count(run, State::finished), 2);
  EXPECT_THAT(run.notes, Contains(StartsWith("perf 5.0.21 has no --control")));
  EXPECT_THAT(run.measurements.at(0).command, Not(Contains("--ack")));
}

/// A perf that gives so many samples, and notes how long each target was to run.
std::string perf_with_samples(const std::string& numbers) {
  return "case $1 in --version) echo perf version 6.1.0; exit ;; esac\n"
         "last=; output=; seconds=\n"
         "for word; do\n  case $last in -o) output=$word ;; --seconds) seconds=$word ;; esac\n"
         "  last=$word\ndone\n"
         "[ -n \"$seconds\" ] || exit 0\n"
         "echo \"$seconds\" >>tries\n"
         "set -- " +
         numbers +
         "\nshift $(($(wc -l <tries) - 1))\n"
         "printf PERFILE2 >\"$output\"\n"
         "echo '{\"skidscan_target_report\": 1, \"iterations\": 5, \"elapsed_seconds\": 0.5,"
         " \"ticks_per_nop\": 0.1, \"ticks_per_second\": 1000, \"cpu\": 1, \"warnings\": []}'\n"
         "echo \"[ perf record: Captured and wrote 0.2 MB x ($1 samples) ]\" >&2\n";
}

TEST_F(Kit, RecordsAgainForLongerAsRecordDoes) {
  const std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> cases{
      {5000, {17, 4999, 5000}},
      {300, {0, 0, 0}},
      {5000, {4000, 4000, 4000, 4000, 4000, 4000}},
      {1'000'000'000, {999'999'999, 1, 3}},
  };
  make_perf("");
  for (const auto& [asked, samples] : cases) {
    make_kit({"--force", "-e", "cycles", "-p", "none", "--samples", std::to_string(asked)});
    make_perf(perf_with_samples(fmt::format("{}", fmt::join(samples, " "))));
    const Completed done = run_kit({"-f"}, with_that_perf());
    ASSERT_EQ(done.code.status, 0) << done.err;
    std::vector<std::string> expected;
    std::optional<std::chrono::nanoseconds> length = std::chrono::seconds(1);
    for (const std::uint64_t number : samples) {
      if (!length) break;
      expected.push_back(runway::seconds_text(*length));
      length = perftool::next_length(*length, number, asked);
    }
    std::vector<std::string> tried;
    std::ifstream lines(path("skidscan.run/tries"));
    for (std::string line; std::getline(lines, line);) tried.push_back(line);
    EXPECT_EQ(tried, expected) << asked;
    const run::Run run = read();
    const auto recorded = std::get<std::chrono::nanoseconds>(run.measurements.at(0).length);
    EXPECT_EQ(runway::seconds_text(recorded), expected.back());
  }
}

TEST_F(Kit, OnADiskThatFillsUpKeepsWhatIsFinished) {
  make_kit({"-e", "access,execute", "-p", "none,p", "--samples", "20000"});
  const test::SmallDisk disk(path("disk"), "2000k");
  if (!disk.mounted()) GTEST_SKIP() << "no permission to mount a small tmpfs";
  const Completed done = run_kit({"-o", "disk/run"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, HasSubstr("cannot be written: no space left on device; "));
  EXPECT_THAT(done.err, HasSubstr(" of 4 measurements kept; finish with: sh "));
  const run::Run run = read("disk/run");
  EXPECT_GE(count(run, State::finished), 1);
  EXPECT_GE(count(run, State::pending), 1);
  EXPECT_EQ(count(run, State::refused), 0);
  for (const auto& entry : fs::recursive_directory_iterator(path("disk/run"))) {
    EXPECT_THAT(entry.path().string(), Not(EndsWith(".partial")));
  }
}

TEST_F(Kit, OnADiskTooSmallForAnythingLeavesNothing) {
  make_small_kit();
  for (const std::string size : {"8k", "64k", "200k"}) {
    const test::SmallDisk disk(path("disk"), size);
    if (!disk.mounted()) GTEST_SKIP() << "no permission to mount a small tmpfs";
    const Completed done = run_kit({"-o", "disk/run", "-q"});
    EXPECT_EQ(done.code.status, 1) << size;
    EXPECT_THAT(done.err, HasSubstr("no space left on device")) << size;
    EXPECT_TRUE(fs::is_empty(path("disk"))) << size;
  }
}

TEST_F(Kit, WhereNothingCanBeWrittenSaysSo) {
  make_small_kit();
  const test::SmallDisk disk(path("disk"), "64k");
  if (!disk.mounted() || !disk.make_read_only()) {
    GTEST_SKIP() << "no permission to mount a tmpfs that is read only";
  }
  const Completed done = run_kit({"-o", "disk/run"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_EQ(done.err, fmt::format("run.sh: {}: cannot be created: Read-only file system\n",
                                  path("disk/run").string()));
}

TEST_F(Kit, BrokenOffInTheMiddleIsFinishedByTheSameCommand) {
  make_kit({"-e", "access,execute", "--samples", "2000"});
  for (const int signal : {SIGTERM, SIGINT}) {
    ChildProcess child({"sh", "kit/run.sh"}, here_.path());
    const std::string mark = signal == SIGTERM ? "[2/8]" : "[4/8]";
    ASSERT_TRUE(wait_until(child, [&] {
      return child.result().err.find(mark) != std::string::npos;
    })) << child.result().err;
    ASSERT_EQ(::kill(child.pid(), signal), 0);
    finish(child);
    EXPECT_EQ(child.result().code.status, 128 + signal) << child.result().err;
    EXPECT_THAT(child.result().err, HasSubstr(" of 8 measurements kept; finish with: sh " +
                                              fs::canonical(path("skidscan.run/run.sh")).string()));
    EXPECT_TRUE(read().partial());
    EXPECT_FALSE(exists("skidscan.run/lock"));
  }
  const std::string first = test::content_of(path("skidscan.run/access.none.data"));
  const Completed report = test::skidscan({"report"}, here_.path());
  EXPECT_EQ(report.code.status, 0);
  EXPECT_THAT(report.err, HasSubstr("partial run"));
  EXPECT_THAT(report.err, HasSubstr("finish it with: sh skidscan.run/run.sh -o skidscan.run"));
  const Completed resumed = test::skidscan({"record", "--resume", "skidscan.run"}, here_.path());
  EXPECT_EQ(resumed.code.status, 1);
  EXPECT_THAT(resumed.err, HasSubstr("was begun by the run.sh of a kit; finish it with: sh "));

  // What a crash would have left: a lock of nobody and half a recording.
  fs::create_directory(path("skidscan.run/lock"));
  std::ofstream(path("skidscan.run/lock/owner")) << "999999999 " << machine::inspect().hostname;
  std::ofstream(path("skidscan.run/execute.ppp.data.partial")) << "x";
  // The run brings its script along.
  const Completed done =
      run_program({"sh", "skidscan.run/run.sh", "-o", "skidscan.run"}, here_.path());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_FALSE(read().partial());
  EXPECT_EQ(test::content_of(path("skidscan.run/access.none.data")), first);
  EXPECT_FALSE(exists("skidscan.run/execute.ppp.data.partial"));

  const Completed again = run_kit();
  EXPECT_EQ(again.code.status, 1);
  EXPECT_THAT(again.err, HasSubstr("skidscan.run: exists and is whole; "));
  EXPECT_EQ(run_kit({"-f", "-q"}).code.status, 0);
}

TEST_F(Kit, RecordsAgainWhatDiedWhenItIsResumed) {
  // perf's last word comes from the target that is killed, or not at all.
  const std::vector<std::pair<std::string, std::string>> deaths{
      {"echo '[ perf record: Captured and wrote 0.001 MB x ]' >&2; kill -KILL $$",
       "the target was killed by signal 9"},
      {"kill -KILL $$", "perf was killed by signal 9"},
      {"echo '[ perf record: Captured and wrote 0.001 MB x ]' >&2; exit 3",
       "the target ended before its end"}};
  make_kit({"-e", "access", "-p", "none,pp", "--samples", "200"});
  for (const auto& [death, reason] : deaths) {
    make_perf("case \"$*\" in *access.pp.data*) " + death + " ;; esac\nexec " + real_perf() +
              " \"$@\"\n");
    const Completed done = run_kit({"-f"}, with_that_perf());
    EXPECT_EQ(done.code.status, 1) << done.err;
    EXPECT_THAT(done.err, HasSubstr("1 of 2 measurements came to no end; 1 of 2 measurements kept; "
                                    "finish with: sh "));
    EXPECT_THAT(done.err, Not(HasSubstr("refused")));
    EXPECT_EQ(read().measurements.at(1).state, State::pending);
    const Completed report = test::skidscan({"report"}, here_.path());
    EXPECT_THAT(report.err, HasSubstr("partial run, 1 of 2 measurements are missing"));
    EXPECT_THAT(report.err, HasSubstr("access:pp was not recorded: " + reason));
    const Completed resumed = run_kit();
    EXPECT_EQ(resumed.code.status, 0) << resumed.err;
    EXPECT_EQ(count(read(), State::finished), 2);
  }
}

TEST_F(Kit, EndedBeforeItsFirstMeasurementIsBegunAnew) {
  make_small_kit();
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  // What a crash leaves before anything is recorded.
  for (const std::string name : {"session", "access.none.data", "access.pp.data"}) {
    fs::remove(path("skidscan.run/" + name));
  }
  const Completed done = run_kit();
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_EQ(count(read(), State::finished), 2);
  // The kit itself is none.
  EXPECT_THAT(run_kit({"-o", "kit"}).err, HasSubstr("kit: exists and is no run; name another"));
}

TEST_F(Kit, KeepsWhatPerfSaysWhereTmpdirHasRoom) {
  make_small_kit();
  fs::create_directory(path("here"));
  const Completed relative = run_kit({"-q"}, {"env", "TMPDIR=here", "sh"});
  EXPECT_EQ(relative.code.status, 0) << relative.err;
  EXPECT_EQ(relative.err, "");
  EXPECT_TRUE(fs::is_empty(path("here")));

  const test::SmallDisk disk(path("disk"), "16k");
  if (!disk.mounted()) GTEST_SKIP() << "no permission to mount a small tmpfs";
  const Completed full = run_kit({"-f", "-q"}, {"env", "TMPDIR=" + path("disk").string(), "sh"});
  EXPECT_EQ(full.code.status, 0) << full.err;
  EXPECT_EQ(full.err, "");
  EXPECT_TRUE(fs::is_empty(path("disk")));
}

TEST_F(Kit, LeavesWhatIsNotItsOwnAlone) {
  make_small_kit();
  fs::create_directory(path("thesis"));
  std::ofstream(path("thesis/chapter1")) << "x";
  for (const Words& arguments : {Words{"-o", "thesis"}, Words{"-o", "thesis", "-f"}}) {
    const Completed done = run_kit(arguments);
    EXPECT_EQ(done.code.status, 1);
    EXPECT_THAT(done.err, HasSubstr("thesis: exists and is no run"));
  }
  EXPECT_TRUE(exists("thesis/chapter1"));
  fs::create_symlink("nowhere", path("link"));
  for (const std::string name : {"thesis/chapter1", "link"}) {
    for (const Words& arguments : {Words{"-o", name}, Words{"-o", name, "-f"}}) {
      const Completed done = run_kit(arguments);
      EXPECT_EQ(done.code.status, 1);
      EXPECT_THAT(done.err, HasSubstr(name + ": exists and is no run"));
    }
  }

  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  ASSERT_EQ(fs::remove(path("skidscan.run/results/access.none.data.result")), true);
  std::ofstream(path("skidscan.run/identity"), std::ios::app) << "another";
  EXPECT_THAT(run_kit().err, HasSubstr("was begun on another machine or kernel"));
  make_kit({"--force", "-e", "access", "-p", "none", "--samples", "200"});
  EXPECT_THAT(run_kit().err, HasSubstr("is a run of another kit"));
}

TEST_F(Kit, DoesNotRecordWhereAnotherDoes) {
  make_small_kit();
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  fs::remove(path("skidscan.run/access.none.data"));
  fs::create_directory(path("skidscan.run/lock"));
  std::ofstream(path("skidscan.run/lock/owner"))
      << ::getpid() << ' ' << machine::inspect().hostname << '\n';
  for (const Words& arguments : {Words{}, Words{"-f"}}) {
    const Completed done = run_kit(arguments);
    EXPECT_EQ(done.code.status, 1);
    EXPECT_THAT(done.err, HasSubstr("another run.sh records into it"));
  }
  EXPECT_TRUE(exists("skidscan.run/lock/owner"));
  EXPECT_TRUE(exists("skidscan.run/access.pp.data"));
}

TEST_F(Kit, GivesTheOldRunBackWhenTheNewOneHasNothing) {
  make_small_kit();
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  const std::string first = test::content_of(path("skidscan.run/access.none.data"));
  make_kit({"--force", "-e", "nonsense_event", "-p", "none"});
  EXPECT_EQ(run_kit({"-f", "-q"}).code.status, 1);
  EXPECT_EQ(test::content_of(path("skidscan.run/access.none.data")), first);
  EXPECT_FALSE(read().partial());
}

TEST_F(Kit, RecordsTheWitnessOrSaysThatItIsNotThere) {
  make_kit({"-e", "faults", "-p", "none", "--samples", "200", "--check-ip"});
  make_perf(
      "case \" $* \" in *exceptions:page_fault_user*)\n"
      "  echo \"event syntax error: 'exceptions:page_fault_user'\" >&2\n"
      "  echo '                     \\___ unknown tracepoint' >&2; exit 129 ;; esac\nexec " +
      real_perf() + " \"$@\"\n");
  const Completed without = run_kit({"-o", "without.run"}, with_that_perf());
  EXPECT_EQ(without.code.status, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("--check-ip: exceptions:page_fault_user cannot be recorded "
                                     "here (unknown tracepoint)"));
  const run::Run run = read("without.run");
  EXPECT_EQ(run.measurements.at(0).state, State::finished);
  EXPECT_EQ(run.measurements.at(0).witness, "");
  EXPECT_THAT(run.notes, Contains(StartsWith("--check-ip: ")));

  if (!run_program({"perf", "stat", "-e", "exceptions:page_fault_user", "true"}).code.success()) {
    GTEST_SKIP() << "this kernel does not offer exceptions:page_fault_user";
  }
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  EXPECT_EQ(read().measurements.at(0).witness, "exceptions:page_fault_user");
  EXPECT_THAT(test::skidscan({"report"}, here_.path()).out, HasSubstr("IP check: "));
}

TEST_F(Kit, IsATarThatIsTheSameEachTime) {
  if (!find_program("tar")) GTEST_SKIP() << "tar is not installed";
  const Words what{"-e", "access", "-p", "none", "--samples", "200"};
  ASSERT_EQ(kit(what).code.status, 0);
  EXPECT_THAT(kit(what).err, HasSubstr("skidscan-kit.tar: exists; replace it with --force"));
  Words to_pipe = what;
  to_pipe.insert(to_pipe.end(), {"-o", "-", "-q"});
  const Completed piped = kit(to_pipe);
  Words forced = what;
  forced.insert(forced.end(), {"--force"});
  const Completed done = kit(forced);
  EXPECT_THAT(done.out, HasSubstr("unpack it there and run: sh skidscan-kit/run.sh"));
  EXPECT_EQ(run_program({"tar", "-tf", "skidscan-kit.tar"}, here_.path()).out,
            "skidscan-kit/\nskidscan-kit/README.txt\nskidscan-kit/plan.json\nskidscan-kit/run.sh\n"
            "skidscan-kit/target.load\n");
  const std::string first = test::content_of(path("skidscan-kit.tar"));
  ASSERT_EQ(kit(forced).code.status, 0);
  EXPECT_EQ(test::content_of(path("skidscan-kit.tar")), first);
  std::ofstream(path("piped.tar"), std::ios::binary) << piped.out;
  EXPECT_THAT(run_program({"tar", "-tf", "piped.tar"}, here_.path()).out,
              HasSubstr("skidscan-kit/run.sh\n"));
  ASSERT_TRUE(run_program({"tar", "-xf", "skidscan-kit.tar"}, here_.path()).code.success());
  const Completed ran = run_program({"./skidscan-kit/run.sh", "-q"}, here_.path());
  EXPECT_EQ(ran.code.status, 0) << ran.err;
  EXPECT_THAT(test::content_of(path("skidscan-kit/README.txt")), HasSubstr("1 measurements"));
  EXPECT_THAT(test::skidscan({"report", "skidscan-kit"}, here_.path()).err,
              HasSubstr("a kit that has not recorded anything"));
}

TEST_F(Kit, ForAnotherArchitectureSaysSoThere) {
  const Completed done = kit({"--arch", "aarch64", "-e", "access", "-p", "none", "-o", "kit/"});
  if (done.err.find("not found in PATH") != std::string::npos) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code.status, 0) << done.err;
  if (machine::inspect().cpu.arch == "aarch64") GTEST_SKIP() << "this is aarch64";
  const Completed ran = run_kit();
  EXPECT_EQ(ran.code.status, 1);
  EXPECT_THAT(ran.err, StartsWith("run.sh: this kit is for aarch64 and this machine is x86_64"));
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, KnowsTheEventsOfTheCpuThatItIsFor) {
  if (machine::inspect().cpu.arch != "x86_64") GTEST_SKIP() << "libpfm4 knows Arm's CPUs here";
  const auto events_of = [this](Words arguments) {
    arguments.insert(arguments.end(), {"--force", "-q", "-o", "kit/"});
    const Completed done = kit(arguments);
    EXPECT_EQ(done.code.status, 0) << done.err;
    std::vector<std::string> events;
    for (const auto& planned : run::read_description(path("kit/plan.json")).measurements) {
      events.push_back(fmt::format("{} {}", planned.perf_event, planned.period));
    }
    return events;
  };
  const auto skylake = events_of({"--for", "skylake"});
  EXPECT_THAT(skylake, Contains("cpu/config=0x20d1,name=MEM_LOAD_RETIRED.L3_MISS/ppp 1009"));
  EXPECT_THAT(skylake, Contains("page-faults:pp 7"));
  const auto zen = events_of({"--for", "zen4"});
  EXPECT_THAT(zen, Contains("r076:pp 400208"));
  EXPECT_THAT(zen, Not(Contains(StartsWith("r076:ppp"))));
  const auto unknown = events_of({});
  EXPECT_THAT(unknown, Contains("branch-misses:ppp 10096"));
  EXPECT_THAT(unknown, Contains("cycles 400208"));
  EXPECT_THAT(events_of({"--for", "skl", "-e", "L2_RQSTS.MISS", "-p", "none"}),
              ::testing::ElementsAre(StartsWith("cpu/config=0x3f24,name=L2_RQSTS.MISS/ ")));
  EXPECT_THAT(kit({"--for", "no-such-cpu"}).err, HasSubstr("--for no-such-cpu: libpfm4"));
}

TEST_F(Kit, RefusesWrongUsage) {
  make_small_kit();
  for (const Words& arguments : {Words{"-x"}, Words{"extra"}, Words{"-o"}, Words{"-o", ""}}) {
    const Completed done = run_kit(arguments);
    EXPECT_EQ(done.code.status, 64);
    EXPECT_THAT(done.err, HasSubstr("usage: sh run.sh"));
  }
  EXPECT_EQ(run_kit({"--help"}).code.status, 0);
  EXPECT_EQ(kit({"--resume", "x"}).code.status, 64);
  EXPECT_EQ(kit({"-o", ""}).code.status, 64);
  EXPECT_EQ(kit({"--arch", "vax"}).code.status, 64);
  fs::create_directory(path("there"));
  EXPECT_THAT(kit({"-o", "there"}).err, HasSubstr("there: is a directory"));
  fs::remove(path("kit/target.load"));
  EXPECT_THAT(run_kit().err, HasSubstr("target.load: is missing; unpack the kit anew"));
}

}  // namespace
}  // namespace skid
