#include "src/perfstat/selection.h"

#include "analysis/rates.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/spelling.h"
#include "src/machine/machine.h"
#include "src/perfstat/reading.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::perfstat {
namespace {

using enum analysis::Quantity;

struct Code {
  std::uint64_t config;
  analysis::Quantity quantity;
};

/// Codes of events in perf_event_attr.config (counter mask, umask and event), and what they count.
constexpr std::array kCodes = {
    Code{0x3c, cycles},
    Code{0x81d0, all_loads},
    Code{0x40d1, hit_lfb},
    Code{0x01d1, l1_hit},
    Code{0x08d1, l1_miss},
    Code{0x02d1, l2_hit},
    Code{0x10d1, l2_miss},
    Code{0x04d1, l3_hit},
    Code{0x20d1, l3_miss},
    Code{0x40004a3, cycles_no_execute},
    Code{0xc000ca3, stalls_l1d_pending},
    Code{0x08a2, resource_stalls_sb},
    Code{0x1000248, fb_full},  // before Skylake with a counter mask, later without
    Code{0x0248, fb_full},
    Code{0x01b2, sq_full},
};

/// Generic events of perf, with the names that the event files of AMD (perf's amdzen*) and Intel
/// have for what the kernel counts for them.
struct Name {
  std::string_view name;
  analysis::Quantity quantity;
};
constexpr std::array kNames = {
    Name{"cycles", cycles},
    Name{"cpu-cycles", cycles},
    Name{"ls_not_halted_cyc", cycles},
    Name{"instructions", instructions},
    Name{"inst_retired.any", instructions},
    Name{"inst_retired.any_p", instructions},
    Name{"ex_ret_instr", instructions},
    Name{"branches", branches},
    Name{"branch-instructions", branches},
    Name{"br_inst_retired.all_branches", branches},
    Name{"ex_ret_brn", branches},
    Name{"branch-misses", branch_misses},
    Name{"br_misp_retired.all_branches", branch_misses},
    Name{"ex_ret_brn_misp", branch_misses},
    Name{"cache-references", cache_references},
    Name{"cache-misses", cache_misses},
    Name{"l1-dcache-loads", l1d_loads},
    Name{"l1-dcache-load-misses", l1d_load_misses},
    Name{"llc-loads", llc_loads},
    Name{"llc-load-misses", llc_load_misses},
    Name{"dtlb-loads", dtlb_loads},
    Name{"dtlb-load-misses", dtlb_load_misses},
    Name{"itlb-loads", itlb_loads},
    Name{"itlb-load-misses", itlb_load_misses},
    Name{"stalled-cycles-frontend", stalled_frontend},
    Name{"idle-cycles-frontend", stalled_frontend},
    Name{"stalled-cycles-backend", stalled_backend},
    Name{"idle-cycles-backend", stalled_backend},
};

constexpr std::string_view kCore = "cpu_core", kAtom = "cpu_atom";

/// Umasks of names of L2_RQSTS to which other tables give another one.
struct OtherUmask {
  std::uint8_t umask;
  std::string_view others;
};
constexpr std::array kOtherUmasks = {
    OtherUmask{0xc1, "older tables have 0x41, without hits of modified lines"},
    OtherUmask{0xc2, "older tables have 0x42, without hits of modified lines"},
    OtherUmask{0xc4, "older tables have 0x44, without hits of modified lines"},
    OtherUmask{0x30, "libpfm4 has 0x38, with the L1 prefetcher"},
    OtherUmask{0xd0, "libpfm4 has 0xd8, with the L1 prefetcher, and older tables 0x50"},
    OtherUmask{0xff, "Intel's manual has 0xef, without the L2 prefetcher"},
};

/// Returns perf_event_attr.config of an event from the first catalogue that has it. The order
/// matters because the meaning of L2_RQSTS changed after Ivy Bridge. Names of Intel's files come
/// first, then those that libpfm4 adds.
std::optional<std::uint64_t> config_of(const std::string& name) {
  static const std::array kCatalogues = {
      events::open_catalogue({.cpu = "skylake", .perfmon = {}}, {}),
      events::open_catalogue({.cpu = "haswell", .perfmon = {}}, {}),
      events::open_catalogue({.cpu = "ivybridge", .perfmon = {}}, {})};
  for (const events::Catalogue& catalogue : kCatalogues) {
    if (const auto found = catalogue.find_name(name); !found.empty()) return found.front().config;
  }
  const auto parts = events::parse_spelling(name, events::ConfigLayout::intel);
  for (const events::Catalogue& catalogue : kCatalogues) {
    const auto found = catalogue.find(parts);
    if (!found.empty()) return found.front().config;
  }
  return std::nullopt;
}

/// Returns what the newest Zen that has an event states about it; empty: none has it.
std::string description_on_zen(std::string_view name) {
  static const std::array kZens = {
      events::find_pfm_catalogue("zen5", {}, false), events::find_pfm_catalogue("zen4", {}, false),
      events::find_pfm_catalogue("zen3", {}, false), events::find_pfm_catalogue("zen2", {}, false),
      events::find_pfm_catalogue("zen1", {}, false)};
  constexpr std::size_t kLongest = 256;  // the file is not trusted
  for (std::size_t i = 0; i < kZens.size() && name.size() <= kLongest; ++i) {
    if (!kZens[i]) continue;
    const auto found = kZens[i]->find_name(name);
    if (found.empty()) continue;
    const std::string& description = found.front().description;
    const std::string cpu = fmt::format("zen{}", kZens.size() - i);
    return description.empty() ? fmt::format("r{:x} of {}", found.front().config, cpu)
                               : fmt::format("{} ({})", description, cpu);
  }
  return {};
}

/// Names what one count is taken of: the quantity, or the umask of L2_RQSTS, on a core type.
std::string key_of(const KnownEvent& event) {
  const std::string of = event.core_type.empty() ? "" : " on " + event.core_type;
  if (event.quantity) return std::string(name_of(*event.quantity)) + of;
  return fmt::format("L2_RQSTS with umask {:#04x}{}", event.l2_umask.value_or(0), of);
}

/// Returns the counts of a core type, which are added if there are none.
CoreCounts& counts_of(const std::string& core_type, Selection& selection) {
  if (CoreCounts* of = find_by(selection.cores, &CoreCounts::core_type, core_type)) return *of;
  return selection.cores.emplace_back(CoreCounts{core_type});
}

void refuse_repeated(const Reading& reading, const std::string& key, const EventCount& count) {
  if (count.repeated_on_line == 0) return;
  throw InputError({.file = place(reading.file, count.repeated_on_line),
                    .found = fmt::format("a second count of {}: '{}', as on line {}", key,
                                         count.name, count.line),
                    .expected = "one, or one for each interval, CPU or thread",
                    .remedy = "these cannot be summed: leave one of them out"});
}

bool counts_retired_loads(const KnownEvent& event) {
  return event.quantity && *event.quantity >= hit_lfb && *event.quantity <= l3_miss;
}

void add_state(const SelectedEvent& selected, Selection& selection) {
  const EventCount& count = selected.count;
  if (count.state == State::not_supported) {
    selection.warnings.push_back(
        fmt::format("'{}' is not supported on the machine that counted", count.name));
  } else if (count.state == State::not_counted) {
    selection.warnings.push_back(
        fmt::format("'{}' was not counted: its counter never ran", count.name));
  } else if (count.rows_not_counted > 0) {
    selection.warnings.push_back(
        fmt::format("'{}' was not counted in {} of {} intervals, CPUs or threads; its count is the "
                    "sum of the others",
                    count.name, count.rows_not_counted, count.rows));
  }
  const std::string& remark = selected.event.remark;
  if (!remark.empty()) selection.remarks.push_back(fmt::format("'{}' is {}", count.name, remark));
  const auto umask = selected.event.l2_umask;
  if (umask && ((*umask & 0x1f) == 0 || (*umask & 0xe0) == 0)) {
    selection.remarks.push_back(
        fmt::format("'{}' has no {}, so it is always 0 on Haswell to Coffee Lake; no rate uses it",
                    count.name, (*umask & 0x1f) == 0 ? "origin" : "result"));
  }
}

void add_multiplexed(Selection& selection) {
  const bool is_hybrid =
      std::ranges::any_of(selection.cores, [](const auto& of) { return !of.core_type.empty(); });
  std::vector<std::string> names;
  for (const auto& [count, event] : selection.events) {
    if (!event.known() || count.state != State::counted || count.running_percent >= 100) continue;
    names.push_back(fmt::format("'{}' ({:.2f}%)", count.name, count.running_percent));
  }
  if (names.empty()) return;
  selection.warnings.push_back(
      fmt::format("{}, so counted in part of the time and scaled by perf to all of it: {}",
                  is_hybrid ? "multiplexed, or elsewhere than on their core type" : "multiplexed",
                  fmt::join(names, ", ")));
}

void add_modes(const Selection& selection, std::vector<std::string>& warnings) {
  std::set<std::pair<bool, bool>> modes;
  bool loads_in_one_mode = false;
  for (const SelectedEvent& selected : selection.events) {
    const KnownEvent& event = selected.event;
    if (!event.known()) continue;
    modes.emplace(event.user_only, event.kernel_only);
    if (counts_retired_loads(event) && (event.user_only || event.kernel_only)) {
      loads_in_one_mode = true;
    }
  }
  if (modes.size() > 1) {
    warnings.emplace_back(
        "the counts are of different modes (user, kernel, both): their rates mean nothing; give "
        "all events the same modifiers");
  }
  if (loads_in_one_mode) {
    warnings.emplace_back(
        "loads were counted only in user or in kernel mode, where Haswell to Coffee Lake may count "
        "L1_MISS, HIT_LFB and hits and misses of L2 and L3 wrong (errata HSD169, SKL128, KBL073 "
        "and similar ones)");
  }
}

}  // namespace

