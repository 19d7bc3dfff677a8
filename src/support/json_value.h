// Untrusted JSON: parsed within bounds, then read by typed, bounded access that names
// what is wrong.
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

/// Deeper than the values of any file that skidscan writes or reads are nested.
inline constexpr std::size_t kDeepestJson = 64;
/// More values than this are not parsed: a value needs some 16 to 100 bytes of memory, however
/// short its text is.
inline constexpr std::size_t kMostJsonValues = std::size_t{8} << 20;

/// Parses the JSON text of a file. `allowed` is the expected kind of file, `remedy` what to
/// do when it is not. Throws InputError for text that is not JSON, that nests deeper than
/// kDeepestJson, has more than kMostJsonValues values, or a number too large for any type; all
/// bounds are held before memory is spent.
nlohmann::json parse_json(std::string_view text, const std::string& file,
                          const std::string& allowed, const std::string& remedy = {});

/// A value together with the file it is from and its path there ("measurements[3].level"). Refers
/// to the parsed document, which has to outlive it. Every access throws InputError naming both.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string file)
      : value_(&value), file_(std::move(file)) {}

  /// A member of an object; it must be there.
  JsonValue operator[](std::string_view name) const;
  /// A member of an object; nullopt when it is absent or null.
  std::optional<JsonValue> find(std::string_view name) const;
  /// The elements of an array of at most `most`.
  std::vector<JsonValue> elements(std::size_t most) const;

  bool is_number() const { return value_->is_number(); }
  bool is_string() const { return value_->is_string(); }
  bool is_array() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }

  /// Throws for a member of an object whose name is not among these: a slip of the keyboard would
  /// be as good as left out.
  void allow_only(const std::vector<std::string_view>& names) const;

  bool boolean() const;
  std::string string() const;
  std::vector<std::string> strings(std::size_t most) const;
  /// An array of at most `most` pairs [integer, integer of at least 0].
  std::vector<std::pair<std::int64_t, std::uint64_t>> pairs(std::size_t most) const;
  /// A finite number, at least 0.
  double non_negative_number() const;
  /// A number from `least` to `most`.
  double number(double least, double most) const;
  std::uint64_t unsigned_integer(
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// An integer from `least` to `most`.
  int integer(int least, int most = std::numeric_limits<int>::max()) const;
  std::int64_t integer64(std::int64_t least, std::int64_t most) const;

  /// Throws the error that names the value found here and the expected one.
  [[noreturn]] void refuse(const std::string& found, const std::string& allowed,
                           const std::string& remedy = {}) const;
  /// The same of a text, which is found here.
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
