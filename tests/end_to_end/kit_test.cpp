// `skidscan kit` and the script that it writes. Most tests use a perf that records nothing, which
// takes milliseconds; those of the recordings themselves use the real one.
#include "plots/labels.h"
#include "runway/target_run.h"
#include "src/machine/file_tree.h"
#include "src/machine/machine.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/child_process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/small_disk.h"

namespace skid {
namespace {

using run::State;

using Words = std::vector<std::string>;

class Kit : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return here_ / name; }
  bool exists(const std::string& name) const { return fs::exists(path(name)); }

  Completed kit(Words arguments) const {
    arguments.insert(arguments.begin(), "kit");
    return test::skidscan(arguments, here_.path());
  }
  /// A kit in the directory "kit".
  void make_kit(Words arguments) const {
    arguments.insert(arguments.end(), {"-q", "--force", "-o", "kit/"});
    ASSERT_THAT(kit(arguments), Exits(0));
  }
  /// Two small measurements.
  void make_small_kit() const { make_kit({"-e", "access", "-p", "none,pp", "--samples", "200"}); }

  /// A perf in the PATH of run_kit(): `script` first, then what a recording of `$samples` samples
  /// leaves. The script finds the values of -o and --seconds in $output and $seconds.
  void make_perf(const std::string& script = {}, const std::string& version = "6.1.0") const {
    fs::create_directory(path("bin"));
    std::ofstream(path("bin/perf"))
        << "#!/bin/sh\ncase $1 in --version) echo perf version " << version << "; exit ;; esac\n"
        << "last= output= seconds= samples=9999\nfor word; do\n"
           "  case $last in -o) output=$word ;; --seconds) seconds=$word ;; esac\n"
           "  last=$word\ndone\n"
        << script
        << "\n[ \"$1\" = record ] || exit 0\n"
           // A head of 104 bytes, with the size of the records at 48, and records of 8 bytes: a
           // sample is 9 (type), 0 (flags), 8 (size).
           "bytes() { for byte; do printf \"\\\\$(printf %03o \"$byte\")\"; done; }\n"
           "size=$((samples * 8))\n"
           "{ printf PERFILE2; head -c 32 /dev/zero; bytes 104 0 0 0 0 0 0 0\n"
           "  bytes $((size & 255)) $((size >> 8 & 255)) $((size >> 16 & 255)) 0 0 0 0 0\n"
           "  head -c 48 /dev/zero; yes AZZZZZBZ | head -n \"$samples\" | tr -d '\\n' |\n"
           "    tr AZB '\\011\\000\\010'; } >\"$output\"\n"
           "echo '{\"skidscan_target_report\": 1, \"iterations\": 5, \"elapsed_seconds\": 0.5,"
           " \"ticks_per_nop\": 0.1, \"ticks_per_second\": 1000, \"cpu\": 1, \"warnings\": []}'\n"
           "echo \"[ perf record: Captured and wrote 0.2 MB x ]\" >&2\n";
    fs::permissions(path("bin/perf"), fs::perms{0755});
  }
  Words command(const Words& arguments, const Words& shell) const {
    Words words{"env", fmt::format("PATH={}:{}", path("bin").string(), std::getenv("PATH"))};
    words.insert(words.end(), shell.begin(), shell.end());
    words.emplace_back("kit/run.sh");
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Completed run_kit(const Words& arguments = {}, const Words& shell = {"sh"}) const {
    return run_program(command(arguments, shell), here_.path());
  }

  run::Run read(const std::string& name = "skidscan.run") const {
    return run::read_run(path(name));
  }
  static std::ptrdiff_t count(const run::Run& run, State state) {
    return std::count_if(run.measurements.begin(), run.measurements.end(),
                         [state](const auto& measurement) { return measurement.state == state; });
  }

  test::TemporaryDirectory here_;
};

/// Records with the real perf.
class KitRecording : public Kit {
 protected:
  void SetUp() override { SKIP_WITHOUT("samples"); }
};

/// The event of a command line of perf, and what follows "--" up to the FIFOs, without paths.
Words without_paths(const Words& command) {
  Words words;
  for (std::string word : command) {
    if (word.starts_with("fifo:")) word = "FIFOS";
    words.push_back(fs::path(word).filename());
    // Where there were too few samples it was recorded again for longer.
    if (words.size() > 1 && words[words.size() - 2] == "--seconds") words.back() = "SECONDS";
    // Names of FIFOs.
    if (words.size() > 1 && (words[words.size() - 2] == "--ack" ||
                             (words[words.size() - 2] == "--control" && words.back() != "FIFOS"))) {
      words.back() = "FIFO";
    }
  }
  return words;
}

TEST_F(KitRecording, EqualsARunOfRecord) {
  const bool fire = test::why_without({"breakpoints"}).empty();
  const std::string events = fire ? "access,execute,cpu-clock" : "faults,cpu-clock";
  const std::size_t measurements = fire ? 6 : 4;
  const Words what{"-e", "nonsense_event," + events, "-p", "none,pp", "--samples", "100"};
  make_kit(what);
  const Completed ran = run_kit({"-o", "b.run"});
  ASSERT_EQ(ran.code.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("nonsense_event: not recorded: "));
  EXPECT_THAT(ran.out,
              HasSubstr(fmt::format("b.run: {} measurements, 2 refused by this machine; read "
                                    "them with: skidscan report b.run\n",
                                    measurements)));
  ASSERT_EQ(test::skidscan(
                {"record", "-e", events, "-p", "none,pp", "--samples", "100", "-q", "-o", "a.run"},
                here_.path())
                .code.status,
            0);
  const run::Run a = read("a.run"), b = read("b.run");
  EXPECT_THAT(b.measurements.at(0).reason, StartsWith("perf does not support this event ("));
  EXPECT_EQ(a.cpu, b.cpu);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.perf.path, b.perf.path);
  EXPECT_EQ(a.perf.version, b.perf.version);
  EXPECT_EQ(json::parse(run::description_of(a))["machine"],
            json::parse(run::description_of(b))["machine"]);
  EXPECT_EQ(a.targets.at(0).build_id, b.targets.at(0).build_id);
  ASSERT_EQ(a.measurements.size(), measurements);
  ASSERT_EQ(b.measurements.size(), measurements + 2);
  for (std::size_t i = 0; i < a.measurements.size(); ++i) {
    const run::PlannedMeasurement &one = a.measurements[i], &other = b.measurements[i + 2];
    EXPECT_EQ(one.requested, other.requested);
    EXPECT_EQ(one.file, other.file);
    EXPECT_EQ(other.state, State::finished);
    EXPECT_TRUE(other.target_report);
    EXPECT_EQ(without_paths(one.command), without_paths(other.command));
  }
  const auto modes = [this](const std::string& run) {
    const Completed done = test::skidscan({"report", "--format", "json", run}, here_.path());
    EXPECT_EQ(done.code.status, 0) << done.err;
    Words of_events;
    const json document = json::parse(done.out);
    for (const json& measurement : document["measurements"]) {
      const std::string event = measurement["event"]["requested"];
      if (event.starts_with("cpu-clock")) continue;
      of_events.push_back(
          fmt::format("{} {}", event, measurement["skid"]["instructions"]["mode"].get<int>()));
    }
    return std::pair(of_events, done.err);
  };
  EXPECT_EQ(modes("a.run").first, modes("b.run").first);
  if (fire) {
    const int after = test::why_without({"x86-64"}).empty() ? 1 : 0;
    EXPECT_THAT(modes("b.run").first, Contains(fmt::format("access {}", after)));
    EXPECT_THAT(modes("b.run").first, Contains("execute:pp 0"));
  } else {
    EXPECT_THAT(modes("b.run").first, ElementsAre("faults 0", "faults:pp 0"));
  }
  EXPECT_THAT(modes("b.run").second,
              HasSubstr("nonsense_event and 1 more were not recorded: perf does not "
                        "support"));
}

