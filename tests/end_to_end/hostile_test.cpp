// Recordings whose names and paths were chosen to do harm: escape sequences, markup, commands for
// gnuplot, bytes that are no text, and files that must not be opened as code.
#include "src/machine/file_tree.h"
#include "src/support/process.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace skid {
namespace {

/// A name for everything that has one. It has no slash, so that a file can have it. The commands
/// make a file where they are run.
const std::string kHostile =
    "evil\x1b[31m\x1b]0;title\x07\n\ttab,<script>alert(1)<script>&`touch backquoted`"
    "system(\"touch called\")'|touch piped'@macro%s\\n\"quoted\"\x7f\xff\xfe\xc2\x9b"
    "31m\xe2\x80\xae"
    "end";
constexpr std::int32_t kHostilePid = 7;
constexpr std::uint64_t kLoadBias = 0x555500000000;

/// What a shell's `timeout` makes of a program that hangs.
constexpr int kTimedOut = 124;

Completed skidscan_in_time(std::vector<std::string> arguments, const fs::path& directory = {}) {
  arguments.insert(arguments.begin(), {"timeout", "60", test::skidscan_program()});
  auto completed = run_program(arguments, directory);
  EXPECT_NE(completed.code.status, kTimedOut) << "it hangs";
  return completed;
}

/// Nothing below a space but line ends and what else is allowed, and valid UTF-8.
void expect_no_control_characters(const std::string& text, const std::string& what,
                                  std::string_view allowed = "\n") {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 || allowed.find(text[i]) != std::string_view::npos) continue;
    ADD_FAILURE() << what << ": byte " << static_cast<int>(byte) << " at " << i << " after "
                  << text.substr(i < 40 ? 0 : i - 40, std::min<std::size_t>(i, 40));
    return;
  }
  EXPECT_NO_THROW((void)json(text).dump()) << what << ": invalid UTF-8";
}

/// For outputs that people read in a terminal: no character that a terminal obeys, of any length.
void expect_fit_for_a_terminal(const std::string& text, const std::string& what,
                               std::string_view allowed = "\n") {
  expect_no_control_characters(text, what, allowed);
  for (const std::string character : {"\x7f", "\xc2\x9b", "\xe2\x80\xae"}) {
    EXPECT_THAT(text, Not(HasSubstr(character))) << what;
  }
}

/// JSON of skidscan: a line end or a printable character of ASCII, each byte.
void expect_printable_ascii(const std::string& text, const std::string& what) {
  const auto other = std::find_if(text.begin(), text.end(), [](char character) {
    return character != '\n' && (character < ' ' || character > '~');
  });
  EXPECT_EQ(other, text.end()) << what << ": byte "
                               << (other == text.end() ? 0 : static_cast<unsigned char>(*other));
}

