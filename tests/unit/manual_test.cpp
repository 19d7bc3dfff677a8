// Manual pages of skidscan, read by the programs that they are for.
#include "src/commandline/help.h"
#include "src/commands/commands.h"
#include "src/support/process.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::commandline {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Manual : public ::testing::Test {
 protected:
  /// Skips the test without a program that it requires.
  static bool lacks(const char* program) { return !find_program(program); }

  std::string written(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

  const Program program_ = commands::program();
  const test::TemporaryDirectory directory_;
};

TEST_F(Manual, ListsEveryOptionWithoutRoffWarnings) {
  if (lacks("groff")) GTEST_SKIP() << "groff is not installed";
  std::vector<std::string> call{"groff", "-man", "-Tascii", "-P-cbou", "-rLL=100n", "-ww"};
  for (const auto& [name, page] : manual_pages(program_)) call.push_back(written(name, page));
  EXPECT_EQ(call.size(), 6 + program_.commands.size() + 1);
  const auto done = run_program(call);
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
  for (const Command& command : program_.commands) {
    std::string title = "SKIDSCAN-" + command.name + "(1)";
    for (char& c : title) c = static_cast<char>(std::toupper(c));
    const std::size_t begin = done.out.find(title);
    ASSERT_NE(begin, std::string::npos) << title;
    const std::size_t end = done.out.find("\nSKIDSCAN", begin);
    const std::string page = done.out.substr(begin, end - begin);
    for (const Option& option : command.options) {
      const std::string spelling =
          option.flags().empty() ? spelling_of(option.value) : spelling_of(option);
      EXPECT_THAT(page, HasSubstr("\n       " + spelling)) << title;
    }
    for (const std::string& example : command.examples) EXPECT_THAT(page, HasSubstr(example));
    EXPECT_THAT(page, HasSubstr("\nEXIT STATUS\n       0 "));
  }
}

TEST_F(Manual, IsShownByMan) {
  if (lacks("man")) GTEST_SKIP() << "man is not installed";
  const std::string page = written("record.1", manual_pages(program_).at("skidscan-record.1"));
  const auto done = run_program({"man", "--warnings", "-l", page});
  if (done.out.find("minimized") != std::string::npos) {
    GTEST_SKIP() << "man is a placeholder on this minimized system";
  }
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, HasSubstr("SKIDSCAN-RECORD(1)"));
}

}  // namespace
}  // namespace skid::commandline