KnownEvent identify_event(std::string_view text) {
  // The file is not trusted, and libpfm4 reads its names.
  constexpr std::size_t kLongest = 256;
  constexpr std::string_view kSigns = "_.:-=,/";
  const auto is_plain = [=](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kSigns.find(c) != kSigns.npos;
  };
  KnownEvent event;
  if (text.size() > kLongest || !std::all_of(text.begin(), text.end(), is_plain)) return event;
  auto [name, modifiers] = perftool::split_event_name(text);
  event.user_only = modifiers.find('u') != std::string::npos;
  event.kernel_only = modifiers.find('k') != std::string::npos;
  if (event.user_only && event.kernel_only) event.user_only = event.kernel_only = false;
  const auto slash = name.find('/');
  const std::string pmu = name.substr(0, slash);
  if (slash != std::string::npos) {
    if ((pmu != "cpu" && pmu != kCore && pmu != kAtom) || !name.ends_with('/')) return event;
    if (pmu != "cpu") event.core_type = pmu;
    // A name between slashes, as Intel's files have it.
    if (name.find('=') == std::string::npos) name = name.substr(slash + 1, name.size() - slash - 2);
  }
  std::string generic = lower_case(name);
  std::ranges::replace(generic, ':', '.');
  if (const Name* known = find_by(kNames, &Name::name, generic)) event.quantity = known->quantity;
  if (event.quantity || pmu == kAtom) return event;
  const auto config = config_of(name);
  constexpr std::uint64_t kL2Requests = 0x24, kUmask = 0xff00;
  if (!config) return event;
  if ((*config & ~kUmask) != kL2Requests) {
    if (const Code* code = find_by(kCodes, &Code::config, *config)) event.quantity = code->quantity;
    return event;
  }
  event.l2_umask = static_cast<std::uint8_t>(*config >> 8);
  const OtherUmask* other = find_by(kOtherUmasks, &OtherUmask::umask, *event.l2_umask);
  if (other != nullptr && lower_case(name).find("l2_rqsts") != std::string::npos) {
    event.remark = fmt::format(
        "taken for umask {:#04x}, as in Intel's event files; {}: count by code to be sure",
        other->umask, other->others);
  }
  return event;
}

