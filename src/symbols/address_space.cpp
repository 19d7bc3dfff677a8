#include "src/symbols/address_space.h"

#include <algorithm>
#include <limits>

namespace skid::symbols {

namespace {

template <typename Event>
bool earlier(const Event& a, const Event& b) {
  return a.moment < b.moment;
}

}  // namespace

AddressSpaces::Moment AddressSpaces::after_all_at(std::uint64_t time) {
  return {time, std::numeric_limits<std::uint64_t>::max()};
}

std::size_t AddressSpaces::mappings_before(const Process& process, Moment moment) {
  const auto end =
      std::partition_point(process.mappings.begin(), process.mappings.end(),
                           [moment](const Mapping& mapping) { return mapping.moment < moment; });
  return static_cast<std::size_t>(end - process.mappings.begin());
}

AddressSpaces::Process& AddressSpaces::unsealed(std::int32_t pid) {
  Process& process = processes_[pid];
  process.sealed = false;
  return process;
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
  files_.push_back(std::move(file));
  return next;
}

void AddressSpaces::map(std::uint64_t time, std::int32_t pid, AddressRange range,
                        std::uint64_t file_offset, MappedFile file) {
  if (range.begin >= range.end) return;
  const FileIndex index = intern(std::move(file));
  unsealed(pid).mappings.push_back({next_moment(time), range, file_offset, index});
}

void AddressSpaces::fork(std::uint64_t time, std::int32_t parent, std::int32_t child) {
  if (parent == child) return;
  unsealed(child).beginnings.push_back({next_moment(time), parent});
}

void AddressSpaces::exec(std::uint64_t time, std::int32_t pid) {
  unsealed(pid).beginnings.push_back({next_moment(time), std::nullopt});
}

void AddressSpaces::set_build_id(std::string_view path, std::string_view build_id) {
  known_build_ids_.insert_or_assign(std::string(path), std::string(build_id));
  const auto without_one = file_indices_.find(std::pair(std::string(path), std::string()));
  if (without_one != file_indices_.end()) files_[without_one->second].build_id = build_id;
}

void AddressSpaces::seal() {
  for (auto& [pid, process] : processes_) {
    if (process.sealed) continue;
    std::sort(process.mappings.begin(), process.mappings.end(), earlier<Mapping>);
    std::sort(process.beginnings.begin(), process.beginnings.end(), earlier<Beginning>);
    std::vector<AddressRange> ranges;
    ranges.reserve(process.mappings.size());
    for (const Mapping& mapping : process.mappings) ranges.push_back(mapping.range);
    process.index = OverlapIndex(ranges);
    process.sealed = true;
  }
}

std::optional<FileLocation> AddressSpaces::resolve_before(std::int32_t pid, std::uint64_t address,
                                                          Moment moment) const {
  // Each step goes to a parent and back to the moment of the fork, which is before `moment`:
  // this ends even when a damaged recording makes processes each other's parents.
  for (;;) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) return std::nullopt;
    const Process& process = found->second;

    const auto after = std::partition_point(
        process.beginnings.begin(), process.beginnings.end(),
        [moment](const Beginning& beginning) { return beginning.moment < moment; });
    const Beginning* beginning = after == process.beginnings.begin() ? nullptr : &*(after - 1);

    const auto newest = process.index.newest(address, mappings_before(process, moment));
    if (newest) {
      const Mapping& mapping = process.mappings[*newest];
      if (beginning == nullptr || beginning->moment < mapping.moment) {
        return FileLocation{mapping.file, mapping.file_offset + (address - mapping.range.begin)};
      }
    }
    if (beginning == nullptr || !beginning->parent) return std::nullopt;
    pid = *beginning->parent;
    moment = beginning->moment;
  }
}

std::optional<FileLocation> AddressSpaces::resolve(std::int32_t pid, std::uint64_t address,
                                                   std::uint64_t time) const {
  return resolve_before(pid, address, after_all_at(time));
}

bool AddressSpaces::same(const std::optional<FileLocation>& a,
                         const std::optional<FileLocation>& b) const {
  if (!a || !b) return a.has_value() == b.has_value();
  // A path recorded with its build-id and, elsewhere, without it has two indices.
  return a->offset == b->offset && (a->file == b->file || files_[a->file] == files_[b->file]);
}

bool AddressSpaces::constant_between(std::int32_t pid, std::uint64_t address, std::uint64_t from,
                                     std::uint64_t to) const {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || from >= to) return true;
  const Process& process = found->second;
  const std::optional<FileLocation> answer = resolve(pid, address, from);
  const auto differs_at = [&](std::uint64_t time) {
    return !same(answer, resolve(pid, address, time));
  };

  // The answer can change only with an event of this very process: what it inherited was settled
  // at its fork.
  const Moment first = after_all_at(from);
  const Moment last = after_all_at(to);
  auto beginning = std::partition_point(process.beginnings.begin(), process.beginnings.end(),
                                        [first](const Beginning& b) { return b.moment < first; });
  for (; beginning != process.beginnings.end() && beginning->moment < last; ++beginning) {
    if (differs_at(beginning->moment.time)) return false;
  }
  for (const std::size_t number : process.index.covering(address, mappings_before(process, first),
                                                         mappings_before(process, last))) {
    if (differs_at(process.mappings[number].moment.time)) return false;
  }
  return true;
}

}  // namespace skid::symbols
