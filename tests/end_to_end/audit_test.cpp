// `skidscan audit` as a user runs it: on recordings made from a placement, which perf reads too,
// and on real ones made here.
#include "src/support/process.h"
#include "tests/end_to_end/command_on_programs.h"
#include "tests/support/breakpoints.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

using test::kDone;
using test::kFailed;
using test::kInPart;
using test::kUsage;

/// Twice a load and an addition, once under a hostile name: a terminal's escape sequence, a comma
/// and quotation marks.
constexpr const char* kAssembly =
    "  .text\n"
    "  .globl plain\n"
    "  .type plain, @function\n"
    "plain:\n"
    "  movq (%rdi), %rax\n"
    "  addq %rbx, %rax\n"
    "  pause; ret\n"
    "  .size plain, . - plain\n"
    "  .globl \"evil\x1b[31m,\\\"x\\\"\"\n"
    "  .type \"evil\x1b[31m,\\\"x\\\"\", @function\n"
    "\"evil\x1b[31m,\\\"x\\\"\":\n"
    "  movq (%rdi), %rax\n"
    "  addq %rbx, %rax\n"
    "  pause; ret\n"
    "  .size \"evil\x1b[31m,\\\"x\\\"\", . - \"evil\x1b[31m,\\\"x\\\"\"\n"
    "  .section .note.GNU-stack,\"\",@progbits\n";

/// Touches one datum in a loop that does other things, too.
constexpr const char* kWatched = R"(
volatile long watched;
int main(void) {
  long sum = 0;
  for (int i = 0; i < 2000; ++i) {
    watched = i;
    for (int j = 0; j < 50; ++j) __asm__ volatile("add %0, %0" : "+r"(sum));
    sum ^= watched + i;
  }
  return (int)(sum & 1);
}
)";

class AuditCommand : public test::CommandOnPrograms {
 protected:
  static void expect_done(const Completed& completed) {
    EXPECT_EQ(completed.code.status, kDone) << completed.err;
  }
  json audited(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "audit");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto completed = run(arguments);
    expect_done(completed);
    if (!completed.code.success()) throw std::runtime_error(completed.err);
    json document = json::parse(completed.out);
    for (const json& recording : document["recordings"]) {
      for (const json& event : recording["events"]) {
        std::uint64_t left_out = 0;
        for (const auto& [reason, samples] : event["not_judged"].items()) {
          left_out += samples.get<std::uint64_t>();
        }
        EXPECT_EQ(event["judged"].get<std::uint64_t>() + left_out, event["samples"]);
        EXPECT_EQ(event["verdicts"]["never"], event["impossible"]);
      }
    }
    return document;
  }

  void compile(const std::string& name, const std::string& suffix, const std::string& source,
               std::vector<std::string> flags = {}) const {
    std::ofstream(directory_ / (name + suffix)) << source;
    std::vector<std::string> command{"cc",
                                     "-g",
                                     "-O1",
                                     "-Wl,--build-id=sha1",
                                     "-o",
                                     in_directory(name),
                                     in_directory(name + suffix)};
    command.insert(command.end(), flags.begin(), flags.end());
    const auto compiled = run_program(command);
    ASSERT_TRUE(compiled.code.success()) << compiled.err;
  }

  /// The assembly in a program, and samples on it.
  void place(const std::vector<std::string>& choices = {}) const {
    compile("program", ".s", kAssembly, {"-shared"});
    std::ofstream(directory_ / "places.json") << R"({
      "binary": "program", "buffers": {"cpus": 3},
      "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
      "events": [
        {"event": "r20d1:u", "config": "0x20d1", "period": 1009, "levels": [
          {"level": 2, "places": [
            {"symbol": "plain", "samples": 3000},
            {"symbol": "plain", "offset": 3, "samples": 700},
            {"symbol": "plain", "offset": 6, "samples": 50},
            {"symbol": "plain", "offset": 1, "samples": 20},
            {"symbol": "evil\u001b[31m,\"x\"", "offset": 3, "samples": 11},
            {"symbol": "plain", "offset": 3, "samples": 5, "exact": false}]},
          {"level": 1, "kernel": 0.2, "places": [
            {"symbol": "plain", "offset": 3, "samples": 300},
            {"symbol": "plain", "offset": 6, "samples": 100}]}]},
        {"event": "r81d0", "config": "0x81d0", "period": 7, "levels": [
          {"level": 3, "places": [{"symbol": "plain", "samples": 900}]}]}]})";
    std::vector<std::string> arguments{SKIDSCAN_PLACE_SAMPLES, "places.json", "placed.data"};
    arguments.insert(arguments.end(), choices.begin(), choices.end());
    const auto placed = run_program(arguments, directory_.path());
    ASSERT_EQ(placed.code.status, kDone) << placed.err;
  }
  json truth() const {
    return json::parse(test::content_of(directory_ / "placed.data.truth.json"));
  }
};