class HostileRecording : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT("cc");
    program_ = (directory_ / kHostile).string();
    const auto built = run_program(
        {"cc", "-O1", "-pie", "-Wl,--build-id=sha1", "-o", program_, test::kClassicProgram});
    ASSERT_TRUE(built.code.success()) << built.err;
    fs::create_directory(directory_ / "elsewhere");
  }

  /// The file offset of a byte of the program.
  static std::uint64_t offset_in_file(const symbols::Module& module, std::uint64_t address) {
    for (std::uint64_t offset = 0; offset < 65536; ++offset) {
      if (module.address_at(offset) == address) return offset;
    }
    ADD_FAILURE() << address << " is nowhere in the file";
    return 0;
  }

  /// Everything that a recording can name bears the hostile name; samples lie in both functions.
  std::string build_recording() const {
    const auto module = symbols::Module::open(program_);
    auto builder = test::RecordingBuilder().event({.ids = {5}});
    const auto trailer = builder.writer().i32(kHostilePid).i32(kHostilePid).u64(1).bytes();
    builder.record(
        PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
        builder.writer().i32(kHostilePid).i32(kHostilePid).text(kHostile).raw(trailer).bytes());
    // With a build-id: the host name is hostile, too, so that the recording is of another machine.
    test::map_program(module, {.bias = kLoadBias, .file = program_, .pid = kHostilePid}, builder);
    builder.mmap(kHostilePid, kLoadBias + 0x200000, 0x1000, 0, "/nowhere/" + kHostile, 3);
    builder.sample(kLoadBias + 0x200010, kHostilePid, 10);
    for (const std::string name : {"memreader", "noprunway"}) {
      const auto function = module.functions_named(name).at(0).range;
      const std::uint64_t begin = kLoadBias + offset_in_file(module, function.begin);
      for (std::uint64_t i = 0; i < 20; ++i) builder.sample(begin + i, kHostilePid, 20 + i);
    }
    const auto text = builder.writer().counted_text(kHostile).bytes();
    for (const unsigned bit :
         {perfdata::HEADER_HOSTNAME, perfdata::HEADER_OSRELEASE, perfdata::HEADER_VERSION,
          perfdata::HEADER_ARCH, perfdata::HEADER_CPUDESC}) {
      builder.feature(bit, text);
    }
    builder.feature(perfdata::HEADER_CPUID,
                    builder.writer().counted_text(kHostile + ",25,17,1").bytes());
    builder.feature(perfdata::HEADER_CMDLINE,
                    builder.writer().u32(2).counted_text("perf").counted_text(kHostile).bytes());
    builder.feature(perfdata::HEADER_EVENT_DESC, builder.event_description(kHostile, {5}));
    builder.feature(perfdata::HEADER_PMU_MAPPINGS,
                    builder.writer().u32(1).u32(1).counted_text(kHostile).bytes());
    std::string path = program_ + ".data";
    builder.write(path);
    return path;
  }

  /// A report on the functions of the program, with more options.
  Completed report(const std::string& recording, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{recording, "--hit", "memreader", "--runway", "noprunway"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return report_on(arguments);
  }
  Completed report_on(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "report");
    return skidscan_in_time(arguments, directory_ / "elsewhere");
  }
  auto left_behind() const { return test::names_in(directory_ / "elsewhere"); }

  test::TemporaryDirectory directory_;
  std::string program_;
};

TEST_F(HostileRecording, IsShownWithoutControlCharacters) {
  const auto recording = build_recording();
  for (const auto& shown :
       {report(recording), report_on({recording}), skidscan_in_time({"inspect", recording})}) {
    EXPECT_EQ(shown.code.status, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("evil\\x1b[31m"));
    expect_fit_for_a_terminal(shown.out + shown.err, "text and messages");
  }
}

TEST_F(HostileRecording, IsReportedInCsvWithAllItsCells) {
  const auto reported = report(build_recording(), {"--format", "csv"});
  EXPECT_EQ(reported.code.status, 0) << reported.err;
  expect_fit_for_a_terminal(reported.out, "csv");
  const auto records = test::records_of(reported.out);
  ASSERT_GT(records.size(), 1u);
  EXPECT_THAT(records[0].at("recorded"),
              HasSubstr("tab,<script>alert(1)<script>&`touch backquoted`system(\"touch called\")"));
}

TEST_F(HostileRecording, IsShownInPrintableJson) {
  const auto recording = build_recording();
  const auto parsed = [](const Completed& shown) {
    EXPECT_EQ(shown.code.status, 0) << shown.err;
    expect_printable_ascii(shown.out, "json");
    return json::parse(shown.out);
  };
  const json found = parsed(report(recording, {"--format", "json"}))["measurements"].at(0);
  EXPECT_EQ(found["samples"]["hit"], 20);
  EXPECT_EQ(found["samples"]["skid"], 20);
  EXPECT_THAT(found["event"]["recorded"].get<std::string>(), HasSubstr("evil\x1b[31m"));
  EXPECT_THAT(parsed(report_on({recording, "--format", "json"})).dump(),
              HasSubstr("/nowhere/evil"));
  const auto inspected = parsed(skidscan_in_time({"inspect", recording, "--format", "json"}));
  const std::string name = inspected["recordings"].at(0)["events"].at(0)["name"];
  EXPECT_THAT(name, AllOf(HasSubstr("evil\x1b[31m"), HasSubstr("\xe2\x80\xae"),
                          HasSubstr("\x7f\xef\xbf\xbd\xef\xbf\xbd\xc2\x9b")));
}

