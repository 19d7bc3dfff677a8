// Runs the built program and other tools as a user does.
#pragma once

#include "src/support/process.h"
#include "src/synth/model_fields.h"
#include "tests/support/prelude.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

namespace skid {

/// The results of a program in the message of a failed test.
inline void PrintTo(const Completed& done, std::ostream* out) {
  *out << describe(done.code) << ", stdout: " << done.out << ", stderr: " << done.err;
}

/// A program that ended with this exit status, and whose messages and output match.
inline ::testing::Matcher<Completed> Exits(
    int status, const ::testing::Matcher<std::string>& messages = ::testing::_,
    const ::testing::Matcher<std::string>& output = ::testing::_) {
  using ::testing::Field;
  return ::testing::AllOf(
      Field("code", &Completed::code, Field("status", &ExitCode::status, status)),
      Field("err", &Completed::err, messages), Field("out", &Completed::out, output));
}

namespace test {

/// The program under test: the environment's SKIDSCAN, or the one just built.
inline std::string skidscan_program() {
  const char* program = std::getenv("SKIDSCAN");
  return program != nullptr ? program : SKIDSCAN_BINARY;
}

inline Completed skidscan(std::vector<std::string> arguments,
                          const std::filesystem::path& directory = {}) {
  arguments.insert(arguments.begin(), skidscan_program());
  return run_program(arguments, directory);
}

/// A third-party target: a function to hit, and its runway.
constexpr const char* kClassicProgram = SKIDSCAN_TEST_DATA "/support/classic.c";

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace test
}  // namespace skid
