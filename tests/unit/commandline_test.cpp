// Parsing and help of a small command line, and usage errors of skidscan's.
#include "analysis/not_judged.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/completions.h"
#include "src/commands/commandline/help.h"
#include "src/commands/commandline/parse.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/machine/cpu_identity.h"
#include "src/output/next_step.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skid::commandline {
namespace {

/// A program with two commands, whose options have values of every kind.
class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    program_.itself.name = "tool";
    program_.itself.description = "does two things";
    program_.itself.options = {help_option(), version_option()};
    program_.version = "2.1";
    Command draw{
        .name = "draw",
        .description = "draws [boxes]: it's all \\ it does",
        .options = {help_option(),
                    {"INPUT,-i,--input", Value::file("INPUT", inputs_).several(), "what to draw"},
                    {"--form", Value::one_of("FORM", form_, {"round", "square"}), "its form"},
                    {"--few", Value::number("N", few_, 1, 7), "how few"},
                    {"-a,--all", Value::flag(all_), "all of it; really", {"--few"}},
                    {"--where", Value::directory(where_), "a place"},
                    {"-p", Value::text("PART", parts_), "a part"},
                    {"--gaps", Value::number("N,N", gaps_).separated(), "gaps"},
                    {"--share", Value::number("SHARE", share_, 0.0, 1.0), "a share"},
                    {"--mask", Value::number("MASK", mask_), "a mask"},
                    {"--size", Value::size("BYTES", size_), "a size"}},
        .notes = {"First paragraph: with a colon.", "Second."},
        .exit_statuses = {{ExitStatus::done, "drawn"}, {ExitStatus::gate_failed, "erased"}},
        .examples = {"tool draw \\", "  --all", "# a remark", "tool erase"},
        .run = [] { return ExitStatus::done; }};
    Command erase{
        .name = "erase",
        .description = "erases",
        .options = {help_option(),
                    {"--colour",
                     Value::text("COLOUR", form_)
                         .suggesting({"red", "green", "blue", "yellow", "orange", "brown"}),
                     "colour"}},
        .run = [] { return ExitStatus::failed; }};
    program_.commands = {draw, erase};
  }

  const Command& draw() const { return program_.commands.front(); }
  Call parsed(const std::vector<std::string>& arguments) const {
    return parse(program_, arguments);
  }
  const Option& option(const std::string& name) const {
    for (const Command& command : program_.commands) {
      for (const Option& each : command.options) {
        if (each.names.back() == name) return each;
      }
    }
    throw std::out_of_range(name);
  }

  Program program_;
  std::vector<std::string> inputs_{"default"}, parts_;
  std::string form_ = "square", where_;
  std::optional<int> few_;
  std::vector<std::uint32_t> gaps_;
  double share_ = 0;
  std::uint64_t mask_ = 0;
  std::optional<std::uint64_t> size_;
  bool all_ = false;
};

TEST_F(CommandLine, StoresValuesOfEveryKind) {
  const Call call =
      parsed({"draw", "a.data", "--few=3", "b.data", "-p", "x", "--gaps", "1,2", "-py", "--gaps",
              "3", "--share", "0.25", "--mask", "0x1f", "--size", "64KiB"});
  EXPECT_EQ(call.command, &draw());
  EXPECT_EQ(call.request, Call::Request::run);
  EXPECT_THAT(inputs_, ElementsAre("a.data", "b.data"));
  EXPECT_EQ(few_, 3);
  EXPECT_THAT(parts_, ElementsAre("x", "y"));
  EXPECT_THAT(gaps_, ElementsAre(1U, 2U, 3U));
  EXPECT_EQ(share_, 0.25);
  EXPECT_EQ(mask_, 31U);
  EXPECT_EQ(size_, 65536U);
  EXPECT_FALSE(all_);
  EXPECT_EQ(form_, "square") << "keeps its default";
}

TEST_F(CommandLine, AcceptsSeveralValuesInARow) {
  parsed({"draw", "-a", "-i", "a", "b", "--form", "round"});
  EXPECT_THAT(inputs_, ElementsAre("a", "b"));
  EXPECT_TRUE(all_);
  EXPECT_EQ(form_, "round");
}

TEST_F(CommandLine, TakesArgumentsAfterTwoDashesAsTheyAre) {
  parsed({"draw", "-a", "--", "-a", "--form", "--", "box"});
  EXPECT_TRUE(all_);
  EXPECT_EQ(form_, "square");
  EXPECT_THAT(inputs_, ElementsAre("-a", "--form", "--", "box"));
  parsed({"erase", "--"});
  EXPECT_THAT(test::message_of<UsageError>([&] {
                parsed({"erase", "--", "-x"});
              }),
              HasSubstr("-x: no such option"));
}

TEST_F(CommandLine, AcceptsOtherValuesThanSuggestions) {
  parsed({"erase", "--colour", "violet"});
  EXPECT_EQ(form_, "violet");
}