TEST_F(AuditCommand, FindsTheImpossibleSamplesOfTheTruth) {
  ASSERT_NO_FATAL_FAILURE(place());
  const json document = audited({"placed.data"});
  EXPECT_EQ(document["schema"], "skidscan.audit/1");
  const json& recording = document["recordings"][0];
  EXPECT_EQ(recording["synthetic"], true);
  const json& events = recording["events"];
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0]["impossible"], 711);
  EXPECT_EQ(events[0]["impossible"], truth()["events"][0]["impossible"]);
  EXPECT_EQ(events[0]["judged"], 3711);
  EXPECT_EQ(events[0]["not_judged"],
            json({{"unknown_cause", 50}, {"inside_instruction", 20}, {"not_exact", 5}}));
  EXPECT_EQ(events[0]["requested"], "r20d1:upp");
  EXPECT_EQ(events[0]["rule"], "sampled");
  const json& worst = events[0]["instructions"][0];
  EXPECT_EQ(worst["function"], "plain");
  EXPECT_EQ(worst["offset"], 3);
  EXPECT_EQ(worst["disassembly"], "add rax, rbx");
  EXPECT_EQ(worst["categories"], json({"NOMEM"}));
  EXPECT_EQ(worst["samples"], 700);
  EXPECT_THAT(worst["source"]["file"].get<std::string>(), HasSubstr("program.s"));
  EXPECT_EQ(worst["source"]["line"], 6);
  EXPECT_EQ(events[1]["rule"], "predecessor");
  EXPECT_EQ(events[1]["impossible"], 100)
      << "after the addition; those after the load are possible";
  EXPECT_EQ(events[1]["not_judged"], json({{"kernel", 100}}));
  EXPECT_EQ(events[2]["impossible"], 0) << "all on a load";
  EXPECT_EQ(events[2]["judged"], 900);
  EXPECT_EQ(truth()["events"][2]["impossible"], 0);
}

TEST_F(AuditCommand, ReadsAPipeAndACompressedRecordingAlike) {
  ASSERT_NO_FATAL_FAILURE(place());
  const json plain = audited({"placed.data"})["recordings"][0]["events"];
  for (const std::vector<std::string>& choices :
       {std::vector<std::string>{"--force", "--pipe"}, {"--force", "-z"}}) {
    ASSERT_NO_FATAL_FAILURE(place(choices));
    EXPECT_EQ(audited({"placed.data"})["recordings"][0]["events"], plain) << choices[1];
  }
}

TEST_F(AuditCommand, TextFitsATerminalAndEscapesNames) {
  ASSERT_NO_FATAL_FAILURE(place());
  const auto done = run_program({"env", "COLUMNS=80", test::skidscan_program(), "audit",
                                 in_directory("placed.data"), "--all"});
  expect_done(done);
  EXPECT_THAT(done.out, HasSubstr("811 of 5,011 judged samples (16.18%)"));
  EXPECT_THAT(done.out, HasSubstr("add rax, rbx [NOMEM]"));
  EXPECT_THAT(done.out, HasSubstr("SYNTHETIC"));
  EXPECT_THAT(done.out, HasSubstr("evil\\x1b[31m"));
  for (const std::string& line : test::lines_of(done.out)) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char byte) {
      return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;  // no continuation in UTF-8
    });
    EXPECT_LE(columns, 80) << line;
  }
  for (const char* format : {"text", "json", "csv"}) {
    const auto formatted = run({"audit", "placed.data", "--format", format});
    expect_done(formatted);
    EXPECT_EQ(formatted.out.find('\033'), std::string::npos) << format;
  }
}

