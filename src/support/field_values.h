// How the values of fields are represented in JSON: as hexadecimal digits, by name, within limits.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

namespace skid {

class JsonValue;

/// JSON whose keys keep their order, so that a reader finds them as docs/formats.md lists them.
using Json = nlohmann::ordered_json;

/// Whether `T` is `Type` or `const Type`: a value is constant while it is written.
template <typename T, typename Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

/// A number in hexadecimal digits: "0x1f". Several numbers are an array; nullopt is null.
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

/// An enumeration or a bool, represented by the element of `names` at its value.
template <typename T, std::size_t N>
struct OneOf {
  T& value;
  const std::array<std::string_view, N>& names;
};
template <typename T, std::size_t N>
OneOf(T&, const std::array<std::string_view, N>&) -> OneOf<T, N>;

/// A text or a list of texts. `check` throws if a text is not allowed.
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

}  // namespace skid
