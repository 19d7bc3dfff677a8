#include "src/symbols/address_space.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace skid::symbols {

namespace {

/// Bytes of a mapping in an OverlapIndex if ranges rarely overlap.
constexpr std::uint64_t kIndexBytes = 64;
/// What std::map and the allocator add to an entry.
constexpr std::uint64_t kNodeBytes = 40;
/// Bytes of a process in addition to its entry: the first allocations of its vectors.
constexpr std::uint64_t kProcessBytes = 64;
/// Bytes of a file in addition to its names: MappedFile, and the node of the map with its key.
constexpr std::uint64_t kFileBytes = 192;
/// Cached lookups in ancestors, about 100 bytes each.
constexpr std::size_t kMostAnswers = std::size_t{1} << 18;
/// Processes that `constant_between` looks at.
constexpr std::size_t kMostSteps = 4 * AddressSpaces::kMostAncestors;

AddressRange common(const AddressRange& a, const AddressRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

template <typename Event>
bool earlier(const Event& a, const Event& b) {
  return a.moment < b.moment;
}

}  // namespace

AddressSpaces::Moment AddressSpaces::after_all_at(std::uint64_t time) {
  return {time, std::numeric_limits<std::uint64_t>::max()};
}

/// How many of `events` are before `moment`.
template <typename Event>
std::size_t AddressSpaces::before(const std::vector<Event>& events, Moment moment) {
  const auto end = std::partition_point(
      events.begin(), events.end(), [moment](const Event& event) { return event.moment < moment; });
  return static_cast<std::size_t>(end - events.begin());
}

const AddressSpaces::Process* AddressSpaces::find(std::int32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

AddressSpaces::Process& AddressSpaces::process(std::int32_t pid) {
  const auto [entry, added] = processes_.try_emplace(pid);
  if (added) bytes_ += kNodeBytes + sizeof *entry + kProcessBytes;
  return entry->second;
}

AddressSpaces::Process& AddressSpaces::unsealed(std::int32_t pid) {
  Process& unsealed = process(pid);
  if (unsealed.new_mappings.empty() && unsealed.new_beginnings.empty()) {
    unsealed_.push_back(&unsealed);
  }
  return unsealed;
}

FileIndex AddressSpaces::intern(MappedFile file) {
  auto key = std::pair(file.path, file.build_id);
  const auto next = static_cast<FileIndex>(files_.size());
  const auto [entry, added] = file_indices_.try_emplace(std::move(key), next);
  if (!added) return entry->second;
  if (file.build_id.empty()) {
    const auto known = known_build_ids_.find(file.path);
    if (known != known_build_ids_.end()) file.build_id = known->second;
  }
  bytes_ += kFileBytes + 2 * (file.path.size() + file.build_id.size());
  files_.push_back(std::move(file));
  return next;
}

void AddressSpaces::map(std::uint64_t time, std::int32_t pid, AddressRange range,
                        std::uint64_t file_offset, MappedFile file) {
  if (range.begin >= range.end) return;
  const FileIndex index = intern(std::move(file));
  unsealed(pid).new_mappings.push_back({next_moment(time), range, file_offset, index});
  bytes_ += 2 * sizeof(Mapping) + kIndexBytes;
}

void AddressSpaces::fork(std::uint64_t time, std::int32_t parent, std::int32_t child) {
  if (parent == child) return;
  const Process& parent_process = process(parent);
  unsealed(child).new_beginnings.push_back({next_moment(time), &parent_process});
  bytes_ += 2 * sizeof(Beginning);
}

void AddressSpaces::exec(std::uint64_t time, std::int32_t pid) {
  unsealed(pid).new_beginnings.push_back({next_moment(time), nullptr});
  bytes_ += 2 * sizeof(Beginning);
}

void AddressSpaces::set_build_id(std::string_view path, std::string_view build_id) {
  const auto [entry, added] =
      known_build_ids_.insert_or_assign(std::string(path), std::string(build_id));
  if (added) bytes_ += kNodeBytes + sizeof *entry + path.size() + build_id.size();
  const auto without_one = file_indices_.find(std::pair(std::string(path), std::string()));
  if (without_one != file_indices_.end()) files_[without_one->second].build_id = build_id;
}

/// Makes `events` the last of `batches`, merged with those before that are of like size or smaller.
template <typename Batch, typename Event>
void AddressSpaces::add_batch(std::vector<Batch>& batches, std::vector<Event>& events) {
  std::sort(events.begin(), events.end(), earlier<Event>);
  while (!batches.empty() && batches.back().events.size() < 2 * events.size()) {
    const std::vector<Event>& last = batches.back().events;
    std::vector<Event> merged;
    merged.reserve(last.size() + events.size());
    std::merge(last.begin(), last.end(), events.begin(), events.end(), std::back_inserter(merged),
               earlier<Event>);
    events = std::move(merged);
    batches.pop_back();
  }
  batches.emplace_back().events = std::move(events);
  events = {};
}

void AddressSpaces::seal() {
  if (!unsealed_.empty()) {
    inherited_.clear();
    inherited_answers_ = 0;
  }
  for (Process* process : unsealed_) {
    if (!process->new_beginnings.empty()) add_batch(process->beginnings, process->new_beginnings);
    if (process->new_mappings.empty()) continue;
    add_batch(process->mappings, process->new_mappings);
    Mappings& last = process->mappings.back();
    std::vector<AddressRange> ranges;
    ranges.reserve(last.events.size());
    for (const Mapping& mapping : last.events) ranges.push_back(mapping.range);
    last.index = OverlapIndex(ranges);
  }
  unsealed_.clear();
}

const AddressSpaces::Mapping* AddressSpaces::newest_mapping(const Process& process,
                                                            std::uint64_t address, Moment moment) {
  const Mapping* newest = nullptr;
  for (const Mappings& batch : process.mappings) {
    const auto number = batch.index.newest(address, before(batch.events, moment));
    if (!number) continue;
    const Mapping& mapping = batch.events[*number];
    if (newest == nullptr || newest->moment < mapping.moment) newest = &mapping;
  }
  return newest;
}

const AddressSpaces::Beginning* AddressSpaces::newest_beginning(const Process& process,
                                                                Moment moment) {
  const Beginning* newest = nullptr;
  for (const Beginnings& batch : process.beginnings) {
    const std::size_t count = before(batch.events, moment);
    if (count == 0) continue;
    const Beginning& beginning = batch.events[count - 1];
    if (newest == nullptr || newest->moment < beginning.moment) newest = &beginning;
  }
  return newest;
}

/// Adds to `steps` how many processes it looked at.
std::optional<FileLocation> AddressSpaces::resolve_before(const Process& process,
                                                          std::uint64_t address, Moment moment,
                                                          std::size_t& steps) const {
  ++steps;
  const Beginning* beginning = newest_beginning(process, moment);
  const Mapping* mapping = newest_mapping(process, address, moment);
  if (mapping != nullptr && (beginning == nullptr || beginning->moment < mapping->moment)) {
    return FileLocation{mapping->file, mapping->file_offset + (address - mapping->range.begin)};
  }
  if (beginning == nullptr || beginning->parent == nullptr) return std::nullopt;
  return inherited(process, *beginning, address, steps);
}

std::optional<FileLocation> AddressSpaces::inherited(const Process& process,
                                                     const Beginning& beginning,
                                                     std::uint64_t address,
                                                     std::size_t& steps) const {
  const auto known = inherited_.find(&beginning);
  if (known != inherited_.end()) {
    const auto after = known->second.upper_bound(address);
    if (after != known->second.begin()) {
      const auto& [addresses, of_first] = std::prev(after)->second;
      if (addresses.contains(address)) {
        if (!of_first) return std::nullopt;
        return FileLocation{of_first->file, of_first->offset + (address - addresses.begin)};
      }
    }
  }

  // Each step goes to a parent and back to the moment of the fork, which is before that of the
  // child: processes that a damaged recording makes each other's parents do no harm.
  AddressRange addresses{0, std::numeric_limits<std::uint64_t>::max()};
  std::optional<FileLocation> found;
  std::size_t mapped = process.mappings.empty() ? 0 : 1;
  const Beginning* born = &beginning;
  for (std::size_t ancestors = 1; ancestors <= kMostAncestors; ++ancestors) {
    ++steps;
    const Process& ancestor = *born->parent;
    const Moment moment = born->moment;
    born = newest_beginning(ancestor, moment);
    if (!ancestor.mappings.empty()) {
      addresses = common(addresses, alike(ancestor, address));
      const Mapping* mapping = newest_mapping(ancestor, address, moment);
      if (mapping != nullptr && (born == nullptr || born->moment < mapping->moment)) {
        found =
            FileLocation{mapping->file, mapping->file_offset + (address - mapping->range.begin)};
        break;
      }
      if (++mapped > kMostMappedAncestors) break;
    }
    if (born == nullptr || born->parent == nullptr) break;
  }
  if (!addresses.contains(address)) return found;  // the last address of all
  if (inherited_answers_ >= kMostAnswers) {
    inherited_.clear();
    inherited_answers_ = 0;
  }
  auto of_first = found;
  if (of_first) of_first->offset -= address - addresses.begin;
  inherited_[&beginning].insert_or_assign(addresses.begin, Inherited{addresses, of_first});
  ++inherited_answers_;
  return found;
}

std::optional<FileLocation> AddressSpaces::resolve(std::int32_t pid, std::uint64_t address,
                                                   std::uint64_t time) const {
  const Process* process = find(pid);
  if (process == nullptr) return std::nullopt;
  std::size_t steps = 0;
  return resolve_before(*process, address, after_all_at(time), steps);
}

bool AddressSpaces::same(const std::optional<FileLocation>& a,
                         const std::optional<FileLocation>& b) const {
  if (!a || !b) return a.has_value() == b.has_value();
  // A path recorded with its build-id and, elsewhere, without it has two indices.
  return a->offset == b->offset && (a->file == b->file || files_[a->file] == files_[b->file]);
}

bool AddressSpaces::constant_between(std::int32_t pid, std::uint64_t address, std::uint64_t from,
                                     std::uint64_t to) const {
  const Process* process = find(pid);
  if (process == nullptr || from >= to) return true;

  // Only an event of this process can change the result: inherited mappings are fixed at its fork.
  const Moment first = after_all_at(from);
  const Moment last = after_all_at(to);
  std::vector<std::uint64_t> times;
  for (const Beginnings& batch : process->beginnings) {
    const std::size_t end = before(batch.events, last);
    for (std::size_t number = before(batch.events, first); number < end; ++number) {
      if (times.size() == kMostCompared) return false;
      times.push_back(batch.events[number].moment.time);
    }
  }
  for (const Mappings& batch : process->mappings) {
    const std::size_t begin = before(batch.events, first);
    const std::size_t end = before(batch.events, last);
    if (begin == end) continue;
    const auto numbers =
        batch.index.covering(address, begin, end, kMostCompared + 1 - times.size());
    for (const std::size_t number : numbers) times.push_back(batch.events[number].moment.time);
    if (times.size() > kMostCompared) return false;
  }
  if (times.empty()) return true;

  std::size_t steps = 0;
  const auto answer = resolve_before(*process, address, first, steps);
  return std::all_of(times.begin(), times.end(), [&](std::uint64_t time) {
    return steps < kMostSteps &&
           same(answer, resolve_before(*process, address, after_all_at(time), steps));
  });
}

std::uint64_t AddressSpaces::last_change(std::int32_t pid, std::uint64_t address,
                                         std::uint64_t time) const {
  const Process* process = find(pid);
  if (process == nullptr) return 0;
  const Moment moment = after_all_at(time);
  const Mapping* mapping = newest_mapping(*process, address, moment);
  const Beginning* beginning = newest_beginning(*process, moment);
  return std::max(mapping == nullptr ? 0 : mapping->moment.time,
                  beginning == nullptr ? 0 : beginning->moment.time);
}

std::optional<std::uint64_t> AddressSpaces::next_change(std::int32_t pid, std::uint64_t address,
                                                        std::uint64_t time) const {
  const Process* process = find(pid);
  if (process == nullptr) return std::nullopt;
  const Moment moment = after_all_at(time);
  std::optional<std::uint64_t> next;
  const auto take = [&next](const Moment& event) {
    if (!next || event.time < *next) next = event.time;
  };
  for (const Beginnings& batch : process->beginnings) {
    const std::size_t number = before(batch.events, moment);
    if (number < batch.events.size()) take(batch.events[number].moment);
  }
  for (const Mappings& batch : process->mappings) {
    const auto number = batch.index.oldest(address, before(batch.events, moment));
    if (number) take(batch.events[*number].moment);
  }
  return next;
}

AddressRange AddressSpaces::alike(const Process& process, std::uint64_t address) {
  AddressRange range{0, std::numeric_limits<std::uint64_t>::max()};
  for (const Mappings& batch : process.mappings) {
    range = common(range, batch.index.alike(address));
  }
  return range;
}

AddressRange AddressSpaces::alike(std::int32_t pid, std::uint64_t address) const {
  const Process* process = find(pid);
  return process == nullptr ? AddressRange{0, std::numeric_limits<std::uint64_t>::max()}
                            : alike(*process, address);
}

}  // namespace skid::symbols
