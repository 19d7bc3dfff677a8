// Cells and lists that several parts of an audit's text share.
#pragma once

#include "analysis/wording.h"
#include "src/output/cell.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/table.h"
#include "src/support/error.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::output {

/// The maximum number of places listed without --details.
inline constexpr std::size_t kMostPlaces = 5;

/// Names a place in code: "main+0x10 (program)", or its address if the function is unknown.
/// Escaped.
std::string code_place(const std::string& function, std::uint64_t offset, std::uint64_t address,
                       const std::string& module);

/// Lists counts with their reasons, in the order of the reasons; empty if all counts are 0.
/// `title`: heads the counts.
template <typename Reason, std::size_t kReasons>
std::string counts_by_reason(const Page& page, std::string title,
                             const std::array<std::uint64_t, kReasons>& counts,
                             Ink ink = Ink::plain) {
  List list{{{std::move(title)}, {"reason", ListColumn::Kind::wrapped}}};
  for (std::size_t i = 0; i < kReasons; ++i) {
    if (counts[i] == 0) continue;
    list.add(analysis::in_thousands(counts[i]),
             Cell{std::string(describe(static_cast<Reason>(i))), ink});
  }
  return list.rows.empty() ? std::string() : '\n' + page.list(list);
}

/// Appends the cells "judged", "impossible", "share", "95% interval" and "recording" to a row.
/// `share`: an analysis::Share or ::Interval.
void add_judged_cells(std::vector<Cell>& row, const Page& page, std::uint64_t judged,
                      std::uint64_t wrong, const auto& share, const std::string& file) {
  const Ink ink = wrong > 0 ? Ink::red : Ink::green;
  row.push_back({analysis::in_thousands(judged)});
  if (judged == 0) {
    row.insert(row.end(), 3, unknown_cell());
  } else {
    row.insert(row.end(), {{analysis::in_thousands(wrong), ink},
                           {analysis::percent(share.value), ink},
                           {share_range(page, share.low, share.high)}});
  }
  row.push_back({escape_for_terminal(file), Ink::dim});
}

}  // namespace skid::output
