// Directories in the form of Intel's event files, written by hand.

#include "src/events/catalogue.h"
#include "src/events/intel_table.h"
#include "tests/support/event_tables.h"
#include "tests/support/prelude.h"

namespace skid::events {
namespace {

using test::intel_cpu;
using test::message_of;

constexpr const char* kMap =
    "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n"
    "GenuineIntel-6-CF,V1.02,/EMR/events/emr_core.json,core,,,\n"
    "GenuineIntel-6-CF,V1.02,/EMR/events/emr_uncore.json,uncore,,,\n"
    "GenuineIntel-6-55-[01234],V1.36,/SKX/events/skx_core.json,core,,,\n"
    "GenuineIntel-6-55-[56789ABCDEF],V1.20,/CLX/events/clx_core.json,core,,,\n"
    "GenuineIntel-6-97,V1.24,/ADL/events/adl_p.json,hybridcore,0x40,0x000001,Core\n"
    "GenuineIntel-6-97,V1.24,/ADL/events/adl_e.json,hybridcore,0x20,0x000001,Atom\n";

/// Newer files have a header, and Precise.
constexpr const char* kNewer = R"({"Header": {"Version": "1.02"}, "Events": [
  {"EventCode": "0xd1", "UMask": "0x20", "EventName": "MEM_LOAD_RETIRED.L3_MISS",
   "BriefDescription": "Missed", "PublicDescription": "Loads that missed the L3", "Precise": "1",
   "CounterMask": "0", "Invert": "0", "EdgeDetect": "0", "MSRIndex": "0x00", "MSRValue": "0x00",
   "Errata": null, "Deprecated": "0"},
  {"EventCode": "0x2e", "UMask": "0x41", "EventName": "LONGEST_LAT_CACHE.MISS", "Precise": "0"},
  {"EventCode": "0x2A,0x2B", "UMask": "0x01", "EventName": "OCR.READS", "Precise": "0",
   "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x10003C0001"},
  {"EventCode": "0xc3", "UMask": "0x01", "EventName": "MACHINE_CLEARS.COUNT", "CounterMask": "1",
   "EdgeDetect": "1"}]})";

/// Older ones are the array alone, with PEBS.
constexpr const char* kOlder = R"([
  {"EventCode": "0xC0", "UMask": "0x01", "EventName": "INST_RETIRED.PREC_DIST", "PEBS": "2",
   "Errata": "SKL091, SKL044"},
  {"EventCode": "0xC4", "UMask": "0x00", "EventName": "BR_INST_RETIRED.ALL", "PEBS": "0",
   "Errata": "null"}])";

class Perfmon : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_.write("mapfile.csv", kMap);
    directory_.write("EMR/events/emr_core.json", kNewer);
    directory_.write("SKX/events/skx_core.json", kOlder);
    directory_.write("ADL/events/adl_p.json", kNewer);
    directory_.write("ADL/events/adl_e.json", kNewer);
  }
  PerfmonEvents read(const std::string& cpu, const machine::CpuIdentity& here = {}) const {
    return read_perfmon(directory_.path(), cpu, here);
  }
  /// The error of an event file of Emerald Rapids with this content.
  std::string refusal(const std::string& content) const {
    directory_.write("EMR/events/emr_core.json", content);
    return message_of([&] { read("emr"); });
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Perfmon, ReadsCodesAndPrecisionOfTheNewerForm) {
  const auto read_ones = read("emr");
  EXPECT_EQ(read_ones.name, "emr");
  EXPECT_EQ(read_ones.version, "V1.02");
  ASSERT_THAT(read_ones.events, SizeIs(4));
  const auto& events = read_ones.events;
  EXPECT_EQ(events[0].name, "MEM_LOAD_RETIRED.L3_MISS");
  EXPECT_EQ(events[0].description, "Loads that missed the L3");
  EXPECT_EQ(events[0].config, 0x20d1U);
  EXPECT_EQ(events[0].config1, 0U);
  EXPECT_EQ(events[0].precise, true);
  EXPECT_THAT(events[0].errata, ElementsAre());
  EXPECT_EQ(events[1].precise, false);
  EXPECT_EQ(events[2].config, 0x012aU);
  EXPECT_EQ(events[2].config1, 0x10003c0001U);
  EXPECT_EQ(events[3].config, 0x10401c3U);
  EXPECT_EQ(events[3].precise, std::nullopt) << "not in the file";
}

