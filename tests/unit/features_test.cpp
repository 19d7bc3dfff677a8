// Feature sections, built byte by byte in both byte orders, whole and cut.
#include "src/perfdata/features.h"

#include "runway/kinds/kind.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/feature_sections.h"
#include "src/perfdata/format.h"
#include "src/support/json_value.h"
#include "tests/support/recording_builder.h"
#include "tests/unit/header_lines.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {
namespace {

using namespace std::string_literals;
using test::ByteWriter;

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

/// Parses from a buffer of exactly the content's length, so that a sanitizer sees each byte too
/// far.
std::string parse(unsigned bit, const std::string& content, bool big_endian, Features& features) {
  std::vector<std::byte> bytes(content.size());
  if (!content.empty()) std::memcpy(bytes.data(), content.data(), content.size());
  return parse_feature(bit, bytes, big_endian ? ByteOrder::big : ByteOrder::little, features);
}

/// One kind of section with the least that shows all of its fields.
struct Section {
  unsigned bit;
  std::string content;
  Lines lines;                                                          ///< that perf prints of it
  std::function<void(const Features&)> check = [](const Features&) {};  ///< the rest
};

std::vector<Section> sections(bool big_endian) {
  const auto out = [=] { return test::writer_of(big_endian); };
  const auto text = [=](const char* value) { return out().counted_text(value).bytes(); };
  auto event = out(), capabilities = out();
  event.u32(1).u32(64).u32(PERF_TYPE_SOFTWARE).u32(64).u64(PERF_COUNT_SW_TASK_CLOCK).u64(4000);
  event.raw(std::string(64 - 24, '\0')).u32(2).counted_text("task-clock:u").u64(11).u64(12);
  capabilities.u32(2).u32(1).counted_text("branches").counted_text("32").counted_text("cpu_core");
  capabilities.u32(0).counted_text("cpu_atom");
  return {
      {HEADER_HOSTNAME, text("host"), {"# hostname : host"}},
      {HEADER_OSRELEASE, text("6.1.0"), {"# os release : 6.1.0"}},
      {HEADER_VERSION, text("6.1.187"), {"# perf version : 6.1.187"}},
      {HEADER_ARCH, text("x86_64"), {"# arch : x86_64"}},
      {HEADER_NRCPUS, out().u32(8).u32(6).bytes(), {"# nrcpus avail : 8", "# nrcpus online : 6"}},
      {HEADER_CPUDESC, text("a CPU"), {"# cpudesc : a CPU"}},
      {HEADER_CPUID, text("GenuineIntel,6,94,3"), {"# cpuid : GenuineIntel,6,94,3"}},
      {HEADER_TOTAL_MEM, out().u64(16'299'868).bytes(), {"# total memory : 16299868 kB"}},
      {HEADER_CMDLINE,
       out().u32(2).counted_text("perf").counted_text("top").bytes(),
       {"# cmdline : perf top"},
       [](const Features& f) { EXPECT_THAT(f.command_line, SizeIs(2)); }},
      {HEADER_EVENT_DESC,
       event.bytes(),
       {"# event : name = task-clock:u, , id = { 11, 12 }"},
       [](const Features& f) {
         EXPECT_EQ(f.events.at(0).attribute.config, PERF_COUNT_SW_TASK_CLOCK);
       }},
      {HEADER_CPU_TOPOLOGY,
       out().u32(1).counted_text("0-2").u32(2).counted_text("0-1").counted_text("2").bytes(),
       {"# sibling threads : 0-1", "# sibling threads : 2"},
       [](const Features& f) { EXPECT_THAT(f.cores, ElementsAre("0-1", "2")); }},
      {HEADER_PMU_MAPPINGS,
       out().u32(2).u32(4).counted_text("cpu").u32(1).counted_text("software").bytes(),
       {"# pmu mappings: cpu = 4, software = 1"}},
      {HEADER_GROUP_DESC,
       out().u32(1).counted_text("{a,b}").u32(3).u32(2).bytes(),
       {},  // needs the names of the events
       [](const Features& f) {
         ASSERT_EQ(f.groups.size(), 1u);
         EXPECT_EQ(f.groups[0].name, "{a,b}");
         EXPECT_EQ(f.groups[0].leader, 3u);
         EXPECT_EQ(f.groups[0].members, 2u);
       }},
      {HEADER_SAMPLE_TIME,
       out().u64(5'001).u64(9'002).bytes(),
       {"# time of first sample : 0.000005", "# time of last sample : 0.000009"},
       [](const Features& f) { EXPECT_EQ(f.sample_time, std::pair(5'001ul, 9'002ul)); }},
      {HEADER_CLOCKID, out().u64(1).bytes(), {"# clockid frequency: 1000 MHz"}},
      {HEADER_DIR_FORMAT,
       out().u64(1).bytes(),
       {},
       [](const Features& f) { EXPECT_EQ(f.directory_version, 1u); }},
      {HEADER_COMPRESSED,
       out().u32(1).u32(1).u32(3).u32(5).u32(528'384).bytes(),
       {"# compressed : Zstd, level = 3, ratio = 5"},
       [](const Features& f) { EXPECT_EQ(f.compression.value().mmap_bytes, 528'384u); }},
      {HEADER_CPU_PMU_CAPS,
       out().u32(1).counted_text("max_precise").counted_text("3").bytes(),
       {"# cpu pmu capabilities: max_precise=3"}},
      {HEADER_CLOCK_DATA,
       out().u32(1).u32(4).u64(1'700'000'003).u64(77).bytes(),
       {"# clockid: 4", "# reference time: 1.700000 (TOD) = 0.000000077"},
       [](const Features& f) { EXPECT_EQ(f.clock_reference->time_of_day_ns, 1'700'000'003u); }},
      {HEADER_PMU_CAPS,
       capabilities.bytes(),
       {"# cpu_atom pmu capabilities: not available", "# cpu_core pmu capabilities: branches=32"}},
  };
}

class EachFeature : public ::testing::TestWithParam<bool> {
 protected:
  static bool big_endian() { return GetParam(); }
  static ByteWriter writer() { return test::writer_of(big_endian()); }
};

/// Each later one replaces the first.
TEST_P(EachFeature, IsDecodedWithAndWithoutThePaddingOfPipeMode) {
  for (const Section& section : sections(big_endian())) {
    SCOPED_TRACE(name_of_feature(section.bit));
    Features features;
    for (std::size_t padding = 0; padding < 8; ++padding) {
      const std::string padded = section.content + std::string(padding, '\0');
      EXPECT_EQ(parse(section.bit, padded, big_endian(), features), "") << padding;
      EXPECT_TRUE(features.present.test(section.bit));
      EXPECT_EQ(features.section_bytes.at(section.bit), padded.size());
      if (!section.lines.empty()) {
        EXPECT_EQ(header_lines(features), section.lines);
      }
      section.check(features);
    }
  }
}

TEST_P(EachFeature, ReportsACutAtAnyByte) {
  for (const Section& section : sections(big_endian())) {
    const std::string& content = section.content;
    for (std::size_t size = 0; size < content.size(); ++size) {
      Features features;
      const auto problem = parse(section.bit, content.substr(0, size), big_endian(), features);
      EXPECT_THAT(problem, HasSubstr("feature section " + name_of_feature(section.bit)))
          << "cut at " << size;
      EXPECT_TRUE(features.present.test(section.bit));
    }
  }
}

TEST_P(EachFeature, WithAnyWordMadeHugeIsReadToItsEnd) {
  for (const Section& section : sections(big_endian())) {
    const std::string& content = section.content;
    for (std::size_t at = 0; at + 4 <= content.size(); at += 4) {
      Features features;
      std::string damaged = content;
      damaged.replace(at, 4, writer().u32(kMost).bytes());
      parse(section.bit, damaged, big_endian(), features);
      EXPECT_LE(features.command_line.size(), 2u);
      EXPECT_LE(features.pmu_mappings.size(), 2u);
      EXPECT_LE(features.events.size(), 1u);
    }
  }
}

TEST_P(EachFeature, WithAHugeCountKeepsTheElementsThatAreThere) {
  const auto problem_of = [&](unsigned bit, const ByteWriter& out, Features& features) {
    return parse(bit, out.bytes(), big_endian(), features);
  };
  Features features;
  EXPECT_NE(problem_of(HEADER_GROUP_DESC, writer().u32(kMost).counted_text("{a}").u32(0).u32(2),
                       features),
            "");
  EXPECT_EQ(features.groups.size(), 1u);
  EXPECT_NE(
      problem_of(HEADER_PMU_MAPPINGS, writer().u32(kMost).u32(4).counted_text("cpu"), features),
      "");
  EXPECT_THAT(features.pmu_mappings, ElementsAre(Pair(4, "cpu")));
  EXPECT_NE(problem_of(HEADER_CPU_PMU_CAPS,
                       writer().u32(kMost).counted_text("branches").counted_text("32"), features),
            "");
  EXPECT_THAT(*features.cpu_pmu_capabilities, ElementsAre(Pair("branches", "32")));
}

TEST_P(EachFeature, WithMillionsOfEmptyStringsIsReadInPart) {
  Features features;
  const std::size_t strings = 3 * kMostElements;
  const auto content = writer().u32(static_cast<std::uint32_t>(strings)).bytes();
  EXPECT_NE(parse(HEADER_CMDLINE, content + std::string(strings * 4, '\0'), big_endian(), features),
            "");
  EXPECT_EQ(features.command_line.size(), kMostElements);
}

TEST_P(EachFeature, OfAnUnknownVersionIsOnlyMarkedPresent) {
  Features features;
  EXPECT_EQ(parse(HEADER_CLOCK_DATA, writer().u32(2).u32(9).bytes(), big_endian(), features), "");
  EXPECT_TRUE(features.present.test(HEADER_CLOCK_DATA));
  EXPECT_FALSE(features.clock_reference);
}

TEST_P(EachFeature, WithoutDecodedContentIsMarkedPresent) {
  Features features;
  for (const unsigned bit :
       {unsigned{HEADER_BRANCH_STACK}, unsigned{HEADER_STAT}, unsigned{HEADER_AUXTRACE},
        unsigned{HEADER_CACHE}, unsigned{HEADER_BPF_BTF}, 99u, 255u}) {
    EXPECT_EQ(parse(bit, "", big_endian(), features), "");
    EXPECT_TRUE(features.present.test(bit));
  }
  EXPECT_EQ(parse(256, "abc", big_endian(), features), "");
  EXPECT_EQ(features.section_bytes.count(256), 0u);
}

TEST_P(EachFeature, MetaInfoOfSimpleperfIsNamesAndValues) {
  Features features;
  const auto meta_info = [&](const std::string& content) {
    return parse(HEADER_SIMPLEPERF_META_INFO, content, big_endian(), features);
  };
  for (std::size_t padding = 0; padding < 8; ++padding) {
    EXPECT_EQ(meta_info("clock\0perf\0empty\0\0arch\0\x1b[2J\0"s + std::string(padding, '\0')), "");
    EXPECT_THAT(features.meta_info,
                ElementsAre(Pair("clock", "perf"), Pair("empty", ""), Pair("arch", "\x1b[2J")));
  }
  EXPECT_EQ(meta_info(""), "") << "replaces the former ones";
  EXPECT_THAT(features.meta_info, IsEmpty());
}

TEST_P(EachFeature, MetaInfoOfSimpleperfReportsACutAtAnyByte) {
  const std::string content = "clock\0perf\0arch\0x\0"s;
  for (std::size_t size = 1; size < content.size(); ++size) {
    Features features;
    const auto problem =
        parse(HEADER_SIMPLEPERF_META_INFO, content.substr(0, size), big_endian(), features);
    constexpr std::size_t kFirstPair = 11;
    if (size == kFirstPair) {
      EXPECT_EQ(problem, "");
    } else {
      EXPECT_THAT(problem, HasSubstr("feature section META_INFO")) << "cut at " << size;
    }
    EXPECT_EQ(features.meta_info.size(), size < kFirstPair ? 0U : 1U) << "cut at " << size;
  }
  Features features;
  EXPECT_NE(parse(HEADER_SIMPLEPERF_META_INFO, "\0clock\0perf\0"s, big_endian(), features), "")
      << "a name is empty";
  EXPECT_NE(parse(HEADER_SIMPLEPERF_META_INFO, std::string(8, '\0'), big_endian(), features), "")
      << "more than padding";
}

TEST_P(EachFeature, MetaInfoOfSimpleperfIsBounded) {
  Features features;
  std::string content;
  for (std::uint64_t i = 0; i <= kMostElements; ++i) content += "a\0\0"s;
  EXPECT_NE(parse(HEADER_SIMPLEPERF_META_INFO, content, big_endian(), features), "");
  EXPECT_EQ(features.meta_info.size(), kMostElements);
}

INSTANTIATE_TEST_SUITE_P(InEachByteOrder, EachFeature, ::testing::Bool(), [](const auto& order) {
  return order.param ? "BigEndian" : "LittleEndian";
});

TEST(FormatNames, AreThoseOfTheKernel) {
  const std::vector<std::pair<unsigned, std::string>> names{
      // of perf's features and simpleperf's
      {HEADER_HOSTNAME, "HOSTNAME"},
      {HEADER_BRANCH_STACK, "BRANCH_STACK"},
      {HEADER_COMPRESSED, "COMPRESSED"},
      {HEADER_PMU_CAPS, "PMU_CAPS"},
      {HEADER_CPU_DOMAIN_INFO, "CPU_DOMAIN_INFO"},
      {0, "feature 0"},
      {99, "feature 99"},
      {127, "feature 127"},
      {128, "FILE"},
      {129, "META_INFO"},
      {134, "INIT_MAP"},
      {135, "feature 135"}};
  for (const auto& [bit, name] : names) EXPECT_EQ(name_of_feature(bit), name);
  EXPECT_EQ(name_of_event_type(PERF_TYPE_BREAKPOINT), "breakpoint");
  EXPECT_EQ(name_of_event_type(6), "");
  EXPECT_THAT(names_of_sample_type(PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER),
              ElementsAre("IP", "IDENTIFIER"));
  EXPECT_THAT(names_of_sample_type(PERF_SAMPLE_WEIGHT_STRUCT | std::uint64_t{1} << 63),
              ElementsAre("WEIGHT_STRUCT", "bit 63"));
}

}  // namespace
}  // namespace skid::perfdata
