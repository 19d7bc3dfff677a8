#include "src/output/rates/rates.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json value_or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

const char* name_of(perfstat::State state) {
  switch (state) {
    case perfstat::State::counted:
      return "counted";
    case perfstat::State::not_counted:
      return "not counted";
    case perfstat::State::not_supported:
      return "not supported";
  }
  return "";
}

const char* key_of(perfstat::Form form) {
  return form == perfstat::Form::json ? "json" : "separated";
}

ordered_json event_json(const perfstat::SelectedEvent& selected) {
  const auto& [count, event] = selected;
  const bool counted = count.state == perfstat::State::counted;
  return {{"name", count.name},
          {"quantity",
           event.quantity ? ordered_json(analysis::name_of(*event.quantity)) : ordered_json()},
          {"l2_rqsts_umask", event.l2_umask ? ordered_json(fmt::format("0x{:02x}", *event.l2_umask))
                                            : ordered_json()},
          {"state", name_of(count.state)},
          {"value", counted ? ordered_json(count.value) : ordered_json()},
          {"running_percent", counted ? ordered_json(count.running_percent) : ordered_json()},
          {"rows", count.rows},
          {"rows_not_counted", count.rows_not_counted}};
}

ordered_json rates_of(const std::vector<analysis::Rate>& rates) {
  ordered_json array = ordered_json::array();
  for (const auto& rate : rates) {
    array.push_back({{"name", rate.name},
                     {"formula", rate.formula},
                     {"low", rate.value ? ordered_json(rate.value->low) : ordered_json()},
                     {"high", rate.value ? ordered_json(rate.value->high) : ordered_json()},
                     {"impossible", analysis::impossible(rate)},
                     {"missing", rate.missing},
                     {"remark", text_or_null(rate.remark)}});
  }
  return array;
}

ordered_json identities_of(const std::vector<analysis::Identity>& identities) {
  ordered_json array = ordered_json::array();
  for (const auto& identity : identities) {
    ordered_json object{{"formula", identity.formula},
                        {"left", nullptr},
                        {"right", nullptr},
                        {"residual", nullptr},
                        {"residual_of_larger", nullptr},
                        {"missing", identity.missing}};
    if (const auto& residual = identity.residual) {
      object["left"] = residual->left;
      object["right"] = residual->right;
      object["residual"] = residual->difference;
      object["residual_of_larger"] = value_or_null(residual->of_larger);
    }
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

ordered_json rates_json(const RatesReport& report) {
  const auto& [reading, selection, shares, rates] = report;
  ordered_json events = ordered_json::array();
  for (const auto& selected : selection.events) events.push_back(event_json(selected));
  std::vector<std::string> warnings = selection.warnings;
  for (auto& warning : analysis::warnings_of(rates)) warnings.push_back(std::move(warning));
  return {{"schema", "skidscan.rates/1"},
          {"tool_version", SKIDSCAN_VERSION},
          {"file", reading.file},
          {"form", key_of(reading.form)},
          {"separator", text_or_null(reading.separator)},
          {"events", std::move(events)},
          {"lfb_shares", {{"l2", value_or_null(shares.l2)}, {"l3", value_or_null(shares.l3)}}},
          {"loads", rates_of(rates.loads)},
          {"lines", rates_of(rates.lines)},
          {"identities", identities_of(rates.identities)},
          {"l2_requests", rates_of(rates.l2)},
          {"backend", rates_of(rates.backend)},
          {"warnings", std::move(warnings)},
          {"remarks", selection.remarks}};
}

}  // namespace skid::output
