#include "src/output/report/event_levels.h"

#include "src/output/name_list.h"
#include "src/output/report/grouping.h"
#include "src/support/escape.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

void EventLevels::add(const std::string& event, const std::string& level) {
  auto& levels = find_or_add(events_, &decltype(events_)::value_type::first, {event, {}}).second;
  if (std::ranges::find(levels, level) == levels.end()) levels.push_back(level);
}

std::string EventLevels::text(std::size_t most) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < events_.size() && i < most; ++i) {
    parts.push_back(fmt::format("{} {}", shorten(escape_for_terminal(events_[i].first), 40),
                                list_of(events_[i].second, most)));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (events_.size() > most) text += fmt::format("; {} more events", events_.size() - most);
  return text;
}

std::string EventLevels::names(std::size_t most) const {
  const auto name_of = [](const auto& event) {
    return shorten(escape_for_terminal(event.first), 40);
  };
  return list_of(texts_of(events_, name_of), most);
}

}  // namespace skid::output
