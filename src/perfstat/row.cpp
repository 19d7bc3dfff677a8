#include "src/perfstat/row.h"

#include "src/perfstat/number.h"
#include "src/support/error.h"

#include <fmt/format.h>

namespace skid::perfstat {

std::string place(const std::string& file, std::size_t line) {
  return fmt::format("{}: line {}", file, line);
}

bool set_value(Row& row, std::string_view text, std::optional<double> (*number)(std::string_view)) {
  row.value = 0;
  if (text == "<not counted>") {
    row.state = State::not_counted;
    return true;
  }
  if (text == "<not supported>") {
    row.state = State::not_supported;
    return true;
  }
  const auto value = number(text);
  if (!value) return false;
  row.state = State::counted;
  row.value = *value;
  return true;
}

void check_row(const Row& row, const std::string& file) {
  if (!(row.value >= 0 && row.value <= kMostEvents)) {
    throw InputError({.file = place(file, row.line),
                      .offset = {},
                      .found = fmt::format("a count of {} for '{}'", row.value, row.event),
                      .allowed = fmt::format("0 to {}", kMostEvents),
                      .remedy = "the file is damaged; count again"});
  }
  // perf rounds to hundredths.
  if (!(row.running_percent >= 0 && row.running_percent <= 100.01)) {
    throw InputError(
        {.file = place(file, row.line),
         .offset = {},
         .found = fmt::format("'{}' counted in {}% of the time", row.event, row.running_percent),
         .allowed = "0% to 100%",
         .remedy = "the file is damaged; count again"});
  }
}

}  // namespace skid::perfstat