TEST_F(AuditCommand, FindsLoadsOfABlockThatAreSampledUnevenly) {
  compile("program", ".s", R"(
  .text
  .globl loads
  .type loads, @function
loads:
  movq (%rdi), %rax
  movq 8(%rdi), %rax
  movq 16(%rdi), %rax
  ret
  .size loads, . - loads
  .section .note.GNU-stack,"",@progbits
)",
          {"-shared"});
  std::ofstream(directory_ / "places.json") << R"({
    "binary": "program", "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
    "events": [{"event": "loads", "config": "0x81d0", "period": 1009, "levels": [
      {"level": 2, "places": [{"symbol": "loads", "samples": 100},
                              {"symbol": "loads", "offset": 3, "samples": 800}]}]}]})";
  ASSERT_EQ(
      run_program({SKIDSCAN_PLACE_SAMPLES, "places.json", "a.data"}, directory_.path()).code.status,
      kDone);
  const json event = audited({"a.data"})["recordings"][0]["events"][0];
  EXPECT_EQ(event["impossible"], 0);
  const json& bias = event["bias"];
  EXPECT_EQ(bias["blocks_judged"], 1);
  EXPECT_EQ(bias["blocks_biased"], 1);
  EXPECT_NEAR(bias["misplaced"]["value"].get<double>(), 500.0 / 900, 0.03);
  const json& block = bias["blocks"][0];
  EXPECT_EQ(block["function"], "loads");
  EXPECT_EQ(block["expected"], 300);
  EXPECT_NEAR(block["largest_ratio"].get<double>(), 800 / 300.0, 1e-12);
  EXPECT_EQ(block["places"].size(), 3U);
  EXPECT_EQ(block["places"][1]["samples"], 800);

  const auto text = run({"audit", "a.data", "--plot-script", "a.gp"});
  expect_done(text);
  EXPECT_THAT(text.out, HasSubstr("100 800 0"));
  EXPECT_THAT(test::content_of(directory_ / "a.gp"), HasSubstr("execute equally often"));
  expect_done(run({"audit", "a.data", "--plot-script", "r.gp", "--kind", "ratios"}));
  EXPECT_EQ(run({"audit", "a.data", "--kind", "ratios"}).code.status, kUsage);
  const auto biased = run({"audit", "a.data", "--fail-on", "biased", "--top", "0"});
  EXPECT_EQ(biased.code.status, test::kGateFailed);
  EXPECT_THAT(biased.err, HasSubstr("--fail-on biased: 1 of 1 judged blocks are biased"));
  expect_done(run({"audit", "a.data", "--fail-on", "impossible"}));
  const auto none = run({"audit", "a.data", "--plot-script", "n.gp", "--top", "0"});
  EXPECT_EQ(none.code.status, kFailed);
  EXPECT_THAT(none.err, HasSubstr("--top 0 lists no block"));

  ASSERT_NO_FATAL_FAILURE(place());
  const auto none_judged = run({"audit", "placed.data", "--fail-on", "biased"});
  EXPECT_EQ(none_judged.code.status, 5);
  EXPECT_THAT(none_judged.err, HasSubstr("--fail-on biased: no block could be judged: "));
  expect_done(run({"audit", "placed.data", "--fail-on", "biased", "--allow-not-judged"}));
}

TEST_F(AuditCommand, CsvHasARowForEachFinding) {
  ASSERT_NO_FATAL_FAILURE(place());
  const auto done = run({"audit", "placed.data", "--format", "csv"});
  expect_done(done);
  const auto lines = test::lines_of(done.out);
  const auto header = test::fields_of(lines.at(0));
  const auto column = [&](const std::string& name) {
    return std::find(header.begin(), header.end(), name) - header.begin();
  };
  const auto kind = static_cast<std::size_t>(column("row"));
  const auto function = static_cast<std::size_t>(column("function"));
  std::map<std::string, int> rows;
  bool has_hostile = false;
  for (const std::string& line : lines) {
    const auto fields = test::fields_of(line);
    ASSERT_EQ(fields.size(), header.size()) << line;
    ++rows[fields.at(kind)];
    has_hostile |= fields.at(function) == R"(evil\x1b[31m,"x")";
  }
  EXPECT_TRUE(has_hostile);
  EXPECT_EQ(rows["event"], 3);
  EXPECT_EQ(rows["verdict"], 15);
  EXPECT_EQ(rows["not_judged"], 4);
  EXPECT_EQ(rows["function"], 4);
  EXPECT_EQ(rows["instruction"], 3);
}

