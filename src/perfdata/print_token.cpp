#include "src/perfdata/print_token.h"

#include <algorithm>
#include <array>

namespace skid::perfdata {
namespace {

constexpr std::size_t kMostTokens = 8192;

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_word_character(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z') || character == '_';
}

/// Bytes of the operator or delimiter that `text` begins with; 0 when it begins with none.
std::size_t symbol_size(std::string_view text) {
  constexpr std::array<std::string_view, 9> kPairs = {
      "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (const auto pair : kPairs) {
    if (text.starts_with(pair)) return pair.size();
  }
  constexpr std::string_view kSingle = "+-*/%&|^~!<>?:()[]{},";
  return kSingle.find(text.front()) == std::string_view::npos ? 0 : 1;
}

/// Bytes up to and with the closing quote; npos when there is none. Control characters and bytes
/// that are no ASCII do not belong there.
std::size_t quoted_size(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] < ' ' || text[i] > '~') return std::string_view::npos;
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text.front()) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::vector<PrintToken>> split_print_format(std::string_view print) {
  using Kind = PrintToken::Kind;
  std::vector<PrintToken> tokens;
  while (!print.empty()) {
    const char first = print.front();
    if (first == ' ' || first == '\t' || first == '\n') {
      print.remove_prefix(1);
      continue;
    }
    PrintToken token;
    std::size_t size = 0;
    if (first == '"' || first == '\'') {
      size = quoted_size(print);
      if (size == std::string_view::npos) return std::nullopt;
      token = {first == '"' ? Kind::text : Kind::character, print.substr(1, size - 2)};
    } else if (is_word_character(first)) {
      while (size < print.size() && is_word_character(print[size])) ++size;
      token = {is_digit(first) ? Kind::number : Kind::name, print.substr(0, size)};
    } else {
      size = symbol_size(print);
      if (size == 0) return std::nullopt;
      token = {Kind::symbol, print.substr(0, size)};
    }
    if (tokens.size() >= kMostTokens) return std::nullopt;
    tokens.push_back(token);
    print.remove_prefix(size);
  }
  tokens.push_back({});
  return tokens;
}

bool is_replaced_word(std::string_view word) {
  return word == "LOCAL_PR_FMT" || word == "STA_PR_FMT" || word == "VIF_PR_FMT";
}

}  // namespace skid::perfdata
