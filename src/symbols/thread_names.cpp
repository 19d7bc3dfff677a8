#include "src/symbols/thread_names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace skid::symbols {

namespace {

/// Maximum length of a name. /proc has up to 64 bytes for kernel threads; other threads have 16.
constexpr std::size_t kLongestComm = 64;

}  // namespace

void ThreadNames::rename(std::uint64_t time, std::int32_t tid, std::string comm) {
  if (comm.size() > kLongestComm) comm.resize(kLongestComm);
  // A vector may have capacity for twice as many; sorting and the map of threads take as much
  // again.
  bytes_ += 4 * (sizeof(Event) + comm.size());
  events_.push_back({time, tid, tid, std::move(comm)});
}

void ThreadNames::fork(std::uint64_t time, std::int32_t parent, std::int32_t child) {
  rename(time, child, {});
  events_.back().parent = parent;
  bytes_ += 4 * kLongestComm;  // seal() copies the name of the parent
}

void ThreadNames::seal() {
  std::ranges::stable_sort(events_, {}, &Event::since);
  std::map<std::int32_t, std::string> current{{0, "swapper"}};  // by tid
  for (Event& event : events_) {
    if (event.parent != event.tid) event.name = current[event.parent];
    current[event.tid] = event.name;
  }
  std::ranges::stable_sort(events_, {}, &Event::tid);
}

std::string ThreadNames::at(std::int32_t tid, std::uint64_t time) const {
  const auto after = std::ranges::partition_point(events_, [tid, time](const Event& event) {
    return event.tid != tid ? event.tid < tid : event.since <= time;
  });
  const bool is_known = after != events_.begin() && std::prev(after)->tid == tid;
  if (is_known && !std::prev(after)->name.empty()) return std::prev(after)->name;
  return tid == 0 ? "swapper" : fmt::format(":{}", tid);
}

}  // namespace skid::symbols
