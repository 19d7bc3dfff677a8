// Options as data: their names, values and descriptions, and where the values are stored.
#pragma once

// The headers of the enumerations that instantiate Value::one_of().
// IWYU pragma: no_include "analysis/comparison.h"
// IWYU pragma: no_include "analysis/contract.h"
// IWYU pragma: no_include "plots/figure_kind.h"
// IWYU pragma: no_include "plots/figure_options.h"
// IWYU pragma: no_include "src/commands/output_options.h"
// IWYU pragma: no_include "src/correct/correction.h"
// IWYU pragma: no_include "src/correct/skid.h"
// IWYU pragma: no_include "src/listing/sampled_code.h"
// IWYU pragma: no_include "src/output/audit/judged.h"
#include "src/support/names.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {

using Texts = std::vector<std::string>;

/// What a shell completes in place of a value.
enum class Completion { none, words, list, files, directories };  // list: words between commas

/// The element type of std::optional and std::vector, else the type itself.
template <typename T>
struct Element {
  using Type = T;
};
template <typename T>
struct Element<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Element<std::vector<T>> {
  using Type = T;
};

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// Parses a decimal number, or for integers a hexadecimal one after 0x; nullopt: `text` is none.
template <typename T>
std::optional<T> number_from(std::string_view text) {
  if constexpr (std::is_integral_v<T>) {
    if (text.starts_with("0x") || text.starts_with("0X"))
      return whole_number<T>(text.substr(2), 16);
  }
  return whole_number<T>(text);
}

/// The value of an option: its name, what is allowed, and the variable that receives it. Made by
/// its static functions, which bind a variable. The variable keeps its value if the option is not
/// given; it must live as long as the Value. A std::vector receives the values of all uses of the
/// option; other variables allow one use.
struct Value {
  std::string name = {};    ///< "FILE"; empty: a flag, which has no value
  Texts words = {};         ///< allowed values, or suggestions
  std::string limits = {};  ///< "1 to 1000"; may be empty
  Completion completion = Completion::none;
  /// Returns the words that a shell completes, if there are no `words`. The options before the
  /// value were stored before it is called.
  std::function<Texts()> candidates = {};
  std::string expectation = {};  ///< what is allowed, for messages; may be empty
  bool repeats = false;          ///< the option may be given more than once
  bool in_a_row = false;         ///< several values may follow one another
  bool comma_separated = false;  ///< one argument contains several values
  /// Stores all values that were given. Returns the first one that is not allowed.
  std::function<std::optional<std::string>(const Texts&)> store = {};

  static Value flag(bool& variable) {
    Value value = converted("", [&variable](const Texts&) { variable = true; });
    value.repeats = true;
    return value;
  }
  /// Returns a value whose texts `use` converts; it throws UsageError for one that it refuses.
  static Value converted(std::string name, std::function<void(const Texts&)> use) {
    const auto store = [use = std::move(use)](const Texts& given) {
      use(given);
      return std::nullopt;
    };
    return {.name = std::move(name), .store = store};
  }
  /// Returns a value that `parse` converts from its text; nullopt: it is not allowed. For a list
  /// `parse` returns an element or a list. `expectation`: what is allowed, for messages.
  template <typename Variable, typename Parse>
  static Value parsed(std::string name, Variable& variable, Parse parse,
                      std::string expectation = {});
  template <typename Variable>
  static Value text(std::string name, Variable& variable) {
    return parsed(std::move(name), variable,
                  [](const std::string& text) { return std::optional(text); });
  }
  template <typename Variable>
  static Value file(std::string name, Variable& variable) {
    return text(std::move(name), variable).completing(Completion::files);
  }
  template <typename Variable>
  static Value directory(Variable& variable) {
    return text("DIR", variable).completing(Completion::directories);
  }
  /// Returns a value that is one of `words`, which shells complete; of an enumeration some of its
  /// SKID_NAMES, or all.
  template <typename Variable>
  static Value one_of(std::string name, Variable& variable, Texts words = {}) {
    using Type = typename Element<Variable>::Type;
    if constexpr (std::is_enum_v<Type>) {
      constexpr auto kNames = names_of(Type{});
      if (words.empty()) words.assign(kNames.begin(), kNames.end());
    }
    const auto parse = [words](const std::string& text) -> std::optional<Type> {
      if (std::ranges::find(words, text) == words.end()) return std::nullopt;
      if constexpr (std::is_enum_v<Type>) {
        return value_named<Type>(text);
      } else {
        return text;
      }
    };
    Value value = parsed(std::move(name), variable, parse);
    value.words = std::move(words);
    return std::move(value).completing(Completion::words);
  }
  template <typename Variable, typename Number = typename Element<Variable>::Type>
  static Value number(std::string name, Variable& variable,
                      std::type_identity_t<Number> least = std::numeric_limits<Number>::lowest(),
                      std::type_identity_t<Number> most = std::numeric_limits<Number>::max());
  /// Returns a value in bytes, with or without a unit: "64MiB".
  static Value size(std::string name, std::optional<std::uint64_t>& variable);

