// A kit from outside: it is packed, its run.sh is run by the shells that there are, and what it
// leaves is read.
#include "src/machine/machine.h"
#include "src/run/run.h"
#include "src/support/process.h"
#include "tests/end_to_end/kit_fixture.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace skid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using run::State;
using test::Kit;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

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

TEST_F(Kit, RecordsTheCrossCheckOrReportsThatItIsMissing) {
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
  EXPECT_EQ(run.measurements.at(0).cross_check, "");
  EXPECT_THAT(run.notes, Contains(StartsWith("--check-ip: ")));

  if (!run_program({"perf", "stat", "-e", "exceptions:page_fault_user", "true"}).code.success()) {
    GTEST_SKIP() << "this kernel does not offer exceptions:page_fault_user";
  }
  ASSERT_EQ(run_kit({"-q"}).code.status, 0);
  EXPECT_EQ(read().measurements.at(0).witness, "exceptions:page_fault_user");
  EXPECT_THAT(test::skidscan({"report"}, here_.path()).out, HasSubstr("IP check"));
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