TEST_F(KitRecording, RecordsWhatAnotherUserMay) {
  SKIP_WITHOUT("another-user", "user-samples-only");
  make_kit({"-e", "cpu-clock:k,cpu-clock:u", "-p", "none", "--samples", "50"});
  ASSERT_EQ(::chmod(here_.path().c_str(), 0777), 0);
  EXPECT_THAT(run_kit({}, {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh"}),
              Exits(0));
  const run::Run run = read();
  EXPECT_EQ(run.measurements.at(0).state, State::refused);
  EXPECT_THAT(run.measurements.at(0).reason,
              HasSubstr("no permission to sample it (kernel.perf_event_paranoid is 2)"));
  EXPECT_EQ(run.measurements.at(1).state, State::finished);
}

TEST_F(Kit, PrintsNoControlCharactersOfPerfsMessages) {
  make_small_kit();
  // ESC, U+009B (CSI), what would become it if U+0080 were deleted, and a letter of two bytes.
  make_perf(
      "[ \"$1\" != record ] || { printf 'a\\033b\\302\\233c\\302\\302\\200\\233d\\303\\200\\n' "
      ">&2; "
      "exit 255; }");
  const Completed done = run_kit();
  EXPECT_THAT(done.out + done.err, HasSubstr("not recorded: ab?c\302?\233d\303\200"));
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("\302\233")));
}

