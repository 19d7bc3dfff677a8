#include "tests/support/history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace skid::test {
namespace {

using What = Occurrence::What;

constexpr std::uint16_t kKernelMode = 1, kUserMode = 2, kHypervisorMode = 3;
constexpr std::int32_t kKernel = -1;
constexpr std::uint64_t kPage = 0x1000;

/// Draws occurrences one after the other.
class Historian {
 public:
  Historian(const HistoryShape& shape, std::mt19937_64& random) : shape_(shape), random_(random) {}

  std::vector<Occurrence> generate() {
    // Records that perf synthesizes for the kernel and existing processes.
    for (int i = 0; i < 6; ++i) add_mapping(kKernel, 0);
    for (const std::int32_t pid : {100, 101, 102}) {
      for (int i = 0; i < 4; ++i) add_mapping(pid, 0);
    }
    std::uint64_t time = 1000;
    while (history_.size() < shape_.occurrences) {
      if (!shape_.same_times || below(20) != 0) time += 1 + below(50);
      if (chance(shape_.changes)) {
        add_change(time);
      } else {
        add_sample(time);
      }
    }
    return std::move(history_);
  }

 private:
  std::uint64_t below(std::uint64_t limit) {
    return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_);
  }
  bool chance(double part) { return std::uniform_real_distribution<>()(random_) < part; }
  std::int32_t any_pid() { return 100 + static_cast<std::int32_t>(below(6)); }
  /// With few slots, files follow each other at one address and overlap in part.
  static std::uint64_t slot(std::int32_t pid, std::uint64_t number) {
    return (pid == kKernel ? 0xffff'ffff'a000'0000 : 0x40'0000) + number * kPage;
  }

  Occurrence& add(What what, std::uint64_t time, std::int32_t pid) {
    Occurrence occurrence;
    occurrence.what = what;
    occurrence.time = time;
    occurrence.pid = pid;
    occurrence.cpu = static_cast<unsigned>(below(shape_.cpus));
    return history_.emplace_back(std::move(occurrence));
  }

  void add_mapping(std::int32_t pid, std::uint64_t time) {
    Occurrence& map = add(below(2) == 0 ? What::map : What::map2, time, pid);
    map.address = slot(pid, below(shape_.slots));
    map.length = kPage * (1 + below(3));
    map.file_offset = kPage * below(3);
    map.file = pid == kKernel ? "[module" + std::to_string(below(4)) + "]"
                              : "/lib/file" + std::to_string(below(5));
    map.misc = pid == kKernel ? kKernelMode : kUserMode;
  }

  void add_change(std::uint64_t time) {
    switch (below(10)) {
      case 0:
        add_mapping(kKernel, time);
        return;
      case 1: {  // a new process, often with a reused pid
        const std::int32_t child = any_pid();
        add(What::fork, time, child).parent = any_pid();
        return;
      }
      case 2:
        add(What::exec, time, any_pid());
        return;
      case 3: {
        const std::int32_t pid = any_pid();
        constexpr What kWithoutEffect[] = {What::thread, What::comm, What::listed_fork};
        Occurrence& none = add(kWithoutEffect[below(3)], time, pid);
        none.parent = none.what == What::thread ? pid : any_pid();
        return;
      }
      default:  // dlopen, often at a used address
        add_mapping(any_pid(), time);
    }
  }

  void add_sample(std::uint64_t time) {
    Occurrence& sample = add(What::sample, time, chance(shape_.hot) ? 100 : any_pid());
    sample.event = static_cast<std::uint32_t>(below(shape_.events));
    const bool is_hot = sample.pid == 100 && shape_.hot > 0;
    const std::uint64_t mode = is_hot ? 99 : below(20);
    sample.misc = mode == 0 ? kHypervisorMode : mode < 5 ? kKernelMode : kUserMode;
    sample.address = slot(mode < 5 ? kKernel : sample.pid, below(shape_.slots + 2)) +
                     below(shape_.addresses) * (kPage / shape_.addresses);
    if (below(3) == 0) sample.misc |= PERF_RECORD_MISC_EXACT_IP;
  }

