#include "src/run/run.h"

#include "runway/target_report.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::run {
namespace {

Run example() {
  Run run{.tool_version = "0.1.0", .command_line = {"skidscan", "record", "-e", "access"}};
  run.machine.cpu = {.arch = "x86_64",
                     .vendor = "GenuineIntel",
                     .model_name = "Intel(R) Core(TM) i7-6700",
                     .family = 6,
                     .model = 94,
                     .stepping = 3,
                     .microcode = "0xf0",
                     .hypervisor = "KVM"};
  run.machine.kernel = "6.1.0";
  run.machine.hostname = "lab7";
  run.machine.core_pmus = {{.name = "cpu", .type = 4, .max_precise = 3, .cpus = {0, 1}},
                           {.name = "other", .type = 9, .max_precise = {}, .cpus = {}}};
  run.machine.other_pmus = {"ibs_op"};
  run.machine.perf_event_paranoid = -1;
  run.machine.perf_event_max_sample_rate = 100'000;
  run.machine.smt_active = true;
  run.machine.allowed_cpus = {0, 3};
  run.machine.data_caches[3] = {{1, 48 << 10}, {2, 2 << 20}, {3, 30 << 20}};
  run.perf = {.path = "/usr/bin/perf", .version = "6.1.187", .major = 6, .minor = 1};
  run.cpu = 3;
  run.samples = 5000;
  run.duration_seconds = 1.5;
  run.started = "2026-01-02T03:04:05Z";
  run.ended = "2026-01-02T03:04:25Z";
  run.targets = {{.trigger = "load", .file = "target.load", .build_id = "abcd"},
                 {.trigger = "load", .file = "target.load.short", .build_id = "ef01"}};

  PlannedMeasurement finished;
  finished.event = "access:u";
  finished.requested = "access:upp";
  finished.perf_event = "mem:0x403000/8:rw:upp";
  finished.cross_check = "exceptions:page_fault_user";
  finished.data_addresses = finished.weights = finished.registers = true;
  finished.samples = 400;
  finished.level = 2;
  finished.repeat = 4;
  finished.period = 18'446'744'073'709'551'615ULL;
  finished.trigger = "load";
  finished.target = "target.load";
  finished.length = std::uint64_t{36'000};
  finished.file = "access_u.pp.4.data";
  finished.state = State::finished;
  finished.command = {"perf", "record"};
  finished.started = "2026-01-02T03:04:06Z";
  finished.ended = "2026-01-02T03:04:07Z";
  finished.target_report =
      runway::TargetReport{.iterations = 36'000,
                           .elapsed_seconds = 0.25,
                           .ticks_per_nop = 0.2,
                           .ticks_per_second = 2.6e9,
                           .cpu = -1,
                           .chase = AddressRange{0x7f0000000000, 0x7f0000001000},
                           .warnings = {"mlockall refused (errno 12)"}};
  finished.messages = {"perf said this"};

  PlannedMeasurement pending;
  pending.event = pending.requested = pending.perf_event = "cpu-clock";
  pending.samples = 5000;
  pending.period = 99'991;
  pending.trigger = "load";
  pending.target = "target.load.short";
  pending.length = std::chrono::nanoseconds(1'500'000'001);
  pending.file = "cpu-clock.none.data";

  PlannedMeasurement refused = pending;
  refused.file = "cpu-clock.p.data";
  refused.level = 1;
  refused.state = State::refused;
  refused.reason = "not supported";

  run.measurements = {finished, pending, refused};
  run.notes = {"one note", "another \xff"};
  return run;
}

class RunFile : public ::testing::Test {
 protected:
  void SetUp() override { write_run(example(), directory_.path()); }

  fs::path file() const { return directory_ / kFileName; }
  void put(const std::string& text) const { directory_.write(kFileName, text); }
  /// The message of reading the example after `change`.
  std::string fault_after(const std::function<void(json&)>& change) const {
    json document = json::parse(read_file(file(), 1 << 20));
    change(document);
    put(document.dump());
    return fault();
  }
  std::string fault() const { return test::message_of<InputError>(read_run, directory_.path()); }

  test::TemporaryDirectory directory_;
};

TEST_F(RunFile, HasEveryValueAndIsReadBack) {
  const std::string text = read_file(file(), 1 << 20);
  test::expect_golden("run.json", text);
  write_run(read_run(directory_.path()), directory_.path());
  EXPECT_EQ(read_file(file(), 1 << 20), text);
  const run::Run run = read_run(directory_.path());
  EXPECT_EQ(run.perf.major, 6);
  EXPECT_EQ(run.perf.minor, 1);
  EXPECT_THAT(run.notes, ElementsAre("one note", "another \xef\xbf\xbd"))
      << "text that is not UTF-8 stays readable";
}

TEST_F(RunFile, OfAnOlderVersionHasOneTargetForEachTrigger) {
  json document = json::parse(read_file(file(), 1 << 20));
  document["targets"].erase(1);
  for (json& measurement : document["measurements"]) measurement.erase("target");
  put(document.dump());
  EXPECT_THAT(test::mapped(read_run(directory_.path()).measurements, &PlannedMeasurement::target),
              Each("target.load"));
}

TEST_F(RunFile, IsPartialWhileAMeasurementIsPending) {
  run::Run run = read_run(directory_.path());
  EXPECT_TRUE(run.partial());
  run.measurements[1].state = State::finished;
  EXPECT_FALSE(run.partial());
}

TEST_F(RunFile, MakesItsDirectoryARun) {
  EXPECT_TRUE(is_run(directory_.path()));
  EXPECT_FALSE(is_run(directory_ / "missing"));
  fs::remove(file());
  EXPECT_FALSE(is_run(directory_.path()));
  fs::create_directory(file());
  EXPECT_FALSE(is_run(directory_.path()));
}

TEST_F(RunFile, WithAWrongValueNamesItAndWhatIsExpected) {
  struct Case {
    const char* where;  // a JSON pointer
    json value;         // discarded: the key is missing
    std::string message;
  };
  const std::vector<Case> all{
      {"/schema", "skidscan.run/2",
       R"("skidscan.run/2" for "schema", expected "skidscan.run/1"; read it with the skidscan )"
       "that wrote it"},
      {"/measurements/1/event", json::value_t::discarded,
       R"(nothing for "measurements[1].event", expected a value)"},
      {"/machine/kernel", 6, R"(a number for "machine.kernel", expected a string)"},
      {"/notes", 1, R"(a number for "notes", expected an array)"},
      {"/measurements/0/level", 4, R"(4 for "measurements[0].level", expected 0 to 3)"},
      {"/measurements/0/level", -1, R"(-1 for "measurements[0].level", expected 0 to 3)"},
      {"/cpu", 4'294'967'297LL, R"(4294967297 for "cpu")"},
      {"/measurements/0/state", "done", "expected one of pending, finished, refused"},
      {"/measurements/0/length/nanoseconds", 1, R"(both lengths for "measurements[0].length")"},
      {"/measurements/0/length", json::object(), R"(neither length for "measurements[0].length")"},
      {"/measurements/1/file", "access_u.pp.4.data",
       R"(for "measurements[1].file", expected a file of its own)"}};
  const std::string text = read_file(file(), 1 << 20);
  for (const Case& one : all) {
    put(text);
    const std::string found = fault_after([&](json& run) {
      const json::json_pointer where(one.where);
      if (one.value.is_discarded()) {
        run[where.parent_pointer()].erase(where.back());
      } else {
        run[where] = one.value;
      }
    });
    EXPECT_THAT(found, HasSubstr(file().string() + ": ")) << one.where;
    EXPECT_THAT(found, HasSubstr(one.message)) << one.where;
  }
}

TEST_F(RunFile, ThatPointsOutOfItsDirectoryIsRefused) {
  for (const char* name : {"../other.data", "/etc/passwd", "a/../../b", "", ".."}) {
    EXPECT_THAT(fault_after([&](json& run) { run["measurements"][0]["file"] = name; }),
                HasSubstr("for \"measurements[0].file\", expected the name of a file in the"))
        << name;
  }
  EXPECT_THAT(fault_after([&](json& run) {
                run["measurements"][0]["file"] = "x.data";
                run["targets"][0]["file"] = "../target";
              }),
              HasSubstr("for \"targets[0].file\""));
}

TEST_F(RunFile, ThatIsNotJsonIsRefusedWithTheOffset) {
  put("{\"schema\": ");
  EXPECT_THAT(fault(), HasSubstr("run.json: at offset 0xb: text that is not JSON"));
  put("[1, 2]");
  EXPECT_THAT(fault(), HasSubstr("an array, expected an object"));
  put("{\"schema\": 1e999}");
  EXPECT_THAT(fault(), HasSubstr("a number too large"));
  put("");
  EXPECT_THAT(fault(), HasSubstr("run.json: empty, expected the description of a run; "));
}

TEST_F(RunFile, IgnoresKeysItDoesNotKnow) {
  EXPECT_EQ(fault_after([](json& run) { run["later_addition"] = {1, 2}; }), "no error");
}

TEST_F(RunFile, LargerThanAnyRunIsRefusedUnread) {
  fs::resize_file(file(), (std::uint64_t{64} << 20) + 1);
  EXPECT_THAT(fault(), HasSubstr("expected at most 67108864"));
}

}  // namespace
}  // namespace skid::run
