#include "src/output/audit/audit.h"
#include "src/output/csv.h"

#include <utility>

namespace skid::output {
namespace {

constexpr std::string_view kHeader =
    "run,file,event,requested,recorded,level,synthetic,emulated,row,verdict,reason,module,function,"
    "offset,"
    "address,source_file,source_line,disassembly,categories,samples,judged,impossible,"
    "impossible_low,impossible_high,branch_to,expected,largest_ratio,chi_square,p,misplaced,"
    "misplaced_low,misplaced_high,p_holm,biased\n";

/// The columns after those that all rows of an event share. Empty: does not apply.
struct Columns {
  std::string_view row, verdict = {}, reason = {}, module = {}, function = {};
  std::optional<std::uint64_t> offset = {};
  std::string address = {};
  std::string_view source_file = {};
  std::optional<int> source_line = {};
  std::string_view disassembly = {};
  std::string categories = {};
  std::optional<std::uint64_t> samples = {}, judged = {}, impossible = {};
  std::optional<double> low = {}, high = {};
  std::string branch_to = {};
  std::optional<double> expected = {}, largest_ratio = {}, chi_square = {}, p = {};
  std::optional<double> misplaced = {}, misplaced_low = {}, misplaced_high = {}, p_holm = {};
  std::optional<bool> biased = {};
};

/// A row on a share of the judged ones among `samples`.
Columns share_row(std::string_view row, std::uint64_t samples, const analysis::Share& share) {
  const bool has_share = share.total > 0;
  return {.row = row,
          .samples = samples,
          .judged = share.total,
          .impossible = share.count,
          .low = has_share ? std::optional(share.low) : std::nullopt,
          .high = has_share ? std::optional(share.high) : std::nullopt};
}

/// Calls `add(Columns)` for all that is known of an event's branch records.
template <typename Add>
void add_branch_records(const audit::BranchRecords& records, Add add) {
  add(share_row("branch_records", records.records, records.impossible));
  for (std::size_t i = 1; i < records.not_judged.size(); ++i) {
    if (records.not_judged[i] == 0) continue;
    add({.row = "branch_not_judged",
         .reason = audit::name_of(static_cast<audit::BranchUnjudged>(i)),
         .samples = records.not_judged[i]});
  }
  for (std::size_t i = 1; i < records.faults.size(); ++i) {
    if (records.faults[i] == 0) continue;
    add({.row = "branch_reason",
         .reason = audit::name_of(static_cast<audit::BranchFault>(i)),
         .samples = records.faults[i]});
  }
  for (const audit::ImpossibleBranch& branch : records.worst) {
    add({.row = "branch",
         .reason = audit::name_of(branch.fault),
         .module = branch.module,
         .function = branch.function,
         .offset = branch.offset,
         .address = fmt::format("{:#x}", branch.from),
         .disassembly = branch.text,
         .samples = branch.records,
         .branch_to = fmt::format("{:#x}", branch.to)});
  }
}

void add_event(const std::string& prefix, const audit::EventAudit& event, std::string& csv) {
  const auto add = [&](const Columns& c) {
    csv += prefix + ',' +
           csv_fields(c.row, c.verdict, c.reason, c.module, c.function, c.offset, c.address,
                      c.source_file, c.source_line, c.disassembly, c.categories, c.samples,
                      c.judged, c.impossible, c.low, c.high, c.branch_to, c.expected,
                      c.largest_ratio, c.chi_square, c.p, c.misplaced, c.misplaced_low,
                      c.misplaced_high, c.p_holm, c.biased) +
           '\n';
  };
  add(share_row("event", event.samples, event.impossible));
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    add({.row = "verdict",
         .verdict = events::name_of(static_cast<events::Verdict>(i)),
         .samples = event.verdicts[i]});
  }
  for (std::size_t i = 0; i < event.not_judged.size(); ++i) {
    if (event.not_judged[i] == 0) continue;
    add({.row = "not_judged",
         .reason = analysis::name_of(static_cast<analysis::NotJudged>(i)),
         .samples = event.not_judged[i]});
  }
  for (const auto& [row, finding] : {std::pair{"data_source", &event.data_source},
                                     std::pair{"data_address", &event.data_address}}) {
    if (*finding) add(share_row(row, (*finding)->samples, (*finding)->share));
  }
  for (const audit::FunctionFinding& function : event.functions) {
    add({.row = "function",
         .module = function.module,
         .function = function.function,
         .judged = function.judged,
         .impossible = function.impossible});
  }
  for (const audit::InstructionFinding& found : event.instructions) {
    add({.row = "instruction",
         .verdict = events::name_of(found.verdict),
         .module = found.module,
         .function = found.function,
         .offset = found.offset,
         .address = fmt::format("{:#x}", found.address),
         .source_file = found.source_file,
         .source_line = found.source_file.empty() ? std::nullopt : std::optional(found.source_line),
         .disassembly = found.text,
         .categories = instructions::names_of(found.categories),
         .samples = found.samples});
  }
  if (const auto& misplaced = event.bias.misplaced) {
    add({.row = "bias",
         .samples = event.bias.samples,
         .misplaced = misplaced->value,
         .misplaced_low = misplaced->low,
         .misplaced_high = misplaced->high});
  }
  for (const audit::BlockFinding& block : event.bias.blocks) {
    const analysis::Bias& bias = block.evenness.bias;
    const double expected = block.samples.expected();
    add({.row = "block",
         .module = block.module,
         .function = block.function,
         .address = fmt::format("{:#x}", block.samples.range.begin),
         .samples = block.samples.samples(),
         .expected = expected,
         .largest_ratio = block.samples.largest_ratio(),
         .chi_square = bias.chi_square,
         .p = bias.p,
         .p_holm = block.evenness.p_holm,
         .biased = block.evenness.is_biased});
    for (const audit::PlaceSamples& place : block.samples.places) {
      add({.row = "place",
           .module = block.module,
           .function = block.function,
           .address = fmt::format("{:#x}", place.address),
           .samples = place.samples,
           .expected = expected});
    }
  }
  if (event.branch_records) add_branch_records(*event.branch_records, add);
}

}  // namespace

std::string audit_csv(const std::vector<audit::Audit>& audits) {
  std::string csv(kHeader);
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      add_event(csv_fields(audit.run, audit.file, event.event, event.requested, event.recorded,
                           event.level, audit.synthetic, audit.cpu.emulated()),
                event, csv);
    }
  }
  return csv;
}

}  // namespace skid::output