TEST_F(Perfmon, ReadsPebsAndErrataOfTheOlderForm) {
  const auto events = read("SKX").events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].precise, true) << "PEBS 2";
  EXPECT_THAT(events[0].errata, ElementsAre("SKL091", "SKL044"));
  EXPECT_EQ(events[1].precise, false);
  EXPECT_THAT(events[1].errata, ElementsAre());
}

TEST_F(Perfmon, FindsThisCpuByModelAndStepping) {
  EXPECT_EQ(read("", intel_cpu(0xcf, 2)).name, "emr");
  EXPECT_EQ(read("", intel_cpu(0x55, 4)).name, "skx");
  EXPECT_EQ(read("genuineintel-6-cf").name, "emr");
  directory_.write("CLX/events/clx_core.json", kOlder);
  EXPECT_EQ(read("", intel_cpu(0x55, 11)).name, "clx");
}

TEST_F(Perfmon, ReadsTheEventsOfBothCoresOfAHybridCpu) {
  machine::Machine here;
  here.cpu = intel_cpu(0x97, 2);
  const Catalogue catalogue = open_catalogue({.cpu = {}, .perfmon = directory_.path()}, here);
  EXPECT_EQ(catalogue.cpu().source, "perfmon V1.24");
  EXPECT_TRUE(catalogue.cpu().at_hand);
  const auto found = catalogue.find("r20d1");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].pmu, "cpu_atom");
  EXPECT_EQ(found[1].pmu, "cpu_core");
  EXPECT_THROW(catalogue.find("NO_SUCH"), UsageError);
}

TEST_F(Perfmon, RefusesACpuOutsideTheMapAndListsTheOthers) {
  const std::string at_hand = message_of([&] { read("", intel_cpu(0xad, 1)); });
  EXPECT_THAT(at_hand, AllOf(HasSubstr("GenuineIntel-6-AD"), HasSubstr("adl, clx, emr, skx")));
  const std::string named = message_of([&] { read("gnr"); });
  EXPECT_THAT(named, AllOf(HasSubstr("--cpu gnr"), HasSubstr("adl, clx, emr, skx")));
  std::filesystem::remove(directory_ / "mapfile.csv");
  EXPECT_THROW(read("emr"), InputError);
}

TEST_F(Perfmon, RefusesPathsThatLeaveTheDirectory) {
  for (const char* file : {"/../secret.json", "EMR/../../secret.json", "/", "EMR//x.json"}) {
    directory_.write("mapfile.csv",
                     "header\nGenuineIntel-6-CF,V1," + std::string(file) + ",core,,,\n");
    EXPECT_THROW(read("emr"), InputError) << file;
  }
}

TEST_F(Perfmon, RefusesDamagedEventFilesWithTheOffset) {
  const std::string brackets = R"({"EventName": "A[[[[[[[[[[\\\"{{{{{{{{{{\\", "EventCode": "x"})";
  for (const auto& [content, message] : std::vector<std::pair<std::string, const char*>>{
           {"[{", "not JSON"},
           {"", "not JSON"},
           {std::string(8, '['), "not JSON"},
           {std::string(100'000, '['), "nested more than 64 deep"},
           {"[" + brackets + "]", "EventCode"},  // the brackets are in a string
           {"{}", "\"Events\""},
           {"7", "an object"},
           {"[7]", "an object"},
           {R"([{"EventCode": "1"}])", "EventName"},
           {R"([{"EventName": ""}])", "0 bytes"},
           {R"([{"EventName": ")" + std::string(300, 'A') + R"("}])", "300 bytes"},
           {R"([{"EventName": "A", "EventCode": "0x100"}])", "'0x100'"},
           {R"([{"EventName": "A", "UMask": "many"}])", "[0].UMask"},
           {R"([{"EventName": "A", "UMask": 1}])", "a string"},
           {R"([{"EventName": "A", "PEBS": "3"}])", "up to 0x2"}}) {
    EXPECT_THAT(refusal(content), HasSubstr(message)) << content.substr(0, 100);
  }
  std::string many = "[7";
  for (int i = 0; i < 65536; ++i) many += ",7";
  EXPECT_THAT(refusal(many + "]"), HasSubstr("at most 65536"));
  EXPECT_THAT(refusal(kNewer), "no error");
}

TEST_F(Perfmon, RefusesAFifoInPlaceOfAFile) {
  std::filesystem::remove(directory_ / "EMR/events/emr_core.json");
  ASSERT_EQ(::mkfifo((directory_ / "EMR/events/emr_core.json").c_str(), 0600), 0);
  EXPECT_THROW(read("emr"), InputError);
}

}  // namespace
}  // namespace skid::events
