#include "src/output/audit/audit_cells.h"

#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/output/cell.h"
#include "src/output/number_text.h"
#include "src/output/shown_names.h"
#include "src/support/escape.h"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

std::string code_place(const std::string& function, std::uint64_t offset, std::uint64_t address,
                       const std::string& module) {
  const std::string place = function.empty()
                                ? fmt::format("{:#x}", address)
                                : fmt::format("{}+{:#x}", function_name(function), offset);
  return module.empty() ? place : fmt::format("{} ({})", place, file_name(module));
}

void add_judged_cells(std::vector<Cell>& row, const Page& page, std::uint64_t judged,
                      const analysis::Share& impossible, const std::string& file) {
  const Ink ink = impossible.count > 0 ? Ink::red : Ink::green;
  row.push_back({analysis::in_thousands(judged)});
  if (judged == 0) {
    row.insert(row.end(), 3, unknown_cell());
  } else {
    row.insert(row.end(), {{analysis::in_thousands(impossible.count), ink},
                           {analysis::percent(impossible.value), ink},
                           {share_range(page, impossible.low, impossible.high)}});
  }
  row.push_back({escape_for_terminal(file), Ink::dim});
}

}  // namespace skid::output
