// Format files of tracepoints.
#include "src/perfdata/tracepoint_format.h"

#include "tests/support/tracing_data_builder.h"

#include <string>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using test::format_text;

std::string line(std::string_view declaration, unsigned offset, unsigned size, bool is_signed) {
  return "\tfield:" + std::string(declaration) + ";\toffset:" + std::to_string(offset) +
         ";\tsize:" + std::to_string(size) + ";\tsigned:" + (is_signed ? "1" : "0") + ";\n";
}

std::optional<TracepointFormat> with_field(std::string_view declaration, unsigned size = 4) {
  return parse_tracepoint_format("s",
                                 format_text("e", 7, line(declaration, 8, size, false), "\"\""), 8);
}

TEST(TracepointFormatFile, GivesNameIdAndFields) {
  const auto format = parse_tracepoint_format("exceptions", test::page_fault_format(190), 8);
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
  EXPECT_FALSE(with_field("int"));
  EXPECT_FALSE(with_field("int (*x)(void)"));
  EXPECT_FALSE(with_field("int x[2][3]"));
  EXPECT_FALSE(with_field("int x\"; y"));
  EXPECT_FALSE(with_field("* x"));
  EXPECT_FALSE(with_field("int x", 70'000)) << "larger than any payload";
  EXPECT_FALSE(with_field("__data_loc char[] name", 2)) << "no room for offset and length";
  EXPECT_FALSE(with_field("unsigned STA_PR_FMT x")) << "libtraceevent leaks memory";
  EXPECT_FALSE(with_field("char x[VIF_PR_FMT]", 6));
  const auto text = test::page_fault_format(190);
  EXPECT_FALSE(parse_tracepoint_format("a", "name: x\n", 8));
  EXPECT_FALSE(parse_tracepoint_format("a", "", 8));
  EXPECT_FALSE(parse_tracepoint_format("a", text.substr(0, text.find("print fmt")), 8));
  EXPECT_FALSE(parse_tracepoint_format("a", test::page_fault_format(70'000), 8));
}

TEST(TracepointFormatFile, IsReadWithAnyPrintFormat) {
  for (const char* print : {"", "\"%d", "\"%d\", 1 ? 2 : REC->arr[1]", "\"%d\", sizeof(int) * 3",
                            "\"%n\", REC->nosuch"}) {
    const auto format =
        parse_tracepoint_format("s", format_text("e", 7, line("u32 x", 8, 4, false), print), 8);
    ASSERT_TRUE(format) << print;
    EXPECT_EQ(format->fields.size(), 5u);
  }
}

TEST(TracepointFormatFile, OfAnySystemIsReadAlike) {
  const auto text = format_text("bprint", 5, line("unsigned long ip", 8, 8, false), "\"%s\"");
  EXPECT_TRUE(parse_tracepoint_format("ftrace", text, 8)->field("ip")->is_hexadecimal);
}

}  // namespace
}  // namespace skid::perfdata