  const HistoryShape& shape_;
  std::mt19937_64& random_;
  std::vector<Occurrence> history_;
};

/// The address spaces of all processes at one moment.
class World {
 public:
  void happen(const Occurrence& event) {
    switch (event.what) {
      case What::map:
      case What::map2: {
        auto& address_space = spaces_[event.pid];
        const std::uint64_t end = event.address + event.length;
        std::erase_if(address_space, [&](const Occurrence& old) {
          return old.address >= event.address && old.address + old.length <= end;
        });
        address_space.push_back(event);
        break;
      }
      case What::fork: {
        if (event.pid == event.parent) break;  // a thread
        const auto parent = spaces_[event.parent];
        spaces_[event.pid] = parent;
        break;
      }
      case What::exec:
        spaces_[event.pid].clear();
        break;
      default:
        break;
    }
  }

  PlaceKey place_of(const Occurrence& sample) const {
    const std::uint32_t mode = sample.misc & PERF_RECORD_MISC_CPUMODE_MASK;
    const bool exact = (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
    PlaceKey place;
    place.event = sample.event;
    place.kind = mode | (exact ? 8u : 0u);
    const auto space = spaces_.find(mode == kKernelMode ? kKernel : sample.pid);
    // The half of an unmapped address, and of the user's half whether it is in the first 128 KiB.
    constexpr std::uint64_t kFirst = std::uint64_t{1} << 17;
    place.ip = sample.address & std::uint64_t{1} << 63;
    if (place.ip == 0 && sample.address >= kFirst) place.ip = kFirst;
    if (mode == kHypervisorMode || space == spaces_.end()) return place;
    for (auto map = space->second.rbegin(); map != space->second.rend(); ++map) {
      if (sample.address < map->address || sample.address - map->address >= map->length) continue;
      place.file = map->file;
      place.file_offset = map->file_offset + (sample.address - map->address);
      place.ip = mode == kKernelMode ? sample.address : 0;
      break;
    }
    return place;
  }

 private:
  std::map<std::int32_t, std::vector<Occurrence>> spaces_;  // mappings, the newest last
};

}  // namespace

std::vector<Occurrence> random_history(const HistoryShape& shape, std::mt19937_64& random) {
  return Historian(shape, random).generate();
}

PlaceCounts places_by_replay(const std::vector<Occurrence>& history, bool timed) {
  std::vector<const Occurrence*> order;
  order.reserve(history.size());
  for (const Occurrence& occurrence : history) order.push_back(&occurrence);
  if (timed) {
    std::stable_sort(order.begin(), order.end(), [](const Occurrence* a, const Occurrence* b) {
      return std::pair(a->time, a->what == What::sample) <
             std::pair(b->time, b->what == What::sample);
    });
  }
  World world;
  PlaceCounts counts;
  for (const Occurrence* occurrence : order) {
    if (occurrence->what == What::sample) {
      ++counts[world.place_of(*occurrence)];
    } else {
      world.happen(*occurrence);
    }
  }
  return counts;
}

std::uint64_t misplaced(const PlaceCounts& expected, const PlaceCounts& found) {
  std::uint64_t samples = 0;
  for (const auto& [place, count] : expected) {
    const auto there = found.find(place);
    samples += count - std::min(count, there == found.end() ? 0 : there->second);
  }
  return samples;
}

