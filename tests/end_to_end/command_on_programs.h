// A command of skidscan on programs that the test compiles.
#pragma once

#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::test {

class CommandOnPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "compiles x86-64 code";
#endif
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
  }
  std::string in_directory(const std::string& name) const {
    return (directory_ / name).string();
  }
  Completed run(std::vector<std::string> arguments) const {
    return skidscan(std::move(arguments), directory_.path());
  }

  TemporaryDirectory directory_;
};

}  // namespace skid::test
