// `skidscan doctor` on this machine.
#include "src/machine/machine.h"
#include "tests/support/breakpoints.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"

namespace skid {
namespace {

std::vector<std::string> usable_events(const json& object) {
  std::vector<std::string> names;
  for (const auto& event : object["events"]) {
    if (event["usable"]) names.push_back(event["name"]);
  }
  return names;
}

TEST(Doctor, ListsTheEventsThatRecordCanSampleWithoutPmu) {
  SKIP_WITHOUT_BREAKPOINTS();
  if (!find_program("perf")) GTEST_SKIP() << "perf is not installed";
  if (machine::inspect().has_core_pmu()) GTEST_SKIP() << "this machine has a core PMU";
  const auto done = test::skidscan({"doctor", "--format", "json"});
  EXPECT_EQ(done.code.status, 3) << done.err;
  const json object = json::parse(done.out);
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
  EXPECT_THAT(test::skidscan({"record", "-q", "-e", "access,execute,faults,cpu-clock", "-p",
                              "none,ppp", "--samples", "20"},
                             directory.path()),
              Exits(0));
}

}  // namespace
}  // namespace skid
