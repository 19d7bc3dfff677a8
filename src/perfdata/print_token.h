// The words of a tracepoint's print fmt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {

struct PrintToken {
  enum class Kind {
    name,       ///< "REC", "__print_flags", "ETH_ALEN"
    number,     ///< "0x10UL"
    text,       ///< what stands between double quotes, escapes as they are
    character,  ///< a character between single quotes
    symbol,     ///< an operator or a delimiter: "->", "(", "<<"
    end,
  };
  Kind kind = Kind::end;
  std::string_view text;
};

/// Takes a print fmt apart; the views are into it. The last token is an `end`. nullopt for a string
/// that is not closed, a character that C does not have outside of strings, or too many tokens.
std::optional<std::vector<PrintToken>> split_print_format(std::string_view print);

/// Whether libtraceevent reads a string in the place of this word. Kernels before 2.6.35 left the
/// names of mac80211's macros in their print fmts; wherever libtraceevent meets them, also in
/// declarations, it puts the macro's text, and loses the memory of the word in front.
bool is_replaced_word(std::string_view word);

}  // namespace skid::perfdata
