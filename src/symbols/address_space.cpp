#include "src/symbols/address_space.h"

#include "src/support/error.h"
#include "src/support/file_identity.h"
#include "src/symbols/overlap_index.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

namespace skid::symbols {

namespace {

/// Bytes that a mapping takes in an OverlapIndex if ranges rarely overlap.
constexpr std::uint64_t kIndexBytes = 64;
/// Bytes that an event takes while events are sorted.
constexpr std::uint64_t kSealBytes = 8;
/// Bytes that std::map and the allocator add to an entry.
constexpr std::uint64_t kNodeBytes = 40;
/// Bytes that a file takes in addition to its names: MappedFile, and the node of the map with its
/// key.
constexpr std::uint64_t kFileBytes = 256;
/// Maximum number of mappings of a life that are searched one by one. Most processes have no more.
constexpr std::uint32_t kFew = 32;

/// Reduces `alike` to the addresses around `address` that are on the same side of the ends of
/// `range`.
void narrow(AddressRange& alike, const AddressRange& range, std::uint64_t address) {
  if (address >= range.end) {
    alike.begin = std::max(alike.begin, range.end);
  } else if (address < range.begin) {
    alike.end = std::min(alike.end, range.begin);
  } else {
    alike = {std::max(alike.begin, range.begin), std::min(alike.end, range.end)};
  }
}

}  // namespace

/// Returns the index of a file, which is added if it is new.
FileIndex AddressSpaces::intern(MappedFile file) {
  FileKey key(file.path, file.build_id, file.identity.inode, file.identity.device);
  const auto next = static_cast<FileIndex>(files_.size());
  const auto [entry, added] = file_indices_.try_emplace(std::move(key), next);
  if (!added) {
    MappedFile& known = files_[entry->second];
    known.is_execute_only |= file.is_execute_only;
    known.is_code |= file.is_code;
    if (known.executable.empty()) {
      known.executable = file.executable;
    } else if (!file.executable.empty()) {
      known.executable = {std::min(known.executable.begin, file.executable.begin),
                          std::max(known.executable.end, file.executable.end)};
    }
    // What perf reads from /proc has no generation. Of two neither is used: no file has that one.
    std::uint64_t& generation = known.identity.generation;
    if (generation == 0) generation = file.identity.generation;
    if (file.identity.generation != 0 && file.identity.generation != generation) {
      generation = UINT64_MAX;
    }
    return entry->second;
  }
  if (file.build_id.empty()) {
    const auto known = known_build_ids_.find(file.path);
    if (known != known_build_ids_.end()) file.build_id = known->second;
  }
  bytes_ += kFileBytes + 2 * (file.path.size() + file.build_id.size());
  files_.push_back(std::move(file));
  return next;
}

void AddressSpaces::add(Mapping event) {
  constexpr std::size_t kMost = kFork;  // indices of files are smaller
  if (mappings_.size() == kMost) throw Error("more than 4294967293 mappings, forks and execs");
  mappings_.push_back(event);
  // A vector may have capacity for twice as many. Any event may begin a life, that of a new
  // process.
  bytes_ += 2 * sizeof(Mapping) + kSealBytes +
            std::max<std::uint64_t>(kIndexBytes, sizeof(Life) + sizeof(Start) + kNodeBytes);
}

void AddressSpaces::map(std::uint64_t time, std::int32_t pid, AddressRange range,
                        std::uint64_t file_offset, MappedFile file) {
  if (range.begin >= range.end) return;
  add({time, range, file_offset - range.begin, intern(std::move(file)),
       static_cast<std::uint32_t>(pid)});
}

void AddressSpaces::fork(std::uint64_t time, std::int32_t parent, std::int32_t child) {
  if (parent == child) return;
  add({time, {static_cast<std::uint32_t>(parent), 0}, 0, kFork, static_cast<std::uint32_t>(child)});
}

void AddressSpaces::exec(std::uint64_t time, std::int32_t pid) {
  add({time, {}, 0, kExec, static_cast<std::uint32_t>(pid)});
}

void AddressSpaces::set_build_id(std::string_view path, std::string_view build_id) {
  const auto [entry, added] = known_build_ids_.try_emplace(std::string(path), build_id);
  if (added) bytes_ += kNodeBytes + sizeof *entry + path.size() + build_id.size();
  if (!added) {
    if (entry->second.empty() || entry->second == build_id) return;  // nothing changes
    entry->second.clear();
  }
  for (auto file = file_indices_.lower_bound(FileKey(path, "", 0, 0));
       file != file_indices_.end() && std::get<0>(file->first) == path &&
       std::get<1>(file->first).empty();
       ++file) {
    files_[file->second].build_id = entry->second;
  }
}

void AddressSpaces::merge_equal_files() {
  std::vector<FileIndex> first(files_.size());
  std::map<std::tuple<std::string_view, std::string_view, AddressRange>, FileIndex> known;
  for (FileIndex i = 0; i < files_.size(); ++i) {
    const MappedFile& file = files_[i];
    first[i] = i;
    if (file.build_id.empty()) continue;
    first[i] = known.try_emplace({file.path, file.build_id, file.executable}, i).first->second;
    files_[first[i]].is_execute_only |= file.is_execute_only;
    files_[first[i]].is_code |= file.is_code;
  }
  for (Mapping& mapping : mappings_) {
    if (mapping.file < kFork) mapping.file = first[mapping.file];
  }
}

void AddressSpaces::seal() {
  merge_equal_files();
  // Sorting numbers takes less memory than sorting events.
  std::vector<std::uint32_t> order(mappings_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [this](std::uint32_t i) { return mappings_[i].since; });
  begin_lives(order);
  place_mappings(std::move(order));
  std::ranges::stable_sort(starts_, {}, &Start::pid);
  find_replaced_code();
}

void AddressSpaces::find_replaced_code() {
  constexpr std::size_t kMost = 16;
  for (const Life& life : lives_) {
    for (std::size_t i = 0; i < life.count && replaced_code_.size() < kMost; ++i) {
      Mapping& mapping = mappings_[life.first + i];
      if (!files_[mapping.file].is_memory) continue;
      AddressRange alike{0, UINT64_MAX};
      const Mapping* before = newest(life, i, mapping.range.begin, alike);
      const bool is_file = before != nullptr && files_[before->file].is_code;
      if (!is_file) continue;
      if (takes_copies_ && mapping.range.end <= before->range.end) {
        mapping.file = before->file;
        mapping.distance = before->distance;
      } else {
        replaced_code_.push_back({mapping.file, mapping.range, before->file});
      }
    }
  }
}

/// Gives each process its lives, and each mapping its life. `order`: numbers of events by time.
void AddressSpaces::begin_lives(const std::vector<std::uint32_t>& order) {
  std::map<std::uint32_t, std::uint32_t>
      current;  // by pid; no hash table: a recording may contain any pids
  const auto life_of = [&](std::uint64_t pid) {
    const auto known = current.find(static_cast<std::uint32_t>(pid));
    return known == current.end() ? kNone : known->second;
  };
  const auto begin_life = [&](std::uint32_t pid, std::uint64_t since) {
    const auto life = static_cast<std::uint32_t>(lives_.size());
    starts_.push_back({static_cast<std::int32_t>(pid), life, since});
    lives_.emplace_back();
    return current[pid] = life;
  };
  std::uint32_t last_pid = 0, last_life = kNone;  // most processes map several files in sequence
  for (const std::uint32_t number : order) {
    Mapping& event = mappings_[number];
    const std::uint32_t pid = std::exchange(event.owner, kNone);
    if (event.file < kFork) {
      if (last_life == kNone || pid != last_pid) {
        last_pid = pid;
        last_life = life_of(pid);
        if (last_life == kNone) last_life = begin_life(pid, 0);
      }
      event.owner = last_life;
      ++lives_[event.owner].count;
      continue;
    }
    const std::uint32_t parent_life = event.file == kFork ? life_of(event.range.begin) : kNone;
    Life& begun = lives_[begin_life(pid, event.since)];
    last_life = kNone;
    if (parent_life == kNone) continue;
    const Life& parent = lives_[parent_life];
    const bool has_own = parent.count > 0;
    begun.parent = has_own ? parent_life : parent.parent;
    begun.inherited = has_own ? parent.count : parent.inherited;
  }
}

/// Sorts the mappings by life and time, and makes the index of lives with many.
void AddressSpaces::place_mappings(std::vector<std::uint32_t> order) {
  std::size_t all = 0;
  for (Life& life : lives_) {
    life.first = all;
    all += std::exchange(life.count, 0);
  }
  // Mappings are moved in place. Forks and execs are moved to the end and removed.
  std::vector<std::uint32_t> places(order.size());
  std::size_t gone = all;
  for (const std::uint32_t number : order) {
    const std::uint32_t owner = mappings_[number].owner;
    const std::size_t place = owner == kNone ? gone++ : lives_[owner].first + lives_[owner].count++;
    places[number] = static_cast<std::uint32_t>(place);
  }
  std::vector<std::uint32_t>().swap(order);
  for (std::size_t i = 0; i < places.size(); ++i) {
    while (places[i] != i) {
      std::swap(mappings_[i], mappings_[places[i]]);
      std::swap(places[i], places[places[i]]);
    }
  }
  mappings_.resize(all);
  for (Life& life : lives_) {
    if (life.count <= kFew) continue;
    std::vector<AddressRange> ranges;
    ranges.reserve(life.count);
    for (std::uint32_t i = 0; i < life.count; ++i)
      ranges.push_back(mappings_[life.first + i].range);
    life.index = std::make_shared<OverlapIndex>(ranges);
  }
}

/// Returns the newest of the oldest `count` mappings of `life` that covers `address`. Reduces
/// `alike` to the addresses around it that the same mappings of these cover.
const AddressSpaces::Mapping* AddressSpaces::newest(const Life& life, std::size_t count,
                                                    std::uint64_t address,
                                                    AddressRange& alike) const {
  const Mapping* const mappings = mappings_.data() + life.first;
  if (life.index) {
    const AddressRange cut = life.index->alike(address);
    alike = {std::max(alike.begin, cut.begin), std::min(alike.end, cut.end)};
    const auto number = life.index->newest(address, count);
    return number ? mappings + *number : nullptr;
  }
  while (count-- > 0) {
    narrow(alike, mappings[count].range, address);
    if (mappings[count].range.contains(address)) return mappings + count;
  }
  return nullptr;
}

Region AddressSpaces::find(std::int32_t pid, std::uint64_t address, std::uint64_t time) const {
  Region region;
  const auto after = std::ranges::partition_point(starts_, [pid, time](const Start& start) {
    return start.pid != pid ? start.pid < pid : start.since <= time;
  });
  if (after != starts_.end() && after->pid == pid) region.until = after->since;
  if (after == starts_.begin() || std::prev(after)->pid != pid) return region;
  region.since = std::prev(after)->since;

  const Life* life = &lives_[std::prev(after)->life];
  const auto own = std::span(mappings_).subspan(life->first, life->count);
  const auto later = std::ranges::upper_bound(own, time, {}, &Mapping::since);
  const auto count = static_cast<std::size_t>(later - own.begin());
  if (life->index) {
    if (const auto next = life->index->oldest(address, count)) {
      region.until = std::min(region.until, own[*next].since);
    }
  } else {
    const auto next = std::find_if(later, own.end(), [address](const Mapping& mapping) {
      return mapping.range.contains(address);
    });
    if (next != own.end()) region.until = std::min(region.until, next->since);
    for (auto mapping = later; mapping != next; ++mapping) {
      narrow(region.addresses, mapping->range, address);
    }
  }
  const Mapping* found = newest(*life, count, address, region.addresses);
  if (found != nullptr) region.since = std::max(region.since, found->since);
  for (; found == nullptr && life->parent != kNone; ++region.ancestors) {
    if (region.ancestors == kMostMappedAncestors) return region;
    const std::size_t inherited = life->inherited;
    life = &lives_[life->parent];
    found = newest(*life, inherited, address, region.addresses);
  }
  if (found != nullptr) {
    region.file = found->file;
    region.distance = found->distance;
  }
  return region;
}

}  // namespace skid::symbols
