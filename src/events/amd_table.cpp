#include "src/events/amd_table.h"

#include "src/events/intel_contents.h"
#include "src/support/text.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace skid::events {

std::vector<Event> amd_events(std::string_view pmu) {
  constexpr std::string_view kZen = "_zen";
  const std::size_t found = pmu.find(kZen);
  if (found == std::string_view::npos) return {};
  const std::string_view generation = pmu.substr(found + kZen.size());
  std::vector<Event> events;
  std::string_view text = amd_events_table();
  take_until('\n', text);  // the names of the columns
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    const std::string_view name = take_until('\t', line);
    const auto config = whole_number<std::uint64_t>(take_until('\t', line), 16);
    if (!config || line.find(generation) == std::string_view::npos) continue;
    Event& event = events.emplace_back();
    event.name = name;
    event.config = *config;
    event.source = fmt::format("perf's events of amdzen{}", generation);
    event.precise = false;
    event.precise_source = "kernel";
  }
  return events;
}

void set_precision_by_ibs(std::vector<Event>& events) {
  for (Event& event : events) {
    event.precise = (event.config == 0x76 || event.config == 0xc1) && event.config1 == 0;
    event.precise_source = "kernel";
  }
}

}  // namespace skid::events
