// What report says of synthetic machines that are sound, and of some with one fault:
// tests/sound_machines/study.py makes them and reports on them; here are the verdicts that must
// hold.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

/// By event and level: "kept", "refused", and of close triggers "kept, even".
using Verdicts = std::map<std::pair<std::string, int>, std::string>;

class SoundMachines : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { directory_ = std::make_unique<test::TemporaryDirectory>(); }
  static void TearDownTestSuite() { directory_.reset(); }

  void SetUp() override {
    if (!find_program("python3")) GTEST_SKIP() << "python3, which runs the study, is not installed";
  }

  /// All tests share the targets in the directory.
  static Completed study(const std::vector<std::string>& options, const std::string& fault) {
    std::vector<std::string> command{"python3",
                                     SKIDSCAN_TEST_DATA "/sound_machines/study.py",
                                     test::skidscan_program(),
                                     "--samples",
                                     "4000",
                                     "--keep",
                                     directory_->path().string()};
    command.insert(command.end(), options.begin(), options.end());
    if (!fault.empty()) command.insert(command.end(), {"--fault", fault});
    Completed completed = run_program(command);
    EXPECT_EQ(completed.err, "");
    return completed;
  }

  /// The machine's target with that trigger.
  static Verdicts verdicts(const std::string& machine, const std::string& trigger,
                           const std::string& fault = {}) {
    const Completed completed = study({"--machine", machine, "--trigger", trigger}, fault);
    Verdicts verdicts;
    std::istringstream lines(completed.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream columns(line);
      std::vector<std::string> cells;
      for (std::string cell; std::getline(columns, cell, '\t');) cells.push_back(cell);
      if (cells.size() < 7) continue;
      verdicts[{cells[2], std::stoi(cells[3])}] =
          cells[6] == "-" ? cells[4] : cells[4] + ", " + cells[6];
    }
    return verdicts;
  }

  static void expect(const Verdicts& expected, const Verdicts& found) {
    for (const auto& [cell, verdict] : expected) {
      const auto row = found.find(cell);
      ASSERT_NE(row, found.end()) << cell.first << " at level " << cell.second;
      EXPECT_EQ(row->second, verdict) << cell.first << " at level " << cell.second;
    }
  }

  static std::unique_ptr<test::TemporaryDirectory> directory_;
};

std::unique_ptr<test::TemporaryDirectory> SoundMachines::directory_;

TEST_F(SoundMachines, AreNotAccusedNorContradictedByAudit) {
  for (const char* fault : {"", "late"}) {
    const Completed completed = study({}, fault);
    EXPECT_EQ(completed.code.status, 0) << fault << '\n' << completed.out;
  }
}

TEST_F(SoundMachines, KeepTheirPromisesForLoads) {
  expect({{{"load", 0}, "not judged"},
          {{"load", 1}, "kept"},
          {{"load", 2}, "kept"},
          {{"load", 3}, "kept"},
          {{"instructions", 2}, "not judged, even"},
          {{"instructions", 3}, "not judged, even"}},
         verdicts("skylake", "load"));
  // Without the PEBS baseline level 1 is the eventing IP, too.
  expect({{{"load", 1}, "kept"}, {{"load", 2}, "kept"}, {{"load", 3}, "kept"}},
         verdicts("guest-without-baseline", "load"));
}

TEST_F(SoundMachines, KeepTheirPromisesForBranches) {
  expect({{{"taken branch", 0}, "not judged"},
          {{"taken branch", 1}, "kept"},
          {{"taken branch", 2}, "kept"},
          {{"taken branch", 3}, "kept"}},
         verdicts("alder-lake-e", "branch-taken"));
  expect({{{"taken branch", 1}, "refused"},
          {{"taken branch", 2}, "refused"},
          {{"taken branch", 3}, "refused"}},
         verdicts("guest-without-baseline", "branch-taken"));
}

TEST_F(SoundMachines, HaveEvenTriggersAtLevel3WhereItIsDistinct) {
  expect({{{"load", 2}, "kept, uneven"}, {{"load", 3}, "kept, even, promised"}},
         verdicts("sapphire-rapids", "close"));
  expect({{{"load", 3}, "kept, uneven"}}, verdicts("skylake", "close"));
  expect({{{"load", 3}, "kept, uneven, promised"}},
         verdicts("sapphire-rapids", "close", "shadowed"));
  const Completed report = test::skidscan(
      {"report", (*directory_ / "sapphire-rapids.close.run").string(), "--fail-on", "broken"},
      directory_->path());
  EXPECT_EQ(report.code.status, test::kGateFailed);
  EXPECT_THAT(report.err, ::testing::HasSubstr("the contract of 1 of 2 measurements is broken"));
  for (const char* text : {"precise_ip is not met by 1 of 2 judged measurements: r81d0 ppp",
                           "r81d0 ppp: samples of 13 triggers: uneven", "broken, uneven"}) {
    EXPECT_THAT(report.out, ::testing::HasSubstr(text));
  }
}

TEST_F(SoundMachines, OfWhichIbsSamplesEveryOperationAreJudgedBySomeSamples) {
  // Those that carry the address of the trigger's data.
  expect({{{"cycles", 1}, "undecided"}, {{"cycles", 2}, "undecided"}},
         verdicts("zen4", "load-dram"));
  expect({{{"tagged load", 0}, "kept"}}, verdicts("zen4", "load"));
  expect({{{"tagged load", 0}, "broken"}}, verdicts("zen4", "load", "late"));
}

TEST_F(SoundMachines, WithAFaultAreBroken) {
  expect({{{"load", 1}, "kept"}, {{"load", 2}, "broken"}, {{"load", 3}, "broken"}},
         verdicts("skylake", "load", "late"));
  expect({{{"load", 1}, "broken"}, {{"load", 2}, "broken"}, {{"load", 3}, "broken"}},
         verdicts("skylake", "load", "spread"));
  expect({{{"load", 1}, "broken"}, {{"load", 2}, "kept"}}, verdicts("skylake", "load", "constant"));
  // Three samples in a hundred were not led back, and say so.
  expect({{{"load", 2}, "kept"}}, verdicts("ivy-bridge", "load"));
  expect({{{"load", 2}, "undecided"}, {{"load", 3}, "undecided"}},
         verdicts("guest-without-baseline", "load", "dropped"));
  // Something else caused what was sampled: that decides nothing of the level.
  expect({{{"L3 miss", 2}, "undecided"}, {{"L3 miss", 3}, "undecided"}},
         verdicts("skylake", "load-dram", "address"));
}

}  // namespace
}  // namespace skid
