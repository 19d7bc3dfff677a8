#include "src/output/json_fields.h"
#include "src/output/rates/rates.h"

#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

Json event_json(const perfstat::SelectedEvent& selected) {
  const auto& [count, event] = selected;
  const bool counted = count.state == perfstat::State::counted;
  return {
      {"name", count.name},
      {"quantity", event.quantity ? Json(analysis::name_of(*event.quantity)) : Json()},
      {"l2_rqsts_umask", event.l2_umask ? Json(fmt::format("0x{:02x}", *event.l2_umask)) : Json()},
      {"state", name_of(count.state)},
      {"value", counted ? Json(count.value) : Json()},
      {"running_percent", counted ? Json(count.running_percent) : Json()},
      {"rows", count.rows},
      {"rows_not_counted", count.rows_not_counted}};
}

Json rate_json(const analysis::Rate& rate) {
  return {{"name", rate.name},
          {"formula", rate.formula},
          {"low", rate.value ? Json(rate.value->low) : Json()},
          {"high", rate.value ? Json(rate.value->high) : Json()},
          {"impossible", analysis::impossible(rate)},
          {"missing", rate.missing},
          {"remark", text_or_null(rate.remark)}};
}

Json identity_json(const analysis::Identity& identity) {
  const auto& residual = identity.residual;
  return {{"formula", identity.formula},
          {"left", residual ? Json(residual->left) : Json()},
          {"right", residual ? Json(residual->right) : Json()},
          {"residual", residual ? Json(residual->difference) : Json()},
          {"residual_of_larger", residual ? Json(residual->of_larger) : Json()},
          {"missing", identity.missing}};
}

}  // namespace

std::string rates_json(const RatesReport& report) {
  const auto& [reading, selection, shares, rates] = report;
  std::vector<std::string> warnings = selection.warnings;
  for (auto& warning : analysis::warnings_of(rates)) warnings.push_back(std::move(warning));
  return document_text("skidscan.rates/1",
                       {{"file", reading.file},
                        {"form", reading.form == perfstat::Form::json ? "json" : "separated"},
                        {"separator", reading.form == perfstat::Form::json ? Json() : Json(",")},
                        {"events", array_of(selection.events, event_json)},
                        {"lfb_shares", {{"l2", shares.l2}, {"l3", shares.l3}}},
                        {"loads", array_of(rates.loads, rate_json)},
                        {"lines", array_of(rates.lines, rate_json)},
                        {"identities", array_of(rates.identities, identity_json)},
                        {"l2_requests", array_of(rates.l2, rate_json)},
                        {"backend", array_of(rates.backend, rate_json)},
                        {"warnings", std::move(warnings)},
                        {"remarks", selection.remarks}});
}

}  // namespace skid::output
