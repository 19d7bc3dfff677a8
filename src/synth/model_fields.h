// What the readers of a model share: objects by their fields, and values with bounds.
#pragma once

#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace skid::synth {

inline constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();
/// Shares are decimal fractions that people write; they need not add up to the last bit.
inline constexpr double kSumTolerance = 1e-9;

/// A key of an object, and what takes its value.
struct Field {
  std::string_view key;
  std::function<void(const JsonValue&)> take = {};  ///< empty: the value is read elsewhere
  bool required = false;
};
inline constexpr bool kRequired = true;

/// Reads an object by its fields, in their order. Throws for other keys, and without a required
/// one.
void read_fields(const JsonValue& object, const std::vector<Field>& fields);

/// A short text of printable characters.
std::string text_of(const JsonValue& value);

/// At most `most` shares, which add up to 1.
std::vector<double> shares_of(const JsonValue& value, std::size_t most);

/// "offsets" of a level. Tables that it names are in `directory`. Throws InputError.
Distribution read_distribution(const JsonValue& object, const std::filesystem::path& directory);

/// When the kernel of a machine sets PERF_RECORD_MISC_EXACT_IP.
enum class ExactIpRule : std::uint8_t { never, rewound, requested, always };

/// "exact_ip" of the machine of a document. Throws InputError.
ExactIpRule read_exact_rule(const JsonValue& document);

/// "events" of a document. `rule`: for levels without shares of their own. Throws InputError.
std::vector<EventModel> read_events(const JsonValue& list, const std::filesystem::path& directory,
                                    ExactIpRule rule);

inline auto text(std::string& to) {
  return [&to](const JsonValue& value) { to = text_of(value); };
}

inline auto number(double& to, double least, double most) {
  return [&to, least, most](const JsonValue& value) { to = value.number(least, most); };
}

inline auto share(double& to) {
  return number(to, 0, 1);
}

template <typename Unsigned>
auto whole(Unsigned& to, std::uint64_t least, std::uint64_t most) {
  return [&to, least, most](const JsonValue& value) {
    const std::uint64_t found = value.unsigned_integer(most);
    if (found < least) value.refuse(fmt::format("{}", found), fmt::format("at least {}", least));
    to = static_cast<Unsigned>(found);
  };
}

template <typename Integer>
auto integer(Integer& to, int least = 0, int most = std::numeric_limits<int>::max()) {
  return [&to, least, most](const JsonValue& value) { to = value.integer(least, most); };
}

/// The place of a string among `names`.
template <std::size_t N>
std::size_t choice(const JsonValue& value, const std::array<std::string_view, N>& names) {
  const std::string name = value.string();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    value.refuse(json_text(nlohmann::json(name)), fmt::format("{}", fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace skid::synth
