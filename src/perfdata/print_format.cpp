#include "src/perfdata/print_format.h"

#include "src/perfdata/print_token.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace skid::perfdata {
namespace {

using Kind = PrintToken::Kind;

constexpr unsigned kDeepest = 64;          // Linux 6.18 nests 14 deep
constexpr unsigned kMostOperators = 1024;  // of one expression; Linux 6.18 has 270
constexpr std::uint64_t kLargestIndex = 255;
constexpr std::uint64_t kLargestDynamic = 0xffff;  // bytes of a __data_loc

/// What is known of an expression before there is a payload.
struct Operand {
  std::optional<std::uint64_t> constant;
  std::optional<std::uint64_t> most;  ///< it will not be larger
  std::optional<std::size_t> field;   ///< it is this field of the payload, or its dynamic array
  bool is_array_start = false;        ///< it is __get_dynamic_array() of the field
};

Operand constant(std::uint64_t value) {
  return {value, value, std::nullopt, false};
}

/// What a conversion of the format string takes: a `*` a number of its own.
enum class Taken { value, width };

/// The conversions of the format string, in order; nullopt for one that kernels do not have.
std::optional<std::vector<Taken>> conversions(std::string_view text) {
  std::vector<Taken> taken;
  constexpr std::size_t kLongestWidth = 3;  // digits
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    ++i;
    if (i < text.size() && text[i] == '%') continue;
    const auto skip = [&](std::string_view characters) {
      const std::size_t first = i;
      while (i < text.size() && characters.find(text[i]) != std::string_view::npos) ++i;
      return i - first;
    };
    const auto width = [&] {
      if (i < text.size() && text[i] == '*') {
        taken.push_back(Taken::width);
        ++i;
        return true;
      }
      return skip("0123456789") <= kLongestWidth;
    };
    if (skip("-+ #0") > 8 || !width()) return std::nullopt;
    if (i < text.size() && text[i] == '.') {
      ++i;
      if (!width()) return std::nullopt;
    }
    if (skip("hlLzjt") > 2 || i >= text.size()) return std::nullopt;
    if (std::string_view("diuoxXcsp").find(text[i]) == std::string_view::npos) return std::nullopt;
    taken.push_back(Taken::value);
  }
  return taken;
}

/// Reads a print fmt by recursive descent. Every function returns nullopt where the format is not
/// of the accepted shape, and the reading ends there.
class Reader {
 public:
  Reader(const TracepointFormat& format, std::vector<PrintToken> tokens, std::uint64_t room)
      : format_(format), tokens_(std::move(tokens)), room_(room) {}

  std::optional<std::vector<CountLimit>> read() {
    std::string text;
    if (peek().kind != Kind::text) return std::nullopt;
    while (peek().kind == Kind::text) text += next().text;
    const auto taken = conversions(text);
    if (!taken) return std::nullopt;
    for (const Taken what : *taken) {
      if (!take(",")) return std::nullopt;
      operators_ = 0;
      const auto operand = expression(0);
      if (!operand) return std::nullopt;
      if (what == Taken::width && !limit(*operand, kLargestDynamic)) return std::nullopt;
    }
    if (peek().kind != Kind::end) return std::nullopt;
    return std::move(limits_);
  }

 private:
  using Result = std::optional<Operand>;

  const PrintToken& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const PrintToken& next() {
    const auto& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
  }
  bool is_symbol(std::string_view symbol, std::size_t ahead = 0) const {
    return peek(ahead).kind == Kind::symbol && peek(ahead).text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    ++at_;
    return true;
  }

  /// Sees to it that an operand will not exceed `most`; false when nothing can.
  bool limit(const Operand& operand, std::uint64_t most) {
    if (operand.most) return *operand.most <= most;
    if (!operand.field || operand.is_array_start) return false;
    const auto& field = format_.fields[*operand.field];
    if (field.is_array) return false;
    limits_.push_back({*operand.field, most});
    return true;
  }

