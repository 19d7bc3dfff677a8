// Payloads of tracepoints: their fields and their text.
#include "src/perfdata/tracepoint.h"

#include "tests/support/tracing_data_builder.h"

#include <string>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using test::bytes_of;
using test::ByteWriter;

constexpr unsigned kFault = 190;
constexpr unsigned kExec = 365;
constexpr unsigned kDump = 7;

std::string formats(bool big_endian = false) {
  const auto exec =
      test::format_text("sched_process_exec", kExec,
                        "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                        "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n",
                        "\"filename=%s pid=%d\", __get_str(filename), REC->pid");
  const auto dump = test::format_text("dump", kDump,
                                      "\tfield:u32 len;\toffset:8;\tsize:4;\tsigned:0;\n"
                                      "\tfield:u8 data[4];\toffset:12;\tsize:4;\tsigned:0;\n"
                                      "\tfield:char comm[4];\toffset:16;\tsize:4;\tsigned:0;\n",
                                      "\"%s\", __print_hex(REC->data, REC->len)");
  return test::tracing_data({{"exceptions", {test::page_fault_format(kFault)}},
                             {"sched", {exec}},
                             {"odd", {dump, "no format at all"}}},
                            big_endian);
}

Tracepoints tracepoints(bool big_endian = false) {
  std::string problem;
  auto result = Tracepoints::parse(bytes_of(formats(big_endian)), problem);
  EXPECT_EQ(problem, "");
  return result;
}

ByteWriter payload(unsigned id, bool big_endian = false) {
  ByteWriter out(big_endian);
  out.u16(static_cast<std::uint16_t>(id)).u8(0).u8(0).i32(42);
  return out;
}

std::string exec_payload(std::uint32_t location, std::string_view text, bool big_endian = false) {
  return payload(kExec, big_endian).u32(location).i32(-5).raw(text).bytes();
}

TEST(TracepointPayload, IsPrintedAsThePrintFormatSays) {
  for (const bool big_endian : {false, true}) {
    auto known = tracepoints(big_endian);
    const auto fault = payload(kFault, big_endian).u64(0x1000).u64(0x401234).u64(6).bytes();
    EXPECT_EQ(known.text(kFault, bytes_of(fault)), "address=0x1000 ip=0x401234 error_code=0x6");
    EXPECT_EQ(known.text(kExec, bytes_of(exec_payload(5u << 16 | 16, {"/a/b\0", 5}, big_endian))),
              "filename=/a/b pid=-5");
  }
}

TEST(TracepointPayload, HasItsFieldsByName) {
  const auto known = tracepoints();
  const auto raw = exec_payload(5u << 16 | 16, {"/a/b\0", 5});
  const auto fields = known.fields(*known.format(kExec), bytes_of(raw));
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 2u) << "without the common ones";
  EXPECT_EQ((*fields)[0].name, "filename");
  EXPECT_EQ(std::get<std::string>((*fields)[0].value), "/a/b");
  EXPECT_EQ(std::get<std::int64_t>((*fields)[1].value), -5);

  const auto dump = payload(kDump).u32(2).raw("\x01\x02\x03\x04").raw({"sh\0x", 4}).bytes();
  const auto numbers = known.fields(*known.format(kDump), bytes_of(dump));
  ASSERT_TRUE(numbers);
  EXPECT_EQ(std::get<std::vector<std::uint64_t>>((*numbers)[1].value),
            (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(std::get<std::string>((*numbers)[2].value), "sh");
}

TEST(TracepointPayload, CutOffAnywhereIsDamaged) {
  auto known = tracepoints();
  const auto whole = payload(kFault).u64(0x1000).u64(0x401234).u64(6).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = whole.substr(0, size);
    EXPECT_EQ(known.text(kFault, bytes_of(part)), Tracepoints::kDamaged) << size;
    EXPECT_FALSE(known.fields(*known.format(kFault), bytes_of(part))) << size;
  }
}

TEST(TracepointPayload, WhoseDynamicArrayLiesOutsideIsDamaged) {
  auto known = tracepoints();
  for (const std::uint32_t location :
       {6u << 16 | 16, 1u << 16 | 0xffff, 0xffffffffu, 5u << 16 | 17}) {
    EXPECT_EQ(known.text(kExec, bytes_of(exec_payload(location, {"/a/b\0", 5}))),
              Tracepoints::kDamaged)
        << location;
  }
}

TEST(TracepointPayload, WhoseTextIsNotEndedIsReadToItsOwnEnd) {
  auto known = tracepoints();
  EXPECT_EQ(known.text(kExec, bytes_of(exec_payload(4u << 16 | 16, "/a/b"))),
            "filename=/a/b pid=-5");
  // A longer payload before must not show through.
  (void)known.text(kExec, bytes_of(exec_payload(9u << 16 | 16, {"/a/b/c/d\0", 9})));
  EXPECT_EQ(known.text(kExec, bytes_of(exec_payload(4u << 16 | 16, "/a/b"))),
            "filename=/a/b pid=-5");
}

TEST(TracepointPayload, WhoseCountLeadsOutOfItIsDamaged) {
  auto known = tracepoints();
  const auto with_length = [&](std::uint32_t length) {
    const auto raw = payload(kDump).u32(length).raw("\x01\x02\x03\x04").raw("abcd").bytes();
    return known.text(kDump, bytes_of(raw));
  };
  EXPECT_EQ(with_length(4), "01 02 03 04");
  EXPECT_EQ(with_length(70'000), Tracepoints::kDamaged);
  EXPECT_EQ(with_length(0xffffffff), Tracepoints::kDamaged);
}

TEST(TracepointPayload, OfAnotherTracepointIsDamaged) {
  auto known = tracepoints();
  const auto raw = payload(kExec).u64(0x1000).u64(0x401234).u64(6).bytes();
  EXPECT_EQ(known.text(kFault, bytes_of(raw)), Tracepoints::kDamaged);
}

TEST(TracepointPayload, WithoutAFormatSaysSo) {
  auto known = tracepoints();
  EXPECT_EQ(known.text(4711, bytes_of(payload(4711).bytes())), Tracepoints::kUnknown);
  EXPECT_EQ(Tracepoints().text(kFault, {}), Tracepoints::kUnknown);
}

TEST(TracepointPayload, OfAFormatThatMayNotBeCarriedOutGivesItsFields) {
  std::string problem;
  const auto data = test::tracing_data(
      {{"odd",
        {test::format_text("divide", 9, "\tfield:u32 x;\toffset:8;\tsize:4;\tsigned:0;\n",
                           "\"%d\", 1 / REC->x")}}});
  auto known = Tracepoints::parse(bytes_of(data), problem);
  EXPECT_EQ(known.text(9, bytes_of(payload(9).u32(0).bytes())), "[FAILED TO PARSE] x=0");
}

TEST(TracepointPayload, OfDamagedFormatsCrashesNothing) {
  const auto whole = formats();
  const auto raw = payload(kFault).u64(0x1000).u64(0x401234).u64(6).bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    constexpr std::string_view kValues("\0(\"\xff/", 5);
    auto damaged = whole;
    damaged[at] = kValues[at % kValues.size()];
    std::string problem;
    auto known = Tracepoints::parse(bytes_of(damaged), problem);
    (void)known.text(kFault, bytes_of(raw));
    (void)known.text(kExec, bytes_of(exec_payload(5u << 16 | 16, {"/a/b\0", 5})));
  }
}

}  // namespace
}  // namespace skid::perfdata
