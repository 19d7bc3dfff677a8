// `skidscan annotate` on runs and programs that are recorded here, and against perf annotate.
#include "src/support/process.h"
#include "tests/support/breakpoints.h"
#include "tests/support/program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstdint>
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
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProgram = SKIDSCAN_TEST_DATA "/support/annotated.c";

class Annotate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = test::why_perf_cannot_record(directory_.path()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    if (!find_program("cc")) GTEST_SKIP() << "there is no C compiler";
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }

  /// Builds the program as `name` and records it into `name`.data.
  void record(const std::string& name, std::vector<std::string> options = {"-g", "-O1"}) const {
    std::vector<std::string> build{"cc", "-o", in_directory(name), kProgram};
    build.insert(build.begin() + 1, options.begin(), options.end());
    const auto built = run_program(build);
    ASSERT_TRUE(built.code.success()) << built.err;
    const auto recorded =
        run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock", "-c", "1000003",
                     "-o", in_directory(name + ".data"), "--", in_directory(name)});
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
  }

  static json annotate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "annotate");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto annotated = test::skidscan(arguments);
    EXPECT_EQ(annotated.code.status, 0) << annotated.err;
    return json::parse(annotated.out);
  }

  test::TemporaryDirectory directory_;
};

/// Samples of a column of some code by distance from the trigger; rows without one under 9999.
std::map<int, std::uint64_t> by_offset(const json& code, std::size_t column) {
  std::map<int, std::uint64_t> samples;
  for (const auto& row : code["rows"]) {
    for (const auto& count : row["counts"]) {
      if (count["column"] != column || count["samples"] == 0) continue;
      samples[row["first_offset"].is_null() ? 9999 : row["first_offset"].get<int>()] +=
          count["samples"].get<std::uint64_t>();
    }
  }
  return samples;
}

TEST_F(Annotate, FindsEventsOfKnownSkid) {
  SKIP_WITHOUT_BREAKPOINTS();
#if !defined(__x86_64__)
  GTEST_SKIP() << "a data breakpoint's skid of +1 is x86's";
#endif
  const auto recorded = test::skidscan({"record", "--samples", "500", "-o", in_directory("run"),
                                        "-e", "access,execute,faults", "-p", "none,p,pp,ppp"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto listing = annotate({in_directory("run")});
  ASSERT_EQ(listing["columns"].size(), 12u);
  std::map<std::string, int> seen;
  for (const auto& code : listing["codes"]) {
    EXPECT_EQ(code["kind"], "target");
    for (const auto& of_code : code["columns"]) {
      const std::size_t number = of_code["column"];
      const auto& column = listing["columns"][number];
      const std::string event = column["event"]["label"];
      const int offset = event == "access" ? 1 : 0;
      const std::uint64_t read = column["samples"]["read"];
      EXPECT_GE(read, 500u);
      EXPECT_EQ(by_offset(code, number), (std::map<int, std::uint64_t>{{offset, read}})) << event;
      ++seen[event];
    }
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"access", 4}, {"execute", 4}, {"faults", 4}}));

  const auto one = annotate({in_directory("run"), "-e", "access:pp"});
  ASSERT_EQ(one["columns"].size(), 1u);
  EXPECT_EQ(one["columns"][0]["precise"]["requested"], 2);
  const auto text = test::skidscan({"annotate", in_directory("run"), "-e", "access"});
  EXPECT_THAT(text.out, HasSubstr("<- trigger"));
  EXPECT_THAT(text.out, Not(HasSubstr("execute")));
  const auto none = test::skidscan({"annotate", in_directory("run"), "-e", "cycles"});
  EXPECT_EQ(none.code.status, 64);
  EXPECT_THAT(none.err, HasSubstr("access, execute, faults"));
}

