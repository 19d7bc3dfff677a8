#include "src/output/audit/audit.h"
#include "src/output/json_fields.h"

namespace skid::output {
namespace {

Json share_of(const analysis::Share& share) {
  if (share.total == 0) {
    return {{"value", nullptr}, {"low", nullptr}, {"high", nullptr}, {"confidence", nullptr}};
  }
  return {{"value", share.value},
          {"low", share.low},
          {"high", share.high},
          {"confidence", share.confidence}};
}

Json json_of_function(const audit::FunctionFinding& function) {
  return {{"module", text_or_null(function.module)},
          {"function", text_or_null(function.function)},
          {"judged", function.judged},
          {"impossible", function.impossible}};
}

Json json_of_instruction(const audit::InstructionFinding& instruction) {
  Json source, categories = Json::array();
  if (!instruction.source_file.empty()) {
    source = {{"file", instruction.source_file}, {"line", instruction.source_line}};
  }
  for (const auto category : instructions::kCategories) {
    if (instruction.categories.contains(category)) categories.push_back(name_of(category));
  }
  return {{"module", text_or_null(instruction.module)},
          {"function", text_or_null(instruction.function)},
          {"offset", instruction.offset},
          {"address", hexadecimal(instruction.address)},
          {"judged_address", hexadecimal(instruction.judged_address)},
          {"source", std::move(source)},
          {"disassembly", text_or_null(instruction.text)},
          {"categories", std::move(categories)},
          {"verdict", events::name_of(instruction.verdict)},
          {"samples", instruction.samples}};
}

Json json_of_contradictions(const std::optional<audit::Contradictions>& finding) {
  if (!finding) return nullptr;
  return {{"samples", finding->samples},
          {"judged", finding->share.total},
          {"undecided", finding->undecided()},
          {"contradicted", finding->share.count},
          {"contradicted_share", share_of(finding->share)}};
}

/// Names and counts; those of nothing are left out.
template <typename Reason, std::size_t kReasons>
Json json_of_counts(const std::array<std::uint64_t, kReasons>& counts) {
  Json reasons = Json::object();
  for (std::size_t i = 1; i < kReasons; ++i) {
    if (counts[i] > 0) reasons[std::string(name_of(static_cast<Reason>(i)))] = counts[i];
  }
  return reasons;
}

Json json_of_branch(const audit::ImpossibleBranch& branch) {
  return {{"reason", audit::name_of(branch.fault)},
          {"module", text_or_null(branch.module)},
          {"function", text_or_null(branch.function)},
          {"offset", branch.offset},
          {"from", hexadecimal(branch.from)},
          {"to", hexadecimal(branch.to)},
          {"preceding_to",
           branch.preceding_to ? Json(hexadecimal(*branch.preceding_to)) : Json(nullptr)},
          {"disassembly", text_or_null(branch.text)},
          {"records", branch.records}};
}

Json json_of_branch_records(const std::optional<audit::BranchRecords>& records) {
  if (!records) return nullptr;
  const bool is_contiguous = records->no_contiguity == audit::NoContiguity::none;
  return {{"stacks", records->stacks},
          {"empty_stacks", records->empty_stacks},
          {"damaged_stacks", records->damaged_stacks},
          {"records", records->records},
          {"empty", records->empty},
          {"judged", records->judged},
          {"by_addresses", records->by_addresses},
          {"impossible", records->impossible.count},
          {"impossible_share", share_of(records->impossible)},
          {"not_contiguous",
           is_contiguous ? Json(nullptr) : Json(audit::name_of(records->no_contiguity))},
          {"reasons", json_of_counts<audit::BranchFault>(records->faults)},
          {"not_judged", json_of_counts<audit::BranchUnjudged>(records->not_judged)},
          {"places_impossible", records->impossible_places},
          {"worst", array_of(records->worst, json_of_branch)}};
}

Json json_of_missing(const audit::MissingFile& missing) {
  return {{"file", missing.file},
          {"build_id", text_or_null(missing.build_id)},
          {"samples", missing.samples},
          {"branch_records", missing.branch_records}};
}

Json json_of_place(const audit::PlaceSamples& place) {
  return {{"address", hexadecimal(place.address)}, {"samples", place.samples}};
}

Json json_of_order(const audit::LoopFinding& loop) {
  if (!loop.order) return nullptr;
  return {{"pairs", loop.order->pairs},
          {"predicted", loop.order->predicted},
          {"independent", loop.order->independent},
          {"p", loop.order->p},
          {"locked", loop.is_locked}};
}

Json json_of_shadow(const std::optional<audit::LoopShadow>& shadow) {
  if (!shadow) return nullptr;
  return {{"delay", {{"low", shadow->delay.low}, {"high", shadow->delay.high}}},
          {"shares", shadow->shares},
          {"expected", shadow->expected},
          {"p", shadow->p},
          {"predicted", shadow->predicted}};
}

Json json_of_loop(const audit::LoopFinding& loop) {
  const audit::BlockSamples& all = loop.samples.all;
  return {{"begin", hexadecimal(all.range.begin)}, {"end", hexadecimal(all.range.end)},
          {"order", json_of_order(loop)},          {"delay", json_of_delay(loop.delay, loop.pairs)},
          {"shadow", json_of_shadow(loop.shadow)}, {"places", array_of(all.places, json_of_place)}};
}

Json json_of_block(const audit::BlockFinding& block, const audit::LoopFinding& loop) {
  const analysis::Bias& bias = block.evenness.bias;
  return {{"module", text_or_null(block.module)},
          {"function", text_or_null(block.function)},
          {"begin", hexadecimal(block.samples.range.begin)},
          {"end", hexadecimal(block.samples.range.end)},
          {"samples", block.samples.samples()},
          {"expected", block.samples.expected()},
          {"largest_ratio", block.samples.largest_ratio()},
          {"chi_square", bias.chi_square},
          {"degrees", bias.degrees},
          {"p", bias.p},
          {"p_holm", block.evenness.p_holm},
          {"biased", block.evenness.is_biased},
          {"loop", json_of_loop(loop)},
          {"places", array_of(block.samples.places, json_of_place)}};
}

Json json_of_bias(const audit::BlockBias& bias) {
  if (!bias.misplaced) return nullptr;
  return {{"misplaced",
           {{"value", bias.misplaced->value},
            {"low", bias.misplaced->low},
            {"high", bias.misplaced->high},
            {"confidence", analysis::Interval::confidence}}},
          {"samples", bias.samples},
          {"blocks_judged", bias.judged},
          {"blocks_biased", bias.biased},
          {"blocks", array_of(bias.blocks, [&](const audit::BlockFinding& block) {
             return json_of_block(block, bias.loops.at(block.loop));
           })}};
}

Json json_of_event(const audit::EventAudit& event) {
  Json verdicts = Json::object();
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    verdicts[std::string(events::name_of(static_cast<events::Verdict>(i)))] = event.verdicts[i];
  }
  Json not_judged = Json::object();
  for (std::size_t i = 0; i < event.not_judged.size(); ++i) {
    if (event.not_judged[i] == 0) continue;
    not_judged[std::string(analysis::name_of(static_cast<analysis::NotJudged>(i)))] =
        event.not_judged[i];
  }
  return {{"event", event.event},
          {"requested", text_or_null(event.requested)},
          {"recorded", event.recorded},
          {"level", event.level},
          {"period", event.period},
          {"catalogue", text_or_null(event.catalogue)},
          {"rule", audit::name_of(event.rule)},
          {"samples", event.samples},
          {"judged", event.judged},
          {"impossible", event.impossible.count},
          {"impossible_share", share_of(event.impossible)},
          {"verdicts", verdicts},
          {"not_judged", not_judged},
          {"data_source", json_of_contradictions(event.data_source)},
          {"data_address", json_of_contradictions(event.data_address)},
          {"functions_judged", event.all_functions},
          {"functions_impossible", event.impossible_functions},
          {"instructions_impossible", event.impossible_instructions},
          {"functions", array_of(event.functions, json_of_function)},
          {"instructions", array_of(event.instructions, json_of_instruction)},
          {"bias", json_of_bias(event.bias)},
          {"bias_not_judged", text_or_null(event.bias.reason)},
          {"branch_records", json_of_branch_records(event.branch_records)},
          {"warnings", event.warnings}};
}

Json json_of_recording(const audit::Audit& audit) {
  return {{"run", text_or_null(audit.run)},
          {"file", audit.file},
          {"synthetic", audit.synthetic},
          {"read_in_part", audit.read_in_part},
          {"cpu", FieldWriter::json_of(audit.cpu)},
          {"kernel", text_or_null(audit.kernel)},
          {"remarks", audit.remarks},
          {"missing", array_of(audit.missing, json_of_missing)},
          {"events", array_of(audit.events, json_of_event)}};
}

}  // namespace

std::string audit_json(const std::vector<audit::Audit>& audits) {
  return document_text({{"schema", "skidscan.audit/1"},
                        {"tool_version", SKIDSCAN_VERSION},
                        {"recordings", array_of(audits, json_of_recording)}});
}

}  // namespace skid::output
