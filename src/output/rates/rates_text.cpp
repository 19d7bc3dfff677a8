#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/rates/rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Rate;

constexpr std::size_t kValueWidth = 19;  // "100.00% to 100.00%"

std::string percent(double share) {
  // What rounds to nothing is nothing, from either side.
  const double rounded = std::round(share * 1e4) / 1e2;
  return fmt::format("{:.2f}%", rounded == 0 ? 0.0 : rounded);
}

std::string value_text(const Rate& rate) {
  if (!rate.value) return kUnknown;
  const std::string low = percent(rate.value->low), high = percent(rate.value->high);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string events_text(double count) {
  return analysis::in_thousands(fmt::format("{:.0f}", count));
}

/// Lines of a heading and of rows whose last column wraps.
class Lines {
 public:
  explicit Lines(const Page& page) : page_(page) {}

  void heading(std::string_view text) { text_ += page_.title(text); }
  void row(const std::string& name, std::size_t name_width, const std::string& value,
           std::size_t value_width, std::string_view rest, Ink ink = Ink::plain) {
    const std::string lead = std::string(kIndent, ' ') + pad_right(name, name_width) + "  " +
                             pad_right(value, value_width) + "  ";
    text_ += rest.empty() ? std::string(trimmed_right(lead)) + '\n'
                          : page_.hanging(lead, display_width(lead), rest, ink);
  }
  void note(std::string_view text, Ink ink = Ink::plain) {
    text_ += page_.hanging(std::string(kIndent, ' '), 2 * kIndent, text, ink);
  }
  std::string& text() noexcept { return text_; }

 private:
  static std::string_view trimmed_right(std::string_view text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

  const Page& page_;
  std::string text_;
};

std::string state_text(const perfstat::EventCount& count) {
  switch (count.state) {
    case perfstat::State::counted:
      return events_text(count.value);
    case perfstat::State::not_counted:
      return "not counted";
    case perfstat::State::not_supported:
      return "not supported";
  }
  return {};
}

std::string what_it_is(const perfstat::KnownEvent& event) {
  if (event.quantity) return std::string(analysis::name_of(*event.quantity));
  return fmt::format("L2_RQSTS umask {:#04x}", event.l2_umask.value_or(0));
}

void add_counts(const perfstat::Selection& selection, Lines& lines) {
  lines.heading("Counts");
  std::vector<std::string> others;
  std::size_t name_width = 0, value_width = 0;
  for (const auto& [count, event] : selection.events) {
    if (!event.known()) {
      others.push_back(escape_for_terminal(count.name));
      continue;
    }
    name_width = std::max(name_width, what_it_is(event).size());
    value_width = std::max(value_width, state_text(count).size());
  }
  for (const auto& [count, event] : selection.events) {
    if (!event.known()) continue;
    std::string rest = escape_for_terminal(count.name);
    if (count.rows > 1) rest += fmt::format(", sum of {}", count.rows);
    if (count.state == perfstat::State::counted && count.running_percent < 100) {
      rest += fmt::format(", {:.2f}% of the time", count.running_percent);
    }
    lines.row(what_it_is(event), name_width, pad_left(state_text(count), value_width), value_width,
              rest);
  }
  if (others.size() == selection.events.size()) lines.note("none that a rate uses");
  constexpr std::size_t kMostNamed = 20;
  if (!others.empty()) {
    const std::size_t count = others.size();
    if (count > kMostNamed) {
      others.resize(kMostNamed);
      others.push_back(fmt::format("and {} more", count - kMostNamed));
    }
    lines.note("used by no rate: " + joined(others));
  }
}

/// Rates of a group. One without any of its counts has one line for all missing ones.
void add_group(std::string_view title, const std::vector<Rate>& rates, Lines& lines) {
  lines.heading(title);
  const bool nothing = std::all_of(rates.begin(), rates.end(),
                                   [](const Rate& rate) { return !rate.missing.empty(); });
  std::size_t width = 0;
  std::vector<std::string> missing;
  for (const Rate& rate : rates) {
    width = std::max(width, rate.name.size());
    for (const std::string& name : rate.missing) {
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
    }
  }
  if (nothing) return lines.note("not computed; missing of their counts: " + joined(missing));
  for (const Rate& rate : rates) {
    std::string rest = rate.missing.empty() ? rate.formula : "missing: " + joined(rate.missing);
    if (!rate.remark.empty()) rest += "; " + rate.remark;
    lines.row(rate.name, width, value_text(rate), kValueWidth, rest,
              analysis::impossible(rate) ? Ink::yellow : Ink::plain);
  }
}

void add_identities(const std::vector<analysis::Identity>& identities, Lines& lines) {
  lines.heading("Identities of the counts of loads");
  for (const auto& identity : identities) {
    if (!identity.residual) {
      lines.note(identity.formula + ": missing " + joined(identity.missing));
      continue;
    }
    const auto& residual = *identity.residual;
    lines.note(fmt::format(
        "{}: {} against {}, residual {}{}", identity.formula, events_text(residual.left),
        events_text(residual.right), events_text(residual.difference),
        residual.of_larger ? fmt::format(" ({} of the larger)", percent(*residual.of_larger))
                           : ""));
  }
  lines.note(
      "A residual is not an error: on Skylake and later the identities hold only for instructions "
      "with at most one load uop.");
}

std::string shares_text(const analysis::LfbShares& shares) {
  std::string text = "Loads (instructions or uops), HIT_LFB shares ";
  text += shares.l2 ? fmt::format("a = {}, ", *shares.l2) : std::string("a unknown, ");
  text += shares.l3 ? fmt::format("b = {}", *shares.l3) : std::string("b unknown");
  return text;
}

}  // namespace

std::string rates_text(const Page& page, const RatesReport& report) {
  const auto& [reading, selection, shares, rates] = report;
  Lines lines(page);
  std::string form(perfstat::name_of(reading.form));
  if (reading.form == perfstat::Form::separated) form += " '" + reading.separator + "'";
  lines.text() = page.hanging(
      {}, kIndent,
      escape_for_terminal(reading.file) + ": read as the output of " + escape_for_terminal(form));
  add_counts(selection, lines);
  add_group(shares_text(shares), rates.loads, lines);
  add_group("Lines filled into L1", rates.lines, lines);
  add_identities(rates.identities, lines);
  if (rates.l2.empty()) {
    lines.heading("Requests to L2");
    lines.note("not computed; missing: L2_RQSTS (event 0x24) with an origin and a result");
  } else {
    add_group("Requests to L2", rates.l2, lines);
  }
  add_group("Backend, of cycles", rates.backend, lines);

  std::vector<std::string> warnings = selection.warnings;
  for (auto& warning : analysis::warnings_of(rates)) warnings.push_back(std::move(warning));
  if (!warnings.empty()) lines.heading("Warnings");
  for (const auto& warning : warnings) lines.note(escape_for_terminal(warning), Ink::yellow);
  if (!selection.remarks.empty()) lines.heading("Remarks");
  for (const auto& remark : selection.remarks) lines.note(escape_for_terminal(remark));
  return std::move(lines.text());
}

}  // namespace skid::output
