// Intel's event files as they are in the program, against the table that they are built from, and
// directories in their form, written by hand.
#include "src/events/intel_table.h"

#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/events/perf_names.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/names.h"
#include "src/support/precise_level.h"
#include "tests/support/error_message.h"
#include "tests/support/event_tables.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace skid::events {
namespace {

using test::catalogue_of;
using test::intel_cpu;

std::string content(const std::string& name) {
  return read_file(SKIDSCAN_TEST_DATA "/../src/events/intel/" + name, 1 << 24);
}

std::vector<std::string> split(const std::string& text, char separator) {
  auto parts = test::fields_of(text, separator);
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

/// The columns of each row but the header; the last one may be empty.
std::vector<std::vector<std::string>> rows(const std::string& table, std::size_t columns) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(table, '\n')) {
    rows.push_back(split(line, '\t'));
    rows.back().resize(columns);
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

/// FNV-1a.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::vector<std::string> names(const std::vector<IntelFile>& files) {
  return test::mapped(files, &IntelFile::name);
}

std::vector<std::string> files_of(const std::string& cpu) {
  return names(intel_files_of(cpu));
}

/// A change of the table is to be made on purpose: look at what differs, then change these.
TEST(IntelTable, IsTheOneOfThisVersion) {
  EXPECT_EQ(rows(content("events.tsv"), 9).size(), 17276U);
  EXPECT_EQ(rows(content("models.tsv"), 4).size(), 47U);
  EXPECT_EQ(hash_of(content("events.tsv")), 0xd7a2dc494f50e127U);
  EXPECT_EQ(hash_of(content("models.tsv")), 0xc0b0bf0e4bbf8e40U);
}

struct Code {
  std::set<std::string> names, errata;
  bool precise = false, data_la = false;
};

std::set<std::string> ids(const std::string& errata) {
  std::set<std::string> ids;
  for (std::string id : split(errata, ',')) {
    id.erase(0, id.find_first_not_of(' '));
    if (!id.empty() && id != "0") ids.insert(id);
  }
  return ids;
}

std::set<std::string> all_names(const Event& event) {
  std::set<std::string> names(event.aliases.begin(), event.aliases.end());
  names.insert(event.name);
  return names;
}

/// By name and by code; what names of one code state is true of the code.
TEST(IntelTable, AnswersEveryRow) {
  enum Column { file, name, config, msr, precise, data_la, pdist, counters, errata };
  auto table = rows(content("events.tsv"), 9);
  // perf's codes for events of fixed counters.
  for (auto& row : table) {
    if (const auto code = fixed_counter_event(row[name])) row[config] = fmt::format("{:x}", *code);
  }
  const auto key = [](const std::vector<std::string>& row) {
    return std::tuple(row[file], row[config], row[msr]);
  };
  std::map<std::tuple<std::string, std::string, std::string>, Code> codes;
  std::map<std::string, Catalogue> catalogues;
  for (const auto& row : table) {
    Code& code = codes[key(row)];
    code.names.insert(row[name]);
    code.precise = code.precise || row[precise] != "0";
    code.data_la = code.data_la || row[data_la] == "1";
    code.errata.merge(ids(row[errata]));
  }
  EXPECT_EQ(std::count_if(codes.begin(), codes.end(),
                          [](const auto& code) { return code.second.names.size() > 1; }),
            449);
  for (const auto& row : table) {
    SCOPED_TRACE(row[file] + " " + row[name]);
    auto catalogue = catalogues.find(row[file]);
    if (catalogue == catalogues.end()) {
      catalogue = catalogues.emplace(row[file], catalogue_of(row[file])).first;
    }
    const Code& code = codes[key(row)];
    const auto found = catalogue->second.find_name(row[name]);
    ASSERT_EQ(found.size(), 1U);
    const Event& event = found.front();
    EXPECT_EQ(event.name, row[name]);
    EXPECT_EQ(event.config, std::stoull(row[config], nullptr, 16));
    const std::string value = row[msr].empty() ? "0" : row[msr].substr(row[msr].find('=') + 1);
    EXPECT_EQ(event.config1, std::stoull(value, nullptr, 16));
    EXPECT_EQ(all_names(event), code.names);
    EXPECT_EQ(event.precise, code.precise);
    const bool is_latency = row[name].find("LOAD_LATENCY") != row[name].npos ||
                            row[name].find("LATENCY_ABOVE") != row[name].npos;
    EXPECT_EQ(event.data_la.has_value(), !row[data_la].empty() || is_latency) << row[name];
    EXPECT_EQ(event.data_la.value_or(false), code.data_la || is_latency) << row[name];
    EXPECT_EQ(std::set<std::string>(event.errata.begin(), event.errata.end()), code.errata);
    std::string counters_with_pdist;
    for (const int counter : event.pdist.value_or(std::vector<int>())) {
      counters_with_pdist += (counters_with_pdist.empty() ? "" : ",") + std::to_string(counter);
    }
    EXPECT_EQ(event.pdist.has_value(), !row[pdist].empty());
    EXPECT_EQ(counters_with_pdist, row[pdist] == "NA" ? "" : row[pdist]);
    const auto by_code = catalogue->second.find_code(event.config, event.config1);
    ASSERT_EQ(by_code.size(), 1U);
    EXPECT_EQ(all_names(by_code.front()), code.names);
    EXPECT_EQ(by_code.front().precise, code.precise);
    if (HasFailure()) break;  // one row of 17,276 shows what is wrong
  }
}

TEST(IntelTable, HasTheFilesOfEveryModel) {
  for (const auto& row : rows(content("models.tsv"), 4)) {
    for (const std::string& cpu : split(row[3], ' ')) {
      const auto parts = split(cpu, '-');
      std::vector<std::optional<int>> steppings{std::nullopt};
      if (parts.size() > 2) {
        steppings.clear();
        for (const char c : parts[2]) {
          if (c != '[' && c != ']')
            steppings.emplace_back(std::stoi(std::string(1, c), nullptr, 16));
        }
      }
      for (const auto& stepping : steppings) {
        auto identity = intel_cpu(std::stoi(parts[1], nullptr, 16), stepping);
        identity.family = std::stoi(parts[0]);
        EXPECT_THAT(names(intel_files_of(identity)), ::testing::Contains(row[0])) << cpu;
      }
    }
    ASSERT_THAT(files_of(row[0]), ElementsAre(row[0]));
    EXPECT_EQ(intel_files_of(row[0]).front().version, row[1]);
  }
  EXPECT_THAT(intel_files_of(intel_cpu(0x55)), IsEmpty()) << "the stepping decides";
  EXPECT_THAT(intel_files_of(intel_cpu(15)), IsEmpty()) << "Core 2";
  auto amd = intel_cpu(0x8f);
  amd.vendor = "AuthenticAMD";
  EXPECT_THAT(intel_files_of(amd), IsEmpty());
}

TEST(IntelTable, IsFoundByTheNamesOfPerfIntelAndLibpfm4) {
  // Files, and the names of each.
  const std::string table = R"(sapphirerapids: spr SapphireRapids 6-143 6-8F 6-8f-8
    emeraldrapids: emr GenuineIntel-6-CF
    graniterapids: gnr
    sierraforest: srf
    clearwaterforest: cwf
    grandridge: grr
    skylake: skl kabylake cml 6-158
    skylakex: skx skylake-avx512 6-55-4
    cascadelakex: clx cooperlake 6-55-7
    icelake: icl
    icelakex: icx
    tigerlake: tgl
    rocketlake: rkl
    haswell: hsw
    haswellx: hsw_ep HSX
    broadwellde: bdw-de
    broadwellx: bdw_ep
    ivytown: ivb_ep ivt
    Jaketown: jaketown snb_ep
    NehalemEP: nehalem
    NehalemEX: nhm_ex
    WestmereEP-DP: westmereep-dp
    WestmereEP-SP: wsm
    WestmereEX: wsm-ex
    goldmont: glm
    elkhartlake: tmt
    snowridgex: snowridgex
    Silvermont: slm
    knightslanding: knl
    bonnell: atom
    alderlake_goldencove: adl_glc adl/cpu_core
    alderlake_gracemont: rpl/cpu_atom alderlake-gracemont alderlaken
    meteorlake_crestmont: mtl_cmt
    arrowlake_crestmont: arl/cpu_lowpower
    alderlake_goldencove alderlake_gracemont: adl 6-97 raptorlake
    lunarlake_lioncove lunarlake_skymont: lnl
    pantherlake_cougarcove pantherlake_darkmont: ptl
    novalake_coyotecove novalake_arcticwolf: 18-1)";
  for (const std::string& line : test::lines_of(table)) {
    const auto parts = split(line, ':');
    const std::vector<std::string> files = test::words_of(parts.at(0));
    for (const std::string& cpu : test::words_of(parts.at(1))) {
      EXPECT_EQ(files_of(cpu), files) << cpu;
    }
  }
  EXPECT_EQ(intel_files_of("alderlaken").front().pmu, "cpu");
  EXPECT_EQ(intel_files_of("adl").back().pmu, "cpu_atom");
  for (const char* cpu : {"", "zen4", "arm_n1", "core", "no-such", "6-FF", "6-", "-", "6-8F-4-1",
                          "adl/cpu_none", "alder", "lake"}) {
    EXPECT_THAT(files_of(cpu), IsEmpty()) << cpu;
  }
  EXPECT_THROW(intel_files_of("6-55"), ValueError) << "Skylake's and Cascade Lake's servers";
  EXPECT_TRUE(is_called("skylake", "skl"));
  EXPECT_TRUE(is_called("alderlake", "adl_glc"));
  EXPECT_FALSE(is_called("skylake", "skx"));
  EXPECT_FALSE(is_called("skylake", "zen4"));
  EXPECT_FALSE(is_called("zen3", "zen4"));
}

