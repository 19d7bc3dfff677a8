#include "src/output/audit/audit.h"
#include "src/output/csv.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

constexpr std::string_view kHeader =
    "run,file,event,requested,recorded,level,synthetic,row,verdict,reason,module,function,offset,"
    "address,source_file,source_line,disassembly,categories,samples,judged,impossible,"
    "impossible_low,impossible_high\n";

/// The columns after those that all rows of an event share. Empty: does not apply.
struct Columns {
  std::string row, verdict, reason, module, function, offset, address, source_file, source_line,
      disassembly, categories, samples, judged, impossible, low, high;
};

std::string text_of(std::uint64_t number) {
  return fmt::format("{}", number);
}

void add_event(const std::string& prefix, const audit::EventAudit& event, std::string& csv) {
  const auto add = [&](const Columns& c) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", prefix, c.row,
                       c.verdict, c.reason, csv_field(c.module), csv_field(c.function), c.offset,
                       c.address, csv_field(c.source_file), c.source_line, csv_field(c.disassembly),
                       c.categories, c.samples, c.judged, c.impossible, c.low, c.high);
  };
  const bool has_share = event.impossible.total > 0;
  Columns whole;
  whole.row = "event";
  whole.samples = text_of(event.samples);
  whole.judged = text_of(event.judged);
  whole.impossible = text_of(event.impossible.count);
  if (has_share) {
    whole.low = fmt::format("{}", event.impossible.low);
    whole.high = fmt::format("{}", event.impossible.high);
  }
  add(whole);
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    Columns columns;
    columns.row = "verdict";
    columns.verdict = events::name_of(static_cast<events::Verdict>(i));
    columns.samples = text_of(event.verdicts[i]);
    add(columns);
  }
  for (std::size_t i = 0; i < event.not_judged.size(); ++i) {
    if (event.not_judged[i] == 0) continue;
    Columns columns;
    columns.row = "not_judged";
    columns.reason = analysis::name_of(static_cast<analysis::NotJudged>(i));
    columns.samples = text_of(event.not_judged[i]);
    add(columns);
  }
  for (const audit::FunctionFinding& function : event.functions) {
    Columns columns;
    columns.row = "function";
    columns.module = function.module;
    columns.function = function.function;
    columns.judged = text_of(function.judged);
    columns.impossible = text_of(function.impossible);
    add(columns);
  }
  for (const audit::InstructionFinding& instruction : event.instructions) {
    Columns columns;
    columns.row = "instruction";
    columns.verdict = events::name_of(instruction.verdict);
    columns.module = instruction.module;
    columns.function = instruction.function;
    columns.offset = text_of(instruction.offset);
    columns.address = fmt::format("{:#x}", instruction.address);
    columns.source_file = instruction.source_file;
    if (!instruction.source_file.empty()) {
      columns.source_line = fmt::format("{}", instruction.source_line);
    }
    columns.disassembly = instruction.text;
    columns.categories = instructions::names_of(instruction.categories);
    columns.samples = text_of(instruction.samples);
    add(columns);
  }
}

}  // namespace

std::string audit_csv(const std::vector<audit::Audit>& audits) {
  std::string csv(kHeader);
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      const std::string prefix =
          fmt::format("{},{},{},{},{},{},{}", csv_field(audit.run), csv_field(audit.file),
                      csv_field(event.event), csv_field(event.requested), csv_field(event.recorded),
                      event.level, audit.synthetic ? "true" : "false");
      add_event(prefix, event, csv);
    }
  }
  return csv;
}

}  // namespace skid::output
