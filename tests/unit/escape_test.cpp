#include "src/support/escape.h"

#include "tests/support/prelude.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skid {
namespace {

TEST(Escape, ShowsAsBytesWhatIsNotPrintable) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> escaped{
      {"cpu/event=0xd1,umask=0x20/pp", "cpu/event=0xd1,umask=0x20/pp"},
      {"Größe µops 測定 🙂", "Größe µops 測定 🙂"},
      // Control characters. U+009B is the one-character CSI, as UTF-8 and as the Latin-1 byte.
      {"a\x1b[31mb\n\t\x7f", "a\\x1b[31mb\\x0a\\x09\\x7f"},
      {"a\0b"s, "a\\x00b"},
      {"\xc2\x9b;31m", "\\xc2\\x9b;31m"},
      {"\x9b;31m", "\\x9b;31m"},
      // What is not UTF-8.
      {"\xff", "\\xff"},
      {"\xc0\xaf", "\\xc0\\xaf"},           // overlong '/'
      {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"},  // overlong U+001B
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"caf\xc3", "caf\\xc3"},  // cut short
      {"\xc3(", "\\xc3("},      // what follows is kept
      // Invisible characters, and those that change the direction.
      {"a\u202eb", "a\\xe2\\x80\\xaeb"},
      {"a\u200bb", "a\\xe2\\x80\\x8bb"},
      {"a\u2028b", "a\\xe2\\x80\\xa8b"}};
  for (const auto& [text, shown] : escaped) EXPECT_EQ(escape_for_terminal(text), shown);
}

TEST(Escape, LeavesNothingToEscapeForAnyByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string once = escape_for_terminal(all);
  EXPECT_EQ(escape_for_terminal(once), once);
  for (const char character : once) {
    EXPECT_GE(character, ' ');
    EXPECT_NE(character, '\x7f');
  }
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("µé█"), 3u);
  EXPECT_EQ(display_width("測定"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(Shorten, KeepsWhatFitsAndMarksWhatIsCut) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdefg", 6), "abcde…");
  EXPECT_EQ(shorten("測定測定", 6), "測定…");
  EXPECT_EQ(shorten("abc", 0), "");
}

TEST(Wrap, BreaksAtSpacesAndWordsThatAreLongerThanALine) {
  EXPECT_THAT(wrap("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(wrap("one  two", 20), ElementsAre("one two"));
  EXPECT_THAT(wrap("", 20), IsEmpty());
  EXPECT_THAT(wrap("ab abcdefghij k", 4), ElementsAre("ab", "abcd", "efgh", "ij k"));
  const std::string text =
      "the 測定 of /a/very/long/path/that/has/no/spaces and some more words after it";
  for (std::size_t width = 2; width < 90; ++width) {
    for (const std::string& line : wrap(text, width)) EXPECT_LE(display_width(line), width);
  }
}

TEST(EscapeUnless, WritesHiddenCharactersAsCodePoints) {
  const auto is_small = [](char32_t character) { return character >= 'a' && character <= 'z'; };
  EXPECT_EQ(escape_unless(is_small, "a\u00e9b\U0001f9ff"), "a\\u{00E9}b\\u{1F9FF}");
  EXPECT_EQ(escape_unless(is_small, "a\xff"), "a\xff") << "no character";
}

}  // namespace
}  // namespace skid
