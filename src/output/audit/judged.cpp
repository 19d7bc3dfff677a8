#include "src/output/audit/judged.h"

#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/findings.h"
#include "src/output/audit/audit.h"
#include "src/output/number_text.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace skid::output {

std::string Judged::text() const {
  return fmt::format("{} of {} judged {} ({}) {}", analysis::in_thousands(count),
                     analysis::in_thousands(total), what, percent_of(count, total), clause);
}

std::vector<Judged> judged_by_rule(const std::vector<audit::Audit>& audits) {
  Judged samples{"samples", "samples", "are at instructions that cannot cause their event"};
  Judged sources{"samples", "samples", kContradictedSources};
  Judged addresses{"samples", "samples", kContradictedAddresses};
  Judged operations{"samples", "samples", kContradictedIbs};
  Judged records{"branches", "branch records", "are impossible"};
  Judged blocks{"biased", "blocks", "are sampled unevenly"};
  const auto add = [](Judged& judged, std::uint64_t count, std::uint64_t total) {
    judged.count += count;
    judged.total += total;
  };
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      add(samples, event.impossible.count, event.judged);
      if (const auto& of = event.data_source) add(sources, of->share.count, of->share.total);
      if (const auto& of = event.data_address) add(addresses, of->share.count, of->share.total);
      if (const auto& of = event.ibs_record) add(operations, of->share.count, of->share.total);
      if (const auto& of = event.branch_records) add(records, of->impossible.count, of->judged);
      add(blocks, event.bias.biased, event.bias.judged);
    }
  }
  std::vector<Judged> all{samples, sources, addresses, operations, records, blocks};
  std::ranges::stable_sort(all, std::greater{}, [](const Judged& one) {
    if (!one.is_of_impossible()) return -1.0;
    return one.count == 0 ? 0.0 : static_cast<double>(one.count) / static_cast<double>(one.total);
  });
  return all;
}

}  // namespace skid::output
