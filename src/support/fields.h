// The members of a struct with their keys, in one list for writing and reading JSON.
//
//   SKID_FIELDS(machine::DataCache, level, bytes)
//
// declares `fields(io, cache)`, which calls `io("level", cache.level)` and so on. A struct with
// other keys than its members' names, or with limits, has a list of its own:
//
//   void fields(auto& io, Of<SampleTime> auto& time) { io("first", time.first, {.most = 100}); }
//
// Lists are in namespace skid, or in that of the struct, where FieldWriter and FieldReader find
// them. There is one list for a struct in the whole program.
#pragma once

#include "src/support/json_value.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#define SKID_FIELD(member) io(#member, value.member);
#define SKID_FIELD_OR_NULL(member) io(#member, OrNull{value.member});
/// In a list for `io`: the members of `value` whose keys are their names.
#define SKID_MEMBERS(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SKID_FIELD, __VA_ARGS__))
/// The same, where empty texts are null.
#define SKID_MEMBERS_OR_NULL(...) \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SKID_FIELD_OR_NULL, __VA_ARGS__))

/// The list of a struct whose keys are the names of its members.
#define SKID_FIELDS(Type, ...)                          \
  void fields(auto& io, ::skid::Of<Type> auto& value) { \
    SKID_MEMBERS(__VA_ARGS__)                           \
  }
/// The same of a struct that is only written, whose empty texts are null.
#define SKID_WRITTEN_FIELDS(Type, ...)                             \
  inline void fields(::skid::FieldWriter& io, const Type& value) { \
    SKID_MEMBERS_OR_NULL(__VA_ARGS__)                              \
  }

namespace skid {

/// Ordered, so that a reader meets the keys as docs/formats.md lists them.
using Json = nlohmann::ordered_json;

/// `T` or `const T`: what is written is not changed.
template <typename T, typename Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

/// "0x1f"; of several numbers an array, null for nullopt.
template <typename T>
struct Hex {
  T& value;
};
template <typename T>
Hex(T&) -> Hex<T>;

/// A value that may be null or absent where it is read. An empty text is written as null.
template <typename T>
struct OrNull {
  T& value;
};
template <typename T>
OrNull(T&) -> OrNull<T>;

/// An enumeration or a bool, by the name at its place among `names`.
template <typename T, std::size_t N>
struct OneOf {
  T& value;
  const std::array<std::string_view, N>& names;
};
template <typename T, std::size_t N>
OneOf(T&, const std::array<std::string_view, N>&) -> OneOf<T, N>;

/// A text, or texts, of which `check` refuses what is not allowed.
template <typename T>
struct Checked {
  T& value;
  void (*check)(const JsonValue& value);
};
template <typename T>
Checked(T&, void (*)(const JsonValue&)) -> Checked<T>;

/// The limits of a number that is read. An `int` is at least 0 unless its list says otherwise.
template <typename T>
struct Limits {};
template <typename T>
requires std::is_arithmetic_v<T>
struct Limits<T> {
  T least = std::same_as<T, int> || std::floating_point<T> ? T{} : std::numeric_limits<T>::lowest();
  T most =
      std::floating_point<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
};

inline constexpr Limits<int> kAnyInteger{.least = std::numeric_limits<int>::lowest()};

namespace detail {

/// The type of the numbers in a member, which its limits have.
template <typename T>
struct NumberIn {
  using type = T;
};
template <typename T>
struct NumberIn<const T> : NumberIn<T> {};
template <typename T>
struct NumberIn<std::optional<T>> : NumberIn<T> {};
template <typename T>
struct NumberIn<std::vector<T>> : NumberIn<T> {};
template <typename T>
struct NumberIn<OrNull<T>> : NumberIn<T> {};

template <typename T>
using LimitsOf = Limits<typename NumberIn<T>::type>;

}  // namespace detail

class FieldWriter;

namespace detail {

/// Whether `T` has a list of fields to write. Numbers and JSON, which convert to other types, have
/// none.
template <typename T>
concept HasFields =
    std::is_class_v<T> && !std::same_as<T, Json> && requires(FieldWriter & io, const T& value) {
  fields(io, value);
};

}  // namespace detail

/// Writes members as the keys of an object.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  /// Adds `key`. The limits are those of reading.
  template <typename T>
  void operator()(const char* key, const T& member, const detail::LimitsOf<T>& = {}) {
    object_[key] = json_of(member);
  }
  /// Adds a key that is not read back, because it follows from others.
  template <typename T>
  void derived(const char* key, const T& value) {
    object_[key] = json_of(value);
  }
  Json take() { return std::move(object_); }

