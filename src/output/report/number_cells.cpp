#include "src/output/report/number_cells.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "src/output/cell.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/support/field_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

/// Whether the list `at_least` of an object has `key`: the value of the key is a lower bound.
bool is_at_least(const Json& object, std::string_view key) {
  const auto list = object.find("at_least");
  return list != object.end() && std::ranges::find(*list, key) != list->end();
}

}  // namespace

Cell whole_cell(const Number& number) {
  return {number.value.dump()};
}

Cell count_cell(const Number& number) {
  return count_cell(number.value.get<std::uint64_t>());
}

Cell count_cell(std::uint64_t count) {
  return {fmt::format("{}", count), count == 0 ? Ink::dim : Ink::plain};
}

Cell decimal_cell(const Number& number) {
  const auto value = number.value.get<double>();
  return std::isfinite(value) ? Cell{number_text(value)} : unknown_cell();
}

Cell percent_cell(const Number& number) {
  return {analysis::percent(number.value.get<double>())};
}

Cell p_cell(const Number& number) {
  return {analysis::p_text(number.value.get<double>())};
}

Cell word_cell(const Number& number) {
  return {number.value.get<std::string>()};
}

Cell length_cell(const Number& number) {
  return length_cell(number.value.get<double>(), is_at_least(number.object, number.key));
}

Cell interval_cell(const Number& number) {
  const Json& low = number.value["low"];
  const Json& high = number.value["high"];
  const auto text = [](const Json& end) { return number_text(end.get<double>()); };
  if (low.is_null() && high.is_null()) return unknown_cell();
  // If the lower end is a lower bound, the upper end is one, too.
  if (is_at_least(number.value, "low")) return {">=" + text(low)};
  if (high.is_null()) return {"from " + text(low)};
  const std::string last = (is_at_least(number.value, "high") ? ">=" : "") + text(high);
  return {low.is_null() ? "to " + last : number.page.range(text(low), last)};
}

Cell level_cell(const analysis::PreciseLevel& precise) {
  const int recorded = precise.recorded;
  if (!precise.requested) return {fmt::format("? -> {}", recorded)};
  if (*precise.requested == recorded) return {fmt::format("{}", recorded)};
  return {fmt::format("{} -> {} !", *precise.requested, recorded), Ink::yellow};
}

Cell period_cell(const Number& number) {
  const auto& [requested, effective] = number.measurement.period;
  if (!effective || !std::isfinite(*effective)) {
    return requested ? Cell{fmt::format("{}", *requested)} : unknown_cell();
  }
  if (!requested) return {"~" + number_text(*effective)};
  // An effective period is a quotient of two counts; half a percent is no difference.
  const auto asked = static_cast<double>(*requested);
  if (std::abs(*effective - asked) <= 0.005 * asked) return {fmt::format("{}", *requested)};
  return {fmt::format("{} -> {}", *requested, number_text(*effective)), Ink::yellow};
}

Cell length_cell(double length, bool at_least) {
  return {(at_least ? ">=" : "") + number_text(length)};
}

Cell range_cell(const Page& page, double low, double high, bool at_least) {
  if (at_least) return {">=" + number_text(low)};
  return {page.range(number_text(low), number_text(high))};
}

}  // namespace skid::output
