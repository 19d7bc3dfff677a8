#include "src/perfstat/selection.h"

#include "src/support/error.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace skid::perfstat {
namespace {

/// What two events must not share: the quantity, or the umask of L2_RQSTS.
std::string key_of(const KnownEvent& event) {
  if (event.quantity) return std::string(name_of(*event.quantity));
  return fmt::format("L2_RQSTS with umask {:#04x}", event.l2_umask.value_or(0));
}

[[noreturn]] void refuse_second(const Reading& reading, const std::string& key,
                                const EventCount& first, std::size_t line,
                                const std::string& second) {
  throw InputError({.file = place(reading.file, line),
                    .found = fmt::format("a second count of {}: '{}', after '{}' on line {}", key,
                                         second, first.name, first.line),
                    .expected = "one, or one for each interval, CPU or thread",
                    .remedy = "these cannot be summed: leave one of them out"});
}

bool counts_retired_loads(const KnownEvent& event) {
  using enum analysis::Quantity;
  if (!event.quantity) return false;
  switch (*event.quantity) {
    case hit_lfb:
    case l1_hit:
    case l1_miss:
    case l2_hit:
    case l2_miss:
    case l3_hit:
    case l3_miss:
      return true;
    default:
      return false;
  }
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
  std::vector<std::string> names;
  for (const auto& [count, event] : selection.events) {
    if (!event.known() || count.state != State::counted || count.running_percent >= 100) continue;
    names.push_back(fmt::format("'{}' ({:.2f}%)", count.name, count.running_percent));
  }
  if (names.empty()) return;
  selection.warnings.push_back(
      fmt::format("multiplexed, so counted in part of the time and scaled by perf to all of it: {}",
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
        "loads were counted only in user or in kernel mode, where Haswell to Coffee Lake may "
        "count L1_MISS, HIT_LFB and hits and misses of L2 and L3 wrong (errata HSD169, SKL128, "
        "KBL073 and similar ones)");
  }
}

}  // namespace

Selection select_counts(const Reading& reading) {
  Selection selection;
  std::map<std::string, const EventCount*> first;
  for (const EventCount& count : reading.events) {
    SelectedEvent selected{count, identify_event(count.name)};
    const KnownEvent& event = selected.event;
    if (event.known()) {
      const std::string key = key_of(event);
      if (count.repeated_on_line != 0) {
        refuse_second(reading, key, count, count.repeated_on_line, count.name);
      }
      const auto [position, inserted] = first.emplace(key, &count);
      if (!inserted) refuse_second(reading, key, *position->second, count.line, count.name);
      if (count.state == State::counted) {
        if (event.quantity) selection.counts[*event.quantity] = count.value;
        if (event.l2_umask) selection.counts.l2_requests[*event.l2_umask] = count.value;
      }
      add_state(selected, selection);
    }
    selection.events.push_back(std::move(selected));
  }
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
