#include "src/support/json_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using nlohmann::ordered_json;

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

}  // namespace
}  // namespace skid