class KitShell : public Kit, public ::testing::WithParamInterface<Words> {};

TEST_P(KitShell, RecordsEveryMeasurement) {
  SKIP_WITHOUT(GetParam().front());
  make_kit({"-e", "access,it's,cpu-clock", "-p", "none,pp", "--check-ip", "-e", "faults"});
  make_perf("case $* in stat*page_fault_user*) exit 1 ;; esac");
  const Completed done = run_kit({}, GetParam());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("--check-ip: exceptions:page_fault_user cannot be recorded"));
  EXPECT_THAT(done.out, HasSubstr("\n8/8 faults:pp: 9999 samples\nskidscan.run: 8 measurements, "));
  EXPECT_EQ(done.err, "");
  const run::Run run = read();
  EXPECT_EQ(count(run, State::finished), 8);
  EXPECT_THAT(run.measurements.at(2).command, Contains("it's"));
  EXPECT_EQ(run.measurements.at(6).cross_check, "");
  EXPECT_THAT(run.notes, Contains(StartsWith("--check-ip: ")));
  EXPECT_FALSE(exists("skidscan.run/lock"));
}

TEST_P(KitShell, RecordsWithoutDataAddressesWhereTheyAreRefused) {
  SKIP_WITHOUT(GetParam().front());
  make_kit({"-e", "access,cpu-clock", "-p", "pp"});
  make_perf(
      "case \" $* \" in *mem:*' -d '*) printf 'Error:\\nno data here\\n' >&2; exit 255 ;; esac");
  EXPECT_THAT(run_kit({}, GetParam()),
              Exits(0, ::testing::_,
                    HasSubstr("access:pp: data addresses are refused here: recorded without")));
  const run::Run run = read();
  EXPECT_EQ(count(run, State::finished), 2);
  EXPECT_FALSE(run.measurements.at(0).data_addresses);
  EXPECT_THAT(run.measurements.at(0).messages, Contains(StartsWith("data addresses are refused")));
  EXPECT_TRUE(run.measurements.at(1).data_addresses);
  EXPECT_THAT(run.measurements.at(1).command, Contains("-d"));
}
INSTANTIATE_TEST_SUITE_P(Shells, KitShell,
                         ::testing::Values(Words{"dash"}, Words{"busybox", "sh"}, Words{"bash"},
                                           Words{"bash", "--posix"}));

