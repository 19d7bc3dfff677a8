#include "src/output/audit/missing_text.h"

#include "analysis/wording.h"
#include "src/audit/findings.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/page.h"
#include "src/support/command_text.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page) {
  std::vector<std::string> names;
  std::uint64_t samples = 0, records = 0;
  bool has_build_id = false, lacks_build_id = false;
  const audit::Audit* first = nullptr;
  for (const audit::Audit& audit : audits) {
    for (const audit::MissingFile& missing : audit.missing) {
      if (first == nullptr) first = &audit;
      samples += missing.samples;
      records += missing.branch_records;
      (missing.build_id.empty() ? lacks_build_id : has_build_id) = true;
      std::string name = escape_for_terminal(missing.remark);
      if (name.empty()) {
        name = escape_for_terminal(missing.file);
        name += missing.build_id.empty()
                    ? " (no build-id)"
                    : fmt::format(" (build-id {})", escape_for_terminal(missing.build_id));
      }
      names.push_back(std::move(name));
    }
  }
  if (names.empty()) return {};
  names = each_once(std::move(names));
  std::vector<std::string> without;
  for (const auto& [count, what] : {std::pair{samples, "sample"}, {records, "branch record"}}) {
    if (count == 0) continue;
    without.push_back(
        fmt::format("{} {}{}", analysis::in_thousands(count), what, count == 1 ? "" : "s"));
  }
  constexpr std::size_t kMostNames = 3;
  const std::size_t shown = page.details ? names.size() : std::min(names.size(), kMostNames);
  std::string text =
      '\n' + page.field("missing",
                        fmt::format("{} {} in {} whose code is missing: {}",
                                    joined(without, " and "), samples + records == 1 ? "is" : "are",
                                    analysis::counted(names.size(), "file"), names.front()),
                        Ink::yellow);
  for (std::size_t i = 1; i < shown; ++i) text += page.field("", names[i]);
  if (shown < names.size()) {
    text += page.field(
        "", fmt::format("and {} more: --details", analysis::counted(names.size() - shown, "file")));
  }
  std::string remedy;
  if (has_build_id) {
    remedy = fmt::format(
        "On the recorded machine, {} collects those with a build-id; extract them "
        "into ~/.debug on this one. --debuginfod requests them from the servers of "
        "DEBUGINFOD_URLS, --binary FILE and --symfs DIR use a copy, --vmlinux FILE the kernel's.",
        command_text({"perf", "archive", file_word(first->file)}));
  }
  if (lacks_build_id) {
    remedy += has_build_id ? " Those without one are found" : "They are found";
    remedy +=
        " by path alone: --symfs DIR names a copy of the recorded machine's files, --binary FILE "
        "one of the same name.";
  }
  return text + page.field("", remedy);
}

std::string missing_delay_text(const audit::EventAudit& event) {
  if (!event.missing_delay) return {};
  const auto& [run, differing] = *event.missing_delay;
  return fmt::format(
      "measured delay: {}; measure it on the machine of the profile, with its modifiers: skidscan "
      "record --delay -e EVENT",
      run.empty()
          ? fmt::format("none of this event was measured at level {}", event.level)
          : fmt::format("{} does not match the profile: {}", run, fmt::join(differing, ", ")));
}

}  // namespace skid::output
