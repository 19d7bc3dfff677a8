#include "src/events/causes.h"
#include "src/events/encoding.h"
#include "src/events/errata.h"
#include "src/events/l2_requests.h"
#include "src/events/triggers.h"
#include "src/output/catalogue/catalogue.h"
#include "src/output/json_fields.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using events::Cpu;
using events::Event;
using nlohmann::ordered_json;

ordered_json l2_json(const events::L2Requests& requests) {
  const auto corrected = events::corrected_umask(requests.umask);
  return {{"umask", fmt::format("0x{:02x}", requests.umask)},
          {"origins", requests.origins},
          {"results", requests.results},
          {"always_zero", requests.always_zero()},
          {"corrected_umask",
           corrected ? ordered_json(fmt::format("0x{:02x}", *corrected)) : ordered_json()}};
}

ordered_json event_json(const Cpu& cpu, const Event& event) {
  ordered_json causes = ordered_json::array();
  for (const events::Cause& cause : events::causes_of(cpu.core, event.config)) {
    causes.push_back({{"category", events::name_of(cause.category)},
                      {"verdict", events::name_of(cause.verdict)},
                      {"note", text_or_null(cause.note)}});
  }
  ordered_json errata = ordered_json::array();
  for (const events::Erratum& erratum : events::errata_of(cpu.core, event.config)) {
    errata.push_back({{"ids", erratum.ids}, {"effect", erratum.effect}});
  }
  for (const std::string& id : event.errata) errata.push_back({{"ids", id}, {"effect", nullptr}});
  ordered_json triggers = ordered_json::array();
  for (const events::TriggerCause& cause : events::triggers_of(cpu, event)) {
    triggers.push_back({{"kind", runway::name_of(cause.kind)},
                        {"verdict", events::name_of(cause.verdict)},
                        {"events_per_iteration", cause.events_per_iteration
                                                     ? ordered_json(*cause.events_per_iteration)
                                                     : ordered_json()}});
  }
  const auto l2 = events::l2_requests(cpu.core, event.config);
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
          {"precise", event.precise ? ordered_json(*event.precise) : ordered_json()},
          {"precise_source", text_or_null(event.precise_source)},
          {"counting_unit", text_or_null(events::counting_unit(cpu.core, event.config))},
          {"causes", std::move(causes)},
          {"trigger", std::move(triggers)},
          {"errata", std::move(errata)},
          {"manual_errors", event.manual_errors},
          {"l2_rqsts", l2 ? l2_json(*l2) : ordered_json()}};
}

}  // namespace

ordered_json events_json(const Cpu& cpu, const std::vector<Event>& events) {
  ordered_json array = ordered_json::array();
  for (const Event& event : events) array.push_back(event_json(cpu, event));
  return {{"schema", "skidscan.events/1"},
          {"tool_version", SKIDSCAN_VERSION},
          {"cpu",
           {{"name", cpu.name},
            {"description", text_or_null(cpu.description)},
            {"at_hand", cpu.at_hand},
            {"source", cpu.source}}},
          {"events", std::move(array)}};
}

}  // namespace skid::output
