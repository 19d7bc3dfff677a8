#include "src/output/number_text.h"

#include "analysis/wording.h"
#include "src/output/cell.h"
#include "src/output/page.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace skid::output {

std::string number_text(double value) {
  if (!std::isfinite(value)) return kUnknown;
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  // With fixed decimals a small mean would look like 0.
  if (std::abs(value) < 0.1) return fmt::format("{:.2g}", value);
  return std::abs(value) < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return kUnknown;
  return analysis::percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string share_range(const Page& page, double low, double high) {
  std::string text = analysis::percent(low);
  text.pop_back();
  return page.range(text, analysis::percent(high));
}

}  // namespace skid::output
