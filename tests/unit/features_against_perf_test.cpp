// Features of recordings, compared with the output of `perf report --header-only -I`.
#include "runway/kinds/kind.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/unit/header_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {
namespace {

/// perf's line in the form of `header_lines`; empty for one that is not compared.
std::string comparable(std::string line) {
  const auto starts = [&](std::string_view prefix) { return line.starts_with(prefix); };
  // A list of what is compared, not of what is not: later versions of perf print more.
  static constexpr std::array<std::string_view, 16> kCompared = {
      "# hostname :",   "# os release :",     "# perf version :", "# arch :",
      "# cpudesc :",    "# cpuid :",          "# cmdline :",      "# nrcpus ",
      "# total mem",    "# sibling threads ", "# event :",        "# group:",
      "# pmu mappings", "# time of ",         "# clockid",        "# reference time: "};
  const auto has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  if (!has(" pmu capabilities: ") && !starts("# compressed :") &&
      std::none_of(kCompared.begin(), kCompared.end(), starts)) {
    return {};
  }
  if (starts("# event :")) {
    const auto ids = line.find(", , id = {");
    line.resize(ids != std::string::npos ? line.find('}', ids) + 1 : line.find(", , "));
  }
  if (starts("# clockid: ")) {
    const auto open = line.find('(');
    return "# clockid: " + line.substr(open + 1, line.find(')') - open - 1);
  }
  if (starts("# reference time: ")) {
    const auto equals = line.find(" = ");
    return "# reference time: " + line.substr(equals + 3, line.rfind(" (") - equals - 3);
  }
  return line;
}

std::string without_trailing_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

Lines lines_of_perf(const std::string& header) {
  Lines lines;
  for (const std::string& printed : test::lines_of(header)) {
    const std::string line = comparable(printed);
    if (!line.empty()) lines.push_back(without_trailing_spaces(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// False when perf cannot read the recording.
bool compare(const std::filesystem::path& path) {
  const auto perf = run_program({"perf", "report", "--header-only", "-I", "-i", path.string()});
  const auto theirs = lines_of_perf(perf.out);
  if (!perf.code.success() || theirs.empty()) return false;
  auto recording = Recording::open(path);
  Record record;  // in pipe mode the features are among the records
  while (recording.next(record)) continue;
  EXPECT_TRUE(recording.faults().empty()) << path;
  auto ours = header_lines(recording.features());
  for (auto& line : ours) line = without_trailing_spaces(line);
  EXPECT_THAT(ours, ::testing::ContainerEq(theirs)) << path;
  return true;
}

TEST(FeaturesOfPublicRecordings, AreThoseThatPerfPrints) {
  SKIP_WITHOUT("recordings", "perf");
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::recordings_directory())) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name.find(".data") == std::string::npos) continue;
    const auto refusal = test::message_of<InputError>([&] { Recording::open(entry.path()); });
    if (refusal == "no error" && compare(entry.path())) ++compared;
  }
  EXPECT_GE(compared, 15u);
}

TEST(FeaturesOfPublicRecordings, ContainPmuCapabilitiesAndGroups) {
  SKIP_WITHOUT("recordings");
  const auto features_of = [](const std::string& name) {
    return Recording::open(test::recordings_directory() / name).features();
  };
  const Features hybrid = features_of("quipper.perf.data.hybrid_topology");
  ASSERT_EQ(hybrid.pmu_capabilities.size(), 2u);
  EXPECT_THAT(hybrid.pmu_capabilities[0].capabilities,
              ::testing::Contains(::testing::Pair("max_precise", "3")));
  const Features group = features_of("quipper.perf.data.group_desc-4.14");
  ASSERT_EQ(group.groups.size(), 1u);
  EXPECT_EQ(group.groups[0].leader, 0u);
  EXPECT_EQ(group.groups[0].members, 2u);
  // Of a later perf than 6.1, which refuses it.
  const Features later = features_of("linux-perf-data.sleep.data");
  EXPECT_TRUE(later.clock_resolution_ns && later.clock_reference);
  EXPECT_FALSE(later.cores.empty());
}

TEST(FeaturesOfARecordingMadeHere, AreThoseThatPerfPrints) {
  SKIP_WITHOUT("samples");
  const test::TemporaryDirectory directory;
  const std::string path = directory / "perf.data";
  const auto record = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command = {"perf", "record", "--no-bpf-event", "-q", "-o", path};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", "ls", "-R", "/usr/lib"});
    return run_program(command);
  };
  const auto recorded = record({"-k", "CLOCK_MONOTONIC", "-e", "{cpu-clock,page-faults}"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  EXPECT_TRUE(compare(path));
  const auto features = Recording::open(path).features();
  EXPECT_EQ(features.groups.size(), 1u);
  EXPECT_TRUE(features.clock_reference);
  if (record({"-z", "-e", "cpu-clock"}).code.success()) {
    EXPECT_TRUE(compare(path));
    EXPECT_TRUE(Recording::open(path).features().compression);
  }
}

}  // namespace
}  // namespace skid::perfdata