  /// Allows several values one after the other: INPUT...
  Value several() && {
    in_a_row = true;
    return std::move(*this);
  }
  /// Allows several values between commas: none,p,pp.
  Value separated() && {
    comma_separated = repeats = true;
    return std::move(*this);
  }
  Value completing(Completion with) && {
    completion = with;
    return std::move(*this);
  }
  Value completing(std::function<Texts()> with, Completion as = Completion::words) && {
    candidates = std::move(with);
    return std::move(*this).completing(as);
  }
  /// Adds words that help and completions show; other values are allowed, too.
  Value suggesting(Texts suggestions) && {
    words = std::move(suggestions);
    return std::move(*this).completing(Completion::words);
  }

  /// Returns the allowed values for messages: "text, json, csv", "1 to 1000", "a number", "FILE".
  std::string expected() const {
    if (!words.empty()) return fmt::format("{}", fmt::join(words, ", "));
    if (!expectation.empty()) return expectation;
    return limits.empty() ? name : limits;
  }
};

template <typename Variable, typename Parse>
Value Value::parsed(std::string name, Variable& variable, Parse parse, std::string expectation) {
  using Whole = std::conditional_t<kIsVector<Variable>, Variable, typename Element<Variable>::Type>;
  const auto store = [&variable, parse](const Texts& given) -> std::optional<std::string> {
    Whole whole{};
    for (const std::string& text : given) {
      auto one = parse(text);
      if (!one) return text;
      if constexpr (!kIsVector<Whole>) {
        whole = std::move(*one);
      } else if constexpr (kIsVector<typename decltype(one)::value_type>) {
        whole.insert(whole.end(), one->begin(), one->end());
      } else {
        whole.push_back(std::move(*one));
      }
    }
    variable = std::move(whole);
    return std::nullopt;
  };
  return {.name = std::move(name),
          .expectation = std::move(expectation),
          .repeats = kIsVector<Whole>,
          .store = store};
}

template <typename Variable, typename Number>
Value Value::number(std::string name, Variable& variable, std::type_identity_t<Number> least,
                    std::type_identity_t<Number> most) {
  const auto within = [least, most](const std::string& text) {
    const std::optional<Number> number = number_from<Number>(text);
    // A NaN is not within any limits.
    return number && *number >= least && *number <= most ? number : std::nullopt;
  };
  constexpr auto kMost = std::numeric_limits<Number>::max();
  const std::string limits =
      most != kMost ? fmt::format("{} to {}", least, most) : fmt::format("{} or more", least);
  const bool is_limited = most != kMost || least != std::numeric_limits<Number>::lowest();
  const std::string expectation = std::is_integral_v<Number> && most == kMost
                                      ? "a whole number, " + limits
                                  : is_limited ? limits
                                               : "a number";
  Value value = parsed(std::move(name), variable, within, expectation);
  if (is_limited) value.limits = limits;
  return value;
}

struct Option {
  /// `all_names`: "INPUT,-i,--input"; a name without a dash makes the option a positional argument,
  /// too.
  Option(std::string_view all_names, Value of, std::string text, Texts excluded = {})
      : value(std::move(of)), description(std::move(text)), excludes(std::move(excluded)) {
    while (!all_names.empty()) names.emplace_back(take_until(',', all_names));
  }

  Texts names;
  Value value;
  std::string description;
  Texts excludes;  ///< names of options and arguments that it cannot be combined with

  /// Returns the names with dashes, "-i" and "--input".
  Texts flags() const {
    Texts found = names;
    std::erase_if(found, [](const std::string& name) { return !name.starts_with('-'); });
    return found;
  }
  /// Returns whether `name` is one of flags().
  bool has_flag(std::string_view name) const {
    return name.starts_with('-') && std::ranges::find(names, name) != names.end();
  }
  /// Returns the name without a dash; empty if the option is no positional argument.
  std::string argument() const {
    const auto found =
        std::ranges::find_if(names, [](const auto& name) { return !name.starts_with('-'); });
    return found == names.end() ? std::string() : *found;
  }
};

}  // namespace skid::commandline
