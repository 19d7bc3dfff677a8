// Parts of an audit's text.
#pragma once

#include "analysis/wording.h"
#include "src/audit/audit.h"
#include "src/machine/machine.h"
#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/support/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
struct Share;
}  // namespace skid::analysis

namespace skid::output {

/// Places listed without --details.
inline constexpr std::size_t kMostPlaces = 5;

struct RecordedEvent {
  const audit::Audit* audit = nullptr;
  const audit::EventAudit* event = nullptr;
};

/// An event and its level: "access, pp". Escaped.
inline std::string event_name(const audit::EventAudit& event) {
  return fmt::format("{}, {}", escape_for_terminal(event.event), level_name(event.level));
}

/// "main+0x10 (program)", the address where the function is unknown. Escaped.
std::string code_place(const std::string& function, std::uint64_t offset, std::uint64_t address,
                       const std::string& module);

/// A list of counts with their reasons, by the reasons' numbers; empty where all are 0. `title`: of
/// the counts.
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
void add_judged_cells(std::vector<Cell>& row, const Page& page, std::uint64_t judged,
                      const analysis::Share& impossible, const std::string& file);

/// A line for each event with judged blocks, and the biased blocks with most samples misplaced, at
/// most `most` of all events together. Empty where no block was judged.
std::string bias_text(const std::vector<RecordedEvent>& events, std::size_t most, const Page& page);

/// Of the branch records of all events together: how many are impossible, why, where, and what was
/// not judged; empty where no event has any.
std::string branch_records_text(const std::vector<RecordedEvent>& events, const Page& page);

/// Which files are missing, and how to get them; empty if none is.
std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page);

}  // namespace skid::output