TEST_F(Annotate, AgreesWithPerfAnnotate) {
  record("program");
  const auto theirs =
      run_program({"perf", "annotate", "--stdio", "-i", in_directory("program.data"), "spin"});
  // "   19.28 :   1192:   xor    %rcx,%rax"
  std::map<std::string, double> percents;
  for (const std::string& line : test::lines_of(theirs.out)) {
    std::istringstream words(line);
    double percent = 0;
    std::string colon;
    std::string address;
    if (words >> percent >> colon >> address && colon == ":" && percent > 0) {
      percents["0x" + address.substr(0, address.size() - 1)] = percent;
    }
  }
  if (percents.empty()) GTEST_SKIP() << "perf annotate shows nothing here: " << theirs.err;

  const auto listing = annotate({in_directory("program.data"), "--function", "spin", "--source"});
  ASSERT_EQ(listing["codes"].size(), 1u);
  const auto& code = listing["codes"][0];
  const double total = code["columns"][0]["samples"];
  EXPECT_GT(total, 50);
  double sum = 0;
  std::map<std::string, double> ours;
  bool has_source = false;
  for (const auto& row : code["rows"]) {
    const double samples = row["counts"][0]["samples"];
    sum += samples;
    if (samples > 0) ours[row["begin"]] = 100 * samples / total;
    if (samples == 0 || row["source"].is_null()) continue;
    has_source = true;
    EXPECT_EQ(row["source"]["file"], kProgram);
    const std::string source_text = row["source"]["text"];
    EXPECT_THAT(test::content_of(kProgram), HasSubstr(source_text));
  }
  EXPECT_TRUE(has_source);
  EXPECT_EQ(sum, total);
  ASSERT_EQ(ours.size(), percents.size());
  for (const auto& [address, percent] : percents) {
    EXPECT_NEAR(ours[address], percent, 0.0051) << address;
  }

  const auto text =
      test::skidscan({"annotate", in_directory("program.data"), "--function", "spin", "--source"});
  EXPECT_THAT(text.out, HasSubstr("sum ^= sum << 13;"));
  EXPECT_THAT(text.out, HasSubstr("annotated.c:8"));
  EXPECT_THAT(text.out, HasSubstr("<abort@plt>"));
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos);
}

TEST_F(Annotate, FoldsUnsampledInstructionsWithoutAll) {
  record("program");
  const auto code_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{in_directory("program.data"), "--function", "spin"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return annotate(arguments)["codes"][0];
  };
  const auto all = code_of({"--all"});
  EXPECT_EQ(all["rows"].size(), all["instructions"]);
  const auto folded = code_of({"--context", "0"});
  EXPECT_LT(folded["rows"].size(), all["rows"].size());
  std::size_t instructions = 0;
  for (const auto& row : folded["rows"]) {
    instructions += row["instructions"].get<std::size_t>();
    if (row["instructions"] > 1) {
      EXPECT_EQ(row["counts"][0]["samples"], 0);
    }
  }
  EXPECT_EQ(instructions, all["instructions"].get<std::size_t>());
}

TEST_F(Annotate, ListsSampledFunctionsWhenTheNamedOneHasNoSample) {
  record("program");
  const std::string data = in_directory("program.data");
  const auto near = test::skidscan({"annotate", data, "--function", "spni"});
  EXPECT_EQ(near.code.status, 1);
  EXPECT_EQ(near.out, "");
  EXPECT_THAT(near.err, HasSubstr("'spni': no sample is in a function of that name"));
  EXPECT_THAT(near.err, HasSubstr("like names: spin"));
  const auto unsampled = test::skidscan({"annotate", data, "--function", "never_called"});
  EXPECT_EQ(unsampled.code.status, 1);
  EXPECT_THAT(unsampled.err, HasSubstr("'never_called': no sample is in it; it is in "));
  const auto other_module =
      test::skidscan({"annotate", data, "--function", "spin", "--module", "libc.so.6"});
  EXPECT_EQ(other_module.code.status, 1);
  const auto this_module =
      test::skidscan({"annotate", data, "--function", "spin", "--module", "program"});
  EXPECT_EQ(this_module.code.status, 0) << this_module.err;
  const auto hottest = test::skidscan({"annotate", data});
  EXPECT_EQ(hottest.code.status, 0);
  EXPECT_THAT(hottest.err, HasSubstr("the first of which is shown: spin"));
  EXPECT_EQ(hottest.out, test::skidscan({"annotate", data, "--function", "spin"}).out);
}