TEST_F(AuditCommand, ListsAsManyFindingsAsRequested) {
  ASSERT_NO_FATAL_FAILURE(place());
  const auto listed = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "placed.data");
    const json event = audited(more)["recordings"][0]["events"][0];
    EXPECT_EQ(event["instructions_impossible"], 2);
    EXPECT_EQ(event["impossible"], 711);
    return event["instructions"].size();
  };
  EXPECT_EQ(listed({}), 2U);
  EXPECT_EQ(listed({"--top", "1"}), 1U);
  EXPECT_EQ(listed({"--min-share", "0.1"}), 1U);
  EXPECT_EQ(listed({"--all"}), 3U);
}

TEST_F(AuditCommand, ReportsMissingAndWrongInputs) {
  const auto none = run({"audit"});
  EXPECT_EQ(none.code.status, kFailed);
  EXPECT_THAT(none.err, HasSubstr("skidscan.run"));
  EXPECT_EQ(run({"audit", "nothing.data"}).code.status, kFailed);
  ASSERT_NO_FATAL_FAILURE(place());
  EXPECT_EQ(run({"audit", "placed.data", "--symfs", "nowhere"}).code.status, kUsage);
  EXPECT_EQ(run({"audit", "placed.data", "--debug-dir", "nowhere"}).code.status, kUsage);
  EXPECT_EQ(run({"audit", "placed.data", "--min-share", "nan"}).code.status, kUsage);
  const auto both = run({"audit", "placed.data", "nothing.data"});
  EXPECT_EQ(both.code.status, kInPart);
  EXPECT_THAT(both.out, HasSubstr("811 of 5,011 judged"));

  const std::string whole = test::content_of(directory_ / "placed.data");
  std::ofstream(directory_ / "cut.data", std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_EQ(run({"audit", "cut.data"}).code.status, kInPart);

  fs::rename(directory_ / "program", directory_ / "elsewhere");
  const json gone = audited({"placed.data"})["recordings"][0];
  EXPECT_EQ(gone["events"][0]["judged"], 0);
  EXPECT_EQ(gone["events"][0]["impossible_share"]["value"], nullptr);
  EXPECT_THAT(gone["remarks"][0].get<std::string>(), HasSubstr("/usr/lib/debug"));
  EXPECT_THAT(gone["missing"][0]["file"].get<std::string>(), HasSubstr("/program"));
  EXPECT_GT(gone["missing"][0]["samples"], 4000);
  const std::string text = run({"audit", "placed.data"}).out;
  EXPECT_THAT(text, HasSubstr("5,081 samples are in 1 file whose code is missing"));
  const auto reason = text.find("/usr/lib/debug");
  ASSERT_NE(reason, std::string::npos);
  EXPECT_EQ(text.find("/usr/lib/debug", reason + 1), std::string::npos) << text;
  const json copy = audited({"placed.data", "--binary", "elsewhere"})["recordings"][0];
  EXPECT_EQ(copy["missing"], json::array());
  EXPECT_EQ(copy["events"][0]["impossible"], 711);
  EXPECT_EQ(
      run({"audit", "placed.data", "--binary", "elsewhere", "--fail-on", "samples"}).code.status,
      test::kGateFailed);
  const auto gated = run({"audit", "placed.data", "--binary", "elsewhere", "--fail-on", "samples",
                          "--plot-script", "f.gp", "--top", "0"});
  EXPECT_EQ(gated.code.status, test::kGateFailed) << "a figure without blocks does not hide it";
}

/// The distance of a data breakpoint is known: one instruction after the trigger. A model with
/// another distance is a broken machine.
TEST_F(AuditCommand, AccusesABreakpointThatSkids) {
  for (const auto& [offset, impossible] : {std::pair{1, 0}, {5, 4000}}) {
    std::ofstream(directory_ / "model.json")
        << R"({"schema": "skidscan.model/1", "name": "breakpoint", "target": {"trigger": "load"},
               "events": [{"event": "access", "period": 7, "levels": [
                 {"level": 2, "samples": 4000, "offsets": {"kind": "constant", "offset": )"
        << offset << "}}]}]}";
    expect_done(run({"synth", "model.json", "-o", "a.data", "--force"}));
    const json event = audited({"a.data"})["recordings"][0]["events"][0];
    EXPECT_EQ(event["judged"], 4000) << offset;
    EXPECT_EQ(event["impossible"], impossible) << offset;
  }
}

TEST_F(AuditCommand, FindsNoImpossibleSampleInRealRecordings) {
  SKIP_WITHOUT_BREAKPOINTS();
  const std::string reason = test::why_perf_cannot_record(directory_.path());
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto recorded = run({"record", "-e", "access,execute,faults", "-p", "none,pp", "--samples",
                             "500", "-o", "real.run"});
  expect_done(recorded);
  const json recordings = audited({"real.run"})["recordings"];
  ASSERT_EQ(recordings.size(), 6U);
  for (const json& recording : recordings) {
    ASSERT_EQ(recording["events"].size(), 1U) << "the tracepoint of page faults is not audited";
    const json& event = recording["events"][0];
    SCOPED_TRACE(event["requested"].get<std::string>());
    EXPECT_EQ(event["impossible"], 0);
    EXPECT_GE(event["samples"], 500);
    const char* verdict = event["event"] == "execute" ? "can" : "conditional";
    EXPECT_EQ(event["verdicts"][verdict], event["judged"]);
    // A few samples may be in the kernel or in what runs before the loop.
    EXPECT_GE(event["judged"].get<double>(), 0.99 * event["samples"].get<double>());
  }
}

TEST_F(AuditCommand, JudgesBreakpointsOfARealProgramByThePrecedingInstruction) {
  SKIP_WITHOUT_BREAKPOINTS();
  const std::string reason = test::why_perf_cannot_record(directory_.path());
  if (!reason.empty()) GTEST_SKIP() << reason;
  compile("watcher", ".c", kWatched, {"-no-pie"});
  const auto names = run_program({"nm", in_directory("watcher")});
  ASSERT_TRUE(names.code.success()) << names.err;
  const auto at = names.out.find(" B watched");
  ASSERT_NE(at, std::string::npos);
  const std::string address = "0x" + names.out.substr(at - 16, 16);
  for (const char* access : {"rw", "w"}) {
    const auto recorded = run_program(
        {"perf", "record", "--no-bpf-event", "-q", "-o", in_directory("w.data"), "-c", "1", "-e",
         "mem:" + address + "/8:" + access + ":u", "--", in_directory("watcher")});
    if (!recorded.code.success()) GTEST_SKIP() << "no breakpoints here: " << recorded.err;
    const json event = audited({"w.data"})["recordings"][0]["events"][0];
    SCOPED_TRACE(event.dump());
    EXPECT_GE(event["samples"], 1000);
    EXPECT_EQ(event["impossible"], 0);
    EXPECT_GE(event["judged"].get<double>(), 0.9 * event["samples"].get<double>());
  }
}

TEST_F(AuditCommand, ReadsEveryThirdPartyRecording) {
  const char* named = std::getenv("SKIDSCAN_RECORDINGS");
  const fs::path recordings = named != nullptr ? named : SKIDSCAN_RECORDINGS_DIRECTORY;
  if (!fs::exists(recordings / "EXPECTED.tsv")) {
    GTEST_SKIP() << "no recordings (SKIDSCAN_RECORDINGS names their directory)";
  }
  int audits = 0;
  for (const auto& entry : fs::recursive_directory_iterator(recordings)) {
    const std::string path = entry.path().string();
    const bool is_malformed = path.find("malformed") != std::string::npos;
    if (!entry.is_regular_file() || (!is_malformed && path.find("data") == std::string::npos))
      continue;
    if (entry.path().filename().string().starts_with("LICENSE")) continue;
    const auto done = run({"audit", path, "--format", "json"});
    EXPECT_EQ(done.code.signal, 0) << path;
    if (is_malformed) {
      EXPECT_THAT(done.code.status, AnyOf(kDone, kFailed, kInPart)) << path << done.err;
      continue;
    }
    EXPECT_THAT(done.code.status, AnyOf(kDone, kInPart)) << path << done.err;
    const json document = json::parse(done.out);
    for (const json& event : document["recordings"][0]["events"]) {
      EXPECT_EQ(event["impossible"], 0) << path << ": none of them is precise";
    }
    ++audits;
  }
  EXPECT_GT(audits, 10);
}

}  // namespace
}  // namespace skid
