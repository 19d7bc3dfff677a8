// `skidscan doctor` on this machine, and on the trees of tests/machines, which are written by hand
// from the kernel's documentation.
#include "src/machine/machine.h"
#include "src/output/escape.h"
#include "tests/support/breakpoints.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string tree(const std::string& name) {
  return std::string(SKIDSCAN_TEST_DATA) + "/machines/" + name;
}

json doctor_json(const std::vector<std::string>& more, int status) {
  std::vector<std::string> arguments{"doctor", "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto done = test::skidscan(arguments);
  EXPECT_EQ(done.code.status, status) << done.err;
  EXPECT_EQ(done.err, "");
  json object = json::parse(done.out);
  EXPECT_EQ(object["schema"], "skidscan.doctor/1");
  EXPECT_EQ(object["exit_status"], status);
  return object;
}

std::vector<std::string> usable_events(const json& object) {
  std::vector<std::string> names;
  for (const auto& event : object["events"]) {
    if (event["usable"]) names.push_back(event["name"]);
  }
  return names;
}

/// The page 80 columns wide.
Completed doctor_page(const std::vector<std::string>& more) {
  ::setenv("COLUMNS", "80", 1);
  std::vector<std::string> arguments{"doctor"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  auto done = test::skidscan(arguments);
  ::unsetenv("COLUMNS");
  return done;
}

TEST(Doctor, ListsTheEventsThatRecordCanSampleWithoutPmu) {
  SKIP_WITHOUT_BREAKPOINTS();
  if (!find_program("perf")) GTEST_SKIP() << "perf is not installed";
  if (machine::inspect().has_core_pmu()) GTEST_SKIP() << "this machine has a core PMU";
  const json object = doctor_json({}, 3);
  EXPECT_EQ(object["tried"], true);
  EXPECT_THAT(usable_events(object), ElementsAre("access", "execute", "faults", "cpu-clock"));
  EXPECT_EQ(object["perf"]["version"], machine::find_perf().version);
  EXPECT_EQ(object["events"].size(), 4U);
  for (const auto& event : object["events"]) {
    EXPECT_EQ(event["levels"], json({0, 1, 2, 3})) << event;
    EXPECT_EQ(event["refused"], nullptr);
  }
  EXPECT_THAT(object["problems"].dump(), HasSubstr("\"no_core_pmu\""));

  const test::TemporaryDirectory directory;
  const auto recorded = test::skidscan({"record", "-q", "-e", "access,execute,faults,cpu-clock",
                                        "-p", "none,ppp", "--samples", "20"},
                                       directory.path());
  EXPECT_EQ(recorded.code.status, 0) << recorded.err;
}

TEST(Doctor, PrintsOneScreenOfEightyColumns) {
  const std::map<std::string, int> trees{{"skylake", 0},        {"alder-lake", 0},
                                         {"zen4", 0},           {"neoverse-n1", 0},
                                         {"vm-without-pmu", 3}, {"container", 1}};
  for (const auto& [name, status] : trees) {
    for (const bool details : {false, true}) {
      std::vector<std::string> arguments{"--root", tree(name)};
      if (details) arguments.emplace_back("--details");
      const auto page = doctor_page(arguments);
      EXPECT_EQ(page.code.status, status) << name;
      std::istringstream lines(page.out);
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(output::display_width(line), 80U) << name << ": " << line;
        EXPECT_FALSE(line.ends_with(' ')) << name << ": " << line;
      }
      EXPECT_LE(count, details ? 64 : 40) << page.out;
    }
  }
}

TEST(Doctor, ShowsTheDefaultEventsOfRecord) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "libpfm4 has the tables of its own architecture, and not of x86";
#endif
  const auto page = doctor_page({"--root", tree("skylake"), "--details"});
  EXPECT_THAT(page.out, HasSubstr("events are precise (Intel's event file skylake V"));
  EXPECT_THAT(page.out, ContainsRegex("\n  MEM_LOAD_RETIRED.L3_MISS +none p pp ppp  load-dram\n"));
  EXPECT_THAT(doctor_page({"--root", tree("skylake")}).out,
              ContainsRegex("\n  MEM_LOAD_RETIRED.L3_MISS +yes +yes +yes +yes\n"));
  const json events = doctor_json({"--root", tree("zen4")}, 0)["cpu_events"];
  EXPECT_EQ(events["default_set"].size(), 5U);
  EXPECT_EQ(events["default_set"][1]["perf_event"], "r076");
  EXPECT_EQ(events["default_set"][1]["levels"], json({0, 1, 2}));
  EXPECT_THAT(doctor_page({"--root", tree("container")}).out,
              ContainsRegex("\n  cycles:P +no +no +no +no +not permitted\n"));
}