/// "cpu_core MEM_LOAD_RETIRED.L3_MISS": the PMU and the name of an event.
std::string named(const Event& event) {
  return event.pmu + " " + event.name;
}

TEST(IntelTable, AnswersForBothCoreTypesOfAHybridCpu) {
  const auto found = test::find_events(catalogue_of("adl"), "r20d1");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(named(found[0]), "cpu_core MEM_LOAD_RETIRED.L3_MISS");
  EXPECT_EQ(found[0].source, "Intel's event file alderlake_goldencove V1.40");
  EXPECT_THAT(found[0].pdist.value(), ElementsAre(0));
  EXPECT_EQ(named(found[1]), "cpu_atom MEM_LOAD_UOPS_RETIRED.HITM") << "another by the same code";
  EXPECT_THAT(found[1].pdist.value(), IsEmpty());
}

TEST(IntelTable, HasTheUpperBitsOfUmasksAndAnyLoadLatencyThreshold) {
  // Bits 40 to 47 (UMaskExt) distinguish events of the newer cores.
  const Catalogue lion_cove = catalogue_of("lnl_lnc");
  EXPECT_EQ(lion_cove.find_name("BR_MISP_RETIRED.COND").at(0).config, 0x100000011c5U);
  EXPECT_EQ(lion_cove.find_code(0x100000001d1, 0).at(0).name, "MEM_LOAD_RETIRED.L1_HIT");
  EXPECT_EQ(lion_cove.find_code(0x1d1, 0).at(0).name, "MEM_LOAD_RETIRED.L1_HIT_L0");
  EXPECT_THAT(lion_cove.find_code(0x1d1, 0).at(0).aliases, IsEmpty());

  const Event latency = catalogue_of("spr").find_code(0x1cd, 30).at(0);
  EXPECT_EQ(latency.name, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT with config1=0x1e");
  EXPECT_TRUE(latency.precise == true && latency.data_la == true && latency.config1 == 30);
  // Responses differ in more than a threshold, and none is precise.
  const Event response = catalogue_of("skl").find_code(0x1b7, 0x123).at(0);
  EXPECT_EQ(response.precise, false);
  EXPECT_THAT(response.name, HasSubstr("OFFCORE_RESPONSE"));
}

TEST(Level3, IsWhatKernelAndEventFilesSay) {
  const std::vector<std::tuple<const char*, const char*, LevelThree>> known{
      {"nhm", "MEM_INST_RETIRED.LOADS", LevelThree::refused},
      {"snb", "INST_RETIRED.PREC_DIST", LevelThree::refused},
      {"snb_ep", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::refused},
      {"slm", "INST_RETIRED.ANY_P", LevelThree::refused},
      {"knl", "INST_RETIRED.ANY_P", LevelThree::refused},
      {"ivb", "INST_RETIRED.PREC_DIST", LevelThree::same_as_level_2},
      {"ivb", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::same_as_level_2},
      {"hsw_ep", "cycles", LevelThree::distinct},
      {"bdw", "cpu/event=0xc0,umask=1,inv,cmask=16/", LevelThree::same_as_level_2},
      {"skl", "INST_RETIRED.PREC_DIST", LevelThree::same_as_level_2},
      {"skl", "instructions", LevelThree::same_as_level_2},
      {"skx", "cycles", LevelThree::distinct},
      {"skx", "MEM_INST_RETIRED.ALL_LOADS", LevelThree::same_as_level_2},
      {"clx", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::same_as_level_2},
      {"glm", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::same_as_level_2},
      {"goldmontplus", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::reduced_skid},
      {"icl", "instructions", LevelThree::distinct},
      {"icx", "INST_RETIRED.PREC_DIST", LevelThree::same_as_level_2},
      {"icx", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::same_as_level_2},
      {"icx", "cycles", LevelThree::same_as_level_2},
      {"tgl", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::same_as_level_2},
      {"spr", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::distinct},
      {"spr", "instructions", LevelThree::distinct},
      {"spr", "INST_RETIRED.PREC_DIST", LevelThree::refused},
      {"spr", "cycles", LevelThree::same_as_level_2},
      {"spr", "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", LevelThree::refused},
      {"spr", "MEM_TRANS_RETIRED.STORE_SAMPLE", LevelThree::same_as_level_2},
      {"spr", "INST_RETIRED.NOP", LevelThree::refused},
      {"spr", "cpu/event=0xd1,umask=0x20,cmask=1/", LevelThree::unknown},
      {"emr", "BR_INST_RETIRED.NEAR_TAKEN", LevelThree::distinct},
      {"gnr", "MEM_INST_RETIRED.ALL_STORES", LevelThree::distinct},
      {"srf", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::reduced_skid},
      {"srf", "instructions", LevelThree::distinct},
      {"cwf", "BR_INST_RETIRED.NEAR_TAKEN", LevelThree::distinct},
      {"adl_glc", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::distinct},
      {"adl_grt", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::reduced_skid},
      {"lnl_lnc", "MEM_LOAD_RETIRED.L3_MISS", LevelThree::distinct},
      {"lnl_skt", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::reduced_skid},
      {"darkmont", "MEM_UOPS_RETIRED.ALL_LOADS", LevelThree::distinct},
  };
  for (const auto& [cpu, name, level] : known) {
    const Catalogue catalogue = catalogue_of(cpu);
    EXPECT_EQ(name_of(level_3_of(test::find_events(catalogue, name).at(0))), name_of(level))
        << cpu << ' ' << name;
  }
  EXPECT_EQ(level_3_of({.layout = ConfigLayout::amd}), LevelThree::refused);
  EXPECT_EQ(level_3_of({.layout = ConfigLayout::arm}), LevelThree::same_as_level_2);
  EXPECT_EQ(level_3_of({}), LevelThree::unknown);
}

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
  machine::Machine here{.cpu = intel_cpu(0x97, 2)};
  const Catalogue catalogue = open_catalogue({.cpu = {}, .perfmon = directory_.path()}, here);
  EXPECT_EQ(catalogue.cpu().source, "perfmon V1.24");
  EXPECT_TRUE(catalogue.cpu().at_hand);
  const auto found = test::find_events(catalogue, "r20d1");
  EXPECT_THAT(test::mapped(found, &Event::pmu), ElementsAre("cpu_atom", "cpu_core"));
  EXPECT_THAT(test::find_events(catalogue, "NO_SUCH"), IsEmpty());
}

TEST_F(Perfmon, RefusesACpuOutsideTheMapAndListsTheOthers) {
  const std::string at_hand = message_of([&] { read("", intel_cpu(0xad, 1)); });
  EXPECT_THAT(at_hand, AllOf(HasSubstr("GenuineIntel-6-AD"), HasSubstr("adl, clx, emr, skx")));
  const std::string named = message_of([&] { read("gnr"); });
  EXPECT_THAT(named, AllOf(HasSubstr("CPU gnr"), HasSubstr("adl, clx, emr, skx")));
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
