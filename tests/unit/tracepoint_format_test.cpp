// The format files of tracepoints, and which of their print formats libtraceevent may have.
#include "src/perfdata/tracepoint_format.h"

#include "src/perfdata/print_format.h"
#include "tests/support/tracing_data_builder.h"

#include <string>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using test::format_text;

constexpr std::uint64_t kRoom = 65'536;

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
  EXPECT_TRUE(format->field("common_pid")->is_signed);
  EXPECT_EQ(format->field("nosuch"), nullptr);
}

TEST(TracepointFormatFile, KnowsTheDeclarationsThatKernelsWrite) {
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

TEST(TracepointFormatFile, OfAnotherShapeIsNotUnderstood) {
  EXPECT_FALSE(with_field("int"));
  EXPECT_FALSE(with_field("int (*x)(void)"));
  EXPECT_FALSE(with_field("int x[2][3]"));
  EXPECT_FALSE(with_field("int x\"; y"));
  EXPECT_FALSE(with_field("* x"));
  EXPECT_FALSE(with_field("int common_pid")) << "twice";
  EXPECT_FALSE(with_field("int x", 70'000)) << "larger than any payload";
  EXPECT_FALSE(with_field("__data_loc char[] name", 2)) << "no room for offset and length";
  EXPECT_FALSE(with_field("unsigned STA_PR_FMT x")) << "libtraceevent loses the word in front";
  EXPECT_FALSE(with_field("char x[VIF_PR_FMT]", 6));
  const auto text = test::page_fault_format(190);
  EXPECT_FALSE(parse_tracepoint_format("a b", text, 8));
  EXPECT_FALSE(parse_tracepoint_format("a", "name: x\n", 8));
  EXPECT_FALSE(parse_tracepoint_format("a", "", 8));
  EXPECT_FALSE(parse_tracepoint_format("a", test::page_fault_format(70'000), 8));
}

TEST(TracepointFormatFile, WrittenAnewIsTheSame) {
  const auto text = test::page_fault_format(190);
  const auto format = parse_tracepoint_format("exceptions", text, 8);
  ASSERT_TRUE(format);
  EXPECT_EQ(format_file(*format, format->print), text);
}

/// Whether a print format over some fields may be given to libtraceevent.
class PrintFormat : public ::testing::Test {
 protected:
  static std::optional<std::vector<CountLimit>> check(const std::string& print) {
    const auto format = parse_tracepoint_format(
        "s",
        format_text("e", 7,
                    line("unsigned long ip", 8, 8, false) + line("int len", 16, 4, true) +
                        line("u8 mac[6]", 20, 6, false) +
                        line("__data_loc char[] name", 28, 4, false) +
                        line("__data_loc u64[] list", 32, 4, false),
                    print),
        8);
    return format ? check_print_format(*format, kRoom) : std::nullopt;
  }
  static bool check_relative(const std::string& print) {
    const auto format = parse_tracepoint_format(
        "s", format_text("e", 7, line("__rel_loc char[] name", 8, 4, false), print), 8);
    return format && check_print_format(*format, kRoom);
  }
};

TEST_F(PrintFormat, OfKernelsIsAccepted) {
  for (const char* print :
       {"\"ip=0x%lx %s\", REC->ip, __get_str(name)",
        "\"%s\" \"%d%%\", REC->ip ? \"yes\" : \"no\", REC->len",
        "\"%llu\", (unsigned long long) REC->ip",
        "\"%s\", __print_flags(REC->ip & ((0x1 | 0x2) + 1), \"|\", { 0x1, \"A\" }, { (1UL << 3), "
        "\"B\" }, { 0, ((void *)0) })",
        "\"%s\", __print_symbolic(REC->len, { -1, \"ERR\" }, { ENUM, \"B\" })",
        "\"%s\", __print_hex(REC->mac, 6)",
        "\"%s\", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / "
        "sizeof(u64), sizeof(u64))",
        "\"%u %u\", ((unsigned int) ((REC->ip) >> 20)), ((unsigned int) ((REC->ip) & ((1U << 20) - "
        "1)))",
        "\"%lu us\", REC->ip / 1000", "\"%02x\", REC->mac[5]", "\"%pM %ps\", REC->mac, REC->ip",
        "\"plain\""}) {
    EXPECT_TRUE(check(print)) << print;
  }
}

TEST_F(PrintFormat, ThatLeadsOutOfThePayloadIsNot) {
  EXPECT_FALSE(check("\"%x\", REC->mac[4000000000]"));
  EXPECT_FALSE(check("\"%x\", REC->mac[REC->len]"));
  EXPECT_FALSE(check("\"%s\", __print_hex(REC->mac, 100000)"));
  EXPECT_FALSE(check("\"%s\", __print_hex(REC->mac, REC->len * 9)"));
  EXPECT_FALSE(
      check("\"%s\", __print_array(__get_dynamic_array(list), "
            "__get_dynamic_array_len(list), 8)"))
      << "bytes taken for elements";
  EXPECT_FALSE(check("\"%s\", __get_str(ip)")) << "no dynamic array";
}

TEST_F(PrintFormat, WithACountInAFieldLimitsThatField) {
  const auto limits = check("\"%s\", __print_array(REC->mac, REC->len, 8)");
  ASSERT_TRUE(limits);
  ASSERT_EQ(limits->size(), 1u);
  EXPECT_EQ(limits->front().field, 5u);
  EXPECT_EQ(limits->front().most, kRoom / 8);
}

TEST_F(PrintFormat, ThatDividesByWhatMayBeZeroIsNot) {
  EXPECT_FALSE(check("\"%d\", 1 / 0"));
  EXPECT_FALSE(check("\"%d\", REC->ip % REC->len"));
  EXPECT_FALSE(check("\"%d\", REC->ip / (1 - 1)"));
  EXPECT_FALSE(check("\"%d\", REC->ip / (u8)256"));
  EXPECT_FALSE(check("\"%d\", REC->ip / 10 / 100")) << "libtraceevent reads 10 / 100 first";
  EXPECT_FALSE(check("\"%d\", 1 / (4294967296 * 4294967296)"));
}

TEST_F(PrintFormat, OfUnknownFieldsOrFunctionsIsNot) {
  EXPECT_FALSE(check("\"%d\", REC->nosuch"));
  EXPECT_FALSE(check("\"%s\", __print_flags(REC->nosuch, \"|\", { 1, \"A\" })"));
  EXPECT_FALSE(check("\"%d\", jiffies_to_msecs(REC->ip)"));
  EXPECT_FALSE(check("\"%d\", ({ int x = 1; x; })"));
}

TEST_F(PrintFormat, ThatIsNotClosedOrNestedTooDeepIsNot) {
  EXPECT_FALSE(check("\"%d\", (REC->ip"));
  EXPECT_FALSE(check("\"%d"));
  EXPECT_FALSE(check("\"%d\", REC->ip, REC->ip")) << "more arguments than conversions";
  EXPECT_FALSE(check("\"%d %d\", REC->ip"));
  EXPECT_FALSE(check("\"%d\", " + std::string(5000, '(') + "1" + std::string(5000, ')')));
  EXPECT_FALSE(check("\"%d\", " + std::string(5000, '!') + "1"));
  std::string sum = "\"%d\", 1";
  for (int i = 0; i < 3000; ++i) sum += " + 1";
  EXPECT_FALSE(check(sum));
}

TEST_F(PrintFormat, ThatLibtraceeventReadsWithFreedMemoryOrNullPointersIsNot) {
  EXPECT_FALSE(check("\"%d\", sizeof(int) * 3"));
  EXPECT_FALSE(check("\"%d\", REC->ip ? 2 : REC->mac[1]"));
  EXPECT_FALSE(check("\"%d\", REC->ip ? 2 : 3 + REC->mac[1]"));
  EXPECT_FALSE(check("\"%d\", REC->ip ? 2 : ((u8 *)__get_dynamic_array(list))[1]"));
  EXPECT_FALSE(check("\"%d\", REC->ip ? 2 : sizeof(u8)"));
  EXPECT_FALSE(check_relative("\"%d\", __get_rel_dynamic_array_len(name)"));
  EXPECT_TRUE(check_relative("\"%s\", __get_rel_str(name)"));
  EXPECT_TRUE(check("\"%d\", REC->ip ? REC->mac[1] : 2"));
  EXPECT_TRUE(check("\"%s\", REC->ip ? \"\" : __print_array(REC->mac, 6, sizeof(u8))"));
}

TEST_F(PrintFormat, ThatLibtraceeventLosesMemoryOfIsNot) {
  EXPECT_FALSE(check("\"%d\", -sizeof(u8)"));
  EXPECT_FALSE(check("\"%d\", !(sizeof(u8))"));
  EXPECT_FALSE(check("\"%s\", !__print_symbolic(sizeof(u8), { 1, \"A\" })"));
  EXPECT_FALSE(check("\"%d\", ~__get_dynamic_array(list)[1]"));
  EXPECT_FALSE(check("\"%s\", __print_symbolic(REC->len, { 1, -1 })"));
  EXPECT_FALSE(check("\"%d\", LOCAL_PR_FMT"));
  EXPECT_TRUE(check("\"%d\", -REC->len + !(REC->ip & 1)"));
}

TEST_F(PrintFormat, WithConversionsThatKernelsDoNotHaveIsNot) {
  EXPECT_FALSE(check("\"%n\", REC->ip"));
  EXPECT_FALSE(check("\"%100000000d\", REC->ip"));
  EXPECT_FALSE(check("\"%*d\", REC->ip * 2, REC->ip"));
  EXPECT_FALSE(check("\"%\", REC->ip"));
}

}  // namespace
}  // namespace skid::perfdata
