#include "analysis/wording.h"
#include "src/output/audit/audit.h"
#include "src/output/escape.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::EventAudit;
using events::Verdict;

constexpr std::size_t kNameWidth = 12;
constexpr std::size_t kCountWidth = 11;
constexpr std::size_t kShareWidth = 8;

std::string line(const Page& page, std::string_view name, std::string_view text,
                 Ink ink = Ink::plain) {
  return page.hanging(page.paint(pad_right(name, kNameWidth), Ink::dim), kNameWidth, text, ink);
}

std::string cpu_line(const analysis::Cpu& cpu) {
  std::string text = cpu.model_name.empty() ? "unknown" : escape_for_terminal(cpu.model_name);
  if (!cpu.vendor.empty() && cpu.family && cpu.model) {
    text += fmt::format(" ({}, family {}, model {})", escape_for_terminal(cpu.vendor), *cpu.family,
                        *cpu.model);
  }
  return text;
}

std::string machine_lines(const Page& page, const audit::Audit& audit) {
  std::string text = line(page, "CPU", cpu_line(audit.cpu));
  if (!audit.kernel.empty()) text += line(page, "kernel", escape_for_terminal(audit.kernel));
  return text;
}

/// Escaped; names of C++ can be longer than any line.
std::string function_name(const std::string& function) {
  constexpr std::size_t kLongest = 90;
  return shorten(escape_for_terminal(function), kLongest);
}

/// Of a path what stands behind its last '/'.
std::string file_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string place(const std::string& function, const std::string& module) {
  const std::string file = module.empty() ? std::string("no file") : file_name(module);
  return fmt::format("{} ({})", function.empty() ? "no function" : function_name(function),
                     escape_for_terminal(file));
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return kUnknown;
  return analysis::percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string impossible_text(const EventAudit& event) {
  if (event.judged == 0) return "no sample could be judged";
  const analysis::Share& share = event.impossible;
  return fmt::format("{} of {} judged, {} (95% interval {} to {})", in_thousands(share.count),
                     in_thousands(event.judged), analysis::percent(share.value),
                     analysis::percent(share.low), analysis::percent(share.high));
}

std::string verdicts(const Page& page, const EventAudit& event) {
  std::string text;
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        events::name_of(static_cast<Verdict>(i)), in_thousands(event.verdicts[i]));
  }
  return line(page, "verdicts", text);
}

std::string reasons(const Page& page, const EventAudit& event) {
  const std::uint64_t all = event.samples - event.judged;
  std::string text = line(page, "not judged", in_thousands(all));
  constexpr std::size_t kLead = kIndent + kCountWidth + 2;
  for (std::size_t i = 0; i < event.not_judged.size(); ++i) {
    if (event.not_judged[i] == 0) continue;
    const std::string lead =
        pad_left(in_thousands(event.not_judged[i]), kIndent + kCountWidth) + "  ";
    text += page.hanging(lead, kLead, describe(static_cast<analysis::NotJudged>(i)));
  }
  return text;
}

std::string left_out(const Page& page, std::size_t shown, std::size_t all, std::string_view what) {
  if (shown >= all) return {};
  return page.hanging(std::string(kIndent, ' '), kIndent,
                      fmt::format("{} more {}: --top N, --min-share 0", all - shown, what),
                      Ink::dim);
}

std::string functions(const Page& page, const EventAudit& event) {
  if (event.impossible_functions == 0) return {};
  std::string text = page.title("Functions");
  text += page.paint(fmt::format("  {}{}{}  function\n", pad_left("impossible", kCountWidth),
                                 pad_left("judged", kCountWidth), pad_left("share", kShareWidth)),
                     Ink::dim);
  std::size_t shown = 0;
  for (const audit::FunctionFinding& function : event.functions) {
    if (function.impossible == 0) continue;
    ++shown;
    const std::string lead =
        fmt::format("  {}{}{}  ", pad_left(in_thousands(function.impossible), kCountWidth),
                    pad_left(in_thousands(function.judged), kCountWidth),
                    pad_left(share_of(function.impossible, function.judged), kShareWidth));
    text += page.hanging(lead, display_width(lead), place(function.function, function.module));
  }
  return text + left_out(page, shown, event.impossible_functions, "functions");
}

