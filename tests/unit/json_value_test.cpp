#include "src/support/json_value.h"

#include "src/support/error.h"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

template <typename Ask>
std::string refusal(Ask ask) {
  try {
    ask();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ParseJson, HoldsItsBoundsBeforeItParses) {
  const auto parsed = [](const std::string& text) { return parse_json(text, "a", "b", "c"); };
  const std::string deepest = std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']');
  EXPECT_TRUE(parsed(deepest).is_array());
  EXPECT_THAT(refusal([&] { (void)parsed('[' + deepest + ']'); }),
              HasSubstr("a: values nested more than 64 deep, expected b; c"));
  EXPECT_EQ(parsed(R"(["[[\"{{", [1]])").size(), 2u) << "brackets of strings are no depth";
  EXPECT_THAT(refusal([&] { (void)parsed('[' + std::string(kMostJsonValues, ',')); }),
              HasSubstr("more than 8388608 values"));
  EXPECT_THAT(refusal([&] { (void)parsed("[1,]"); }), HasSubstr("at offset 0x3:"));
  EXPECT_THAT(refusal([&] { (void)parsed("1e999"); }), HasSubstr("too large"));
}

TEST(JsonValue, ReadsIntegersOfItsBoundsOnly) {
  const json document = json::parse(
      R"({"least": -9223372036854775808, "most": 18446744073709551615, "part": 1.0, "one": 1})");
  const JsonValue value(document, "a");
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value["least"].integer64(kLeast, kMost), kLeast);
  EXPECT_THAT(refusal([&] { (void)value["least"].integer64(kLeast + 1, kMost); }),
              HasSubstr("an integer of at least -9223372036854775807"));
  EXPECT_THAT(refusal([&] { (void)value["most"].integer64(kLeast, kMost); }),
              HasSubstr("18446744073709551615 for \"most\""));
  EXPECT_THAT(refusal([&] { (void)value["part"].integer64(0, 9); }), HasSubstr("an integer"));
  EXPECT_EQ(value["one"].integer(0, 1), 1);
  EXPECT_THAT(refusal([&] { (void)value["one"].integer(2, 3); }), HasSubstr("2 to 3"));
}

TEST(JsonValue, ReadsPairs) {
  const json document = json::parse("[[-1,2],[3,18446744073709551615]]");
  EXPECT_THAT(JsonValue(document, "a").pairs(2),
              ElementsAre(Pair(-1, 2u), Pair(3, 18446744073709551615u)));
  EXPECT_THAT(refusal([&] { (void)JsonValue(document, "a").pairs(1); }), HasSubstr("at most 1"));
  for (const char* text : {"[[1,-2]]", "[[1]]", "[[1,2,3]]", "[1,2]", "[[1,2.5]]", "{}"}) {
    const json other = json::parse(text);
    EXPECT_THAT(refusal([&] { (void)JsonValue(other, "a").pairs(9); }), HasSubstr("expected a"))
        << text;
  }
}

}  // namespace
}  // namespace skid
