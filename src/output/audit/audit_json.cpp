#include "analysis/block_evenness.h"
#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/event_identity.h"
#include "analysis/intervals.h"
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/branch_filter.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/findings.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/output/audit/audit.h"
#include "src/output/audit/missing_text.h"
#include "src/output/bias_fields.h"  // IWYU pragma: keep
#include "src/output/cpu_fields.h"   // IWYU pragma: keep
#include "src/output/csv.h"
#include "src/output/delay_json.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/support/address.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

struct UnreadInput;

namespace {

Json share_json(const analysis::Share& share) {
  const bool known = share.total > 0;
  return {{"value", known ? Json(share.value) : Json()},
          {"low", known ? Json(share.low) : Json()},
          {"high", known ? Json(share.high) : Json()},
          {"confidence", known ? Json(share.confidence) : Json()}};
}

}  // namespace

SKID_WRITTEN_FIELDS(audit::FunctionFinding, module, function, judged, impossible)
SKID_WRITTEN_FIELDS(audit::MissingFile, file, build_id, samples, branch_records)
SKID_WRITTEN_FIELDS(audit::DelayRange, low, high)

void fields(FieldWriter& io, const audit::SampledPlace& value) {
  SKID_MEMBERS_OR_NULL(module, function, offset);
  io("address", Hex{value.address});
  io("samples", value.samples);
}

SKID_WRITTEN_FIELDS(audit::LoopShadow, delay, shares, expected, p, predicted)
SKID_WRITTEN_FIELDS(analysis::Interval, value, low, high, confidence)

void fields(FieldWriter& io, const audit::InstructionFinding& value) {
  Json source;
  if (!value.source_file.empty()) {
    source = {{"file", value.source_file}, {"line", value.source_line}};
  }
  Json categories = Json::array();
  for (const auto category : instructions::kCategories) {
    if (value.categories.contains(category)) categories.push_back(name_of(category));
  }
  SKID_MEMBERS_OR_NULL(module, function, offset);
  io("address", Hex{value.address});
  io("judged_address", Hex{value.judged_address});
  io("source", source);
  io("disassembly", OrNull{value.text});
  io("categories", categories);
  SKID_MEMBERS(verdict, samples);
}

void fields(FieldWriter& io, const audit::Contradictions& finding) {
  io("samples", finding.samples);
  io("without", finding.without);
  io("judged", finding.share.total);
  io("undecided", finding.undecided());
  io("contradicted", finding.share.count);
  io("contradicted_share", share_json(finding.share));
  io("places", finding.worst);
}

void fields(FieldWriter& io, const audit::DataAddresses& finding) {
  fields(io, static_cast<const audit::Contradictions&>(finding));
  Json distances = Json::array();
  for (const auto& [instructions, samples] : finding.located.samples) {
    distances.push_back({{"instructions", instructions}, {"samples", samples}});
  }
  io("expected_distance", finding.expects_next ? 1 : 0);
  io("distances", distances);
  io("several", finding.located.several);
  io("not_found", finding.located.not_found);
  io("undecided_reasons",
     output::counts_by_name<witness::Unknown>(finding.reasons, output::Zeros::left_out));
}

void fields(FieldWriter& io, const audit::ImpossibleBranch& value) {
  io("reason", value.fault);
  SKID_MEMBERS_OR_NULL(module, function, offset);
  io("from", Hex{value.from});
  io("to", Hex{value.to});
  io("preceding_to", Hex{value.preceding_to});
  io("disassembly", OrNull{value.text});
  io("records", value.records);
}

void fields(FieldWriter& io, const audit::BranchRecords& value) {
  const bool is_contiguous = value.no_contiguity == audit::NoContiguity::none;
  SKID_MEMBERS(stacks, empty_stacks, damaged_stacks, records, empty, judged);
  io("by_addresses", audit::by_addresses_alone(value));
  io("impossible", value.impossible.count);
  io("impossible_share", share_json(value.impossible));
  io("not_contiguous", is_contiguous ? Json() : Json(name_of(value.no_contiguity)));
  io("reasons",
     output::counts_by_name<audit::BranchFault>(value.faults, output::Zeros::left_out, 1));
  io("not_judged",
     output::counts_by_name<audit::BranchUnjudged>(value.not_judged, output::Zeros::left_out, 1));
  io("places_impossible", value.impossible_places);
  io("worst", value.worst);
}

void fields(FieldWriter& io, const audit::PlaceSamples& place) {
  io("address", Hex{place.address});
  io("samples", place.samples);
}

void fields(FieldWriter& io, const audit::LoopFinding& loop) {
  const audit::BlockSamples& all = loop.samples.all;
  Json order;
  if (loop.delay) {
    order = {{"pairs", loop.pairs.pairs()},
             {"predicted", loop.delay->predicted},
             {"independent", loop.delay->independent},
             {"p", loop.delay->p},
             {"locked", loop.follows_order()}};
  }
  io("begin", Hex{all.range.begin});
  io("end", Hex{all.range.end});
  io("order", order);
  io("delay", output::json_of_delay(loop.delay, loop.pairs));
  io("shadow", loop.shadow);
  io("places", all.places);
}

