// `skidscan events` as text and as JSON.
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class EventsCommand : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "libpfm4 has the tables of its own architecture, and not of x86";
#endif
  }
};

/// Output with runs of white space as one space: the words, not how they are wrapped.
std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

TEST_F(EventsCommand, PrintsWhatIsKnownOfAnEvent) {
  const auto shown = test::skidscan({"events", "r20d1", "--cpu", "skl"});
  EXPECT_EQ(shown.code.status, 0) << shown.err;
  const std::string text = one_line(shown.out);
  EXPECT_THAT(text, HasSubstr("CPU skylake, from Intel's event file skylake V"));
  EXPECT_THAT(text, HasSubstr("event MEM_LOAD_RETIRED.L3_MISS"));
  EXPECT_THAT(text, HasSubstr("perf cpu/event=0xd1,umask=0x20/ or r20d1"));
  EXPECT_THAT(text, HasSubstr("precise yes (Intel's event file skylake V"));
  EXPECT_THAT(text, HasSubstr("counts instructions"));
  EXPECT_THAT(text, HasSubstr("unknown: OTHER never: "));
  EXPECT_THAT(text, HasSubstr("erratum SKL128"));
  EXPECT_THAT(text, Not(HasSubstr("HSD")));
}

/// Of Intel's event files, which need no libpfm4.
TEST(EventsOfIntel, PrintsPreciseDistributionAndDataAddress) {
  for (const char* cpu : {"spr", "emr", "gnr", "skx", "lnl", "ptl", "adl", "6-CF", "6-55-4"}) {
    const auto shown =
        test::skidscan({"events", "MEM_LOAD_RETIRED.L3_MISS", "--cpu", cpu, "--format", "json"});
    ASSERT_EQ(shown.code.status, 0) << shown.err;
    const json answer = json::parse(shown.out);
    ASSERT_EQ(answer["events"].size(), 1U) << cpu;
    const json& event = answer["events"][0];
    const bool skylake = answer["cpu"]["name"] == "skylakex";
    const bool two = answer["cpu"]["name"] == "lunarlake" || answer["cpu"]["name"] == "pantherlake";
    EXPECT_EQ(event["encoding"]["raw"], "r20d1") << cpu;
    EXPECT_EQ(event["precise"], true) << cpu;
    EXPECT_EQ(event["precise_source"], "intel") << cpu;
    EXPECT_EQ(event["data_la"], true) << cpu;
    EXPECT_EQ(event["pdist_counters"].dump(), skylake ? "null" : two ? "[0,1]" : "[0]") << cpu;
    EXPECT_EQ(event["level_3"], skylake ? "same as level 2" : "distinct") << cpu;
  }
}

TEST(EventsOfIntel, AnswersForBothCoreTypesOfAHybridCpu) {
  const auto code = test::skidscan({"events", "r20d1", "--cpu", "adl"});
  EXPECT_THAT(code.out, HasSubstr("MEM_LOAD_RETIRED.L3_MISS, cpu_core\n"));
  EXPECT_THAT(code.out, HasSubstr("PDist          counter 0\n"));
  EXPECT_THAT(code.out, HasSubstr("MEM_LOAD_UOPS_RETIRED.HITM, cpu_atom\n"));
  EXPECT_THAT(code.out, HasSubstr("PDist          none\n"));
  const auto name = test::skidscan({"events", "MEM_LOAD_RETIRED.L3_MISS", "--cpu", "adl"});
  EXPECT_EQ(name.code.status, 0);
  EXPECT_EQ(name.err,
            "skidscan: cpu_atom: the event files have no event "
            "'MEM_LOAD_RETIRED.L3_MISS'\n");
}

