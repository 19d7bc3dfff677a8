// A kit that is packed, and run by a shell of this machine.
#pragma once

#include "src/run/run.h"
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace skid::test {

class Kit : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  void SetUp() override {
    const std::string why = why_perf_cannot_record(here_.path());
    if (!why.empty()) GTEST_SKIP() << why;
    std::filesystem::remove(here_ / "probe");
  }

  std::filesystem::path path(const std::string& name) const { return here_ / name; }

  Completed kit(Words arguments) const {
    arguments.insert(arguments.begin(), "kit");
    return skidscan(arguments, here_.path());
  }
  /// A kit in the directory "kit".
  void make_kit(Words arguments) const {
    arguments.insert(arguments.end(), {"-q", "-o", "kit/"});
    const Completed done = kit(arguments);
    ASSERT_EQ(done.code.status, 0) << done.err;
  }
  /// Two small measurements.
  void make_small_kit() const { make_kit({"-e", "access", "-p", "none,pp", "--samples", "200"}); }
  Completed run_kit(Words arguments = {}, Words shell = {"sh"}) const {
    shell.emplace_back("kit/run.sh");
    shell.insert(shell.end(), arguments.begin(), arguments.end());
    return run_program(shell, here_.path());
  }
  /// A program named perf, which comes before the real one in the PATH of run_with().
  void make_perf(const std::string& script) const {
    std::filesystem::create_directory(path("bin"));
    std::ofstream(path("bin/perf")) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path("bin/perf"), std::filesystem::perms{0755});
  }
  Words with_that_perf() const {
    return {"env", fmt::format("PATH={}:{}", path("bin").string(), std::getenv("PATH")), "sh"};
  }
  static std::string real_perf() { return find_program("perf")->string(); }
  run::Run read(const std::string& name = "skidscan.run") const {
    return run::read_run(path(name));
  }
  static std::ptrdiff_t count(const run::Run& run, run::State state) {
    return std::count_if(run.measurements.begin(), run.measurements.end(),
                         [state](const auto& measurement) { return measurement.state == state; });
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

  TemporaryDirectory here_;
};

}  // namespace skid::test
