// What the command line says of itself, as help, manual pages and completions of shells say it.
#include "src/output/escape.h"
#include "src/words/bash.h"
#include "src/words/fish.h"
#include "src/words/footer.h"
#include "src/words/help.h"
#include "src/words/manual.h"
#include "src/words/roff.h"
#include "src/words/validators.h"
#include "src/words/zsh.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::words {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Footer kFooter{.notes = {"First paragraph: with a colon.", "Second."},
                     .exit_statuses = {{0, "done"}, {64, "wrong usage"}},
                     .examples = {"tool draw \\", "  --all", "# a remark", "tool erase"}};

/// A program with two commands, whose options are of every sort.
class Words : public ::testing::Test {
 protected:
  Words() : app_("does two things", "tool") {
    app_.set_version_flag("--version", "1");
    auto* draw = app_.add_subcommand("draw", "draws [boxes]: it's all \\ it does");
    draw->add_option("INPUT,-i,--input", inputs_, "what to draw")->type_name("INPUT");
    draw->add_option("--form", form_, "how it looks")
        ->type_name("FORM")
        ->check(CLI::IsMember({"round", "square"}));
    auto* few = draw->add_option("--few", number_, "how few")->type_name("N");
    few->check(CLI::Range(1, 7));
    draw->add_flag("-a,--all", all_, "all of it; really")->excludes(few);
    draw->add_option("--where", form_, "a place")->type_name("DIR");
    draw->footer(footer_text(kFooter));
    auto* erase = app_.add_subcommand("erase", "erases");
    erase->add_option("--colour", form_, "of the rubber")
        ->type_name("COLOUR")
        ->check(suggested("red, green, blue, yellow, orange, brown"));
  }

  Manual manual() const { return read_manual(app_, "2.1"); }
  const Command& draw() {
    manual_ = manual();
    return manual_.commands.front();
  }

  CLI::App app_;
  std::vector<std::string> inputs_;
  std::string form_;
  int number_ = 0;
  bool all_ = false;
  Manual manual_;
};

const Option& option(const Command& command, const std::string& name) {
  for (const Option& each : command.options) {
    if (each.names.back() == name) return each;
  }
  throw std::out_of_range(name);
}

TEST(Footer, ComesBackFromItsText) {
  EXPECT_EQ(parse_footer(footer_text(kFooter)), kFooter);
  EXPECT_EQ(parse_footer(""), Footer{});
  const Footer examples_only{.notes = {}, .exit_statuses = {}, .examples = {"tool"}};
  EXPECT_EQ(parse_footer(footer_text(examples_only)), examples_only);
  EXPECT_EQ(parse_footer("Free text.\n  Indented.").notes.size(), 2U);
}

TEST_F(Words, AreReadFromTheDefinition) {
  const Command& command = draw();
  EXPECT_EQ(command.name, "draw");
  EXPECT_EQ(command.footer, kFooter);
  ASSERT_EQ(command.arguments.size(), 1U);
  EXPECT_EQ(command.arguments[0].value.name, "INPUT");
  EXPECT_TRUE(command.arguments[0].value.many);
  EXPECT_EQ(usage_of(command), "[OPTIONS] [INPUT...]");
  EXPECT_THAT(option(command, "--input").names, ElementsAre("-i", "--input"));
  EXPECT_EQ(option(command, "--input").value.completion(), Completion::files);
  EXPECT_EQ(option(command, "--where").value.completion(), Completion::directories);
  EXPECT_THAT(option(command, "--form").value.words, ElementsAre("round", "square"));
  EXPECT_EQ(spelling_of(option(command, "--form")), "--form round|square");
  EXPECT_THAT(remarks_of(option(command, "--few")), ElementsAre("1 to 7", "not with --all"));
  EXPECT_EQ(spelling_of(option(command, "--all")), "-a, --all");
  EXPECT_EQ(option(command, "--all").value.completion(), Completion::none);
  EXPECT_EQ(manual_.commands.size(), 2U);
  EXPECT_EQ(manual_.itself.name, "");
}

TEST_F(Words, OfASuggestionAreToldAndOthersTaken) {
  const auto erase = manual().commands[1];
  const Option& colour = option(erase, "--colour");
  EXPECT_EQ(spelling_of(colour), "--colour COLOUR") << "too many for the line of names";
  EXPECT_THAT(remarks_of(colour), ElementsAre("one of red, green, blue, yellow, orange, brown"));
  app_.parse("erase --colour violet");
  EXPECT_EQ(form_, "violet");
  EXPECT_THROW(app_.parse("draw --form oval"), CLI::ValidationError);
}

TEST_F(Words, OfTheHelpFitTheWidth) {
  const std::string help = help_text("tool", draw(), {}, 60);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(output::display_width(line), 60U) << line;
  }
  EXPECT_THAT(help, HasSubstr("Usage: tool draw [OPTIONS] [INPUT...]\n"));
  EXPECT_THAT(help, HasSubstr("\n  -a, --all                 all of it; really [not with\n"));
  EXPECT_THAT(help, HasSubstr("\n   0  done\n  64  wrong usage\n"));
  EXPECT_THAT(help, HasSubstr("Examples:\n  tool draw \\\n    --all\n"));
}