TEST_F(HostileRecording, IsDrawnAsSvgWithoutMarkupAndWithoutRunningAnything) {
  SKIP_WITHOUT("gnuplot");
  const auto recording = build_recording();
  for (const std::string figure : {"figure.svg", "figure.png"}) {
    for (const std::string style : {"panels", "overlaid"}) {
      const auto drawn = report(recording, {"--plot", figure, "--plot-style", style});
      EXPECT_EQ(drawn.code.status, 0) << drawn.err;
      expect_fit_for_a_terminal(drawn.err, "messages");
    }
  }
  const auto svg = test::content_of(directory_ / "elsewhere" / "figure.svg");
  EXPECT_THAT(svg, HasSubstr("evil"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  expect_fit_for_a_terminal(svg, "svg", "\n\t");
  EXPECT_THAT(left_behind(), ElementsAre("figure.png", "figure.svg"));
  SKIP_WITHOUT("python3");
  const auto parsed =
      run_program({"python3", "-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])",
                   (directory_ / "elsewhere" / "figure.svg").string()});
  EXPECT_TRUE(parsed.code.success()) << parsed.err;
}

TEST_F(HostileRecording, IsListedOneSamplePerLine) {
  const auto recording = build_recording();
  constexpr const char* kColumns =
      "time,pid,tid,cpu,attr,event,period,addr,mode,exact,ip,sym,symoff,dso";
  const auto listed = skidscan_in_time({"samples", recording, "--columns", kColumns});
  EXPECT_EQ(listed.code.status, 0) << listed.err;
  expect_fit_for_a_terminal(listed.out, "tsv", "\n\t");
  expect_fit_for_a_terminal(listed.err, "messages");
  const auto lines = test::lines_of(listed.out);
  EXPECT_EQ(lines.size(), 42u);
  for (const auto& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 13) << line;

  const auto objects =
      skidscan_in_time({"samples", recording, "--columns", kColumns, "--format", "jsonl"});
  EXPECT_EQ(objects.code.status, 0) << objects.err;
  expect_printable_ascii(objects.out, "jsonl");
  EXPECT_EQ(test::lines_of(objects.out).size(), 41u);
  for (const auto& line : test::lines_of(objects.out))
    EXPECT_EQ(json::parse(line).size(), 14u) << line;
}

TEST_F(HostileRecording, OfPerfItselfIsReportedLikeAnyOther) {
  SKIP_WITHOUT("samples");
  // The process takes its name from the file.
  const std::string recording = program_ + ".data";
  const auto recorded = run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock",
                                     "-c", "100003", "-o", recording, "--", program_, "200"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto reported = report(recording, {"--format", "json", "--plot", "figure.svg"});
  if (find_program("gnuplot")) {
    EXPECT_EQ(reported.code.status, 0) << reported.err;
    EXPECT_THAT(left_behind(), ElementsAre("figure.svg"));
  }
  EXPECT_GT(json::parse(reported.out)["measurements"].at(0)["samples"]["skid"], 100);
  expect_printable_ascii(reported.out, "json");
  const auto listed = skidscan_in_time({"samples", recording});
  EXPECT_THAT(listed.out, HasSubstr("noprunway"));
  expect_fit_for_a_terminal(listed.out, "tsv", "\n\t");
}

TEST_F(HostileRecording, RefusesOtherFilesInOneLine) {
  const std::string path = program_ + ".text";
  std::ofstream(path) << "no recording";
  const auto refused = report_on({path});
  EXPECT_EQ(refused.code.status, 1);
  EXPECT_EQ(test::lines_of(refused.err).size(), 1u) << refused.err;
  expect_fit_for_a_terminal(refused.err, "message");
}

/// A recording with one sample in the file at `path`.
void write_recording_of(const fs::path& recording, const std::string& path, bool with_build_id) {
  auto builder = test::RecordingBuilder()
                     .event({})
                     .mmap(kHostilePid, kLoadBias, 0x100000, 0, path, 1)
                     .sample(kLoadBias + 0x1000, kHostilePid, 2);
  if (with_build_id) {  // which no file here has
    builder.feature(perfdata::HEADER_BUILD_ID,
                    builder.build_id_entry(path, std::string(20, '\x5a')));
  }
  builder.write(recording);
}

class RecordedPath : public ::testing::Test {
 protected:
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }

  /// The path is not opened as code, which would hang, read for ever or mislead; and a message
  /// reports it.
  void expect_refused(const std::string& path, const std::string& remark) const {
    for (const bool with_build_id : {false, true}) {
      write_recording_of(directory_ / "perf.data", path, with_build_id);
      const auto listed = skidscan_in_time({"samples", in_directory("perf.data")});
      EXPECT_THAT(listed, Exits(0, HasSubstr(path))) << path << ": " << listed.err;
      EXPECT_THAT(listed.err, HasSubstr(remark)) << path;
      EXPECT_EQ(test::lines_of(listed.out).size(), 2u);

      const auto reported =
          skidscan_in_time({"report", in_directory("perf.data"), "--format", "json"});
      EXPECT_EQ(reported.code.status, 0) << path << ": " << reported.err;
      const json found = json::parse(reported.out)["measurements"].at(0);
      EXPECT_EQ(found["samples"]["read"], 1);
      EXPECT_THAT(found["warnings"].dump(), HasSubstr(remark)) << path;

      EXPECT_THAT(skidscan_in_time(
                      {"report", in_directory("perf.data"), "--hit", "main", "--runway", "main"}),
                  Exits(1, HasSubstr(remark)))
          << path;
    }
  }

  test::TemporaryDirectory directory_;
};

TEST_F(RecordedPath, OfWhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(::mkfifo(in_directory("fifo").c_str(), 0600), 0);
  const std::string directory = directory_.path().string();
  for (const auto& [path, remark] : {std::pair{in_directory("fifo"), "a FIFO"},
                                     {"/dev/full", "a device"},
                                     {"/dev/null", "a device"},
                                     {directory, "a directory"}}) {
    expect_refused(path, remark);
    const std::string link = directory + "/link";
    fs::create_symlink(path, link);
    expect_refused(link, remark);
    fs::remove(link);
  }
  fs::create_symlink("link", directory_ / "link");
  expect_refused(in_directory("link"), "too many levels of symbolic links");
}

TEST_F(RecordedPath, OfAFileWithAnotherBuildIdIsRefused) {
  SKIP_WITHOUT("cc");
  const auto program = in_directory("classic");
  const auto built =
      run_program({"cc", "-O1", "-Wl,--build-id", "-o", program, test::kClassicProgram});
  ASSERT_TRUE(built.code.success()) << built.err;
  write_recording_of(directory_ / "perf.data", program, true);
  const auto listed =
      skidscan_in_time({"samples", in_directory("perf.data"), "--columns", "sym,dso"});
  EXPECT_EQ(listed.code.status, 0) << listed.err;
  EXPECT_EQ(test::lines_of(listed.out).at(1), "\t" + program);
  EXPECT_THAT(listed.err, HasSubstr("is not the recorded"));
}

const std::string kScript = std::string(SKIDSCAN_TEST_DATA) + "/hostile/elf.py";

TEST(HostileElf, IsNamedWithWhatIsLeftOut) {
  SKIP_WITHOUT("python3");
  const test::TemporaryDirectory directory;
  const auto message = [&directory](const std::string& elf) {
    const auto made = run_program({"python3", kScript, elf, directory.path().string()});
    EXPECT_TRUE(made.code.success()) << made.err;
    return run_program({test::skidscan_program(), "annotate", (directory / "perf.data").string(),
                        "--source"})
        .err;
  };
  EXPECT_THAT(message("line-bomb-units"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("long-directory"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("units-inflated"), HasSubstr("/program: some source lines are missing"));
  EXPECT_THAT(message("notes-segments"), HasSubstr("/program: a file with too many notes"));
  EXPECT_THAT(message("sparse-symbols"), HasSubstr("/program: a file of 3221225472 bytes, most"));
  EXPECT_EQ(message("cyclic").find("some source lines"), std::string::npos);
}

}  // namespace
}  // namespace skid
