#include "src/output/catalogue/unknown_event.h"

#include "src/events/cache_events.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/spelling.h"
#include "src/perfdata/generic_event.h"
#include "src/support/near_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::output {
namespace {

/// Returns what an event of the kernel is, and what its samples show; empty for other names.
std::string_view kind_of_kernel_event(std::string_view name) {
  const auto* const generic = perfdata::find_generic_event(name);
  if (generic != nullptr && generic->type == PERF_TYPE_SOFTWARE) {
    switch (generic->config) {
      case PERF_COUNT_SW_CPU_CLOCK:
      case PERF_COUNT_SW_TASK_CLOCK:
        return "a timer of the kernel, no event of the CPU: its samples are where the timer "
               "interrupted, and no instruction causes them";
      case PERF_COUNT_SW_PAGE_FAULTS:
      case PERF_COUNT_SW_PAGE_FAULTS_MIN:
      case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
        return "a software event of the kernel, no event of the CPU: a sample is at the "
               "instruction that faulted; 'skidscan record -e faults' measures it (trigger fault)";
      default:
        return "a software event of the kernel, no event of the CPU: its samples are where the "
               "kernel counts it, and no precise level changes them";
    }
  }
  if (name == "access" || name == "execute" || name.starts_with("mem:")) {
    return "a breakpoint, no event of the CPU: execute breakpoints have no skid, and data "
           "breakpoints a known one; 'skidscan record -e access,execute' measures it";
  }
  return {};
}

/// Whether a name looks like that of a tracepoint: "sched:sched_switch".
bool looks_like_tracepoint(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const std::size_t colon = name.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         std::ranges::all_of(name.substr(0, colon), is_part) &&
         std::ranges::all_of(name.substr(colon + 1), is_part) &&
         name.find_first_not_of("ukhGHIppSDWeb", colon + 1) != std::string_view::npos;
}

}  // namespace

std::string explain_unknown_event(std::string_view spelling, const events::Catalogue& catalogue) {
  const events::Cpu& cpu = catalogue.cpu();
  const events::Spelling parts = events::parse_spelling(spelling, cpu.layout);
  const std::string of_cpu = cpu.at_hand ? std::string() : fmt::format(" --cpu {}", cpu.name);
  if (spelling.starts_with("ibs_") || spelling.starts_with("arm_spe")) {
    return fmt::format(
        "'{}': IBS and SPE sample any operation that passes their filters, and have no events; "
        "'skidscan events --for WHAT{}' prints filters for what is to be sampled",
        spelling, of_cpu);
  }
  if (!parts.problem.empty()) return parts.problem;
  for (const std::string& name : {parts.name, parts.full}) {
    const std::string_view kind = kind_of_kernel_event(name);
    if (!kind.empty()) return fmt::format("'{}': is {}", spelling, kind);
  }
  if (events::cache_event_config(parts.name)) {
    return fmt::format(
        "'{}': is a generic cache event of perf, and it is not known which event the kernel takes "
        "for it on this CPU; 'skidscan events --for WHAT{}' prints events of the CPU",
        spelling, of_cpu);
  }
  std::vector<std::string> names;
  for (const events::Event& event : catalogue.events()) names.push_back(event.name);
  std::string remedy = did_you_mean(parts.name, names);
  // An event select of 12 bits as AMD's manuals write it.
  constexpr std::uint64_t kEventSelects = 0xfff;
  if (cpu.layout == events::ConfigLayout::amd && parts.config && *parts.config <= kEventSelects) {
    const std::uint64_t config = (*parts.config & 0xff) | (*parts.config & 0xf00) << 24;
    if (!catalogue.find_code(config, 0).empty()) {
      remedy = fmt::format("; the code of event 0x{:x} is r{:x}", *parts.config, config);
    }
  }
  if (remedy.empty()) {
    remedy = fmt::format("; 'skidscan events --list{} PATTERN' lists them", of_cpu);
    if (looks_like_tracepoint(parts.full)) {
      remedy += "; a tracepoint is of the kernel: its samples are where the kernel's code has it";
    }
  }
  return fmt::format("'{}': no such event in {}{}", spelling, cpu.catalogue(), remedy);
}

}  // namespace skid::output
