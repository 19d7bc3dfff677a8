#include "src/output/rates/rates.h"

#include "analysis/rates.h"
#include "analysis/wording.h"
#include "src/output/cell.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/output/table.h"
#include "src/perfstat/reading.h"
#include "src/perfstat/selection.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

void fields(FieldWriter& io, const analysis::Rate& value) {
  SKID_MEMBERS(name, formula);
  io("low", value.value ? Json(value.value->low) : Json());
  io("high", value.value ? Json(value.value->high) : Json());
  io("impossible", analysis::impossible(value));
  SKID_MEMBERS_OR_NULL(missing, remark);
}

void fields(FieldWriter& io, const analysis::Identity& value) {
  io("formula", value.formula);
  io("left", value.residual ? Json(value.residual->left) : Json());
  io("right", value.residual ? Json(value.residual->right) : Json());
  io("residual", value.residual ? Json(value.residual->difference) : Json());
  io("residual_of_larger", value.residual ? Json(value.residual->of_larger) : Json());
  io("missing", value.missing);
}

}  // namespace skid

namespace skid::output {
namespace {

using analysis::Rate;
using Kind = ListColumn::Kind;

constexpr std::size_t kValueWidth = 19;  // "100.00% to 100.00%"

std::string percent(double share) {
  // A number that rounds to 0 from either side is shown as 0.
  const double rounded = std::round(share * 1e4) / 1e2;
  return fmt::format("{:.2f}%", rounded == 0 ? 0.0 : rounded);
}

std::string value_text(const Rate& rate) {
  if (!rate.value) return kUnknown;
  const std::string low = percent(rate.value->low), high = percent(rate.value->high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string events_text(double count) {
  return analysis::in_thousands(fmt::format("{:.0f}", count));
}

std::string what_it_is(const perfstat::KnownEvent& event) {
  if (event.quantity) return std::string(analysis::name_of(*event.quantity));
  return fmt::format("L2_RQSTS umask {:#04x}", event.l2_umask.value_or(0));
}

std::string counts(const Page& page, const perfstat::Selection& selection) {
  std::vector<std::string> others;
  List list{{{"", Kind::text}, {""}, {"", Kind::wrapped}}};
  for (const auto& [count, event] : selection.events) {
    if (!event.known()) {
      others.push_back(escape_for_terminal(count.name));
      continue;
    }
    std::string rest = escape_for_terminal(count.name);
    if (count.rows > 1) rest += fmt::format(", sum of {}", count.rows);
    if (count.state == perfstat::State::counted && count.running_percent < 100) {
      rest += fmt::format(", {:.2f}% of the time", count.running_percent);
    }
    const bool is_counted = count.state == perfstat::State::counted;
    list.add(what_it_is(event),
             is_counted ? events_text(count.value) : std::string(name_of(count.state)), rest);
  }
  std::string text = page.title("Counts") + page.list(list);
  if (list.rows.empty()) text += page.note("none that a rate uses", Ink::plain, kIndent);
  constexpr std::size_t kMostNamed = 20;
  if (!others.empty()) {
    text += page.note("used by no rate: " + list_of(others, kMostNamed), Ink::plain, kIndent);
  }
  return text;
}

/// Returns the rates of a group. If none of them can be computed, one line names all missing
/// counts.
std::string group(const Page& page, std::string_view title, const std::vector<Rate>& rates) {
  std::vector<std::string> missing;
  List list{{{"", Kind::text}, {"", Kind::text}, {"", Kind::wrapped}}};
  for (const Rate& rate : rates) {
    for (const std::string& name : rate.missing) {
      if (std::ranges::find(missing, name) == missing.end()) missing.push_back(name);
    }
    std::string rest = rate.missing.empty() ? rate.formula : "missing: " + joined(rate.missing);
    if (!rate.remark.empty()) rest += "; " + rate.remark;
    list.add(rate.name, pad_right(value_text(rate), kValueWidth),
             Cell{rest, analysis::impossible(rate) ? Ink::yellow : Ink::plain});
  }
  const bool nothing =
      std::ranges::all_of(rates, [](const Rate& rate) { return !rate.missing.empty(); });
  if (!nothing) return page.title(title) + page.list(list);
  return page.section(title, {"not computed; missing of their counts: " + joined(missing)});
}

std::string identities(const Page& page, const std::vector<analysis::Identity>& identities) {
  std::vector<std::string> texts;
  for (const auto& identity : identities) {
    if (!identity.residual) {
      texts.push_back(identity.formula + ": missing " + joined(identity.missing));
      continue;
    }
    const auto& residual = *identity.residual;
    texts.push_back(fmt::format(
        "{}: {} against {}, residual {}{}", identity.formula, events_text(residual.left),
        events_text(residual.right), events_text(residual.difference),
        residual.of_larger ? fmt::format(" ({} of the larger)", percent(*residual.of_larger))
                           : ""));
  }
  texts.emplace_back(
      "A residual is not an error: on Skylake and later the identities hold only for instructions "
      "with at most one load uop.");
  return page.section("Identities of the counts of loads", texts);
}

std::string shares_text(const analysis::LfbShares& shares) {
  const auto share = [](const std::optional<double>& known) {
    return known ? fmt::format("= {}", *known) : std::string("unknown");
  };
  return fmt::format("Loads (instructions or uops), HIT_LFB shares a {}, b {}", share(shares.l2),
                     share(shares.l3));
}

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

}  // namespace

std::string rates_text(const RatesReport& report, const Page& page) {
  const auto& [reading, selection, shares, rates] = report;
  const std::string_view form = reading.form == perfstat::Form::json ? "-j" : "-x,";
  const std::string l2 =
      rates.l2.empty()
          ? page.section(
                "Requests to L2",
                {"not computed; missing: L2_RQSTS (event 0x24) with an origin and a result"})
          : group(page, "Requests to L2", rates.l2);
  std::vector<std::string> warnings = selection.warnings;
  for (auto& warning : analysis::warnings_of(rates)) warnings.push_back(std::move(warning));
  return page.hanging({}, kIndent,
                      fmt::format("{}: read as the output of perf stat {}",
                                  escape_for_terminal(reading.file), form)) +
         counts(page, selection) + group(page, shares_text(shares), rates.loads) +
         group(page, "Lines filled into L1", rates.lines) + identities(page, rates.identities) +
         l2 + group(page, "Backend, of cycles", rates.backend) +
         page.section("Warnings", texts_of(warnings, escape_for_terminal), Ink::yellow) +
         page.section("Remarks", texts_of(selection.remarks, escape_for_terminal));
}

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
                        {"loads", FieldWriter::json_of(rates.loads)},
                        {"lines", FieldWriter::json_of(rates.lines)},
                        {"identities", FieldWriter::json_of(rates.identities)},
                        {"l2_requests", FieldWriter::json_of(rates.l2)},
                        {"backend", FieldWriter::json_of(rates.backend)},
                        {"warnings", std::move(warnings)},
                        {"remarks", selection.remarks}});
}

}  // namespace skid::output
