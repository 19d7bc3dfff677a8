// Many inputs read by all cores: what comes out is what one core makes of them.
#include "src/support/cores.h"
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

using test::kDone;
using test::kInPart;

/// Events of a core PMU too, for which the catalogue is asked.
constexpr const char* kModel = R"({
  "schema": "skidscan.model/1", "name": "small",
  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
  "target": {"trigger": "load", "nops": 200},
  "events": [
    {"event": "r20d1", "period": 1009, "levels": [
      {"level": 0, "samples": 500, "offsets": {"kind": "normal_cycles", "mean": 9, "stddev": 4}},
      {"level": 2, "samples": 500, "hits": 0.9, "exact_ip": 0.95,
       "offsets": {"kind": "uniform", "lowest": -20, "highest": 120}}]},
    {"event": "access", "period": 7, "levels": [
      {"level": 1, "samples": 300, "offsets": {"kind": "constant", "offset": 1}}]}]})";

class ManyInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    if (!find_program("taskset")) GTEST_SKIP() << "no taskset in PATH";
    if (Cores::usable() < 2) GTEST_SKIP() << "one core alone";
    std::ofstream(directory_ / "model.json") << kModel;
    for (int seed = 1; seed <= 8; ++seed) {
      const std::string name = "run" + std::to_string(seed);
      inputs_.push_back(name);
      ASSERT_EQ(run({"synth", "model.json", "--all-levels", "--repeat", "2", "--seed",
                     std::to_string(seed), "-o", name})
                    .code.status,
                kDone);
    }
  }

  Completed run(const std::vector<std::string>& arguments) const {
    return test::skidscan(arguments, directory_.path());
  }
  Completed on_one_core(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"taskset", "-c", std::to_string(first_cpu()), test::skidscan_program()});
    return run_program(arguments, directory_.path());
  }
  /// Of those that this process may use.
  static int first_cpu() {
    const auto allowed = run_program({"sh", "-c", "taskset -cp $$ | sed 's/.*: *//; s/[-,].*//'"});
    return std::stoi(allowed.out);
  }
  void expect_the_same(const std::vector<std::string>& arguments, int status) const {
    const auto alone = on_one_core(arguments);
    EXPECT_EQ(alone.code.status, status) << arguments.front() << alone.err;
    for (int round = 0; round < 3; ++round) {
      const auto together = run(arguments);
      EXPECT_EQ(together.code.status, status) << arguments.front() << together.err;
      EXPECT_EQ(together.out, alone.out) << arguments.front();
      EXPECT_EQ(together.err, alone.err) << arguments.front();
    }
  }
  std::vector<std::string> with_inputs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), inputs_.begin(), inputs_.end());
    return arguments;
  }

  test::TemporaryDirectory directory_;
  std::vector<std::string> inputs_;
};

TEST_F(ManyInputs, GiveTheSameOutputOnAllCoresAsOnOne) {
  for (const char* format : {"text", "json", "csv"}) {
    expect_the_same(with_inputs({"report", "--format", format}), kDone);
  }
  expect_the_same(with_inputs({"compare", "--format", "json"}), kDone);
  expect_the_same(with_inputs({"merge", "--as-repeats"}), kDone);
  expect_the_same(with_inputs({"audit", "--format", "json"}), kDone);
}

TEST_F(ManyInputs, HaveTheirDamageReportedInOrder) {
  namespace fs = std::filesystem;
  const auto cut = [&](const std::string& name, std::uintmax_t size) {
    fs::resize_file(directory_ / name, size);
  };
  cut("run2/r20d1.none.1.data", fs::file_size(directory_ / "run2/r20d1.none.1.data") - 1000);
  cut("run4/access.p.2.data", 50);
  cut("run6/run.json", 20);
  fs::remove(directory_ / "run7/r20d1.pp.1.data");
  json partial = json::parse(std::ifstream(directory_ / "run8/run.json"));
  partial["measurements"][1]["state"] = "pending";
  std::ofstream(directory_ / "run8/run.json") << partial;
  inputs_.insert(inputs_.begin() + 3, "nothing-here.data");
  expect_the_same(with_inputs({"report"}), kInPart);
  expect_the_same(with_inputs({"audit"}), kInPart);
  const auto printed = run(with_inputs({"report"})).err;
  std::size_t last = 0;
  for (const char* part : {"run2/", "nothing-here.data", "run4/", "run6", "run7/", "run8"}) {
    const std::size_t place = printed.find(part);
    ASSERT_NE(place, std::string::npos) << part << " in\n" << printed;
    EXPECT_GE(place, last) << part << " in\n" << printed;
    last = place;
  }
}

TEST_F(ManyInputs, EndAtTheFirstUnreadableOne) {
  expect_the_same(with_inputs({"report", "--hit", "no_such_function", "--runway", "nor_this"}), 1);
}

TEST_F(ManyInputs, MayBeMixedWithPipesThatAreReadInTheirTurn) {
  ASSERT_EQ(run({"synth", "model.json", "--pipe", "-o", "pipe.data"}).code.status, kDone);
  const auto piped = [&](const std::string& prefix) {
    return run_program({"sh", "-c",
                        "mkfifo a$$ b$$ && (cat pipe.data >a$$; cat pipe.data >b$$) & sleep 0; "
                        "until [ -p b$$ ]; do :; done; " +
                            prefix +
                            " \"$0\" report run1 a$$ run2 b$$ run3 --format csv | "
                            "sed \"s/[ab]$$/fifo/\"",
                        test::skidscan_program()},
                       directory_.path());
  };
  const auto alone = piped("taskset -c " + std::to_string(first_cpu()));
  const auto together = piped("");
  EXPECT_THAT(alone.out, AllOf(HasSubstr("run2"), HasSubstr("fifo"), HasSubstr("run3")));
  EXPECT_EQ(together.out, alone.out);
}

}  // namespace
}  // namespace skid