TEST_F(CommandLine, GivesHelpAndVersionPrecedence) {
  EXPECT_EQ(parsed({"--version"}).request, Call::Request::version);
  EXPECT_EQ(parsed({"-h"}).command, &program_.itself);
  const Call help = parsed({"draw", "--nonsense", "--help"});
  EXPECT_EQ(help.request, Call::Request::help);
  EXPECT_EQ(help.command, &draw());
}

TEST_F(CommandLine, SpellsOptionsWithTheirLimits) {
  EXPECT_EQ(usage_of(program_, draw()), "[OPTIONS] [INPUT...]");
  EXPECT_EQ(spelling_of(option("--form")), "--form round|square");
  EXPECT_EQ(spelling_of(option("--all")), "-a, --all");
  EXPECT_EQ(spelling_of(option("--colour")), "--colour COLOUR") << "too many words";
  EXPECT_THAT(remarks_of(draw(), option("--few")), ElementsAre("1 to 7", "not with --all"));
  EXPECT_THAT(remarks_of(program_.commands[1], option("--colour")),
              ElementsAre("one of red, green, blue, yellow, orange, brown"));
}

TEST_F(CommandLine, WrapsHelpToTheWidth) {
  const std::string help = help_text(program_, draw(), 60);
  for (const std::string& line : test::lines_of(help)) {
    EXPECT_LE(display_width(line), 60U) << line;
  }
  EXPECT_THAT(help, HasSubstr("Usage: tool draw [OPTIONS] [INPUT...]\n"));
  EXPECT_THAT(help, HasSubstr("\n  -a, --all                 all of it; really [not with\n"));
  EXPECT_THAT(help, HasSubstr("\n   0  drawn\n   1  failure; a message states the reason\n   4"));
  EXPECT_THAT(help, HasSubstr("Examples:\n  tool draw \\\n    --all\n"));
}

TEST_F(CommandLine, ListsCommandsInHelpOfTheProgram) {
  const std::string help = help_text(program_, program_.itself, 80);
  EXPECT_THAT(help, HasSubstr("Usage: tool COMMAND [OPTIONS]\n"));
  EXPECT_THAT(help, HasSubstr("\n  erase                     erases\n"));
}

TEST_F(CommandLine, CompletesWordsOfTheDescription) {
  EXPECT_EQ(completions(program_, {""}), "words\ndraw\tdraws [boxes]\nerase\terases\n")
      << "the first clause";
  EXPECT_EQ(completions(program_, {"draw", "--al"}), "words\n--all\tall of it\n");
  EXPECT_EQ(completions(program_, {"draw", "--form", ""}), "words\nround\nsquare\n");
  EXPECT_EQ(completions(program_, {"draw", "--form=s"}), "words\n--form=square\n");
  EXPECT_EQ(completions(program_, {"draw", "--where", ""}), "directories\n");
  EXPECT_EQ(completions(program_, {"draw", "--all", ""}), "files\n");
  EXPECT_EQ(completions(program_, {"erase", ""}), "words\n");
  EXPECT_EQ(completions(program_, {"nonsense", "-"}), "words\n");
}

TEST_F(CommandLine, CompletesCandidatesFromTheOptionsBefore) {
  const auto of_form = [this] { return Texts{form_, form_ + " 2", "\x1b[31m", "other"}; };
  program_.commands[0].options.push_back(
      {"--parts", Value::text("PART", inputs_).completing(of_form, Completion::list), "parts"});
  const Texts line{"draw", "--form", "round", "--parts"};
  const auto complete = [&](const std::string& word) {
    Texts words = line;
    words.push_back(word);
    return completions(program_, words);
  };
  EXPECT_EQ(complete("r"), "words\nround\nround 2\n");
  EXPECT_EQ(complete("x,o"), "words\nx,other\n");
  EXPECT_EQ(complete("\x1b"), "words\n") << "no control characters";
}