  std::optional<std::size_t> field_index(std::string_view name) const {
    const auto* field = format_.field(name);
    if (field == nullptr) return std::nullopt;
    return static_cast<std::size_t>(field - format_.fields.data());
  }

  bool is_binary_operator() const {
    constexpr std::array<std::string_view, 18> kOperators = {
        "+", "-",  "*",  "/",  "%",  "&",  "|",  "^",  "<",
        ">", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>"};
    return peek().kind == Kind::symbol &&
           std::find(kOperators.begin(), kOperators.end(), peek().text) != kOperators.end();
  }

  Result expression(unsigned depth) {
    auto left = unary(depth);
    while (left && (is_binary_operator() || is_symbol("?"))) {
      if (++operators_ > kMostOperators) return std::nullopt;
      const auto symbol = next().text;
      if (symbol == "?") return conditional(depth);
      const auto right = unary(depth);
      if (!right) return std::nullopt;
      left = combine(symbol, *left, *right);
    }
    return left;
  }

  Result conditional(unsigned depth) {
    if (depth >= kDeepest || !expression(depth + 1) || !take(":")) return std::nullopt;
    // libtraceevent reads a ? b : c[1] as (a ? b : c)[1] and follows a null pointer.
    if (!simple_operand(is_behind_colon_, [&] { return expression(depth + 1); })) {
      return std::nullopt;
    }
    return Operand{};
  }

  /// What `read` reads, without elements of arrays and sizeof. `why`: is_behind_sign_, which goes
  /// for arguments of functions too, or is_behind_colon_.
  template <typename Read>
  Result simple_operand(bool& why, Read read) {
    const bool before = std::exchange(why, true);
    const auto operand = read();
    why = before;
    return operand;
  }
  bool must_be_simple() const { return is_behind_sign_ || is_behind_colon_; }

  Result combine(std::string_view symbol, const Operand& left, const Operand& right) const {
    if (symbol == "/" || symbol == "%") {
      // libtraceevent reads a / b * c as a / (b * c), so b has to be the whole divisor.
      if (!right.constant || *right.constant == 0) return std::nullopt;
      if (is_symbol("*") || is_symbol("/") || is_symbol("%")) return std::nullopt;
      if (symbol == "%" || !left.most) return Operand{};
      return Operand{std::nullopt, *left.most / *right.constant, std::nullopt, false};
    }
    std::uint64_t product = 0;
    if (symbol == "*" && left.constant && right.constant &&
        !__builtin_mul_overflow(*left.constant, *right.constant, &product)) {
      return constant(product);
    }
    return Operand{};
  }

  Result unary(unsigned depth) {
    if (depth >= kDeepest) return std::nullopt;
    for (const std::string_view symbol : {"-", "!", "~", "+"}) {
      if (!take(symbol)) continue;
      if (++operators_ > kMostOperators) return std::nullopt;
      // libtraceevent loses the memory of the operator in front of these.
      if (!simple_operand(is_behind_sign_, [&] { return unary(depth + 1); })) return std::nullopt;
      return Operand{};
    }
    auto operand = primary(depth);
    while (operand && is_symbol("[")) operand = element(*operand);
    return operand;
  }

  Result element(const Operand& array) {
    if (must_be_simple()) return std::nullopt;
    if (!take("[") || peek().kind != Kind::number || !array.field) return std::nullopt;
    const auto index = value_of(next().text);
    if (index > kLargestIndex || !take("]") || is_symbol("[")) return std::nullopt;
    const auto& field = format_.fields[*array.field];
    if (!array.is_array_start && index * std::max(field.size, 1u) > room_) return std::nullopt;
    return Operand{};
  }

  Result primary(unsigned depth) {
    const auto& token = peek();
    switch (token.kind) {
      case Kind::number:
        next();
        return constant(value_of(token.text));
      case Kind::text:
      case Kind::character:
        next();
        return Operand{};
      case Kind::name:
        if (token.text == "REC") return record_field();
        if (is_replaced_word(token.text)) return std::nullopt;
        next();
        if (is_symbol("(")) return function(token.text, depth + 1);
        // An enumerator that the kernel did not replace, which libtraceevent takes for 0.
        return peek().kind == Kind::name ? std::nullopt
                                         : Result(Operand{std::nullopt, 0, std::nullopt, false});
      case Kind::symbol:
        return is_symbol("(") ? parenthesis(depth + 1) : std::nullopt;
      case Kind::end:
        break;
    }
    return std::nullopt;
  }

  /// As strtoull reads it, which is how libtraceevent does: suffixes are passed over.
  static std::uint64_t value_of(std::string_view text) {
    return std::strtoull(std::string(text).c_str(), nullptr, 0);
  }

  Result record_field() {
    next();
    if (!take("->") || peek().kind != Kind::name) return std::nullopt;
    const auto index = field_index(next().text);
    if (!index) return std::nullopt;
    return Operand{std::nullopt, std::nullopt, index, false};
  }

  /// How many tokens from here on name a type in front of a ')', the ')' left out; 0 for none.
  std::size_t type_tokens() const {
    std::size_t count = 0;
    while (peek(count).kind == Kind::name && peek(count).text != "REC") ++count;
    if (count == 0) return 0;
    while (is_symbol("*", count)) ++count;
    return is_symbol(")", count) ? count : 0;
  }

  Result parenthesis(unsigned depth) {
    if (depth >= kDeepest || !take("(")) return std::nullopt;
    if (const auto count = type_tokens(); count > 0) {
      const auto& behind = peek(count + 1);
      const bool is_cast = behind.kind == Kind::name || behind.kind == Kind::number ||
                           (behind.kind == Kind::symbol && behind.text == "(");
      if (is_cast) {
        at_ += count + 1;
        auto operand = unary(depth);
        // A cast may cut a constant down to 0.
        if (operand) operand->constant.reset();
        return operand;
      }
    }
    auto operand = expression(depth);
    if (!operand || !take(")")) return std::nullopt;
    return operand;
  }

  Result function(std::string_view name, unsigned depth) {
    if (depth >= kDeepest || !take("(")) return std::nullopt;
    if (name == "sizeof") return size_of();
    const bool was_behind_colon = std::exchange(is_behind_colon_, false);
    const auto result = call(name, depth);
    is_behind_colon_ = was_behind_colon;
    return result;
  }

  Result call(std::string_view name, unsigned depth) {
    if (name == "__print_flags" || name == "__print_symbolic") {
      return named_values(name == "__print_flags", depth);
    }
    if (name == "__print_hex" || name == "__print_hex_str") return bytes(false, depth);
    if (name == "__print_array") return bytes(true, depth);
    return dynamic(name);
  }

  /// Not of "int", "long" and what else is made of such words: libtraceevent 1.7 goes on with
  /// the word after it was freed.
  Result size_of() {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 9> kSizes = {{{"u8", 1},
                                                                                   {"s8", 1},
                                                                                   {"u16", 2},
                                                                                   {"s16", 2},
                                                                                   {"u32", 4},
                                                                                   {"s32", 4},
                                                                                   {"u64", 8},
                                                                                   {"s64", 8},
                                                                                   {"char", 1}}};
    if (must_be_simple() || peek().kind != Kind::name) return std::nullopt;
    const auto type = next().text;
    const auto* found = std::find_if(kSizes.begin(), kSizes.end(),
                                     [&](const auto& entry) { return entry.first == type; });
    if (found == kSizes.end() || !take(")")) return std::nullopt;
    return constant(found->second);
  }

  /// (value, "delimiter", { 1, "NAME" }, ..., { 0, ((void *)0) }); symbols have no delimiter.
  Result named_values(bool has_delimiter, unsigned depth) {
    if (!expression(depth)) return std::nullopt;
    if (has_delimiter && (!take(",") || next().kind != Kind::text)) return std::nullopt;
    while (take(",")) {
      if (!take("{") || !is_constant_up_to(",") || !expression(depth) || !take(",")) {
        return std::nullopt;
      }
      if (peek().kind == Kind::text) {
        next();
      } else if (!is_constant_up_to("}") || has_sign_up_to("}") || !expression(depth)) {
        return std::nullopt;
      }
      if (!take("}")) return std::nullopt;
    }
    if (!take(")")) return std::nullopt;
    return Operand{};
  }

  /// Whether what comes up to the next `end` is made of numbers and names alone.
  bool is_constant_up_to(std::string_view end) const {
    for (std::size_t i = 0; !is_symbol(end, i); ++i) {
      const auto& token = peek(i);
      if (token.kind == Kind::end || token.kind == Kind::text) return false;
      const bool is_call = token.kind == Kind::name && is_symbol("(", i + 1);
      if (is_call || (token.kind == Kind::name && token.text == "REC")) return false;
    }
    return true;
  }

  /// Whether an operator that can stand in front of a value comes before the next `end`. Names
  /// are never made of it, and libtraceevent loses memory there.
  bool has_sign_up_to(std::string_view end) const {
    for (std::size_t i = 0; !is_symbol(end, i); ++i) {
      for (const std::string_view sign : {"-", "!", "~", "+"}) {
        if (is_symbol(sign, i)) return true;
      }
    }
    return false;
  }

  /// (array, count) or (array, count, bytes an element)
  Result bytes(bool has_element_size, unsigned depth) {
    const auto array = expression(depth);
    if (!array || !array->field || !take(",")) return std::nullopt;
    const auto count = expression(depth);
    if (!count) return std::nullopt;
    std::uint64_t element_size = 1;
    if (has_element_size) {
      if (!take(",")) return std::nullopt;
      const auto size = expression(depth);
      if (!size || !size->constant) return std::nullopt;
      element_size = *size->constant;
    }
    if (element_size == 0 || element_size > 8 || !limit(*count, room_ / element_size)) {
      return std::nullopt;
    }
    if (!take(")")) return std::nullopt;
    return Operand{};
  }

  /// What libtraceevent knows to do with a dynamic array.
  Result dynamic(std::string_view name) {
    constexpr std::array<std::string_view, 5> kFixed = {"__get_str", "__get_bitmask",
                                                        "__get_cpumask", "__get_dynamic_array",
                                                        "__get_dynamic_array_len"};
    constexpr std::array<std::string_view, 5> kRelative = {
        "__get_rel_str", "__get_rel_bitmask", "__get_rel_cpumask", "__get_rel_dynamic_array",
        "__get_rel_dynamic_array_len"};
    const bool fixed = std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end();
    const bool relative = std::find(kRelative.begin(), kRelative.end(), name) != kRelative.end();
    if ((!fixed && !relative) || peek().kind != Kind::name) return std::nullopt;
    const auto index = field_index(next().text);
    if (!index || !take(")")) return std::nullopt;
    const auto place = fixed ? TracepointField::Place::data_loc : TracepointField::Place::rel_loc;
    if (format_.fields[*index].place != place) return std::nullopt;
    // libtraceevent 1.7 follows a null pointer for the length of a relative array.
    if (name == "__get_rel_dynamic_array_len") return std::nullopt;
    if (name.ends_with("_len")) return Operand{std::nullopt, kLargestDynamic, std::nullopt, false};
    if (!name.ends_with("_array")) return Operand{};
    return Operand{std::nullopt, std::nullopt, index, true};
  }

  const TracepointFormat& format_;
  std::vector<PrintToken> tokens_;
  std::uint64_t room_;
  std::size_t at_ = 0;
  unsigned operators_ = 0;
  bool is_behind_sign_ = false;   ///< in the operand of -, !, ~ or +
  bool is_behind_colon_ = false;  ///< in the last operand of ?:, but in no argument of a function
  std::vector<CountLimit> limits_;
};

}  // namespace

std::optional<std::vector<CountLimit>> check_print_format(const TracepointFormat& format,
                                                          std::uint64_t payload_room) {
  auto tokens = split_print_format(format.print);
  if (!tokens) return std::nullopt;
  return Reader(format, std::move(*tokens), payload_room).read();
}

}  // namespace skid::perfdata
