#include "src/output/report/verdict_cells.h"

#include "analysis/contract.h"
#include "src/output/cell.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skid::output {

Cell verdict_counts(const std::array<std::size_t, 4>& counts) {
  const std::size_t sum = counts[0] + counts[1] + counts[2] + counts[3];
  std::string text;
  std::optional<Ink> ink;
  for (const auto verdict : {analysis::Verdict::broken, analysis::Verdict::undecided,
                             analysis::Verdict::kept, analysis::Verdict::not_judged}) {
    const std::size_t count = counts.at(static_cast<std::size_t>(verdict));
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += count == sum ? std::string(analysis::name_of(verdict))
                         : fmt::format("{} {}", count, analysis::name_of(verdict));
    if (!ink) ink = ink_of(verdict);
  }
  return ink ? Cell{text, *ink} : unknown_cell();
}

}  // namespace skid::output
