// The section that holds the formats of tracepoints.
#include "src/perfdata/tracing_data.h"

#include "tests/support/tracing_data_builder.h"

#include <limits>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using test::bytes_of;
using test::tracing_data;

TEST(TracingDataSection, HasTheFormatsOfEverySystem) {
  for (const bool big_endian : {false, true}) {
    std::string problem;
    const auto bytes = tracing_data({{"sched", {"one", "two"}}, {"irq", {"three"}}}, big_endian);
    const auto data = parse_tracing_data(bytes_of(bytes), problem);
    ASSERT_TRUE(data) << problem;
    EXPECT_EQ(data->version, "0.6");
    EXPECT_EQ(data->byte_order, big_endian ? ByteOrder::big : ByteOrder::little);
    EXPECT_EQ(data->long_size, 8u);
    ASSERT_EQ(data->tracepoints.size(), 3u);
    EXPECT_EQ(data->tracepoints[1].system, "sched");
    EXPECT_EQ(data->tracepoints[1].text, "two");
    EXPECT_EQ(data->tracepoints[2].system, "irq");
  }
}

TEST(TracingDataSection, CutOffAnywhereInItsFormatsIsReported) {
  const auto bytes = tracing_data({{"sched", {"one", "two"}}});
  constexpr std::size_t kBehindTheFormats = 16;  // symbols, printk formats, command lines
  for (std::size_t size = 0; size < bytes.size() - kBehindTheFormats; ++size) {
    std::string problem;
    EXPECT_FALSE(parse_tracing_data(bytes_of(bytes.substr(0, size)), problem)) << size;
    EXPECT_FALSE(problem.empty()) << size;
  }
}

TEST(TracingDataSection, WithSizesBeyondItsEndIsRefusedWithoutAllocatingThem) {
  for (const std::uint64_t size :
       {std::uint64_t{100}, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    test::ByteWriter out;
    out.raw("\x17\x08\x44tracing").raw("0.6").u8(0).u8(0).u8(8).u32(4096);
    out.raw("header_page").u8(0).u64(size).raw("abc");
    std::string problem;
    EXPECT_FALSE(parse_tracing_data(bytes_of(out.bytes()), problem)) << size;
  }
  test::ByteWriter out;
  out.raw("\x17\x08\x44tracing").raw("0.6").u8(0).u8(0).u8(8).u32(4096);
  out.raw("header_page").u8(0).u64(0);
  out.raw("header_event").u8(0).u64(0).u32(0xffffffff);
  std::string problem;
  EXPECT_FALSE(parse_tracing_data(bytes_of(out.bytes()), problem));
}

TEST(TracingDataSection, OfAnUnknownKindIsRefused) {
  const auto refused = [](std::size_t at, char value) {
    auto bytes = tracing_data({});
    bytes[at] = value;
    std::string problem;
    return !parse_tracing_data(bytes_of(bytes), problem) && !problem.empty();
  };
  EXPECT_TRUE(refused(0, 0x18)) << "magic";
  EXPECT_TRUE(refused(14, 2)) << "byte order";
  EXPECT_TRUE(refused(15, 3)) << "size of long";
  EXPECT_TRUE(refused(20, 'H')) << "header_page";
}

TEST(TracingDataSection, LeavesOutAFormatLargerThanAnyKernelsIs) {
  std::string problem;
  const auto bytes =
      tracing_data({{"a", {std::string(kLongestTracepointFormat + 1, 'x'), "short"}}});
  const auto data = parse_tracing_data(bytes_of(bytes), problem);
  ASSERT_TRUE(data) << problem;
  ASSERT_EQ(data->tracepoints.size(), 1u);
  EXPECT_EQ(data->tracepoints[0].text, "short");
}

}  // namespace
}  // namespace skid::perfdata
