// The main job: the default set of a machine without a PMU, recorded once by the first test here
// (a ctest fixture) and reported by the others.
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

std::filesystem::path default_run() {
  const char* named = std::getenv("SKIDSCAN_DEFAULT_RUN");
  return named != nullptr ? named : SKIDSCAN_DEFAULT_RUN;
}

/// The built-in events that this machine samples: what the default set has, at each level once.
std::vector<std::string> events() {
  if (test::why_without({"breakpoints"}).empty()) {
    return {"access", "execute", "faults", "cpu-clock"};
  }
  return {"faults", "cpu-clock"};
}

std::uint64_t judged(const json& samples) {
  std::uint64_t sum = 0;
  for (const char* key : {"hit", "skid", "before", "censored", "loop"}) {
    sum += samples[key].get<std::uint64_t>();
  }
  return sum;
}

std::uint64_t count_at(const json& measurement, std::int64_t offset) {
  for (const auto& bin : measurement["histogram"]["bins"]) {
    if (bin["lo"] == offset && bin["hi"] == offset + 1) return bin["count"].get<std::uint64_t>();
  }
  return 0;
}

TEST(DefaultRunFixture, RecordsTheDefaultSet) {
  std::filesystem::remove_all(default_run());
  SKIP_WITHOUT("samples", "no-core-pmu");
  const auto recorded = test::skidscan({"record", "-o", default_run().string()});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
}

class DefaultRun : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT("samples", "no-core-pmu"); }
  static json report() {
    const auto reported = test::skidscan({"report", default_run().string(), "--format", "json"});
    EXPECT_TRUE(reported.code.success()) << reported.err;
    return json::parse(reported.out);
  }
  static json measurement(const json& report, const std::string& event, int level) {
    for (const auto& candidate : report["measurements"]) {
      if (candidate["precise"]["requested"] == level &&
          candidate["file"].get<std::string>().find(event + ".") != std::string::npos) {
        return candidate;
      }
    }
    ADD_FAILURE() << event << " at level " << level << " was not measured";
    return {};
  }
};

TEST_F(DefaultRun, HasFiveThousandSamplesAtLeastOfEachEventAndLevel) {
  const auto result = report();
  EXPECT_EQ(result["schema"], "skidscan.report/1");
  ASSERT_EQ(result["measurements"].size(), 4 * events().size());
  for (const std::string& event : events()) {
    for (int level = 0; level <= 3; ++level) {
      const auto found = measurement(result, event, level);
      EXPECT_GE(found["samples"]["read"], 5000) << event << level;
      EXPECT_EQ(found["precise"]["recorded"], level) << event << level;
      EXPECT_EQ(found["event"]["swapped"], false) << event << level;
      EXPECT_EQ(found["synthetic"], false);
    }
  }
}

TEST_F(DefaultRun, ItsBreakdownsAddUpToTheSamplesThatPerfCounts) {
  const auto result = report();
  for (const auto& found : result["measurements"]) {
    const auto& samples = found["samples"];
    std::uint64_t sum = 0;
    for (const auto& [key, value] : samples.items()) {
      if (key != "read") sum += value.get<std::uint64_t>();
    }
    EXPECT_EQ(sum, samples["read"]);
    EXPECT_EQ(samples.size(), 11u) << "ten classes and their sum";
    const auto listed = run_program({"perf", "script", "-F", "ip", "-i", found["file"]});
    const auto lines = std::count(listed.out.begin(), listed.out.end(), '\n');
    EXPECT_EQ(static_cast<std::int64_t>(sum), lines) << found["file"];
  }
}

/// Breakpoints and faults ignore levels, and set no EXACT_IP.
TEST_F(DefaultRun, BuiltInEventsAreAtTheirKnownOffsetAtEachLevel) {
  const auto result = report();
  for (const std::string& event : events()) {
    if (event == "cpu-clock") continue;
    // A data breakpoint of x86-64 traps after the access.
    const int offset = event == "access" && test::why_without({"x86-64"}).empty() ? 1 : 0;
    for (int level = 0; level <= 3; ++level) {
      SCOPED_TRACE(event + std::to_string(level));
      const auto found = measurement(result, event, level);
      const auto count = judged(found["samples"]);
      EXPECT_GE(count, 5000u);
      EXPECT_GE(static_cast<double>(offset == 0 ? found["samples"]["hit"].get<std::uint64_t>()
                                                : count_at(found, offset)),
                0.999 * static_cast<double>(count));
      EXPECT_EQ(found["skid"]["instructions"]["p50"], offset);
      EXPECT_NEAR(found["events_per_iteration"]["measured"].get<double>(), 1.0, 0.05);
      EXPECT_EQ(found["events_per_iteration"]["expected"], 1.0);
      EXPECT_EQ(found["precise"]["exact_ip_samples"], 0);
      EXPECT_EQ(found["precise"]["exact_ip_means"], "never");
      const auto& contract = found["contract"];
      EXPECT_TRUE(contract["certified"].is_null());
      EXPECT_EQ(contract["verdict"], "not judged");
      EXPECT_EQ(contract["share"]["count"], found["judged_samples"]);
      if (level >= 2) {
        EXPECT_THAT(contract["evidence"].get<std::string>(),
                    HasSubstr("this event ignores precise levels; at its known offset"));
      }
    }
  }
}

TEST_F(DefaultRun, ATimerSamplesTheWholeRunwayEvenly) {
  const auto result = report();
  for (int level = 0; level <= 3; ++level) {
    const auto found = measurement(result, "cpu-clock", level);
    constexpr std::int64_t kNops = 5000;
    std::array<std::uint64_t, 10> tenths{};
    std::uint64_t total = 0;
    for (const auto& bin : found["histogram"]["bins"]) {
      const auto offset = bin["lo"].get<std::int64_t>();
      if (offset < 1 || offset > kNops) continue;
      const auto count = bin["count"].get<std::uint64_t>();
      tenths[static_cast<std::size_t>((offset - 1) * 10 / kNops)] += count;
      total += count;
    }
    EXPECT_GE(total, 3000u);
    for (const auto count : tenths) {
      const double share = static_cast<double>(count) / static_cast<double>(total);
      EXPECT_GE(share, 0.05) << "level " << level;
      EXPECT_LE(share, 0.15) << "level " << level;
    }
    EXPECT_EQ(found["contract"]["verdict"], "not judged");
  }
}

TEST_F(DefaultRun, DoesNotPassTheGateWithoutAnEventOfAPmu) {
  const std::string run = default_run().string();
  EXPECT_THAT(
      test::skidscan({"report", run, "--fail-on", "broken"}),
      Exits(5,
            HasSubstr("no event of a PMU was recorded, so no precise level of a PMU is judged")));
  EXPECT_THAT(test::skidscan({"report", run, "--fail-on", "broken", "--allow-not-judged"}),
              Exits(0));
}

TEST_F(DefaultRun, IsReadFromWhereverItWasMovedTo) {
  test::TemporaryDirectory directory;
  std::filesystem::copy(default_run(), directory / "moved",
                        std::filesystem::copy_options::recursive);
  const auto reported =
      test::skidscan({"report", (directory / "moved").string(), "--format", "json"});
  ASSERT_TRUE(reported.code.success()) << reported.err;
  const auto moved = json::parse(reported.out);
  const auto result = report();
  ASSERT_EQ(moved["measurements"].size(), result["measurements"].size());
  for (std::size_t i = 0; i < result["measurements"].size(); ++i) {
    EXPECT_EQ(moved["measurements"][i]["samples"], result["measurements"][i]["samples"]);
  }
}

}  // namespace
}  // namespace skid