TEST_F(Words, OfTheProgramListTheCommands) {
  const auto whole = manual();
  const std::string help = help_text("tool", whole.itself, whole.commands, 80);
  EXPECT_THAT(help, HasSubstr("Usage: tool COMMAND [OPTIONS]\n"));
  EXPECT_THAT(help, HasSubstr("\n  erase                     erases\n"));
}

TEST(Roff, ShowsTextAsItIs) {
  EXPECT_EQ(roff_text("a-b"), "a\\-b");
  EXPECT_EQ(roff_text("\\xNN"), "\\(rsxNN");
  EXPECT_EQ(roff_text(".so file"), "\\&.so file") << "no request";
  EXPECT_EQ(roff_text("'events'"), "\\&\\(aqevents\\(aq");
  EXPECT_EQ(roff_text("end.\n.next\n'x"), "end.\n\\&.next\n\\&\\(aqx");
  EXPECT_EQ(roff_text("1.5"), "1.5");
  EXPECT_EQ(roff_text("~/.debug `x` ^ \"y\""), "\\(ti/.debug \\(gax\\(ga \\(ha \\(dqy\\(dq");
  EXPECT_EQ(roff_text("zen4, … µ 🙂"), "zen4, \\[u2026] \\[u00B5] \\[u1F642]");
  EXPECT_EQ(roff_text("cut \xe2\x80"), "cut ") << "no byte that is none of a character";
}

TEST_F(Words, OfThePagesAreOnePageACommand) {
  const auto pages = manual_pages(manual());
  ASSERT_THAT(pages.size(), 3U);
  const std::string& page = pages.at("tool-draw.1");
  EXPECT_THAT(page, HasSubstr(".TH \"TOOL\\-DRAW\" 1 \"\" \"tool 2.1\" \"User Commands\"\n"));
  EXPECT_THAT(page, HasSubstr(".SH NAME\ntool\\-draw \\- draws [boxes]: it\\(aqs all \\(rs it"));
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\nFirst paragraph: with a colon.\n.PP\nSecond.\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-form\\fR \\fBround|square\\fR\nhow it looks\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n"));
  EXPECT_THAT(page, HasSubstr("\ntool draw \\(rs\n  \\-\\-all\n# a remark\ntool erase\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".BR tool (1),\n.BR tool\\-erase (1),\n"));
  EXPECT_THAT(pages.at("tool-erase.1"), Not(HasSubstr("tool\\-draw")));
  EXPECT_THAT(pages.at("tool.1"), HasSubstr(".SH COMMANDS\n.TP\n\\fBdraw\\fR\n"));
}

TEST_F(Words, OfZshAndFishAreQuoted) {
  const std::string zsh = zsh_completion(manual());
  EXPECT_THAT(zsh, HasSubstr(R"(  'draw:draws [boxes]: it'\''s all \ it does')"));
  EXPECT_THAT(zsh, HasSubstr("'*--form[how it looks]:FORM:(round square)'"));
  EXPECT_THAT(zsh, HasSubstr("'*-a[all of it; really]'"));
  EXPECT_THAT(zsh, HasSubstr("'*--where[a place]:DIR:_files -/'"));
  EXPECT_THAT(zsh, HasSubstr("'*:INPUT:_files'"));
  const std::string fish = fish_completion(manual());
  EXPECT_THAT(fish, HasSubstr("-s a -l all -d 'all of it; really'\n"));
  EXPECT_THAT(fish, HasSubstr(R"(-a draw -d 'draws [boxes]: it\'s all \\ it does')"));
  EXPECT_THAT(fish, HasSubstr("-l form -x -a 'round square' -d 'how it looks'\n"));
  EXPECT_THAT(fish, HasSubstr("complete -c tool -n '__fish_seen_subcommand_from draw' -F\n"));
  EXPECT_THAT(fish, Not(HasSubstr("-n '__fish_seen_subcommand_from erase' -F\n")));
}

TEST(Brief, EndsWhereDetailsBegin) {
  EXPECT_EQ(brief("short"), "short");
  EXPECT_EQ(brief("broken: exit with status 4 when a contract is broken"),
            "broken: exit with status 4 when a contract is broken");
  EXPECT_EQ(brief("directory of files (a checkout (or two) of them), where"),
            "directory of files, where");
  const std::string rest =
      " whatever follows, or what follows, behind it, it is so long that it ends";
  EXPECT_EQ(brief("runs, recordings of somebody (files, directories) or reports;" + rest),
            "runs, recordings of somebody or reports");
  EXPECT_EQ(brief("sum: all of one configuration in one" + std::string(70, 'x') + " and so on"),
            "sum: all of one configuration in");
  EXPECT_EQ(brief("so many NOPs as are between two triggers, or" + std::string(70, 'x') + " else"),
            "so many NOPs as are between two triggers");
}

}  // namespace
}  // namespace skid::words
