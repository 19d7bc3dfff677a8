// Tracepoints: the section with their formats, these, and the fields of payloads, as `samples`
// prints them.
#include "src/perfdata/tracepoint.h"

#include "src/commands/commandline/command.h"
#include "src/commands/trace_column.h"
#include "src/correct/correct.h"
#include "src/output/page.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "tests/support/prelude.h"
#include "tests/support/text.h"
#include "tests/support/tracing_data_builder.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::perfdata {
namespace {

using test::as_bytes;
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

Tracepoints sound(const std::string& tracing_data) {
  std::string problem;
  auto result = Tracepoints::parse(as_bytes(tracing_data), problem);
  EXPECT_EQ(problem, "");
  return result;
}

Tracepoints tracepoints(bool big_endian = false) {
  return sound(formats(big_endian));
}

/// Whether the section gives no tracepoints but a reason.
bool is_refused(const std::string& tracing_data) {
  std::string problem;
  const auto result = Tracepoints::parse(as_bytes(tracing_data), problem);
  return !problem.empty() && result.format(kFault) == nullptr;
}

TEST(TracingDataSection, HasTheFormatsOfEverySystem) {
  for (const bool big_endian : {false, true}) {
    const auto known = tracepoints(big_endian);
    ASSERT_NE(known.format(kFault), nullptr);
    EXPECT_EQ(known.format(kFault)->system, "exceptions");
    EXPECT_EQ(known.format(kExec)->system, "sched");
    EXPECT_EQ(known.format(kExec)->name, "sched_process_exec");
    EXPECT_EQ(known.format(kDump)->system, "odd");
  }
}

TEST(TracingDataSection, CutOffAnywhereInItsFormatsIsReported) {
  const auto bytes = formats();
  constexpr std::size_t kBehindTheFormats = 16;  // symbols, printk formats, command lines
  for (std::size_t size = 1; size < bytes.size() - kBehindTheFormats; ++size) {
    EXPECT_TRUE(is_refused(bytes.substr(0, size))) << size;
  }
}

TEST(TracingDataSection, WithSizesBeyondItsEndIsRefusedWithoutAllocatingThem) {
  const auto begin = [] {
    return ByteWriter().raw("\x17\x08\x44tracing").raw("0.6").u8(0).u8(0).u8(8).u32(4096);
  };
  for (const std::uint64_t size :
       {std::uint64_t{100}, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_TRUE(is_refused(begin().raw("header_page").u8(0).u64(size).raw("abc").bytes())) << size;
  }
  auto out = begin().raw("header_page").u8(0).u64(0);
  EXPECT_TRUE(is_refused(out.raw("header_event").u8(0).u64(0).u32(0xffffffff).bytes()));
}

TEST(TracingDataSection, OfAnUnknownKindIsRefused) {
  const auto with = [](std::size_t at, char value) {
    auto bytes = formats();
    bytes[at] = value;
    return bytes;
  };
  EXPECT_TRUE(is_refused(with(0, 0x18))) << "magic";
  EXPECT_TRUE(is_refused(with(14, 2))) << "byte order";
  EXPECT_TRUE(is_refused(with(15, 3))) << "size of long";
  EXPECT_TRUE(is_refused(with(20, 'H'))) << "header_page";
}

TEST(TracingDataSection, LeavesOutAFormatLargerThanAnyKernelsIs) {
  const auto of_size = [](unsigned id, std::size_t size) {
    const auto text = test::page_fault_format(id);
    return text + std::string(size - text.size(), '\n');
  };
  const auto longest = Tracepoints::kLongestFormat;
  const auto known =
      sound(test::tracing_data({{"a", {of_size(1, longest + 1), of_size(2, longest)}}}));
  EXPECT_EQ(known.format(1), nullptr);
  EXPECT_NE(known.format(2), nullptr);
}

std::string field_line(std::string_view declaration, unsigned offset, unsigned size) {
  return "\tfield:" + std::string(declaration) + ";\toffset:" + std::to_string(offset) +
         ";\tsize:" + std::to_string(size) + ";\tsigned:0;\n";
}

/// The tracepoint that a section with this format has, if any.
std::optional<TracepointFormat> format_of(const std::string& text,
                                          const std::string& system = "s") {
  const auto known = sound(test::tracing_data({{system, {text}}}));
  for (unsigned id = 0; id < 80'000; ++id) {
    if (const auto* format = known.format(id)) return *format;
  }
  return std::nullopt;
}

std::optional<TracepointFormat> with_field(std::string_view declaration, unsigned size = 4) {
  return format_of(test::format_text("e", 7, field_line(declaration, 8, size), "\"\""));
}

TEST(TracepointFormatFile, GivesNameIdAndFields) {
  const auto format = format_of(test::page_fault_format(190), "exceptions");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->system, "exceptions");
  EXPECT_EQ(format->name, "page_fault_user");
  EXPECT_EQ(format->id, 190u);
  EXPECT_EQ(format->common_fields, 4u);
  ASSERT_NE(format->field("ip"), nullptr);
  EXPECT_EQ(format->field("ip")->offset, 16u);
  EXPECT_EQ(format->field("ip")->size, 8u);
  EXPECT_FALSE(format->field("ip")->is_signed);
  EXPECT_TRUE(format->field("ip")->is_hexadecimal);
  EXPECT_TRUE(format->field("common_pid")->is_signed);
  EXPECT_EQ(format->field("nosuch"), nullptr);
}

TEST(TracepointFormatFile, GivesTypesOfTheDeclarationsThatKernelsWrite) {
  EXPECT_TRUE(with_field("char comm[16]", 16)->field("comm")->is_text);
  EXPECT_FALSE(with_field("unsigned char mac[6]", 6)->field("mac")->is_text);
  EXPECT_EQ(with_field("unsigned long args[6]", 48)->field("args")->element_size, 8u);
  EXPECT_EQ(with_field("const char * filename", 8)->field("filename")->is_array, false);
  EXPECT_EQ(with_field("__data_loc char[] name")->field("name")->place,
            TracepointField::Place::data_loc);
  EXPECT_TRUE(with_field("__data_loc char[] name")->field("name")->is_text);
  EXPECT_EQ(with_field("__rel_loc u32[] list")->field("list")->place,
            TracepointField::Place::rel_loc);
  EXPECT_EQ(with_field("__rel_loc u32[] list")->field("list")->element_size, 4u);
  EXPECT_EQ(with_field("__data_loc cpumask_t mask")->field("mask")->is_array, true);
  EXPECT_EQ(with_field("u8 id[ETH_ALEN]", 6)->field("id")->size, 6u);
}

TEST(TracepointFormatFile, OfAnotherShapeIsRefused) {
  for (const char* declaration :
       {"int", "int (*x)(void)", "int x[2][3]", "int x\"; y", "* x",
        "unsigned STA_PR_FMT x"}) {  // of which libtraceevent leaks memory
    EXPECT_FALSE(with_field(declaration)) << declaration;
  }
  EXPECT_FALSE(with_field("int x", 70'000)) << "larger than any payload";
  EXPECT_FALSE(with_field("__data_loc char[] name", 2)) << "no room for offset and length";
  EXPECT_FALSE(with_field("char x[VIF_PR_FMT]", 6));
  const auto text = test::page_fault_format(190);
  for (const std::string& refused :
       {std::string("name: x\n"), std::string(), text.substr(0, text.find("print fmt")),
        test::page_fault_format(70'000)}) {
    EXPECT_FALSE(format_of(refused)) << refused;
  }
}

TEST(TracepointFormatFile, IsReadWithAnyPrintFormat) {
  for (const char* print : {"", "\"%d", "\"%d\", 1 ? 2 : REC->arr[1]", "\"%d\", sizeof(int) * 3",
                            "\"%n\", REC->nosuch"}) {
    const auto format = format_of(test::format_text("e", 7, field_line("u32 x", 8, 4), print));
    ASSERT_TRUE(format) << print;
    EXPECT_EQ(format->fields.size(), 5u);
  }
}

TEST(TracepointFormatFile, OfAnySystemIsReadAlike) {
  const auto text = test::format_text("bprint", 5, field_line("unsigned long ip", 8, 8), "\"%s\"");
  EXPECT_TRUE(format_of(text, "ftrace")->field("ip")->is_hexadecimal);
}

ByteWriter payload(unsigned id, bool big_endian = false) {
  auto out = test::writer_of(big_endian);
  out.u16(static_cast<std::uint16_t>(id)).u8(0).u8(0).i32(42);
  return out;
}

std::string exec_payload(std::uint32_t location, std::string_view text, bool big_endian = false) {
  return payload(kExec, big_endian).u32(location).i32(-5).raw(text).bytes();
}

/// Whether the payload of that tracepoint is not damaged.
bool is_whole(unsigned id, const std::string& raw) {
  const auto known = tracepoints();
  return known.fields(*known.format(id), as_bytes(raw)).has_value();
}

TEST(TracepointPayload, HasItsFieldsByName) {
  for (const bool big_endian : {false, true}) {
    const auto known = tracepoints(big_endian);
    const auto raw = exec_payload(5u << 16 | 16, {"/a/b\0", 5}, big_endian);
    const auto fields = known.fields(*known.format(kExec), as_bytes(raw));
    ASSERT_TRUE(fields);
    ASSERT_EQ(fields->size(), 2u) << "without the common ones";
    EXPECT_EQ((*fields)[0].name, "filename");
    EXPECT_EQ(std::get<std::string>((*fields)[0].value), "/a/b");
    EXPECT_EQ(std::get<std::int64_t>((*fields)[1].value), -5);
  }

  const auto known = tracepoints();
  const auto dump = payload(kDump).u32(2).raw("\x01\x02\x03\x04").raw({"sh\0x", 4}).bytes();
  const auto numbers = known.fields(*known.format(kDump), as_bytes(dump));
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
  const auto fields = known.fields(*known.format(kExec), as_bytes(raw));
  ASSERT_TRUE(fields);
  EXPECT_EQ(std::get<std::string>(fields->front().value), "/a/b");
}

TEST(TracepointPayload, OfAnotherOrAnUnknownTracepointIsDamaged) {
  EXPECT_FALSE(is_whole(kFault, payload(kExec).u64(0x1000).u64(0x401234).u64(6).bytes()));
  EXPECT_EQ(tracepoints().format(4711), nullptr);
  EXPECT_EQ(Tracepoints().format(kFault), nullptr);
}

TEST(TraceColumn, PrintsFieldsAndValues) {
  perfdata::Features features;
  const auto data = formats();
  features.tracing_data.assign(as_bytes(data).begin(), as_bytes(data).end());
  const commands::TraceColumn column(features);
  EXPECT_EQ(column.problem(), "");
  Attribute attribute{.type = PERF_TYPE_TRACEPOINT};
  const auto text = [&](unsigned id, const std::string& raw) {
    attribute.config = id;
    return column.text(attribute, as_bytes(raw));
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
