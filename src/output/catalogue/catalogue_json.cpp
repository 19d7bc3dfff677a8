#include "src/events/causes.h"
#include "src/events/errata.h"
#include "src/events/kernel_rules.h"
#include "src/events/spelling.h"
#include "src/events/triggers.h"
#include "src/output/catalogue/catalogue.h"
#include "src/output/json_fields.h"

#include <fmt/format.h>

namespace skid {

SKID_WRITTEN_FIELDS(events::Cause, category, verdict, note)
SKID_WRITTEN_FIELDS(events::TriggerCause, kind, verdict, events_per_iteration)
SKID_WRITTEN_FIELDS(events::Erratum, ids, effect)

}  // namespace skid

namespace skid::output {
namespace {

using events::Cpu;
using events::Event;

Json l2_json(const events::L2Requests& requests) {
  const auto corrected = events::corrected_umask(requests.umask);
  return {{"umask", fmt::format("0x{:02x}", requests.umask)},
          {"origins", requests.origins},
          {"results", requests.results},
          {"always_zero", requests.always_zero()},
          {"corrected_umask", corrected ? Json(fmt::format("0x{:02x}", *corrected)) : Json()}};
}

Json event_json(const Cpu& cpu, const Event& event) {
  const auto l2 = events::l2_requests(cpu.core, event.config);
  const std::string manual_error = l2 ? events::manual_error(*l2) : std::string();
  Json manual_errors = Json::array();
  if (!manual_error.empty()) manual_errors.push_back(manual_error);
  return {{"name", event.name},
          {"aliases", event.aliases},
          {"pmu", event.pmu},
          {"encoding",
           {{"perf", events::perf_encoding(cpu.layout, event)},
            {"raw", text_or_null(events::raw_encoding(event))},
            {"config", hexadecimal(event.config)},
            {"config1", hexadecimal(event.config1)}}},
          {"description", text_or_null(event.description)},
          {"deprecated", event.deprecated},
          {"precise", event.precise},
          {"precise_source", text_or_null(event.precise_source)},
          {"source", text_or_null(event.source)},
          {"data_la", event.data_la},
          {"pdist_counters", event.pdist},
          {"level_3", name_of(events::level_3_of(cpu, event))},
          {"counting_unit", text_or_null(events::counting_unit(cpu.core, event.config))},
          {"causes", FieldWriter::json_of(events::causes_of(cpu, event))},
          {"trigger", FieldWriter::json_of(events::triggers_of(cpu, event))},
          {"errata", FieldWriter::json_of(events::errata_of(cpu.core, event))},
          {"manual_errors", manual_errors},
          {"l2_rqsts", l2 ? l2_json(*l2) : Json()}};
}

}  // namespace

std::string events_json(const Cpu& cpu, const std::vector<Event>& events) {
  return document_text(
      "skidscan.events/1",
      {{"cpu",
        {{"name", cpu.name},
         {"description", text_or_null(cpu.description)},
         {"at_hand", cpu.at_hand},
         {"source", cpu.source}}},
       {"events", array_of(events, [&](const Event& event) { return event_json(cpu, event); })}});
}

}  // namespace skid::output