Selection select_counts(const Reading& reading) {
  Selection selection;
  std::map<std::string, const EventCount*> first;
  bool is_hybrid = false;
  for (const EventCount& count : reading.events) {
    selection.events.push_back({count, identify_event(count.name)});
    if (selection.events.back().event.core_type == kCore) is_hybrid = true;
  }
  for (SelectedEvent& selected : selection.events) {
    auto& [count, event] = selected;
    if (!event.known()) event.description = description_on_zen(count.name);
    if (!event.known()) continue;
    // perf prints the events that only cpu_core has without the name of their PMU.
    if (is_hybrid && event.core_type.empty()) event.core_type = kCore;
    const std::string key = key_of(event);
    refuse_repeated(reading, key, count);
    add_state(selected, selection);
    if (count.state != State::counted) continue;
    const auto [position, inserted] = first.emplace(key, &count);
    if (!inserted) {
      selection.remarks.push_back(
          fmt::format("'{}' is a second count of {}; rates use that of '{}'", count.name, key,
                      position->second->name));
      event.quantity.reset();
      event.l2_umask.reset();
      continue;
    }
    CoreCounts& of = counts_of(event.core_type, selection);
    if (event.quantity) of.counts[*event.quantity] = count.value;
    if (event.l2_umask) of.counts.l2_requests[*event.l2_umask] = count.value;
    of.running_percent = std::max(of.running_percent, count.running_percent);
  }
  if (selection.cores.empty()) selection.cores.emplace_back();
  std::ranges::stable_sort(selection.cores, std::greater<>(), &CoreCounts::running_percent);
  add_multiplexed(selection);
  add_modes(selection, selection.warnings);
  if (reading.other_lines > 0) {
    selection.remarks.push_back(
        fmt::format("{} line{} no count{} of perf stat and left out, the first is line {}",
                    reading.other_lines, reading.other_lines == 1 ? " is" : "s are",
                    reading.other_lines == 1 ? "" : "s", reading.first_other_line));
  }
  return selection;
}

}  // namespace skid::perfstat
