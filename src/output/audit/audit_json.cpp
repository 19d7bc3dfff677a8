#include "src/output/audit/audit.h"
#include "src/output/json_fields.h"
#include "src/support/json_text.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

constexpr const char* kSchema = "skidscan.audit/1";

Json share_of(const analysis::Share& share) {
  if (share.total == 0) {
    return {{"value", nullptr}, {"low", nullptr}, {"high", nullptr}, {"confidence", nullptr}};
  }
  return {{"value", share.value},
          {"low", share.low},
          {"high", share.high},
          {"confidence", share.confidence}};
}

Json categories_of(const instructions::Categories& categories) {
  Json names = Json::array();
  for (const auto category : instructions::kCategories) {
    if (categories.contains(category)) names.push_back(instructions::name_of(category));
  }
  return names;
}

Json json_of(const audit::FunctionFinding& function) {
  return {{"module", text_or_null(function.module)},
          {"function", text_or_null(function.function)},
          {"judged", function.judged},
          {"impossible", function.impossible}};
}

Json json_of(const audit::InstructionFinding& instruction) {
  Json source;
  if (!instruction.source_file.empty()) {
    source = {{"file", instruction.source_file}, {"line", instruction.source_line}};
  }
  return {{"module", text_or_null(instruction.module)},
          {"function", text_or_null(instruction.function)},
          {"offset", instruction.offset},
          {"address", hexadecimal(instruction.address)},
          {"judged_address", hexadecimal(instruction.judged_address)},
          {"source", source},
          {"disassembly", text_or_null(instruction.text)},
          {"categories", categories_of(instruction.categories)},
          {"verdict", events::name_of(instruction.verdict)},
          {"samples", instruction.samples}};
}

Json json_of(const audit::EventAudit& event);
Json json_of(const audit::Audit& audit);

template <typename T>
Json list_of(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(json_of(one));
  return list;
}

Json json_of(const audit::EventAudit& event) {
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
          {"period", value_or_null(event.period)},
          {"catalogue", text_or_null(event.catalogue)},
          {"rule", audit::name_of(event.rule)},
          {"samples", event.samples},
          {"judged", event.judged},
          {"impossible", event.impossible.count},
          {"impossible_share", share_of(event.impossible)},
          {"verdicts", verdicts},
          {"not_judged", not_judged},
          {"functions_judged", event.all_functions},
          {"functions_impossible", event.impossible_functions},
          {"instructions_impossible", event.impossible_instructions},
          {"functions", list_of(event.functions)},
          {"instructions", list_of(event.instructions)},
          {"warnings", event.warnings}};
}

Json json_of(const audit::Audit& audit) {
  return {{"run", text_or_null(audit.run)}, {"file", audit.file},
          {"synthetic", audit.synthetic},   {"read_in_part", audit.read_in_part},
          {"cpu", cpu_json(audit.cpu)},     {"kernel", text_or_null(audit.kernel)},
          {"remarks", audit.remarks},       {"events", list_of(audit.events)}};
}

}  // namespace

std::string audit_json(const std::vector<audit::Audit>& audits) {
  const Json document = {
      {"schema", kSchema}, {"tool_version", SKIDSCAN_VERSION}, {"recordings", list_of(audits)}};
  constexpr int kSpaces = 2;
  return json_text(document, kSpaces) + '\n';
}

}  // namespace skid::output
