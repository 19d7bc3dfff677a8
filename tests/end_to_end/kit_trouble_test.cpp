// A kit where something is wrong: perf, its permissions, disks, the end in the middle. Perf is the
// one of this machine or one that we made.
#include "src/machine/machine.h"
#include "src/perftool/retry.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/end_to_end/kit_fixture.h"
#include "tests/support/child_process.h"
#include "tests/support/program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid {
namespace {

namespace fs = std::filesystem;
using run::State;
using test::finish;
using test::wait_until;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

class KitInTrouble : public test::Kit {};

TEST_F(KitInTrouble, WithoutPerfSaysWhatToInstall) {
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

TEST_F(KitInTrouble, WithAPerfThatDoesNotRunSaysWhatItSaid) {
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

TEST_F(KitInTrouble, WhereNothingMayBeSampledNamesTheSettingAndLeavesNothing) {
  make_small_kit();
  make_perf(std::string("[ \"$1\" = --version ] && { echo perf version 6.1.0; exit; }\n") +
            kParanoid);
  const Completed done = run_kit({}, with_that_perf());
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, StartsWith("run.sh: nothing can be sampled here: no permission "
                                   "(kernel.perf_event_paranoid is "));
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(KitInTrouble, WhereOneEventMayNotBeSampledNotesItAndGoesOn) {
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

TEST_F(KitInTrouble, OfAnotherUserRecordsWhatThatOneMay) {
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

TEST_F(KitInTrouble, GoesOnAfterEventsThatPerfOrTheKernelDoesNotKnow) {
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

TEST_F(KitInTrouble, WhereEverythingIsRefusedSaysWhyAndLeavesNothing) {
  make_kit({"-e", "nonsense_event", "-p", "none,p", "--samples", "200"});
  const Completed done = run_kit({"-q"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.err, StartsWith("run.sh: nothing was recorded: this machine refused every "
                                   "measurement; of the first perf said: nonsense_event: "));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(KitInTrouble, WithAnOldPerfLeavesOutItsOptions) {
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

TEST_F(KitInTrouble, RecordsAgainForLongerAsRecordDoes) {
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

TEST_F(KitInTrouble, OnADiskThatFillsUpKeepsWhatIsFinished) {
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

TEST_F(KitInTrouble, OnADiskTooSmallForAnythingLeavesNothing) {
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

TEST_F(KitInTrouble, WhereNothingCanBeWrittenSaysSo) {
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

TEST_F(KitInTrouble, BrokenOffInTheMiddleIsFinishedByTheSameCommand) {
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

TEST_F(KitInTrouble, RecordsAgainWhatDiedWhenItIsResumed) {
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

TEST_F(KitInTrouble, EndedBeforeItsFirstMeasurementIsBegunAnew) {
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

TEST_F(KitInTrouble, KeepsWhatPerfSaysWhereTmpdirHasRoom) {
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

TEST_F(KitInTrouble, LeavesWhatIsNotItsOwnAlone) {
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

TEST_F(KitInTrouble, DoesNotRecordWhereAnotherDoes) {
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

TEST_F(KitInTrouble, GivesTheOldRunBackWhenTheNewOneHasNothing) {
  make_small_kit();
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  const std::string first = test::content_of(path("skidscan.run/access.none.data"));
  make_kit({"--force", "-e", "nonsense_event", "-p", "none"});
  EXPECT_EQ(run_kit({"-f", "-q"}).code.status, 1);
  EXPECT_EQ(test::content_of(path("skidscan.run/access.none.data")), first);
  EXPECT_FALSE(read().partial());
}

}  // namespace
}  // namespace skid
