// `skidscan doctor` on this machine.
#include "src/machine/machine.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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
  SKIP_WITHOUT("samples", "kernel-samples", "no-core-pmu");
  const bool fire = test::why_without({"breakpoints"}).empty();
  const auto done = test::skidscan({"doctor", "--format", "json"});
  EXPECT_EQ(done.code.status, 3) << done.err;
  const json object = json::parse(done.out);
  const auto usable = usable_events(object);
  if (fire) {
    EXPECT_THAT(usable, ElementsAre("access", "execute", "faults", "cpu-clock"));
  } else {
    EXPECT_THAT(usable, ElementsAre("faults", "cpu-clock"));
  }
  EXPECT_EQ(object["perf"]["version"], machine::find_perf().version);
  EXPECT_EQ(object["events"].size(), 4U);
  for (const auto& event : object["events"]) {
    if (!event["usable"]) continue;
    EXPECT_EQ(event["levels"], json({0, 1, 2, 3})) << event;
    EXPECT_EQ(event["refused"], nullptr);
  }
  EXPECT_THAT(object["problems"].dump(), HasSubstr("\"no_core_pmu\""));

  const test::TemporaryDirectory directory;
  EXPECT_THAT(test::skidscan({"record", "-q", "-e", fmt::format("{}", fmt::join(usable, ",")), "-p",
                              "none,ppp", "--samples", "20"},
                             directory.path()),
              Exits(0));
}

}  // namespace
}  // namespace skid