namespace {

Json block_json(const audit::BlockFinding& block, const audit::LoopFinding& loop) {
  const analysis::Bias& value = block.evenness.bias;
  FieldWriter io;
  io("module", OrNull{block.module});
  io("function", OrNull{block.function});
  io("begin", Hex{block.samples.range.begin});
  io("end", Hex{block.samples.range.end});
  io("samples", block.samples.samples());
  io("expected", block.samples.expected());
  io("largest_ratio", block.samples.largest_ratio());
  SKID_MEMBERS(chi_square, degrees, p);
  io("p_holm", block.evenness.p_holm);
  io("biased", block.evenness.is_biased);
  io("loop", loop);
  io("places", block.samples.places);
  return io.take();
}

Json bias_json(const audit::BlockBias& bias) {
  if (!bias.misplaced) return nullptr;
  FieldWriter io;
  io("misplaced", bias.misplaced);
  io("samples", bias.samples);
  io("blocks_judged", bias.judged);
  io("blocks_biased", bias.biased);
  io("blocks", output::array_of(bias.blocks, [&](const audit::BlockFinding& block) {
       return block_json(block, bias.loops.at(block.loop));
     }));
  return io.take();
}

}  // namespace

void fields(FieldWriter& io, const audit::EventAudit& value) {
  io("event", value.identity.label);
  io("requested", value.identity.requested);
  io("recorded", value.identity.recorded);
  SKID_MEMBERS(level, period);
  SKID_MEMBERS_OR_NULL(catalogue, rule, samples, judged);
  io("impossible", value.impossible.count);
  io("impossible_share", share_json(value.impossible));
  io("verdicts", output::counts_by_name<events::Verdict>(value.verdicts, output::Zeros::kept));
  io("not_judged",
     output::counts_by_name<analysis::NotJudged>(value.not_judged, output::Zeros::left_out));
  SKID_MEMBERS(data_source, data_address);
  io("wrong", value.wrong.count);
  io("wrong_share", share_json(value.wrong));
  SKID_MEMBERS(ibs_record, spe_record);
  io("functions_judged", value.all_functions);
  io("functions_impossible", value.impossible_functions);
  io("instructions_impossible", value.impossible_instructions);
  SKID_MEMBERS(functions, instructions);
  io("bias", bias_json(value.bias));
  io("bias_not_judged", OrNull{value.bias.reason});
  SKID_MEMBERS(branch_records);
  std::vector<std::string> warnings = value.warnings;
  if (value.missing_delay) warnings.push_back(output::missing_delay_text(value));
  io("warnings", warnings);
}

SKID_WRITTEN_FIELDS(audit::Audit, run, file, synthetic, read_in_part, cpu, kernel, remarks, missing,
                    events)

namespace output {
namespace {

constexpr std::string_view kColumnsOfEvent =
    "run file event requested recorded level synthetic emulated=cpu/emulated";
constexpr std::string_view kColumnsOfRow =
    "row verdict reason module function offset address source_file=source/file "
    "source_line=source/line disassembly categories samples judged impossible "
    "impossible_low=impossible_share/low impossible_high=impossible_share/high branch_to=to "
    "expected largest_ratio chi_square p misplaced=misplaced/value misplaced_low=misplaced/low "
    "misplaced_high=misplaced/high p_holm biased";

/// Calls `add(row, more)` for an event as a whole and for each of its lists' entries.
template <typename Add>
void each_row(const Json& event, Add add) {
  const auto add_counts = [&](const char* row, const char* of, const Json& counts) {
    for (const auto& [name, samples] : counts.items()) {
      add({{"row", row}, {of, name}, {"samples", samples}}, {});
    }
  };
  const auto add_each = [&](const char* row, const Json& list) {
    for (const Json& one : list) add({{"row", row}}, one);
  };
  add({{"row", "event"}, {"misplaced", {}}}, event);
  add_counts("verdict", "verdict", event["verdicts"]);
  add_counts("not_judged", "reason", event["not_judged"]);
  for (const char* name : {"data_source", "data_address", "ibs_record", "spe_record"}) {
    const Json& finding = event[name];
    if (finding.is_null()) continue;
    add({{"row", name},
         {"impossible", finding["contradicted"]},
         {"impossible_share", finding["contradicted_share"]}},
        finding);
  }
  add_each("function", event["functions"]);
  add_each("instruction", event["instructions"]);
  if (const Json& bias = event["bias"]; !bias.is_null()) {
    add({{"row", "bias"}}, bias);
    for (const Json& block : bias["blocks"]) {
      add({{"row", "block"}, {"address", block["begin"]}}, block);
      for (const Json& place : block["places"]) {
        add({{"row", "place"},
             {"module", block["module"]},
             {"function", block["function"]},
             {"expected", block["expected"]}},
            place);
      }
    }
  }
  if (const Json& records = event["branch_records"]; !records.is_null()) {
    add({{"row", "branch_records"}, {"samples", records["records"]}}, records);
    add_counts("branch_not_judged", "reason", records["not_judged"]);
    add_counts("branch_reason", "reason", records["reasons"]);
    for (const Json& branch : records["worst"]) {
      add({{"row", "branch"}, {"address", branch["from"]}, {"samples", branch["records"]}}, branch);
    }
  }
}

}  // namespace

std::string audit_json(const std::vector<audit::Audit>& audits,
                       const std::vector<UnreadInput>& unread) {
  return recordings_text("skidscan.audit/1", FieldWriter::json_of(audits), unread);
}

std::string audit_csv(const std::vector<audit::Audit>& audits) {
  std::string csv = fmt::format("{},{}\n", csv_header(kColumnsOfEvent), csv_header(kColumnsOfRow));
  for (const Json& recording : FieldWriter::json_of(audits)) {
    for (const Json& event : recording["events"]) {
      const std::string prefix = csv_fields(kColumnsOfEvent, event, recording);
      each_row(event, [&](const Json& row, const Json& more) {
        csv += fmt::format("{},{}\n", prefix, csv_fields(kColumnsOfRow, row, more));
      });
    }
  }
  return csv;
}

}  // namespace output
}  // namespace skid
