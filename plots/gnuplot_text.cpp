#include "plots/gnuplot_text.h"

#include "src/support/escape.h"

#include <algorithm>
#include <array>

namespace skid::plots {
namespace {

struct CharacterRange {
  char32_t first, last;
};

/// The scripts in use that DejaVu Sans 2.37 has completely, and its signs. Emoji are left out,
/// because it has only some.
constexpr std::array<CharacterRange, 37> kDejaVu{
    {{0x20, 0x7e},     {0xa0, 0x2e9},    {0x300, 0x34f},   {0x370, 0x377},   {0x37a, 0x37f},
     {0x384, 0x38a},   {0x38c, 0x38c},   {0x38e, 0x3a1},   {0x3a3, 0x525},   {0x531, 0x556},
     {0x559, 0x55f},   {0x561, 0x587},   {0x5d0, 0x5ea},   {0x60c, 0x60c},   {0x61b, 0x61b},
     {0x61f, 0x61f},   {0x621, 0x63a},   {0x640, 0x655},   {0x660, 0x66d},   {0x679, 0x6bf},
     {0x6f0, 0x6f9},   {0x10d0, 0x10fc}, {0x1e00, 0x1efb}, {0x2010, 0x205e}, {0x2070, 0x2071},
     {0x2074, 0x208e}, {0x20a0, 0x20b5}, {0x2100, 0x2109}, {0x210b, 0x2149}, {0x2150, 0x2185},
     {0x2190, 0x2311}, {0x2500, 0x269c}, {0x2701, 0x2704}, {0x2713, 0x2718}, {0x27f0, 0x28ff},
     {0xfb00, 0xfb06}, {0xfffd, 0xfffd}}};

bool is_in_dejavu(char32_t character) {
  return std::any_of(kDejaVu.begin(), kDejaVu.end(), [character](const CharacterRange& range) {
    return range.first <= character && character <= range.last;
  });
}

/// Whether a character has an agreed picture: it is neither for private use nor one of the
/// noncharacters of the Arabic block and of each plane (Unicode 15, chapter 23).
bool has_a_picture(char32_t character) {
  const bool is_private = (character >= 0xe000 && character <= 0xf8ff) || character >= 0xf0000;
  const bool nonchar =
      (character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe;
  return !is_private && !nonchar;
}

}  // namespace

std::string drawable(std::string_view text, bool all_fonts) {
  return escape_unless(all_fonts ? has_a_picture : is_in_dejavu, escape_for_terminal(text));
}

std::string gnuplot_string(std::string_view text, bool all_fonts) {
  std::string result = "'";
  for (const char character : drawable(text, all_fonts)) {
    if (character == '\'') {
      result += "\u2019";
    } else if (character == '>' && result.ends_with("]]")) {
      result += "\\x3e";
    } else {
      result += character;
    }
  }
  return result + '\'';
}

}  // namespace skid::plots