std::string instruction(const Page& page, const EventAudit& event,
                        const audit::InstructionFinding& found) {
  const bool is_impossible = found.verdict == Verdict::never;
  const std::string lead =
      fmt::format("  {}{}  ", pad_left(in_thousands(found.samples), kCountWidth),
                  pad_left(share_of(found.samples, event.judged), kShareWidth));
  const std::size_t width = display_width(lead);
  std::string where = found.function.empty()
                          ? fmt::format("{:#x}", found.address)
                          : fmt::format("{}+{:#x}", function_name(found.function), found.offset);
  if (!found.module.empty()) where += " (" + escape_for_terminal(file_name(found.module)) + ")";
  if (!found.source_file.empty()) {
    where +=
        fmt::format(" {}:{}", escape_for_terminal(file_name(found.source_file)), found.source_line);
  }
  std::string text = page.hanging(lead, width, where, is_impossible ? Ink::red : Ink::plain);
  std::string what = escape_for_terminal(found.text);
  if (found.judged_address != found.address) {
    what = fmt::format("at {:#x}: {}", found.judged_address, what);
  }
  const std::string categories = instructions::names_of(found.categories);
  if (!categories.empty()) what += fmt::format("  [{}]", categories);
  if (!is_impossible) what += fmt::format("  {}", events::name_of(found.verdict));
  if (what.empty()) return text;
  return text + page.hanging(std::string(width, ' '), width, what, Ink::dim);
}

std::string instructions(const Page& page, const EventAudit& event) {
  const bool has_others =
      std::any_of(event.instructions.begin(), event.instructions.end(),
                  [](const auto& found) { return found.verdict != Verdict::never; });
  if (event.impossible_instructions == 0 && !has_others) return {};
  std::string text = page.title(has_others ? "Instructions, those that cannot cause it first"
                                           : "Instructions that cannot cause it");
  text += page.paint(fmt::format("  {}{}  place\n", pad_left("samples", kCountWidth),
                                 pad_left("share", kShareWidth)),
                     Ink::dim);
  std::size_t shown = 0;
  for (const audit::InstructionFinding& found : event.instructions) {
    if (found.verdict == Verdict::never) ++shown;
    text += instruction(page, event, found);
  }
  return text + left_out(page, shown, event.impossible_instructions, "of them");
}

std::string event_text(const EventAudit& event, const Page& page) {
  std::string text = page.rule(event.event);
  const std::string requested =
      event.requested.empty() ? "" : ", asked for as " + escape_for_terminal(event.requested);
  text += line(
      page, "recorded",
      fmt::format("{}, level {}{}", escape_for_terminal(event.recorded), event.level, requested));
  if (event.rule != audit::Rule::none) {
    text += line(page, "judged by", describe(event.rule));
  }
  if (!event.catalogue.empty()) {
    text += line(page, "catalogue", escape_for_terminal(event.catalogue));
  }
  text += line(page, "samples", in_thousands(event.samples));
  text += line(page, "impossible", impossible_text(event),
               event.impossible.count > 0 ? Ink::red : Ink::plain);
  if (event.rule != audit::Rule::none) text += verdicts(page, event);
  if (event.samples > event.judged) text += reasons(page, event);
  for (const std::string& warning : event.warnings) {
    text += line(page, "warning", escape_for_terminal(warning), Ink::yellow);
  }
  return text + functions(page, event) + instructions(page, event);
}

}  // namespace

std::string audit_text(const std::vector<audit::Audit>& audits, const Page& page) {
  std::string text, machine_before;
  std::set<std::string> said;  // remarks on files, which a run's recordings share
  for (const audit::Audit& audit : audits) {
    if (!text.empty()) text += '\n';
    const std::string machine = machine_lines(page, audit);
    if (machine != machine_before) text += machine + '\n';
    machine_before = machine;
    text += line(page, "recording", escape_for_terminal(audit.file));
    if (audit.synthetic) {
      text +=
          line(page, "SYNTHETIC", "samples made by skidscan synth; no CPU took them", Ink::yellow);
    }
    for (const std::string& remark : audit.remarks) {
      if (!said.insert(remark).second) continue;
      text += line(page, "remark", escape_for_terminal(remark), Ink::yellow);
    }
    for (const EventAudit& event : audit.events) text += event_text(event, page);
  }
  return text;
}

}  // namespace skid::output