/// The words of a line as a shell splits them.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, is_word = false;
  for (const char c : line + ' ') {
    if (c == '\'') {
      quoted = !quoted;
      is_word = true;
    } else if (c != ' ' || quoted) {
      word += c;
      is_word = true;
    } else if (std::exchange(is_word, false)) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

TEST(UsageError, StatesWhatIsExpected) {
  // Wrong command lines, and their messages without "; try 'skidscan … --help'".
  for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
           {"recrod", "'recrod': no such command; did you mean record?"},
           {"zzzz", "'zzzz': no such command"},
           {"recrod report", "'recrod': no such command; did you mean record?"},
           {"help recrod", "'recrod': no such command; did you mean record?"},
           {"record ls",
            "'ls': record samples targets of its own; of a program: perf record -e "
            "EVENT:pp -- PROGRAM, then skidscan audit"},
           {"record -- ls",
            "'ls': record samples targets of its own; of a program: perf record -e "
            "EVENT:pp -- PROGRAM, then skidscan audit"},
           {"report --formta json", "--formta: no such option; did you mean --format?"},
           {"report --formta=json x", "--formta: no such option; did you mean --format?"},
           {"doctor -Q", "-Q: no such option"},
           {"--nonsense", "--nonsense: no such option"},
           {"--nonsense report", "--nonsense: no such option"},
           {"-q report", "-q: expected after 'skidscan report'"},
           {"report --format xml", "--format xml: expected text, json, csv"},
           {"report --format jsn", "--format jsn: expected text, json, csv; did you mean json?"},
           {"report --bin 0", "--bin 0: expected 1 to 1000000"},
           {"report --bin wide", "--bin wide: expected 1 to 1000000"},
           {"target --triggers many", "--triggers many: expected 1 to 16"},
           {"record --cpu -1", "--cpu -1: expected a whole number, 0 or more"},
           {"target --working-set 5XB",
            "--working-set 5XB: expected a size such as 65536 or 64KiB"},
           {"record --duration nan", "--duration nan: expected 0.001 to 86400"},
           {"audit --min-share nan", "--min-share nan: expected 0 to 1"},
           {"report --format", "--format: no value, expected text, json, csv"},
           {"report --bin 1 --bin", "--bin: no value, expected 1 to 1000000"},
           {"report --html ''", "--html: no value, expected FILE"},
           {"compare --plot ''", "--plot: no value, expected FILE"},
           {"record -o ''", "--output: no value, expected DIR"},
           {"report ''", "--input: no value, expected INPUT"},
           {"compare a.run ''", "--input: no value, expected INPUT"},
           {"report --quiet=x", "--quiet: has no value"},
           {"report --format text --format json", "--format: given 2 times, expected once"},
           {"record --resume x -e access", "--resume: cannot be combined with --event"},
           {"report -q -v", "--verbose: cannot be combined with --quiet"},
           {"doctor here", "'here': unexpected argument, skidscan doctor accepts none"},
           {"rates a.csv b.csv", "'b.csv': unexpected argument, skidscan rates accepts one"}}) {
    SCOPED_TRACE(line);
    const Program program = commands::program();
    const auto words = shell_words(line);
    const auto command = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
      return std::any_of(program.commands.begin(), program.commands.end(),
                         [&](const Command& each) { return each.name == word; });
    });
    try {
      parse(program, words);
      ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      EXPECT_EQ(error.what(), message + (message.ends_with('?') ? "" : ";") + " try 'skidscan" +
                                  (command == words.end() ? "" : " " + *command) + " --help'");
    }
  }
}

TEST(Examples, HaveOptionsThatExist) {
  std::size_t calls = 0;
  for (const Command& command : commands::program().commands) {
    EXPECT_FALSE(command.examples.empty()) << command.name;
    for (const std::string& line : command.examples) {
      auto words = shell_words(line);
      // The arguments between "skidscan" and the next operator.
      for (auto at = words.begin(); (at = std::find(at, words.end(), "skidscan")) != words.end();) {
        const auto end = std::find_if(++at, words.end(), [](const std::string& word) {
          return word == "&&" || word == "|" || word.starts_with(">");
        });
        const Program fresh = commands::program();
        EXPECT_NO_THROW(parse(fresh, {at, end})) << line;
        ++calls;
      }
    }
  }
  EXPECT_GT(calls, 40U);
}

TEST(NextSteps, NameCommandsAndOptionsThatExist) {
  const Program program = commands::program();
  std::string options;  // of the commands that print next steps
  for (const Command& command : program.commands) {
    if (command.name != "audit" && command.name != "report") continue;
    for (const Option& option : command.options) {
      for (const std::string& name : option.names) options += name + ',';
    }
  }
  std::size_t commands = 0;
  const machine::CpuIdentity skylake{.vendor = "GenuineIntel", .family = 6, .model = 0x5e};
  for (std::size_t i = 0; i < 2 * analysis::kNotJudged; ++i) {
    const auto reason = static_cast<analysis::NotJudged>(i / 2);
    const std::string step =
        output::next_step(reason, i % 2 == 0 ? machine::CpuIdentity() : skylake);
    SCOPED_TRACE(step);
    bool is_quoted = false;
    std::istringstream parts(step);
    for (std::string part; std::getline(parts, part, '\''); is_quoted = !is_quoted) {
      auto words = test::words_of(part);
      if (is_quoted && words.front() == "skidscan") {
        words.erase(words.begin());
        EXPECT_NO_THROW(parse(commands::program(), words));
        ++commands;
      }
      if (is_quoted || part.find("perf record") != std::string::npos) continue;
      for (const std::string& word : words) {
        if (word.starts_with("--")) EXPECT_THAT(options, HasSubstr(word + ','));
      }
    }
  }
  EXPECT_GT(commands, 10U);
}

TEST(Descriptions, AreAscii) {
  const Program program = commands::program();
  for (const Command& command : program.commands) {
    for (const char c : help_text(program, command, 100)) ASSERT_EQ(c & 0x80, 0) << command.name;
  }
}

}  // namespace
}  // namespace skid::commandline
