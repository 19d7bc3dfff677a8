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
#include "src/support/text.h"

#include <algorithm>
#include <array>
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

void fields(FieldWriter& io, const analysis::Rates& value) {
  SKID_MEMBERS(general, loads, lines, identities);
  io("l2_requests", value.l2);
  SKID_MEMBERS(backend);
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
  if (!rate.is_share) return fmt::format("{:.2f}", rate.value->low);
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
  List list{{{"", Kind::text}, {""}, {"", Kind::wrapped}}};
  std::vector<std::string> others;
  constexpr std::size_t kMostListed = 20;
  std::size_t unused = 0;  // events that no rate uses
  for (const auto& [count, event] : selection.events) {
    std::string rest = escape_for_terminal(count.name);
    if (!event.known()) {
      if (++unused > kMostListed) {
        others.push_back(std::move(rest));
        continue;
      }
      if (!event.description.empty()) rest += ": " + escape_for_terminal(event.description);
    }
    if (count.rows > 1) rest += fmt::format(", sum of {}", count.rows);
    if (count.state == perfstat::State::counted && count.running_percent < 100) {
      rest += fmt::format(", {:.2f}% of the time", count.running_percent);
    }
    const bool is_counted = count.state == perfstat::State::counted;
    list.add(event.known() ? what_it_is(event) : "no rate",
             is_counted ? events_text(count.value) : std::string(name_of(count.state)), rest);
  }
  std::string text = page.title("Counts") + page.list(list);
  if (!others.empty()) {
    text += page.note("used by no rate: " + list_of(others, kMostListed), Ink::plain, kIndent);
  }
  return text;
}

/// Returns the rates of a group whose counts are there, and the counts that the others lack;
/// nothing if no rate can be computed.
std::string group(const Page& page, std::string_view title, const std::vector<Rate>& rates,
                  bool lists_missing = true) {
  std::vector<std::string> missing;
  List list{{{"", Kind::text}, {"", Kind::text}, {"", Kind::wrapped}}};
  for (const Rate& rate : rates) {
    missing.insert(missing.end(), rate.missing.begin(), rate.missing.end());
    if (!rate.missing.empty()) continue;
    list.add(rate.name, pad_right(value_text(rate), kValueWidth),
             Cell{rate.formula + (rate.remark.empty() ? "" : "; " + rate.remark),
                  analysis::impossible(rate) ? Ink::yellow : Ink::plain});
  }
  if (std::ranges::none_of(rates, [](const Rate& rate) { return rate.value.has_value(); }))
    return {};
  return page.title(title) + page.list(list) +
         (missing.empty() || !lists_missing
              ? ""
              : page.note("others lack: " + joined(each_once(missing))));
}

std::string identities(const Page& page, const std::string& where,
                       const std::vector<analysis::Identity>& identities) {
  std::vector<std::string> texts;
  for (const auto& identity : identities) {
    if (!identity.residual) continue;
    const auto& residual = *identity.residual;
    texts.push_back(fmt::format(
        "{}: {} against {}, residual {}{}", identity.formula, events_text(residual.left),
        events_text(residual.right), events_text(residual.difference),
        residual.of_larger ? fmt::format(" ({} of the larger)", percent(*residual.of_larger))
                           : ""));
  }
  if (texts.empty()) return {};
  texts.emplace_back(
      "A residual is not an error: on Skylake and later the identities hold only for instructions "
      "with at most one load uop.");
  return page.section("Identities of the counts of loads" + where, texts);
}

std::string shares_text(const analysis::LfbShares& shares) {
  const auto share = [](const std::optional<double>& known) {
    return known ? fmt::format("= {}", *known) : std::string("unknown");
  };
  return fmt::format("Loads (instructions or uops), HIT_LFB shares a {}, b {}", share(shares.l2),
                     share(shares.l3));
}

