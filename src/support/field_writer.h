// Writes the members of a struct as JSON, from its list of fields (fields.h).
#pragma once

#include "src/support/field_values.h"
#include "src/support/precise_level.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#define SKID_FIELD_OR_NULL(member) io(#member, OrNull{value.member});
/// In a list for `io`: the members of `value` whose keys are their names; empty texts are null.
#define SKID_MEMBERS_OR_NULL(...) \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SKID_FIELD_OR_NULL, __VA_ARGS__))

/// The list of a struct that is only written: keys are the names of members, empty texts are null.
#define SKID_WRITTEN_FIELDS(Type, ...)                             \
  inline void fields(::skid::FieldWriter& io, const Type& value) { \
    SKID_MEMBERS_OR_NULL(__VA_ARGS__)                              \
  }

namespace skid {

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

  /// Adds `key`. The limits apply to reading only.
  template <typename T>
  void operator()(const char* key, const T& member, const detail::LimitsOf<T>& = {}) {
    object_[key] = json_of(member);
  }
  /// Adds a key that is not read back, because its value follows from other keys.
  template <typename T>
  void derived(const char* key, const T& value) {
    object_[key] = json_of(value);
  }
  Json take() { return std::move(object_); }

  /// Returns `value` as JSON: a struct by its list of fields, an enumeration by `name_of`; null for
  /// nullopt.
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

}  // namespace skid