TEST_F(Kit, WritesTheSameTarEachTime) {
  SKIP_WITHOUT("tar");
  const Words what{"-e", "access", "-p", "none", "--samples", "200"};
  ASSERT_EQ(kit(what).code.status, 0);
  EXPECT_THAT(kit(what).err, HasSubstr("skidscan-kit.tar: exists; replace it with --force"));
  Words forced = what;
  forced.emplace_back("--force");
  EXPECT_THAT(kit(forced).out, HasSubstr("and run: sh skidscan-kit/run.sh"));
  const std::string first = test::content_of(path("skidscan-kit.tar"));
  ASSERT_EQ(kit(forced).code.status, 0);
  EXPECT_TRUE(test::content_of(path("skidscan-kit.tar")) == first);
  EXPECT_EQ(run_program({"tar", "-tf", "skidscan-kit.tar"}, here_.path()).out,
            "skidscan-kit/\nskidscan-kit/README.txt\nskidscan-kit/plan.json\nskidscan-kit/run.sh\n"
            "skidscan-kit/target.load\n");
  Words piped = what;
  piped.insert(piped.end(), {"-o", "-", "-q"});
  std::ofstream(path("piped.tar"), std::ios::binary) << kit(piped).out;
  EXPECT_THAT(run_program({"tar", "-xvf", "piped.tar"}, here_.path()).out,
              HasSubstr("skidscan-kit/run.sh\n"));
  EXPECT_THAT(test::content_of(path("skidscan-kit/README.txt")), HasSubstr("1 measurements"));
  EXPECT_THAT(test::skidscan({"report", "skidscan-kit"}, here_.path()).err,
              HasSubstr("a kit that has not recorded anything"));
}

TEST_F(Kit, RefusesToRunOnAnotherArchitecture) {
  const std::string here = machine::inspect().cpu.arch;
  const std::string there = here == "aarch64" ? "x86_64" : "aarch64";
  const Completed done = kit({"--arch", there, "-e", "access", "-p", "none", "-o", "kit/"});
  if (done.err.find("not found in PATH") != std::string::npos) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(run_kit(),
              Exits(1, StartsWith("run.sh: this kit is for " + there + " and this machine is ")));
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, PlansTheEventsOfItsCpu) {
  SKIP_WITHOUT("x86-64");
  const auto events_of = [this](const Words& arguments) {
    make_kit(arguments);
    return test::mapped(run::read_description(path("kit/plan.json")).measurements,
                        [](const auto& planned) {
                          return fmt::format("{} {}", planned.perf_event, planned.period);
                        });
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
              ElementsAre(StartsWith("cpu/config=0x3f24,name=L2_RQSTS.MISS/ ")));
  EXPECT_THAT(kit({"--for", "no-such-cpu"}).err,
              HasSubstr("--for no-such-cpu: neither Intel's event files nor libpfm4"));
}

TEST_F(Kit, RefusesWrongUsage) {
  make_small_kit();
  make_perf();
  for (const Words& arguments : {Words{"-x"}, Words{"extra"}, Words{"-o"}, Words{"-o", ""}}) {
    EXPECT_THAT(run_kit(arguments), Exits(64, HasSubstr("usage: sh run.sh")));
  }
  EXPECT_THAT(run_kit({"--help"}).out, HasSubstr("usage: sh run.sh"));
  EXPECT_EQ(kit({"--resume", "x"}).code.status, 64);
  EXPECT_EQ(kit({"-o", ""}).code.status, 64);
  EXPECT_EQ(kit({"--arch", "vax"}).code.status, 64);
  fs::create_directory(path("there"));
  EXPECT_THAT(kit({"-o", "there"}).err, HasSubstr("there: is a directory"));
  EXPECT_EQ(kit({"--slurm", "-o", "kit.tar"}).code.status, 64);
  fs::remove(path("kit/target.load"));
  EXPECT_THAT(run_kit(), Exits(1, HasSubstr("target.load")));
}