TEST_F(Annotate, FindsACppFunctionByEachOfItsNames) {
  if (!find_program("c++")) GTEST_SKIP() << "there is no C++ compiler";
  const std::string source = in_directory("account.cpp"), data = in_directory("perf.data");
  std::ofstream(source) << R"(
namespace app {
struct Account {
  __attribute__((noinline)) static void spin(int n) { for (volatile int i = 0; i < n; i = i + 1) {} }
  __attribute__((noinline)) static void spin_on() { for (volatile int i = 0; i < 900000; i = i + 1) {} }
};
}
int main() {
  for (int i = 0; i < 100; ++i) { app::Account::spin(300000); app::Account::spin_on(); }
})";
  ASSERT_TRUE(run_program({"c++", "-O1", "-o", in_directory("account"), source}).code.success());
  ASSERT_TRUE(run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock:u", "-o",
                           data, in_directory("account")})
                  .code.success());
  const auto rows_of = [&](const std::string& name) {
    const auto codes = annotate({data, "--function", name, "--module", "account"})["codes"];
    return codes.size() == 1 ? codes[0]["rows"] : json(name + ": not one function");
  };
  const auto rows = rows_of("app::Account::spin");
  EXPECT_EQ(rows_of("app::Account::spin(int)"), rows);
  EXPECT_EQ(rows_of("_ZN3app7Account4spinEi"), rows);
  EXPECT_NE(rows_of("app::Account::spin_on"), rows);
  EXPECT_EQ(rows_of("t::spin_o"), rows_of("app::Account::spin_on"));

  const auto part = test::skidscan({"annotate", data, "--function", "spin_o"});
  EXPECT_THAT(part.err,
              HasSubstr("'spin_o': shown is the only sampled one with it in its name: app::"));
  const auto several = test::skidscan({"annotate", data, "--function", "ccount::spi"});
  EXPECT_EQ(several.code.status, 1);
  EXPECT_THAT(several.err, HasSubstr("app::Account::spin_on, app::Account::spin\n"));
  const auto elsewhere =
      test::skidscan({"annotate", data, "--function", "spin_o", "--module", "libc.so.6"});
  EXPECT_EQ(elsewhere.code.status, 1);
  const auto raw = test::skidscan({"annotate", data, "--no-demangle"});
  EXPECT_THAT(raw.err, HasSubstr("shown: _ZN3app7Account7spin_onEv"));
}

TEST_F(Annotate, FindsAProgramThatWasMoved) {
  record("program");
  const auto where_it_was = annotate({in_directory("program.data"), "--function", "spin"});
  const std::string root = in_directory("root");
  const std::filesystem::path moved = root + in_directory("program");
  std::filesystem::create_directories(moved.parent_path());
  std::filesystem::rename(in_directory("program"), moved);
  std::filesystem::create_directory(in_directory("cache"));
  const auto found = annotate({in_directory("program.data"), "--function", "spin", "--buildid-dir",
                               in_directory("cache"), "--symfs", root});
  EXPECT_EQ(found["codes"][0]["file"], moved.string());
  EXPECT_EQ(found["codes"][0]["module"], in_directory("program"));
  EXPECT_EQ(found["codes"][0]["rows"], where_it_was["codes"][0]["rows"]);
}

TEST_F(Annotate, PutsSeveralRecordingsSideBySide) {
  record("a");
  std::filesystem::copy_file(in_directory("a.data"), in_directory("b.data"));
  const auto both =
      annotate({in_directory("a.data"), in_directory("b.data"), "--function", "spin"});
  ASSERT_EQ(both["codes"].size(), 1u);
  for (const auto& row : both["codes"][0]["rows"]) {
    ASSERT_EQ(row["counts"].size(), 2u);
    EXPECT_EQ(row["counts"][0]["samples"], row["counts"][1]["samples"]);
  }
  const auto text = test::skidscan(
      {"annotate", in_directory("a.data"), in_directory("b.data"), "--function", "spin"});
  EXPECT_THAT(text.out, HasSubstr("none a  "));
  EXPECT_THAT(text.out, HasSubstr("none b\n"));

  // Functions of one name in two programs are two listings.
  record("c", {"-O2"});
  const auto two = annotate({in_directory("a.data"), in_directory("c.data"), "--function", "spin"});
  ASSERT_EQ(two["codes"].size(), 2u);
  EXPECT_EQ(two["codes"][0]["columns"].size(), 1u);
  EXPECT_EQ(two["codes"][1]["columns"].size(), 1u);
}