TEST_F(EventsCommand, PrintsAndFiltersByTriggers) {
  const auto shown = test::skidscan({"events", "r20d1", "--cpu", "skl"});
  EXPECT_THAT(one_line(shown.out), HasSubstr("trigger load-dram (1 per iteration)"));
  const auto json_form = test::skidscan({"events", "r20d1", "--cpu", "skl", "--format", "json"});
  const json trigger = json::parse(json_form.out)["events"][0]["trigger"];
  ASSERT_EQ(trigger.size(), 1U);
  EXPECT_EQ(trigger[0]["kind"], "load-dram");
  EXPECT_EQ(trigger[0]["verdict"], "can");
  EXPECT_EQ(trigger[0]["events_per_iteration"], 1);
  const auto listed = test::skidscan({"events", "--list", "--trigger", "div", "--cpu", "skl"});
  EXPECT_THAT(listed.out, HasSubstr("ARITH.DIVIDER_ACTIVE"));
  EXPECT_THAT(listed.out, Not(HasSubstr("MEM_LOAD")));
  EXPECT_EQ(test::skidscan({"events", "r20d1", "--trigger", "div", "--cpu", "skl"}).code.status,
            64);
}

TEST_F(EventsCommand, ExplainsL2RequestsBitByBit) {
  const auto nothing = test::skidscan({"events", "r0424", "--cpu", "hsw"});
  EXPECT_THAT(one_line(nothing.out),
              HasSubstr("origins code read results none always zero: no result is in the umask"));
  const auto hits = test::skidscan({"events", "r4124", "--cpu", "hsw"});
  EXPECT_THAT(one_line(hits.out),
              HasSubstr("manual error manuals give umask 0x41 for what 0xc1 counts (rc124)"));
  const auto elsewhere = test::skidscan({"events", "r4124", "--cpu", "ivb"});
  EXPECT_EQ(elsewhere.code.status, 0) << elsewhere.err;
  EXPECT_THAT(elsewhere.out, Not(HasSubstr("origins")));
}

TEST_F(EventsCommand, PrintsTheSameAsJson) {
  const auto shown = test::skidscan({"events", "r412e", "L2_RQSTS.DEMAND_DATA_RD_HIT", "r0424",
                                     "r4124", "--cpu", "hsw", "--format", "json"});
  ASSERT_EQ(shown.code.status, 0) << shown.err;
  const json answer = json::parse(shown.out);
  EXPECT_EQ(answer["schema"], "skidscan.events/1");
  EXPECT_EQ(answer["cpu"]["name"], "haswell");
  EXPECT_EQ(answer["cpu"]["description"], nullptr);
  EXPECT_EQ(answer["cpu"]["at_hand"], false);
  EXPECT_THAT(answer["cpu"]["source"], ::testing::StartsWith("Intel's event file haswell V"));
  ASSERT_EQ(answer["events"].size(), 4U);
  const json& miss = answer["events"][0];
  EXPECT_EQ(miss["name"], "LONGEST_LAT_CACHE.MISS");
  EXPECT_EQ(miss["encoding"], (json{{"perf", "cpu/event=0x2e,umask=0x41/"},
                                    {"raw", "r412e"},
                                    {"config", "0x412e"},
                                    {"config1", "0x0"}}));
  EXPECT_EQ(miss["precise"], false);
  EXPECT_EQ(miss["l2_rqsts"], nullptr);
  EXPECT_EQ(miss["causes"].size(), 27U) << "all categories of instructions";
  const json& hit = answer["events"][1];
  EXPECT_EQ(hit["encoding"]["raw"], "rc124");
  EXPECT_EQ(hit["manual_errors"].size(), 0U);
  EXPECT_EQ(answer["events"][3]["manual_errors"].size(), 1U);
  EXPECT_EQ(hit["l2_rqsts"]["results"].size(), 2U);
  EXPECT_EQ(hit["l2_rqsts"]["corrected_umask"], nullptr);
  const json& none = answer["events"][2];
  EXPECT_EQ(none["l2_rqsts"]["always_zero"], true);
  EXPECT_EQ(none["l2_rqsts"]["origins"], json::array({"code read"}));
}