  /// `value` as JSON: by its list of fields, by its name for an enumeration with `name_of`; null
  /// for nullopt.
  template <typename T>
  static Json json_of(const T& value) {
    if constexpr (detail::HasFields<T>) {
      FieldWriter io;
      fields(io, value);
      return io.take();
    } else if constexpr (std::is_enum_v<T>) {
      return name_of(value);
    } else if constexpr (std::same_as<T, std::filesystem::path>) {
      return value.string();
    } else {
      return value;
    }
  }
  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json();
  }
  template <typename T, template <typename...> class List>
  requires(std::is_same_v<List<T>, std::vector<T>> ||
           std::is_same_v<List<T>, std::deque<T>>) static Json json_of(const List<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(json_of(value));
    return list;
  }
  template <typename T>
  static Json json_of(const OrNull<T>& of) {
    if constexpr (requires { std::string_view(of.value); }) {
      if (std::string_view(of.value).empty()) return nullptr;
    }
    return json_of(of.value);
  }
  static Json json_of(const Hex<const std::uint64_t>& of) { return fmt::format("{:#x}", of.value); }
  template <typename T>
  static Json json_of(const Hex<const std::optional<T>>& of) {
    return of.value ? json_of(Hex{*of.value}) : Json();
  }
  template <typename T>
  static Json json_of(const Hex<const std::vector<T>>& of) {
    Json list = Json::array();
    for (const T& value : of.value) list.push_back(json_of(Hex{value}));
    return list;
  }
  template <typename T, std::size_t N>
  static Json json_of(const OneOf<T, N>& of) {
    return of.names.at(static_cast<std::size_t>(of.value));
  }
  template <typename T>
  static Json json_of(const Checked<T>& of) {
    return json_of(of.value);
  }

 private:
  Json object_ = Json::object();
};

/// Reads members from the keys of an object. All errors are InputErrors that name the key.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(JsonValue object) : object_(std::move(object)) {}

  /// Takes the value of `key`, within `limits`; without one throws.
  template <typename T>
  void operator()(const char* key, T& member, const detail::LimitsOf<T>& limits = {}) {
    read(object_[key], member, limits);
  }
  /// The same of a member in Hex, OneOf or Checked.
  template <typename T>
  void operator()(const char* key, const T& member) {
    read(object_[key], member);
  }
  /// Leaves the member where there is no value.
  template <typename T>
  void operator()(const char* key, std::optional<T>& member,
                  const detail::LimitsOf<T>& limits = {}) {
    const auto value = object_.find(key);
    if (!value) return;
    member = T{};
    read(*value, *member, limits);
  }
  template <typename T>
  void operator()(const char* key, OrNull<T> member, const detail::LimitsOf<T>& limits = {}) {
    if (const auto value = object_.find(key)) read(*value, member.value, limits);
  }
  /// Ignores a key that follows from others.
  void derived(const char* /*key*/, const auto& /*value*/) {}
  const JsonValue& object() const { return object_; }

 private:
  static constexpr std::size_t kMostElements = 100'000;

  template <typename T>
  static void read(const JsonValue& value, T& to, const Limits<T>& limits) {
    if constexpr (requires(FieldReader & io) { fields(io, to); }) {
      FieldReader io(value);
      fields(io, to);
    } else if constexpr (std::same_as<T, bool>) {
      to = value.boolean();
    } else if constexpr (std::signed_integral<T>) {
      to = static_cast<T>(value.integer64(limits.least, limits.most));
    } else if constexpr (std::unsigned_integral<T>) {
      to = static_cast<T>(value.unsigned_integer(limits.most));
      if (to < limits.least) {
        value.refuse(fmt::format("{}", to), fmt::format("at least {}", limits.least));
      }
    } else if constexpr (std::floating_point<T>) {
      const bool bounded = limits.most < std::numeric_limits<T>::infinity();
      to = bounded ? value.number(limits.least, limits.most) : value.non_negative_number();
    } else {
      to = value.string();
    }
  }
  template <typename T>
  static void read(const JsonValue& value, std::vector<T>& to, const detail::LimitsOf<T>& limits) {
    for (const JsonValue& element : value.elements(kMostElements)) {
      read(element, to.emplace_back(), limits);
    }
  }
  template <typename T>
  static void read(const JsonValue& value, const Hex<std::vector<T>>& of) {
    for (const JsonValue& element : value.elements(kMostElements)) {
      read(element, Hex{of.value.emplace_back()});
    }
  }
  static void read(const JsonValue& value, const Hex<std::uint64_t>& of) {
    const auto number = hexadecimal_number(value.string());
    if (!number) value.refuse_text("0x and a hexadecimal number");
    of.value = *number;
  }
  template <typename T, std::size_t N>
  static void read(const JsonValue& value, const OneOf<T, N>& of) {
    const auto found = std::ranges::find(of.names, value.string());
    if (found == of.names.end()) {
      value.refuse_text(fmt::format("one of {}", fmt::join(of.names, ", ")));
    }
    of.value = static_cast<T>(found - of.names.begin());
  }
  template <typename T>
  static void read(const JsonValue& value, const Checked<T>& of) {
    if constexpr (std::same_as<T, std::string>) {
      of.value = value.string();
      of.check(value);
    } else {
      for (const JsonValue& element : value.elements(kMostElements)) {
        read(element, Checked{of.value.emplace_back(), of.check});
      }
    }
  }

  JsonValue object_;
};

}  // namespace skid
