// JSON objects read by their fields, and values with bounds, for the readers of a model.
#pragma once

#include "src/support/json_value.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::synth {

struct EventModel;

/// A key of an object, and the function that takes its value.
struct Field {
  std::string_view key;
  std::function<void(const JsonValue&)> take = {};  ///< empty: the value is read elsewhere
  bool required = false;
};
inline constexpr bool kRequired = true;

/// Reads an object by its fields, in their order. Throws InputError for other keys, and if a
/// required one is missing.
void read_fields(const JsonValue& object, const std::vector<Field>& fields);

/// Reads a short text of printable characters. Throws InputError for others.
std::string text_of(const JsonValue& value);

/// Refuses shares of the same samples that add up to more than 1.
void check_sum(const JsonValue& shares, double sum);
/// Reads at most `most` shares, which must add up to 1.
std::vector<double> shares_of(const JsonValue& value, std::size_t most);

/// When the kernel of a machine sets PERF_RECORD_MISC_EXACT_IP.
enum class ExactIpRule : std::uint8_t { never, rewound, requested, always };

/// Reads "events" of a document. `rule`: for levels without shares of their own. Throws InputError.
std::vector<EventModel> read_events(const JsonValue& list, ExactIpRule rule);

// into(), text(), number(), share(), whole(), integer() and each() return a Field::take.

/// Returns a Field::take that stores the result of `read` in `to`.
template <typename To, typename Read>
auto into(To& to, Read read) {
  return [&to, read](const JsonValue& value) { to = read(value); };
}

template <typename Text>
auto text(Text& to) {
  return into(to, text_of);
}

template <typename Number>
auto number(Number& to, double least, double most) {
  return into(to, [=](const JsonValue& value) { return value.number(least, most); });
}

inline auto share(double& to) {
  return number(to, 0, 1);
}

template <typename Unsigned>
auto whole(Unsigned& to, std::uint64_t least = 0,
           std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return [&to, least, most](const JsonValue& value) {
    const std::uint64_t found = value.unsigned_integer(most);
    if (found < least) value.refuse(fmt::format("{}", found), fmt::format("at least {}", least));
    to = static_cast<Unsigned>(found);
  };
}

template <typename Integer>
auto integer(Integer& to, int least = 0, int most = std::numeric_limits<int>::max()) {
  return into(to, [=](const JsonValue& value) { return value.integer(least, most); });
}

/// Returns a Field::take that calls `take` for each of at most `most` elements.
template <typename Take>
auto each(std::size_t most, Take take) {
  return [most, take](const JsonValue& value) {
    for (const JsonValue& element : value.elements(most)) take(element);
  };
}

/// Refuses a "highest" below "lowest".
template <typename Number>
void check_order(const JsonValue& object, Number lowest, Number highest) {
  if (highest >= lowest) return;
  object["highest"].refuse(fmt::format("{}", highest),
                           fmt::format("at least \"lowest\", {}", lowest));
}

/// Reads a string that is one of `names`. Returns its index.
template <std::size_t N>
std::size_t choice(const JsonValue& value, const std::array<std::string_view, N>& names) {
  const std::string name = value.string();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) value.refuse_text(fmt::format("{}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace skid::synth