TEST_F(EventsCommand, ListsPreciseEvents) {
  const auto listed = test::skidscan({"events", "--list", "--precise", "--cpu", "skl"});
  EXPECT_EQ(listed.code.status, 0) << listed.err;
  EXPECT_THAT(one_line(listed.out), HasSubstr("r81d0 precise MEM_INST_RETIRED.ALL_LOADS"));
  EXPECT_THAT(listed.out, Not(HasSubstr("LONGEST_LAT_CACHE.MISS")));
  const auto some = test::skidscan({"events", "--list", "--cpu", "skl", "longest"});
  EXPECT_THAT(one_line(some.out), HasSubstr("# skylake, from Intel's event file skylake V"));
  EXPECT_THAT(one_line(some.out), ::testing::EndsWith(" r412e - LONGEST_LAT_CACHE.MISS r4f2e - "
                                                      "LONGEST_LAT_CACHE.REFERENCE"));
}

TEST_F(EventsCommand, RefusesUnknownNamesAndCpus) {
  const auto name = test::skidscan({"events", "NO_SUCH", "--cpu", "skl"});
  EXPECT_EQ(name.code.status, 64);
  EXPECT_THAT(name.err, HasSubstr("'NO_SUCH' is no event of Intel's event file skylake V"));
  EXPECT_EQ(name.out, "");
  const auto cpu = test::skidscan({"events", "cycles", "--cpu", "no-such"});
  EXPECT_EQ(cpu.code.status, 64);
  EXPECT_THAT(cpu.err, HasSubstr("--perfmon"));
  const auto two = test::skidscan({"events", "skl::L2_RQSTS:MISS", "--cpu", "hsw"});
  EXPECT_EQ(two.code.status, 64);
  EXPECT_THAT(two.err, HasSubstr("is an event of skl"));
  EXPECT_EQ(test::skidscan({"events", "--cpu", "skl"}).code.status, 64);
}

TEST_F(EventsCommand, NamesThisCpuOrARemedy) {
  const auto shown = test::skidscan({"events", "cycles"});
  if (shown.code.status == 0) {
    EXPECT_THAT(shown.out, HasSubstr("(this CPU)"));
  } else {
    EXPECT_EQ(shown.code.status, 1);
    EXPECT_THAT(shown.err, HasSubstr("--cpu"));
    EXPECT_THAT(shown.err, HasSubstr("--perfmon"));
  }
}

TEST_F(EventsCommand, EscapesNamesFromFiles) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "XYZ");
  std::ofstream(directory / "mapfile.csv")
      << "header\nGenuineIntel-6-CF,V1\x1b[2J,/XYZ/core.json,core,,,\n";
  std::ofstream(directory / "XYZ/core.json")
      << R"([{"EventName": "A\u001b[31m.B", "EventCode": "0x11", "UMask": "0x22", "PEBS": "1",)"
      << R"( "BriefDescription": "x\u0007y", "Errata": "E\u001b1"}])";
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"r2211"},
                                                    {"--list"},
                                                    {"r2211", "--format", "json"},
                                                    {"NO_SUCH"}}) {
    std::vector<std::string> all{"events", "--cpu", "xyz", "--perfmon", directory.path().string()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const auto shown = test::skidscan(all);
    EXPECT_EQ(shown.code.status, arguments.front() == "NO_SUCH" ? 64 : 0) << shown.err;
    for (const std::string& text : {shown.out, shown.err}) {
      EXPECT_EQ(text.find_first_of("\x1b\a"), std::string::npos) << text;
    }
  }
  const auto shown =
      test::skidscan({"events", "r2211", "--cpu", "xyz", "--perfmon", directory.path().string()});
  EXPECT_THAT(one_line(shown.out), HasSubstr("event A\\x1b[31m.B"));
  EXPECT_THAT(one_line(shown.out), HasSubstr("precise yes (perfmon V1\\x1b[2J, xyz)"));
}

}  // namespace
}  // namespace skid