TEST_F(Annotate, WritesNothingOfARecordingUnescaped) {
  const std::string evil = "evil\x1b[31m";
  const std::filesystem::path directory = directory_ / evil;
  std::filesystem::create_directory(directory);
  const std::filesystem::path source = directory / "a.s";
  std::ofstream(source) << "\t.text\n\t.globl _start\n_start:\n"
#if defined(__x86_64__)
                        << "\tmov $100000000, %rcx\n\tcall \"" << evil << "\"\n"
                        << "\tmov $60, %eax\n\txor %edi, %edi\n\tsyscall\n"
                        << "\t.type \"" << evil << "\", @function\n\"" << evil << "\":\n"
                        << "\tdec %rcx\n\tjnz \"" << evil << "\"\n\tret\n"
#endif
                        << "\t.size \"" << evil << "\", .-\"" << evil << "\"\n";
#if !defined(__x86_64__)
  GTEST_SKIP() << "the program is x86-64's";
#endif
  const std::string program = directory / "program", data = in_directory("perf.data");
  const auto built =
      run_program({"cc", "-g", "-nostdlib", "-static", "-o", program, source.string()});
  if (!built.code.success()) GTEST_SKIP() << "the assembler takes no such name: " << built.err;
  const auto recorded = run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock",
                                     "-c", "1000003", "-o", data, "--", program});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  for (const std::string format : {"text", "json", "csv"}) {
    const auto annotated = test::skidscan(
        {"annotate", data, "--function", evil, "--all", "--source", "--format", format});
    EXPECT_EQ(annotated.code.status, 0) << annotated.err;
    EXPECT_THAT(annotated.out, Not(HasSubstr("\x1b"))) << format;
    EXPECT_THAT(annotated.out, HasSubstr("evil")) << format;
  }
  const auto missing = test::skidscan({"annotate", data});
  EXPECT_EQ(missing.code.status, 0);
  EXPECT_THAT(missing.err, HasSubstr("evil\\x1b[31m"));
  EXPECT_THAT(missing.err, Not(HasSubstr("\x1b")));
}

/// The events of a pipe are known only when its records are read.
TEST(AnnotateWithoutPerf, SelectsEventsOfAPipe) {
  const test::TemporaryDirectory directory;
  const std::string pipe = directory / "pipe.data";
  const auto made = test::skidscan({"synth", "--like", "gregg-2017", "--pipe", "-o", pipe});
  if (!made.code.success()) GTEST_SKIP() << made.err;
  const auto annotated = test::skidscan({"annotate", pipe, "--event", "r412e", "--format", "json"});
  ASSERT_EQ(annotated.code.status, 0) << annotated.err;
  EXPECT_EQ(by_offset(json::parse(annotated.out)["codes"].at(0), 0).at(0), 131u);
}

TEST(AnnotateWithoutPerf, RefusesWrongUsageWithStatus64) {
  EXPECT_EQ(test::skidscan({"annotate", "--module", "x"}).code.status, 64);
  const test::TemporaryDirectory directory;
  const auto nowhere = test::skidscan({"annotate"}, directory.path());
  EXPECT_EQ(nowhere.code.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("skidscan record"));
}

TEST(AnnotateWithoutPerf, ShowsTheReadablePartOfDamagedInputs) {
  const test::TemporaryDirectory directory;
  const std::string damaged = directory / "damaged", missing = directory / "missing";
  test::RecordingBuilder builder;
  builder.event({}).sample(0x1000, 7, 10).record(9, 2, "", 4);
  builder.write(damaged);
  const auto none = test::skidscan({"annotate", missing, "--function", "main"});
  EXPECT_EQ(none.code.status, 1);
  EXPECT_EQ(std::count(none.err.begin(), none.err.end(), '\n'), 1) << none.err;
  const auto both = test::skidscan({"annotate", missing, damaged, "--function", "main"});
  EXPECT_EQ(both.code.status, 1);
  EXPECT_THAT(both.err, HasSubstr("a record of 4 bytes"));
  EXPECT_THAT(both.err, HasSubstr("no sample is in a function of that name"));

  const std::string model = directory / "model.json", data = directory / "synth.data";
  std::ofstream(model) << R"({"schema": "skidscan.model/1", "name": "few",
    "target": {"nops": 100}, "events": [{"event": "cpu-clock", "period": 1000, "levels": [
      {"level": 0, "offsets": {"kind": "empirical", "counts": [[2, 40]]}}]}]})";
  const auto made = test::skidscan({"synth", model, "-o", data});
  if (!made.code.success()) GTEST_SKIP() << made.err;
  const auto in_part = test::skidscan({"annotate", missing, data});
  EXPECT_EQ(in_part.code.status, 2);
  EXPECT_THAT(in_part.err, HasSubstr("missing"));
  EXPECT_THAT(in_part.out, HasSubstr("SYNTHETIC"));
}

}  // namespace
}  // namespace skid
