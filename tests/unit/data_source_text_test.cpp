// The words for data sources, by those that perf script prints for the same recording.
#include "src/commands/sample_texts.h"
#include "src/machine/machine.h"
#include "src/support/process.h"
#include "src/support/text.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <linux/perf_event.h>

namespace skid::commands {
namespace {

using Texts = std::vector<std::string>;

/// Each bit alone, each level and number of hops, and random ones.
std::vector<std::uint64_t> data_sources() {
  constexpr unsigned kHopsShift = 43, kMostHops = 4;
  constexpr std::uint64_t kHit = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT);
  std::vector<std::uint64_t> all{0, 0x68100142, 0x1e05080021};
  for (unsigned bit = 0; bit < kHopsShift + 2; ++bit) all.push_back(std::uint64_t{1} << bit);
  for (std::uint64_t level = 0; level < 16; ++level) {
    all.push_back(kHit | level << PERF_MEM_LVLNUM_SHIFT);
  }
  std::mt19937_64 random(20);
  for (unsigned i = 0; i < 300; ++i) {
    const std::uint64_t hops = random() % (kMostHops + 1);  // perf has names for so many
    all.push_back(random() % (std::uint64_t{1} << kHopsShift) | hops << kHopsShift);
  }
  return all;
}

/// "OP LOAD", "LVL L1 hit", …
Texts fields_of(std::string_view text) {
  Texts fields;
  std::size_t begin = std::min(text.find('|'), text.size());
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('|', begin + 1), text.size());
    fields.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  if (!fields.empty()) fields.back().erase(fields.back().find_last_not_of(' ') + 1);
  return fields;
}

/// Whether perf has the names of levels of Linux 6.12.
bool names_current_levels() {
  const auto perf = machine::parse_perf_version(run_program({"perf", "--version"}).out);
  return perf && std::tuple(perf->major, perf->minor) >= std::tuple(6, 12);
}

TEST(DataSourceText, IsThatOfPerf) {
  SKIP_WITHOUT("perf");
  test::RecordingBuilder builder;
  test::EventToBuild event;
  event.sample_type |= PERF_SAMPLE_DATA_SRC;
  builder.event(event);
  const auto sources = data_sources();
  for (const std::uint64_t source : sources) {
    test::add_sample({.ip = 0x1000, .data_source = source}, event, builder);
  }
  const test::TemporaryDirectory directory;
  builder.write(directory / "perf.data");
  const auto printed =
      run_program({"perf", "script", "-i", (directory / "perf.data").string(), "-F", "data_src"});
  const Texts lines = test::lines_of(printed.out);
  ASSERT_EQ(lines.size(), sources.size()) << printed.err;
  const bool has_levels = names_current_levels();
  std::size_t compared = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Texts expected = fields_of(lines[i]);
    // perf truncates a line, so that its last field may be a part.
    const Texts found = fields_of(data_source_text(sources[i]));
    ASSERT_LE(expected.size(), found.size());
    for (std::size_t field = 0; field < expected.size(); ++field) {
      if (expected[field].starts_with("LVL ") && !has_levels) continue;
      const bool is_last = field + 1 == expected.size();
      EXPECT_EQ(is_last ? found[field].substr(0, expected[field].size()) : found[field],
                expected[field])
          << std::hex << sources[i];
      ++compared;
    }
  }
  EXPECT_GT(compared, 3 * sources.size());
}

/// Those that perf prints from Linux 6.12 on.
TEST(DataSourceText, NamesLevelsAsCurrentPerf) {
  const auto level = [](std::uint64_t source) { return fields_of(data_source_text(source)).at(1); };
  EXPECT_EQ(data_source_text(0x68100142),
            "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
  EXPECT_EQ(level(0), "LVL N/A");
  EXPECT_EQ(level(0x42), "LVL N/A");
  EXPECT_EQ(level(0x300), "LVL L1 or LFB/MAB ");
  EXPECT_EQ(level(0x2080), "LVL Remote RAM (1 hop) miss");
  EXPECT_EQ(level(0xa00000042), "LVL L2 MHB hit");
  EXPECT_EQ(level(0xe00000042), "LVL Unknown level 7 hit");
  EXPECT_EQ(level(0x1e00000042), "LVL N/A");
  EXPECT_EQ(level(0x182600000002), "LVL Remote socket, same board L3 ");
}

}  // namespace
}  // namespace skid::commands