TEST_F(Kit, ReportsAPerfThatDoesNotRun) {
  make_small_kit();
  EXPECT_THAT(run_kit({}, {"env", "PERF=no-such-perf", "sh"}),
              Exits(1, StartsWith("run.sh: no-such-perf: not found in PATH; install it (Debian")));
  make_perf();
  std::ofstream(path("bin/perf")) << "#!/bin/sh\necho 'WARNING: perf not found for kernel 6.5.0'\n";
  EXPECT_THAT(run_kit(),
              Exits(1, HasSubstr("printed no version ('WARNING: perf not found for kernel "
                                 "6.5.0'); install it")));
  EXPECT_FALSE(exists("skidscan.run"));
}

TEST_F(Kit, OmitsOptionsThatAnOldPerfLacks) {
  make_small_kit();
  make_perf({}, "5.0.21");
  EXPECT_THAT(run_kit(), Exits(0));
  const run::Run run = read();
  EXPECT_EQ(run.perf.version, "5.0.21");
  EXPECT_THAT(run.notes, Contains(StartsWith("perf 5.0.21 has no --control")));
  for (const std::string option : {"--no-bpf-event", "--control", "--ack"}) {
    EXPECT_THAT(run.measurements.at(0).command, Not(Contains(option)));
  }
}

TEST_F(Kit, RecordsOnceMoreForLonger) {
  struct Case {
    std::string asked, first, second;
    Words tries;
  };
  for (const Case& example : {Case{"5000", "4999", "5000", {"1.000000000", "2.000000000"}},
                              Case{"5000", "1000", "1000", {"1.000000000", "6.000000000"}},
                              Case{"300", "0", "0", {"1.000000000", "2.000000000"}},
                              Case{"1000000000", "999", "1", {"1.000000000", "16.000000000"}},
                              Case{"300", "300", "-", {"1.000000000"}}}) {
    make_kit({"-e", "cycles", "-p", "none", "--samples", example.asked});
    make_perf("echo \"$seconds\" >>tries\n[ $(wc -l <tries) -eq 1 ] && samples=" + example.first +
              " || samples=" + example.second);
    const std::string run = "run." + example.asked + "." + example.first;
    ASSERT_EQ(run_kit({"-o", run}).code.status, 0);
    EXPECT_EQ(test::lines_of(read_file(path(run + "/tries"), 1000)), example.tries);
    EXPECT_EQ(runway::seconds_text(
                  std::get<std::chrono::nanoseconds>(read(run).measurements.at(0).length)),
              example.tries.back());
  }
}

TEST_F(Kit, StopsOnAFullDisk) {
  make_small_kit();
  make_perf(
      "case $output in *.pp.*) head -c 3000000 /dev/zero >\"$output\" 2>/dev/null ||\n"
      "  { echo 'failed to write: No space left on device' >&2; exit 255; } ;; esac");
  SKIP_WITHOUT("mount");
  const test::SmallDisk disk(path("disk"), "2000k");
  ASSERT_TRUE(disk.mounted());
  EXPECT_THAT(run_kit({"-o", "disk/run"}), Exits(1, HasSubstr("no space left on device")));
  const run::Run run = read("disk/run");
  EXPECT_EQ(run.measurements.at(0).state, State::finished);
  EXPECT_EQ(run.measurements.at(1).state, State::pending);
  EXPECT_FALSE(exists("disk/run/access.pp.data.partial"));
  ASSERT_TRUE(disk.make_read_only());
  EXPECT_THAT(run_kit({"-o", "disk/other"}).err, HasSubstr("Read-only file system; name another"));
}

