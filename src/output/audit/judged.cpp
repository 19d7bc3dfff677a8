#include "src/output/audit/judged.h"

#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/findings.h"
#include "src/audit/rule.h"
#include "src/output/audit/audited_event.h"
#include "src/output/audit/record_rules.h"
#include "src/output/number_text.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace skid::output {

std::string Judged::text() const {
  return fmt::format("{} of {} judged {} ({}) {}", analysis::in_thousands(count),
                     analysis::in_thousands(total), what, percent_of(count, total),
                     clause.after(count));
}

namespace {

void add(const analysis::Share& share, Judged& judged) {
  judged.count += share.count;
  judged.total += share.total;
}

/// Adds up the samples whose IP was judged, by what the instruction does and by their data address.
Judged judged_ips(const std::vector<AuditedEvent>& events) {
  Judged ips{Condition::samples,
             "samples",
             {"are at instructions that cannot cause their event",
              "is at an instruction that cannot cause its event"}};
  bool by_instruction = false, by_address = false;
  // Whether all samples, and whether some, should be at the instruction after their cause.
  bool all_next = true, any_next = false;
  const auto expect = [&](bool next) {
    all_next &= next;
    any_next |= next;
  };
  for (const auto& [audit, event] : events) {
    add(event->wrong, ips);
    if (event->judged > 0) {
      by_instruction = true;
      expect(audit::expects_next(event->rule));
    }
    if (!event->data_address || event->data_address->share.total == 0) continue;
    by_address = true;
    expect(event->data_address->expects_next);
  }
  if (by_address && by_instruction) {
    ips.clause = any_next && all_next
                     ? Clause{"do not follow the instruction that caused them, by what it does or "
                              "by their data address",
                              "does not follow the instruction that caused it, by what it does or "
                              "by its data address"}
                     : Clause{"are at the wrong instruction, by what it does or by their data "
                              "address",
                              "is at the wrong instruction, by what it does or by its data address"};
  } else if (by_address) {
    ips.clause = all_next ? kContradictedNextAddresses : kContradictedAddresses;
  } else if (any_next) {
    ips.clause = all_next ? Clause{"do not follow an instruction that can cause their event",
                                   "does not follow an instruction that can cause its event"}
                          : Clause{"are where their event cannot be sampled",
                                   "is where its event cannot be sampled"};
  }
  return ips;
}

}  // namespace

std::vector<Judged> judged_by_rule(const std::vector<audit::Audit>& audits) {
  const std::vector<AuditedEvent> events = events_of(audits);
  std::vector<Judged> all{judged_ips(events)};
  for (const RecordRule& rule : kRecordRules) {
    Judged& samples = all.emplace_back(Judged{Condition::samples, "samples", rule.contradicted});
    for (const auto& [audit, event] : events) {
      if (const auto& finding = event->*rule.finding) add(finding->share, samples);
    }
  }
  Judged records{Condition::branches, "branch records", kImpossible};
  std::uint64_t by_addresses = 0;
  Judged blocks{Condition::biased, "blocks", {"are sampled unevenly", "is sampled unevenly"}};
  for (const auto& [audit, event] : events) {
    if (const auto& of = event->branch_records) {
      records.count += of->impossible.count;
      records.total += of->judged;
      by_addresses += audit::by_addresses_alone(*of);
    }
    blocks.count += event->bias.biased;
    blocks.total += event->bias.judged;
  }
  if (by_addresses == records.total) {
    records.clause = {"are impossible by their addresses; their code was not compared",
                      "is impossible by its addresses; its code was not compared"};
  }
  all.insert(all.end(), {records, blocks});
  std::ranges::stable_sort(all, std::greater{}, [](const Judged& one) {
    if (!one.is_of_impossible()) return -1.0;
    return one.count == 0 ? 0.0 : static_cast<double>(one.count) / static_cast<double>(one.total);
  });
  return all;
}

}  // namespace skid::output