TEST(Doctor, ShowsTheLevelsAndTheRemediesOfASkylake) {
  EXPECT_THAT(doctor_page({"--root", tree("skylake"), "--details"}).out,
              HasSubstr("\n  cpu            type 4, branches 32, max_precise 3, "
                        "pmu_name skylake\n"));
  EXPECT_THAT(doctor_page({"--root", tree("skylake")}).out,
              AllOf(StartsWith("This machine samples events of its CPU's PMU, up to precise "
                               "level ppp.\n"),
                    HasSubstr("Events of record, by precise level (user mode)\n"),
                    ContainsRegex("\n  cycles:P +yes +yes +yes +yes\n"),
                    HasSubstr("\n    > sudo sysctl kernel.perf_event_paranoid=1\n"),
                    HasSubstr("\n    > sudo sysctl kernel.nmi_watchdog=0\n")));
}

TEST(Doctor, PrintsJson) {
  const json zen4 = doctor_json({"--root", tree("zen4")}, 0);
  EXPECT_EQ(zen4["tried"], false);
  EXPECT_EQ(zen4["cpu"]["vendor"], "AuthenticAMD");
  EXPECT_EQ(zen4["cpu"]["midr"], nullptr);
  EXPECT_EQ(zen4["settings"]["perf_event_max_sample_rate"], 8000);
  EXPECT_EQ(zen4["settings"]["smt_active"], true);
  EXPECT_EQ(zen4["perf"], json({{"path", nullptr}, {"version", "6.5.13"}}));
  EXPECT_EQ(zen4["events"][5]["name"], "r076");
  EXPECT_EQ(zen4["events"][5]["levels"], json({0, 1, 2}));
  EXPECT_EQ(zen4["events"][5]["answers"][3], json({{"level", 3},
                                                   {"acceptance", "refused"},
                                                   {"error", "operation not supported"},
                                                   {"reason", "IBS has no level 3"},
                                                   {"remedy", nullptr}}));
  EXPECT_EQ(zen4["problems"][0]["id"], "low_sample_rate");

  const json neoverse = doctor_json({"--root", tree("neoverse-n1")}, 0);
  EXPECT_EQ(neoverse["cpu"]["midr"], "0x413fd0c1");
  EXPECT_EQ(neoverse["cpu"]["core_name"], "Neoverse N1 r3p1");
  EXPECT_EQ(neoverse["pmus"][0]["name"], "arm_spe_0");
  EXPECT_EQ(neoverse["pmus"][0]["core"], false);
  EXPECT_EQ(neoverse["pmus"][0]["caps"]["count_size"], "12");

  const json container = doctor_json({"--root", tree("container")}, 1);
  EXPECT_EQ(container["rights"]["effective_capabilities"], "0x0");
  EXPECT_EQ(container["rights"]["seccomp_filter"], true);
  EXPECT_EQ(container["perf"], nullptr);
  EXPECT_EQ(container["events"][4]["remark"], "not permitted");
  EXPECT_THAT(usable_events(container), ElementsAre());
}

TEST(Doctor, EscapesHostileNames) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path& root = directory.path();
  std::filesystem::copy(tree("skylake"), root, std::filesystem::copy_options::recursive);
  std::ofstream(root / "proc/sys/kernel/osrelease") << "6.1\033[2J" << std::string(2000, 'k');
  std::ofstream(root / "sys/bus/event_source/devices/cpu/caps/pmu_name") << "\033]0;x\007\n\nsky";
  const auto evil = root / "sys/bus/event_source/devices/evil\033[31m\npmu";
  std::filesystem::create_directories(evil);
  std::ofstream(evil / "type") << "99";
  std::ofstream(evil / "cpus") << "0";
  for (const char* format : {"text", "json"}) {
    const auto done = doctor_page({"--root", root.string(), "--format", format});
    EXPECT_EQ(done.code.status, 0) << done.err;
    EXPECT_THAT(done.out, Not(HasSubstr("\033")));
    EXPECT_THAT(done.out, Not(HasSubstr("\007")));
    EXPECT_THAT(done.out, Not(HasSubstr("\npmu")));
  }
}

TEST(Doctor, RefusesARootThatIsNoDirectory) {
  const auto done = test::skidscan({"doctor", "--root", "/dev/null"});
  EXPECT_EQ(done.code.status, 1);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("--root /dev/null: not a directory"));
  EXPECT_EQ(test::skidscan({"doctor", "--format", "xml"}).code.status, 64);
}

}  // namespace
}  // namespace skid