TEST_F(Kit, ContinuesAnInterruptedRun) {
  make_small_kit();
  make_perf("case $output in *.pp.*) [ -e ../go ] || { : >../reached; exec sleep 60; } ;; esac");
  ChildProcess child(command({}, {"sh"}), here_.path());
  ASSERT_TRUE(test::wait_until(child, [&] { return exists("reached"); })) << child.result().err;
  EXPECT_THAT(run_kit(), Exits(1, HasSubstr("skidscan.run: another run.sh is recording into it")));
  ASSERT_EQ(::kill(child.pid(), SIGTERM), 0);
  test::finish(child);
  EXPECT_EQ(child.result().code.status, 128 + SIGTERM) << child.result().err;
  EXPECT_THAT(child.result().err, HasSubstr("interrupted; the same command continues the run"));
  EXPECT_TRUE(read().partial());
  EXPECT_FALSE(exists("skidscan.run/lock"));
  EXPECT_THAT(test::skidscan({"record", "--resume", "skidscan.run"}, here_.path()),
              Exits(1, HasSubstr("was begun by the run.sh of a kit; finish it with: sh ")));

  // A crash leaves half a recording. The run has its own copy of the script.
  std::ofstream(path("skidscan.run/access.pp.data.partial")) << "x";
  std::ofstream(path("skidscan.run/access.none.data"), std::ios::app) << "kept";
  std::ofstream(path("go")) << "";
  Words words = command({"-o", "skidscan.run"}, {"sh"});
  std::replace(words.begin(), words.end(), std::string("kit/run.sh"),
               std::string("skidscan.run/run.sh"));
  EXPECT_THAT(run_program(words, here_.path()), Exits(0));
  EXPECT_FALSE(read().partial());
  EXPECT_THAT(test::content_of(path("skidscan.run/access.none.data")), EndsWith("kept"));
  EXPECT_FALSE(exists("skidscan.run/access.pp.data.partial"));
}

TEST_F(Kit, DistinguishesDeathFromRefusal) {
  make_kit({"-e", "access,execute,cpu-clock", "-p", "none", "--samples", "200"});
  make_perf(
      "case $output in\n  execute*) kill -KILL $$ ;;\n"
      "  cpu-clock*) echo 'Error:' >&2; echo 'The event is not supported.' >&2; exit 255 ;;\n"
      "esac");
  const Completed done = run_kit();
  EXPECT_EQ(done.code.status, 1);
  EXPECT_THAT(done.out, HasSubstr("3/3 cpu-clock: not recorded: Error: The event is not support"));
  EXPECT_THAT(done.err, HasSubstr("perf or the target died in 1 measurements, 1 were recorded; "
                                  "the same command continues the run"));
  const run::Run run = read();
  EXPECT_EQ(run.measurements.at(1).state, State::pending);
  EXPECT_THAT(run.measurements.at(1).reason, StartsWith("perf was killed by signal 9"));
  EXPECT_EQ(run.measurements.at(2).state, State::refused);
  const std::string messages = test::skidscan({"report"}, here_.path()).err;
  EXPECT_THAT(messages, HasSubstr("partial run"));
  EXPECT_THAT(messages, HasSubstr("cpu-clock was not recorded: The event is not supported."));
  if (!machine::inspect().has_core_pmu()) {
    EXPECT_THAT(messages, HasSubstr("remedy: skidscan doctor --root skidscan.run/machine\n"));
  }
  make_perf();
  EXPECT_EQ(run_kit().code.status, 0);
  EXPECT_EQ(count(read(), State::finished), 3);
}

TEST_F(Kit, ReportsWhyNothingWasRecorded) {
  make_small_kit();
  make_perf("echo 'Error:' >&2; echo 'Access to performance monitoring is limited.' >&2; exit 255");
  EXPECT_THAT(run_kit(),
              Exits(1,
                    "run.sh: nothing was recorded: 1/2 access: Error: Access to performance "
                    "monitoring is limited. \n"));
}

