#include "src/output/audit/judged.h"

#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/findings.h"
#include "src/audit/rule.h"
#include "src/output/audit/audit.h"
#include "src/output/number_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::output {

namespace {

/// Returns a clause of several samples as one of a single sample.
std::string singular(std::string clause) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kForms{{
      {"are at instructions that do not ", "is at an instruction that does not "},
      {"are at instructions that ", "is at an instruction that "},
      {"are ", "is "},
      {"do not ", "does not "},
      {" their ", " its "},
      {" their ", " its "},  // of both clauses of a sentence
      {" caused them", " caused it"},
  }};
  for (const auto& [several, single] : kForms) {
    const std::size_t at = clause.find(several);
    const bool is_at_begin = several.front() == ' ' || at == 0;
    if (at != std::string::npos && is_at_begin) clause.replace(at, several.size(), single);
  }
  return clause;
}

}  // namespace

std::string Judged::text() const {
  return fmt::format("{} of {} judged {} ({}) {}", analysis::in_thousands(count),
                     analysis::in_thousands(total), what, percent_of(count, total),
                     count == 1 ? singular(std::string(clause)) : std::string(clause));
}

namespace {

void add(std::uint64_t count, std::uint64_t total, Judged& judged) {
  judged.count += count;
  judged.total += total;
}

/// Adds up the samples whose IP was judged, by what the instruction does and by their data address.
Judged judged_ips(const std::vector<audit::Audit>& audits) {
  Judged ips{Condition::samples, "samples", "are at instructions that cannot cause their event"};
  bool by_instruction = false, by_address = false;
  // Whether all samples, and whether some, should be at the instruction after their cause.
  bool all_next = true, any_next = false;
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      add(event.wrong.count, event.wrong.total, ips);
      const auto expect = [&](bool next) {
        all_next &= next;
        any_next |= next;
      };
      if (event.judged > 0) {
        by_instruction = true;
        expect(audit::expects_next(event.rule));
      }
      if (!event.data_address || event.data_address->share.total == 0) continue;
      by_address = true;
      expect(event.data_address->expects_next);
    }
  }
  if (by_address && by_instruction) {
    ips.clause = any_next && all_next
                     ? "do not follow the instruction that caused them, by what it does or by "
                       "their data address"
                     : "are at the wrong instruction, by what it does or by their data address";
  } else if (by_address) {
    ips.clause = all_next ? kContradictedNextAddresses : kContradictedAddresses;
  } else if (any_next) {
    ips.clause = all_next ? "do not follow an instruction that can cause their event"
                          : "are where their event cannot be sampled";
  }
  return ips;
}

}  // namespace

std::vector<Judged> judged_by_rule(const std::vector<audit::Audit>& audits) {
  Judged sources{Condition::samples, "samples", kContradictedSources};
  Judged operations{Condition::samples, "samples", kContradictedIbs};
  Judged tagged{Condition::samples, "samples", kContradictedSpe};
  Judged records{Condition::branches, "branch records", "are impossible"};
  std::uint64_t by_addresses = 0;
  Judged blocks{Condition::biased, "blocks", "are sampled unevenly"};
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      if (const auto& of = event.data_source) add(of->share.count, of->share.total, sources);
      if (const auto& of = event.ibs_record) add(of->share.count, of->share.total, operations);
      if (const auto& of = event.spe_record) add(of->share.count, of->share.total, tagged);
      if (const auto& of = event.branch_records) {
        add(of->impossible.count, of->judged, records);
        by_addresses += audit::by_addresses_alone(*of);
      }
      add(event.bias.biased, event.bias.judged, blocks);
    }
  }
  if (by_addresses == records.total) {
    records.clause = "are impossible by their addresses; their code was not compared";
  }
  std::vector<Judged> all{judged_ips(audits), sources, operations, tagged, records, blocks};
  std::ranges::stable_sort(all, std::greater{}, [](const Judged& one) {
    if (!one.is_of_impossible()) return -1.0;
    return one.count == 0 ? 0.0 : static_cast<double>(one.count) / static_cast<double>(one.total);
  });
  return all;
}

}  // namespace skid::output
