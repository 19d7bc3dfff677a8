// Untrusted JSON, parsed within bounds. Values are read by type and within limits; errors name the
// wrong value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {

/// Maximum depth of nested values. No file that skidscan writes or reads has deeper ones.
inline constexpr std::size_t kDeepestJson = 64;
/// Maximum number of values in a text. A value needs some 16 to 100 bytes of memory, however short
/// its text is.
inline constexpr std::size_t kMostJsonValues = std::size_t{8} << 20;

/// Parses the JSON text of a file. `allowed`: the expected kind of file; `remedy`: what to do if it
/// is of another kind. Throws InputError for text that is not JSON, is nested deeper than
/// kDeepestJson, has more than kMostJsonValues values, or contains a number too large for any type.
/// The bounds are checked before memory is allocated.
nlohmann::json parse_json(std::string_view text, const std::string& file,
                          const std::string& allowed, const std::string& remedy = {});

/// A value together with the file it is from and its path there ("measurements[3].level"). Refers
/// to the parsed document, which has to outlive it. Every access throws InputError naming both.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string file)
      : value_(&value), file_(std::move(file)) {}

  /// Returns a member of an object. Throws if it is absent or null.
  JsonValue operator[](std::string_view name) const;
  /// Returns a member of an object; nullopt when it is absent or null.
  std::optional<JsonValue> find(std::string_view name) const;
  /// Returns the elements of an array, which may have `most` at most.
  std::vector<JsonValue> elements(std::size_t most) const;

  bool is_number() const { return value_->is_number(); }
  bool is_string() const { return value_->is_string(); }
  bool is_array() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }

  /// Throws if a member of an object has a name that is not among these: a typing error would
  /// otherwise be ignored silently.
  void allow_only(const std::vector<std::string_view>& names) const;

  bool boolean() const;
  std::string string() const;
  std::vector<std::string> strings(std::size_t most) const;
  /// Returns an array of at most `most` pairs [integer, integer of at least 0].
  std::vector<std::pair<std::int64_t, std::uint64_t>> pairs(std::size_t most) const;
  /// Returns a finite number that is at least 0.
  double non_negative_number() const;
  /// Returns a number from `least` to `most`.
  double number(double least, double most) const;
  std::uint64_t unsigned_integer(
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// Returns an integer from `least` to `most`.
  int integer(int least, int most = std::numeric_limits<int>::max()) const;
  std::int64_t integer64(std::int64_t least, std::int64_t most) const;

  /// Throws an error with `found`, which describes this value, and the expected one.
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed,
                           const std::string& remedy = {}) const;
  /// Throws an error with this value, which is a text, and the expected one.
  [[noreturn]] void refuse_text(const std::string& allowed, const std::string& remedy = {}) const;

 private:
  JsonValue(const nlohmann::json& value, std::string file, std::string key)
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}
  JsonValue member(const nlohmann::json& value, std::string_view name) const;
  void check_array(std::size_t most) const;
  [[noreturn]] void refuse_type(const std::string& allowed) const;

  const nlohmann::json* value_;
  std::string file_;
  std::string key_;
};

}  // namespace skid