TEST_F(Kit, KeepsItsCpuAndDirectoryInOddCases) {
  make_kit({"-e", "access", "-p", "none", "--samples", "200", "--cpu", "0"});
  make_perf();
  ASSERT_EQ(run_kit({"-o", "-"}).code.status, 0);
  // A full disk can leave the session empty, and the CPU is that of the kit again.
  fs::resize_file(path("-/session"), 0);
  fs::remove(path("-/access.none.data"));
  ASSERT_EQ(run_kit({"-o", "-"}).code.status, 0);
  EXPECT_EQ(read("-").cpu, 0);
}

TEST_F(Kit, NamesTheOptionThatAPmuRequires) {
  EXPECT_THAT(
      kit({"--pmu", "cpu_atom"}),
      Exits(test::kUsage, HasSubstr("--pmu cpu_atom: is a PMU of a CPU; name the CPU with --for")));
  EXPECT_THAT(
      kit({"--for", "skl", "--pmu", "cpu_atom"}),
      Exits(test::kFailed, HasSubstr("--pmu cpu_atom: no core PMU has that name; expected cpu\n")));
}

TEST_F(Kit, SubmitsAJobForEachConstraint) {
  make_kit({"-e", "access", "--slurm"});
  make_perf();
  for (const char* name : {"bin/sbatch", "bin/squeue"}) {
    std::ofstream(path(name)) << "#!/bin/sh\necho \"$@\"\n";
    fs::permissions(path(name), fs::perms{0755});
  }
  const Completed done =
      run_program({"env", fmt::format("PATH={}:{}", path("bin").string(), std::getenv("PATH")),
                   "kit/submit.sh", "--features", "a&b,a|b"},
                  here_.path());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("--constraint=a&b "));
  EXPECT_THAT(done.out, HasSubstr("results/a+b.log"));
  EXPECT_THAT(done.out, HasSubstr("results/a,b.log"));
}

TEST_F(Kit, KeepsTheRunOfTheFirstOfTwoJobs) {
  make_kit({"-e", "access", "--slurm"});
  // The first job ends while the second one records.
  std::ofstream(path("kit/run.sh")) << "mkdir \"$2\" results/one.run; echo x >results/one.run/x";
  fs::create_directory(path("results"));
  const std::vector<std::string> job{"sh", "kit/submit.sh", "--record", "kit", "results/one"};
  const Completed second = run_program(job, here_.path());
  EXPECT_THAT(second,
              Exits(1, HasSubstr("results/one.run: recorded by another job in the meantime")));
  EXPECT_THAT(test::names_in(path("results/one.run")), SizeIs(1));
  EXPECT_THAT(test::names_in(path("results")), SizeIs(2)) << "the second run is lost";
  EXPECT_THAT(run_program(job, here_.path()),
              Exits(0, ::testing::_, "results/one.run: recorded by another job\n"));
}

TEST_F(Kit, LeavesOtherDirectoriesUnchanged) {
  make_small_kit();
  make_perf();
  fs::create_directory(path("thesis"));
  std::ofstream(path("thesis/chapter1")) << "x";
  fs::create_symlink("nowhere", path("link"));
  for (const std::string name : {"thesis", "thesis/chapter1", "link", "kit"}) {
    EXPECT_THAT(run_kit({"-o", name}), Exits(1, HasSubstr("name another directory with -o")));
  }
  EXPECT_EQ(test::content_of(path("thesis/chapter1")), "x");

  ASSERT_EQ(run_kit().code.status, 0);
  std::ofstream(path("skidscan.run/identity"), std::ios::app) << "another";
  EXPECT_THAT(run_kit().err, HasSubstr("was begun on another machine or kernel"));
  ASSERT_EQ(run_kit({"-o", "other.run"}).code.status, 0);
  make_kit({"-e", "access", "-p", "none", "--samples", "200"});
  EXPECT_THAT(run_kit({"-o", "other.run"}).err, HasSubstr("is a run of another kit"));
}

}  // namespace
}  // namespace skid
