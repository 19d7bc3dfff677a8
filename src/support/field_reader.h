// Reads the members of a struct from JSON, by its list of fields (fields.h).
#pragma once

#include "src/support/field_values.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid {

/// Reads members from the keys of an object. All errors are InputErrors that name the key.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(JsonValue object) : object_(std::move(object)) {}

  /// Reads the value of `key`, which must be within `limits`. Throws if the key is missing.
  template <typename T>
  void operator()(const char* key, T& member, const detail::LimitsOf<T>& limits = {}) {
    read(object_[key], member, limits);
  }
  /// Reads the value of `key` into a member in Hex, OneOf or Checked. Throws if the key is missing.
  template <typename T>
  void operator()(const char* key, const T& member) {
    read(object_[key], member);
  }
  /// Reads the value of `key`. Leaves the member as it is if the key is missing or null.
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
  /// Ignores a key whose value follows from other keys.
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