std::vector<std::vector<Occurrence>> in_rounds(const std::vector<Occurrence>& history,
                                               unsigned cpus, std::size_t rounds,
                                               std::mt19937_64& random) {
  // When each buffer was emptied, in each round one after the other.
  std::vector<std::size_t> moments(rounds * cpus);
  for (auto& moment : moments) {
    moment = std::uniform_int_distribution<std::size_t>(0, history.size())(random);
  }
  std::sort(moments.begin(), moments.end());
  std::vector<unsigned> cpu_order(cpus);
  std::iota(cpu_order.begin(), cpu_order.end(), 0u);

  std::vector<std::vector<std::size_t>> buffers(cpus);
  std::vector<std::vector<Occurrence>> written(rounds + 1);
  // Synthesized records come first.
  std::size_t next = 0;
  for (; next < history.size() && history[next].time == 0; ++next) {
    written.front().push_back(history[next]);
  }
  std::vector<std::size_t> begin(cpus, next);
  const auto empty_buffer = [&](unsigned cpu, std::size_t end, std::vector<Occurrence>& round) {
    for (std::size_t i = begin[cpu]; i < end; ++i) {
      if (history[i].cpu == cpu) round.push_back(history[i]);
    }
    begin[cpu] = std::max(begin[cpu], end);
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    std::shuffle(cpu_order.begin(), cpu_order.end(), random);
    for (unsigned i = 0; i < cpus; ++i) {
      empty_buffer(cpu_order[i], moments[round * cpus + i], written[round]);
    }
  }
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    empty_buffer(cpu, history.size(), written.back());
  }
  return written;
}

RecordingBuilder HistoryWriter::begin() const {
  RecordingBuilder builder;
  for (std::uint32_t event = 0; event < shape_.events; ++event) {
    EventToBuild built;
    built.config = event;
    built.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    if (shape_.timed) built.sample_type |= PERF_SAMPLE_TIME;
    if (shape_.events > 1) {
      built.sample_type |= PERF_SAMPLE_IDENTIFIER;
      built.ids = {1000 + event};
    }
    builder.event(built);
  }
  return builder;
}

void HistoryWriter::add(RecordingBuilder& builder, const Occurrence& occurrence) const {
  const std::uint64_t id = 1000 + occurrence.event;
  const std::int32_t pid = occurrence.pid;
  auto body = builder.writer();
  std::uint32_t type = PERF_RECORD_SAMPLE;
  std::uint16_t misc = occurrence.misc;
  switch (occurrence.what) {
    case What::sample:
      if (shape_.events > 1) body.u64(id);
      body.u64(occurrence.address).i32(pid).i32(pid);
      if (shape_.timed) body.u64(occurrence.time);
      builder.record(type, misc, body.bytes());
      return;
    case What::map:
    case What::map2:
      type = PERF_RECORD_MMAP;
      body.i32(pid).i32(pid).u64(occurrence.address).u64(occurrence.length);
      body.u64(occurrence.file_offset);
      if (occurrence.what == What::map2) {
        type = PERF_RECORD_MMAP2;
        body.u64(0).u64(0).u64(0).u32(5).u32(2);  // device and inode; PROT_READ | PROT_EXEC, flags
      }
      body.text(occurrence.file);
      break;
    case What::fork:
    case What::listed_fork:
    case What::thread:
      type = PERF_RECORD_FORK;
      misc = occurrence.what == What::listed_fork ? PERF_RECORD_MISC_FORK_EXEC : 0;
      body.i32(pid).i32(occurrence.parent).i32(pid).i32(occurrence.parent).u64(occurrence.time);
      break;
    case What::exec:
    case What::comm:
      type = PERF_RECORD_COMM;
      misc = occurrence.what == What::exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
      body.i32(pid).i32(pid).text("name");
      break;
  }
  body.i32(pid).i32(pid);  // the trailer of sample_id_all
  if (shape_.timed) body.u64(occurrence.time);
  if (shape_.events > 1) body.u64(id);
  builder.record(type, misc, body.bytes());
}

RecordingBuilder HistoryWriter::whole(const std::vector<Occurrence>& history) const {
  auto builder = begin();
  for (const Occurrence& occurrence : history) add(builder, occurrence);
  return builder;
}

}  // namespace skid::test
