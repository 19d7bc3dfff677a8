// Commands in messages, as a shell reads them.
#include "src/support/command_text.h"

#include "src/support/process.h"
#include "tests/support/prelude.h"

namespace skid {
namespace {

TEST(CommandText, IsReadByBashAsTheSameWords) {
  if (!find_program("bash")) GTEST_SKIP() << "skipped: no bash";
  for (const std::string& word :
       {std::string("plain"), std::string(), std::string("it's a \"name\""), std::string("a\nb\t"),
        std::string("$(touch /x)\\\x1b[2J"), std::string("\xe2\x80\xae reversed'\\")}) {
    const std::string text = command_text({"printf", "%s|", word, "last"});
    EXPECT_EQ(run_program({"bash", "-c", text}).out, word + "|last|") << text;
    EXPECT_EQ(text.find_first_of("\n\t\x1b\xe2"), std::string::npos) << text;
  }
}

TEST(CommandText, TakesNoFileForAnOption) {
  EXPECT_EQ(command_text({"skidscan", "audit", file_word("-q"), file_word("a.data")}),
            "skidscan audit ./-q a.data");
}

}  // namespace
}  // namespace skid
