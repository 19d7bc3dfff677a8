// Payloads of tracepoints: their fields, as `samples` prints them.
#include "src/perfdata/tracepoint.h"

#include "src/commands/sample_line.h"
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

/// Whether the payload of that tracepoint is not damaged.
bool is_whole(unsigned id, const std::string& raw) {
  const auto known = tracepoints();
  return known.fields(*known.format(id), bytes_of(raw)).has_value();
}

TEST(TracepointPayload, HasItsFieldsByName) {
  for (const bool big_endian : {false, true}) {
    const auto known = tracepoints(big_endian);
    const auto raw = exec_payload(5u << 16 | 16, {"/a/b\0", 5}, big_endian);
    const auto fields = known.fields(*known.format(kExec), bytes_of(raw));
    ASSERT_TRUE(fields);
    ASSERT_EQ(fields->size(), 2u) << "without the common ones";
    EXPECT_EQ((*fields)[0].name, "filename");
    EXPECT_EQ(std::get<std::string>((*fields)[0].value), "/a/b");
    EXPECT_EQ(std::get<std::int64_t>((*fields)[1].value), -5);
  }

  const auto known = tracepoints();
  const auto dump = payload(kDump).u32(2).raw("\x01\x02\x03\x04").raw({"sh\0x", 4}).bytes();
  const auto numbers = known.fields(*known.format(kDump), bytes_of(dump));
  ASSERT_TRUE(numbers);
  EXPECT_EQ(std::get<std::vector<std::uint64_t>>((*numbers)[1].value),
            (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(std::get<std::string>((*numbers)[2].value), "sh");
}

TEST(TracepointPayload, CutOffAnywhereIsDamaged) {
  const auto whole = payload(kFault).u64(0x1000).u64(0x401234).u64(6).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(is_whole(kFault, whole.substr(0, size))) << size;
  }
  EXPECT_TRUE(is_whole(kFault, whole));
}

TEST(TracepointPayload, WhoseDynamicArrayReachesPastItsEndIsDamaged) {
  for (const std::uint32_t location :
       {6u << 16 | 16, 1u << 16 | 0xffff, 0xffffffffu, 5u << 16 | 17}) {
    EXPECT_FALSE(is_whole(kExec, exec_payload(location, {"/a/b\0", 5}))) << location;
  }
}

TEST(TracepointPayload, WithoutATerminatedTextIsReadToItsEnd) {
  const auto known = tracepoints();
  const auto raw = exec_payload(4u << 16 | 16, "/a/b");
  const auto fields = known.fields(*known.format(kExec), bytes_of(raw));
  ASSERT_TRUE(fields);
  EXPECT_EQ(std::get<std::string>(fields->front().value), "/a/b");
}

TEST(TracepointPayload, OfAnotherTracepointIsDamaged) {
  EXPECT_FALSE(is_whole(kFault, payload(kExec).u64(0x1000).u64(0x401234).u64(6).bytes()));
}

TEST(TracepointPayload, WithoutAFormatIsUnknown) {
  EXPECT_EQ(tracepoints().format(4711), nullptr);
  EXPECT_EQ(Tracepoints().format(kFault), nullptr);
}

TEST(TraceColumn, PrintsFieldsAndValues) {
  perfdata::Features features;
  const auto data = formats();
  features.tracing_data.assign(bytes_of(data).begin(), bytes_of(data).end());
  const commands::TraceColumn column(features);
  EXPECT_EQ(column.problem(), "");
  Attribute attribute;
  attribute.type = PERF_TYPE_TRACEPOINT;
  const auto text = [&](unsigned id, const std::string& raw) {
    attribute.config = id;
    return column.text(attribute, bytes_of(raw));
  };
  EXPECT_EQ(text(kFault, payload(kFault).u64(0x1000).u64(0x401234).u64(6).bytes()),
            "address=0x1000 ip=0x401234 error_code=0x6");
  EXPECT_EQ(text(kExec, exec_payload(5u << 16 | 16, {"/a/b\0", 5})), "filename=/a/b pid=-5");
  EXPECT_EQ(text(kDump, payload(kDump).u32(2).raw("\x01\x02\x03\x04").raw({"sh\0x", 4}).bytes()),
            "len=2 data=1,2,3,4 comm=sh");
  EXPECT_EQ(text(kFault, "short"), Tracepoints::kDamaged);
  EXPECT_EQ(text(4711, payload(4711).bytes()), Tracepoints::kUnknown);
  attribute.type = PERF_TYPE_SOFTWARE;
  EXPECT_EQ(text(kFault, ""), "");
  EXPECT_EQ(column.json(attribute, {}), "null");
}

}  // namespace
}  // namespace skid::perfdata
