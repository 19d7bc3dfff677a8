// Colours, characters and messages on a pseudo-terminal and in pipes.
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kEscape = "\033[";
constexpr const char* kEraseLine = "\r\033[K";

/// A command line that sets only these variables of the terminal and the locale.
std::vector<std::string> in_environment(const Environment& environment,
                                        const std::vector<std::string>& argv) {
  std::vector<std::string> all{"env",    "-u", "NO_COLOR", "-u", "COLUMNS", "-u",
                               "LC_ALL", "-u", "LC_CTYPE", "-u", "LANG"};
  all.emplace_back("PAGER=cat");
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

/// The output of a program whose standard input, output and error are one terminal.
std::string on_a_terminal(const std::vector<std::string>& argv, const Environment& environment) {
  const auto all = in_environment(environment, argv);
  std::vector<char*> arguments;
  for (const std::string& word : all) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  winsize size{};
  size.ws_col = 80;
  size.ws_row = 24;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  EXPECT_GT(child, 0);
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(terminal, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // EIO: the last process closed it
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return text;
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// A synthetic run, which every command can read.
class Terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(test::skidscan({"synth", "--like", "pebs-sound", "--all-levels", "-o", run()}),
                Exits(0));
  }

  std::string run() const { return (directory_.path() / "sound.run").string(); }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

  /// Through pipes.
  Completed piped(std::vector<std::string> arguments, const Environment& environment = {}) const {
    arguments.insert(arguments.begin(), test::skidscan_program());
    return run_program(in_environment(environment, arguments), directory_.path());
  }
  std::string seen(std::vector<std::string> arguments, const Environment& environment = {}) const {
    arguments.insert(arguments.begin(), test::skidscan_program());
    return on_a_terminal(arguments, environment);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Terminal, ShowsColorsByDefault) {
  EXPECT_THAT(seen({"report", run()}), HasSubstr(kEscape));
  EXPECT_THAT(seen({"report", run(), "--color", "auto"}), HasSubstr(kEscape));
  EXPECT_THAT(seen({"report", run(), "--color=never"}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(seen({"report", run()}, {{"NO_COLOR", "1"}}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(seen({"report", run()}, {{"NO_COLOR", ""}}), HasSubstr(kEscape)) << "not set";
  EXPECT_THAT(seen({"report", run(), "--color", "always"}, {{"NO_COLOR", "1"}}),
              HasSubstr(kEscape));
}

TEST_F(Terminal, PagesTextOnATerminal) {
  const Environment pager{{"PAGER", "sed 's/^/P:/'"}};
  const std::vector<std::string> samples{"samples", run() + "/r81d0.pp.data", "--columns", "ip"};
  for (const auto& command : {std::vector<std::string>{"report", run()}, samples}) {
    auto without = command;
    without.emplace_back("--no-pager");
    const std::string direct = seen(without, pager);
    EXPECT_THAT(direct, Not(HasSubstr("P:")));
    const std::string paged = seen(command, pager);
    EXPECT_TRUE(paged.starts_with("P:"));
    EXPECT_EQ(std::ranges::count(paged, 'P'),
              std::ranges::count(direct, 'P') + std::ranges::count(direct, '\n'));
    for (const std::string none : {"cat", "", "no-such-pager -R"}) {
      EXPECT_EQ(seen(command, {{"PAGER", none}}), direct) << none;
    }
    EXPECT_THAT(piped(command, pager).out, Not(HasSubstr("P:"))) << "a pipe";
  }
  EXPECT_THAT(seen({"report", run()}, pager), HasSubstr(kEscape)) << "colours of the terminal";
}

TEST_F(Terminal, StartsNoPagerOfTheCurrentDirectory) {
  std::ofstream(directory_ / "sed") << "#!/bin/sh\necho trap\n";
  std::filesystem::permissions(directory_ / "sed", std::filesystem::perms{0755});
  const std::vector<std::string> script{"sh",
                                        "-c",
                                        "cd \"$2\" && PATH=:$PATH: && exec \"$0\" inspect \"$1\"",
                                        test::skidscan_program(),
                                        run() + "/r81d0.none.data",
                                        directory_.path().string()};
  for (const std::string pager : {"sed 's/^/P:/'", "X=1 sed 's/^/P:/'"}) {
    const auto shown = on_a_terminal(script, {{"PAGER", pager}});
    EXPECT_TRUE(shown.starts_with("P:")) << shown;
    EXPECT_THAT(shown, Not(HasSubstr("trap"))) << pager;
  }
}

TEST_F(Terminal, KeepsItsExitStatusAndMessagesAfterThePager) {
  const std::vector<std::string> script{
      "sh", "-c", "\"$0\" inspect --fail-on not-precise \"$1\"; echo status $?",
      test::skidscan_program(), run() + "/r81d0.none.data"};
  const auto paged = on_a_terminal(script, {{"PAGER", "sleep 0.3; sed 's/^/P:/'; echo ended"}});
  EXPECT_THAT(paged, MatchesRegex("P:.*\r\nended\r\nskidscan: .*\r\nstatus 4\r\n"));
  const auto failed = on_a_terminal(script, {{"PAGER", "sh -c 'exit 3'"}});
  EXPECT_THAT(failed, MatchesRegex("skidscan: .*\r\nstatus 4\r\n")) << "the pager quits at once";
}

TEST_F(Terminal, PagesTheSamplesOfAllRecordingsOnceAndMessagesAfterwards) {
  const std::string whole = run() + "/r81d0.none.data";
  const std::string bytes = read_file(whole, 1 << 26);
  std::ofstream(path("cut.data")) << bytes.substr(0, bytes.size() / 2);
  const auto shown =
      seen({"samples", path("cut.data"), path("gone.data"), whole, "--columns", "time"},
           {{"PAGER", "sed 's/^/P:/'; echo ended"}});
  const auto begin = shown.find("ended\r\n");
  ASSERT_NE(begin, std::string::npos) << shown;
  EXPECT_THAT(shown, MatchesRegex("P:time\r\n(P:[0-9]+\r\n)+ended\r\nskidscan: .*"));
  EXPECT_THAT(shown.substr(begin),
              AllOf(HasSubstr("cut.data: "), HasSubstr("gone.data: "), Not(HasSubstr("P:"))));
}

TEST_F(Terminal, ReportsNoFilterToAReaderThatHasExited) {
  const Completed done = run_program(
      {"sh", "-c",
       "mkfifo \"$1\" && exec 3<>\"$1\" 4>\"$1\" 3<&- && \"$0\" samples \"$2\" --time 0%-1% >&4",
       test::skidscan_program(), path("fifo"), run() + "/r81d0.none.data"});
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
}

TEST_F(Terminal, WrapsMessagesOnATerminalOnly) {
  const std::vector<std::string> wrong{"report", run(), "--kind", "xyz"};
  const std::string message = piped(wrong).err;
  EXPECT_GT(message.size(), 80u);
  std::string joined = seen(wrong);
  for (const std::string& line : test::lines_of(joined)) EXPECT_LE(line.size(), 81u) << line;
  const auto end = joined.find("\r\n  ");
  ASSERT_NE(end, std::string::npos) << joined;
  EXPECT_EQ(joined.replace(end, 4, " "), message.substr(0, message.size() - 1) + "\r\n");
}

TEST_F(Terminal, ColorsPipedTextOnlyOnRequest) {
  EXPECT_THAT(piped({"report", run()}).out, Not(HasSubstr(kEscape)));
  const std::vector<std::vector<std::string>> commands{{"report", run()},
                                                       {"compare", run(), run()},
                                                       {"audit", run()},
                                                       {"annotate", run()},
                                                       {"doctor"}};
  for (auto command : commands) {
    command.insert(command.end(), {"--color", "always"});
    EXPECT_THAT(piped(command).out, HasSubstr(kEscape)) << command.front();
    command.back() = "never";
    EXPECT_THAT(seen(command), Not(HasSubstr(kEscape))) << command.front();
  }
  EXPECT_EQ(piped({"report", run(), "--color", "sometimes"}).code.status, 64);
  EXPECT_THAT(piped({"report", run(), "--color", "always", "--format", "json"}).out,
              Not(HasSubstr(kEscape)));
}

TEST_F(Terminal, DrawsInAsciiUnlessTheLocaleIsUtf8) {
  for (const std::string command : {"report", "annotate", "audit"}) {
    EXPECT_TRUE(is_ascii(piped({command, run()}, {{"LANG", "C"}}).out)) << command;
    EXPECT_TRUE(is_ascii(piped({command, run(), "--ascii"}, {{"LANG", "C.UTF-8"}}).out)) << command;
  }
  EXPECT_TRUE(is_ascii(piped({"compare", run(), run()}, {{"LC_ALL", "C"}}).out));
  const auto ascii = piped({"report", run(), "--details"}, {{"LANG", "de_DE.ISO-8859-1"}});
  EXPECT_TRUE(is_ascii(ascii.out));
  EXPECT_THAT(ascii.out, HasSubstr("####"));
  EXPECT_THAT(piped({"report", run(), "--details"}, {{"LANG", "C.UTF-8"}}).out, HasSubstr("████"));
  EXPECT_THAT(piped({"report", run(), "--details"}, {{"LANG", "en_US.utf8"}}).out,
              HasSubstr("████"));
  EXPECT_THAT(piped({"report", run(), "--details"}).out, HasSubstr("████")) << "no locale is set";
  EXPECT_TRUE(is_ascii(piped({"report", run()}, {{"LANG", "C.UTF-8"}, {"LC_ALL", "C"}}).out))
      << "LC_ALL has precedence over LANG";
}

TEST_F(Terminal, VerbosePrintsTargetAndCatalogueOfRecordings) {
  const auto quiet = piped({"report", run(), "--quiet"});
  EXPECT_THAT(quiet.err, IsEmpty());
  const auto verbose = piped({"report", run(), "--verbose"});
  EXPECT_EQ(verbose.out, quiet.out) << "messages go to standard error";
  EXPECT_THAT(verbose.err, AllOf(HasSubstr("sound.run/"), HasSubstr(": read in "),
                                 HasSubstr(": target "), HasSubstr("build-id "),
                                 ::testing::ContainsRegex("events of |catalogue of events")));
  EXPECT_THAT(piped({"audit", run(), "-v"}).err, HasSubstr(": read in "));
  EXPECT_THAT(piped({"compare", run(), run(), "-v"}).err, HasSubstr(": read in "));
  EXPECT_THAT(piped({"annotate", run(), "-v"}).err, HasSubstr(": read in "));
  EXPECT_THAT(piped({"report", run(), "-q", "-v"}),
              Exits(64, MatchesRegex("skidscan: --.*: cannot be combined with --.*; try 'skidscan "
                                     "report --help'\n")));
}

TEST_F(Terminal, QuietPrintsNoNotes) {
  EXPECT_THAT(piped({"merge", run()}).err, HasSubstr("became"));
  EXPECT_THAT(piped({"merge", run(), "-q"}).err, IsEmpty());
  EXPECT_THAT(piped({"report", "missing", "-q"}), Exits(1, HasSubstr("missing: ")))
      << "errors are printed";
  const auto made = piped({"synth", "--like", "no-pebs", "-q", "-o", path("quiet.data")});
  EXPECT_EQ(made.out + made.err, "");
}

TEST_F(Terminal, VerbosePrintsCommandLinesOfRecord) {
  SKIP_WITHOUT("samples");
  const std::vector<std::string> record{"record",    "-e", "faults", "-p",           "p",
                                        "--samples", "50", "-o",     path("new.run")};
  auto verbose = record;
  verbose.emplace_back("-v");
  EXPECT_THAT(
      piped(verbose),
      Exits(0, AllOf(HasSubstr("\nfaults: levels p, without none, pp, ppp; trigger fault; "),
                     ::testing::ContainsRegex("\nfaults:p: [^\n]*perf record "),
                     HasSubstr("pinned to CPU "))));
  auto quiet = record;
  quiet.insert(quiet.end(), {"-q", "--force"});
  EXPECT_THAT(piped(quiet), Exits(0, "", ""));
}

TEST_F(Terminal, ErasesProgressBeforeTheReport) {
  ASSERT_EQ(piped({"synth", "--like", "no-pebs", "--pipe", "-o", path("slow.data")}).code.status,
            0);
  const auto slowly = [&](const std::string& options) {
    return std::vector<std::string>{
        "sh",
        "-c",
        "(sleep 1.6; cat \"$1\") | \"$2\" report - " + options + "; true",
        "sh",
        path("slow.data"),
        test::skidscan_program()};
  };
  const std::string text = on_a_terminal(slowly(""), {});
  const std::size_t shown = text.find("reading 1/1 -");
  ASSERT_NE(shown, std::string::npos) << text;
  const std::size_t erased = text.find(kEraseLine, shown);
  const std::size_t page = text.find("CPU ");
  ASSERT_NE(page, std::string::npos);
  EXPECT_LT(erased, page);
  EXPECT_EQ(text.find("reading ", page), std::string::npos);
  EXPECT_THAT(on_a_terminal(slowly("--quiet"), {}), Not(HasSubstr("reading")));
  EXPECT_THAT(on_a_terminal(slowly("2>errors; cat errors; rm errors"), {}),
              Not(HasSubstr("reading")))
      << "standard error is not a terminal";
  EXPECT_THAT(seen({"report", run()}), Not(HasSubstr("reading"))) << "it took less than a second";
}

}  // namespace
}  // namespace skid