/// Returns up to four rates of a core type that say most; empty if none can be computed.
std::string main_rates(const analysis::Rates& rates) {
  using analysis::Headline;
  constexpr std::size_t kMost = 4;
  constexpr std::array kWords = {
      "instructions per cycle",     "of branches mispredicted",        "of loads miss L1",
      "of loads miss L3",           "of lines filled into L1 miss L2", "of cycles stalled",
      "of cycles stalled by memory"};
  std::vector<const Rate*> found;
  for (const auto* group :
       {&rates.general, &rates.loads, &rates.lines, &rates.l2, &rates.backend}) {
    for (const Rate& rate : *group) {
      if (rate.value && rate.headline != Headline::none) found.push_back(&rate);
    }
  }
  std::ranges::stable_sort(found, {}, &Rate::headline);
  if (found.size() > kMost) found.resize(kMost);
  std::vector<std::string> parts;
  for (const Rate* rate : found) {
    const auto index = static_cast<std::size_t>(rate->headline);
    const char* const of = rate->headline == Headline::l2_miss ? " in L2" : "";
    parts.push_back(value_text(*rate) + ' ' +
                    (index < kWords.size() ? kWords[index] : rate->name + of));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string rates_answer(const RatesReport& report) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < report.rates.size(); ++i) {
    const std::string of = main_rates(report.rates[i]);
    if (of.empty()) continue;
    const auto& core = report.selection.cores[i];
    parts.push_back(core.core_type.empty()
                        ? of
                        : fmt::format("on {}, counted in {:.2f}% of the time: {}", core.core_type,
                                      core.running_percent, of));
  }
  if (!parts.empty()) return fmt::format("{}", fmt::join(parts, "; "));
  return "no rate can be computed from these counts; docs/rates.md lists the counts of each rate";
}

/// Returns the warnings of the counts and of the rates of each core type.
std::vector<std::string> warnings_of(const RatesReport& report) {
  std::vector<std::string> warnings = report.selection.warnings;
  for (std::size_t i = 0; i < report.rates.size(); ++i) {
    const std::string& core_type = report.selection.cores[i].core_type;
    for (const auto& warning : analysis::warnings_of(report.rates[i])) {
      warnings.push_back(core_type.empty() ? warning : core_type + ": " + warning);
    }
  }
  return warnings;
}

Json event_json(const perfstat::SelectedEvent& selected) {
  const auto& [count, event] = selected;
  const bool counted = count.state == perfstat::State::counted;
  return {
      {"name", count.name},
      {"pmu", event.core_type.empty() ? Json() : Json(event.core_type)},
      {"quantity", event.quantity ? Json(analysis::name_of(*event.quantity)) : Json()},
      {"l2_rqsts_umask", event.l2_umask ? Json(fmt::format("0x{:02x}", *event.l2_umask)) : Json()},
      {"description", event.description.empty() ? Json() : Json(event.description)},
      {"state", name_of(count.state)},
      {"value", counted ? Json(count.value) : Json()},
      {"running_percent", counted ? Json(count.running_percent) : Json()},
      {"rows", count.rows},
      {"rows_not_counted", count.rows_not_counted}};
}

}  // namespace

std::string rates_text(const RatesReport& report, const Page& page) {
  const auto& [reading, selection, shares, rates] = report;
  const std::string form = reading.form == perfstat::Form::json
                               ? std::string("-j")
                               : "-x" + escape_for_terminal(reading.separator);
  std::string text = page.answer(rates_answer(report), Ink::plain) + '\n';
  text += page.hanging({}, kIndent,
                       fmt::format("{}: read as the output of perf stat {}",
                                   escape_for_terminal(reading.file), form));
  text += counts(page, selection);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const analysis::Rates& of = rates[i];
    const std::string& core_type = selection.cores[i].core_type;
    const std::string where = core_type.empty() ? "" : " on " + core_type;
    text += group(page, "Generic events" + where, of.general, false) +
            group(page, shares_text(shares) + where, of.loads) +
            group(page, "Lines filled into L1" + where, of.lines) +
            identities(page, where, of.identities) + group(page, "Requests to L2" + where, of.l2) +
            group(page, "Backend, of cycles" + where, of.backend);
  }
  return text +
         page.section("Warnings", texts_of(warnings_of(report), escape_for_terminal), Ink::yellow) +
         page.section("Remarks", texts_of(selection.remarks, escape_for_terminal));
}

std::string rates_json(const RatesReport& report) {
  const auto& [reading, selection, shares, rates] = report;
  Json core_types = Json::array();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto& [core_type, running_percent, counts] = selection.cores[i];
    Json of = FieldWriter::json_of(rates[i]);
    of["pmu"] = core_type.empty() ? Json() : Json(core_type);
    of["running_percent"] = running_percent;
    core_types.push_back(std::move(of));
  }
  Json document{{"file", reading.file},
                {"form", reading.form == perfstat::Form::json ? "json" : "separated"},
                {"separator", reading.separator.empty() ? Json() : Json(reading.separator)},
                {"events", array_of(selection.events, event_json)},
                {"lfb_shares", {{"l2", shares.l2}, {"l3", shares.l3}}},
                {"core_types", std::move(core_types)},
                {"warnings", warnings_of(report)},
                {"remarks", selection.remarks}};
  document.update(FieldWriter::json_of(rates.front()));
  return document_text("skidscan.rates/1", std::move(document));
}

}  // namespace skid::output
