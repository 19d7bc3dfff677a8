// JSON as text and as values.
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"

#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::ordered_json;
using test::message_of;

TEST(JsonText, EscapesControlCharacters) {
  // DEL, CSI as a C1 control, right-to-left override, a character beyond U+FFFF; in keys too.
  const ordered_json value = {{"key\x7f", "a\x1b[0m\x7f\xc2\x9b\xe2\x80\xae\xf0\x9f\x98\x80"}};
  EXPECT_EQ(json_text(value), R"({"key\u007f":"a\u001b[0m\u007f\u009b\u202e\ud83d\ude00"})");
  EXPECT_EQ(ordered_json::parse(json_text(value)), value);
}

TEST(JsonText, ReplacesInvalidUtf8) {
  EXPECT_EQ(json_text(nlohmann::json("a\xff\xc0")), R"("a\ufffd\ufffd")");
}

TEST(JsonText, IndentsOnRequest) {
  EXPECT_EQ(json_text(ordered_json{{"a", {1}}}, 2), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(JsonText, KeepsRowsOfNumbersOnOneLine) {
  const ordered_json value = {{"rows", ordered_json::array({{0, 5}, {-1, 2.5}})},
                              {"mixed", ordered_json::array({{0, 5}, 1})},
                              {"empty", ordered_json::array()},
                              {"none", ordered_json::object()},
                              {"key\x7f", nullptr}};
  EXPECT_EQ(json_text(value, 2), R"({
  "rows": [[0,5],[-1,2.5]],
  "mixed": [
    [
      0,
      5
    ],
    1
  ],
  "empty": [],
  "none": {},
  "key\u007f": null
})");
}

TEST(ParseJson, HoldsItsBoundsBeforeItParses) {
  const auto parsed = [](const std::string& text) { return parse_json(text, "a", "b", "c"); };
  const std::string deepest = std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']');
  EXPECT_TRUE(parsed(deepest).is_array());
  EXPECT_THAT(message_of<InputError>([&] { return parsed('[' + deepest + ']'); }),
              HasSubstr("a: values nested more than 64 deep, expected b; c"));
  EXPECT_EQ(parsed(R"(["[[\"{{", [1]])").size(), 2u) << "brackets of strings are no depth";
  EXPECT_THAT(
      message_of<InputError>([&] { return parsed('[' + std::string(kMostJsonValues, ',')); }),
      HasSubstr("more than 8388608 values"));
  EXPECT_THAT(message_of<InputError>([&] { return parsed("[1,]"); }), HasSubstr("at offset 0x3:"));
  EXPECT_THAT(message_of<InputError>([&] { return parsed("1e999"); }), HasSubstr("too large"));
}

TEST(JsonValue, ReadsIntegersOfItsBoundsOnly) {
  const json document = json::parse(
      R"({"least": -9223372036854775808, "most": 18446744073709551615, "part": 1.0, "one": 1})");
  const JsonValue value(document, "a");
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value["least"].integer64(kLeast, kMost), kLeast);
  EXPECT_THAT(message_of<InputError>([&] { return value["least"].integer64(kLeast + 1, kMost); }),
              HasSubstr("an integer of at least -9223372036854775807"));
  EXPECT_THAT(message_of<InputError>([&] { return value["most"].integer64(kLeast, kMost); }),
              HasSubstr("18446744073709551615 for \"most\""));
  EXPECT_THAT(message_of<InputError>([&] { return value["part"].integer64(0, 9); }),
              HasSubstr("an integer"));
  EXPECT_EQ(value["one"].integer(0, 1), 1);
  EXPECT_THAT(message_of<InputError>([&] { return value["one"].integer(2, 3); }),
              HasSubstr("2 to 3"));
}

TEST(JsonValue, ReadsPairs) {
  const json document = json::parse("[[-1,2],[3,18446744073709551615]]");
  EXPECT_THAT(JsonValue(document, "a").pairs(2),
              ElementsAre(Pair(-1, 2u), Pair(3, 18446744073709551615u)));
  EXPECT_THAT(message_of<InputError>([&] { return JsonValue(document, "a").pairs(1); }),
              HasSubstr("at most 1"));
  for (const char* text : {"[[1,-2]]", "[[1]]", "[[1,2,3]]", "[1,2]", "[[1,2.5]]", "{}"}) {
    const json other = json::parse(text);
    EXPECT_THAT(message_of<InputError>([&] { return JsonValue(other, "a").pairs(9); }),
                HasSubstr("expected a"))
        << text;
  }
}

}  // namespace
}  // namespace skid
