// Which file an address belonged to: mapping records replayed in time order.
#pragma once

#include "src/support/address.h"
#include "src/symbols/overlap_index.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::symbols {

/// A mapped file as the recording names it; not opened or verified.
struct MappedFile {
  std::string path;      ///< "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", "//anon"
  std::string build_id;  ///< lower-case hexadecimal; empty when the recording has none

  friend bool operator==(const MappedFile&, const MappedFile&) = default;
};

/// The load address of the recorded kernel, from one of its symbols.
struct KernelReference {
  std::string symbol;  ///< "_text" or "_stext"
  std::uint64_t address = 0;

  friend bool operator==(const KernelReference&, const KernelReference&) = default;
};

using FileIndex = std::uint32_t;

/// An address resolved: a file and a byte offset in it.
struct FileLocation {
  FileIndex file = 0;
  std::uint64_t offset = 0;  ///< bytes from the start of the file
};

/// Mapping events of one recording. They may be added in any order; `seal` puts them in time order
/// (events of equal time keep the order in which they were added). Times are nanoseconds of the
/// recording's clock; a recording without times passes its record offsets instead.
///
/// Recordings do not contain unmappings, so a mapping lasts until newer ones cover it, its process
/// execs, or its pid is reused.
class AddressSpaces {
 public:
  static constexpr std::int32_t kKernel = -1;  ///< pid of kernel mappings, as perf writes it
  /// What a process inherited is looked for in at most so many of its ancestors that have mappings
  /// of their own, and in so many in all: longer chains of forks without an exec are made up.
  static constexpr std::size_t kMostMappedAncestors = 256;
  static constexpr std::size_t kMostAncestors = 512;
  /// With more events than this at an address `constant_between` assumes a change.
  static constexpr std::size_t kMostCompared = 64;

  AddressSpaces() = default;
  AddressSpaces(AddressSpaces&&) = default;
  AddressSpaces& operator=(AddressSpaces&&) = default;
  AddressSpaces(const AddressSpaces&) = delete;  // processes point to their parents
  AddressSpaces& operator=(const AddressSpaces&) = delete;
  ~AddressSpaces() = default;

  /// An empty or inverted range is ignored.
  void map(std::uint64_t time, std::int32_t pid, AddressRange range, std::uint64_t file_offset,
           MappedFile file);
  /// `child` starts with what `parent` has mapped at that time. Threads (child == parent) are
  /// ignored. Not for the FORK records that perf writes for processes that were running already
  /// (PERF_RECORD_MISC_FORK_EXEC): those are followed by all the mappings of the child, and nothing
  /// is inherited.
  void fork(std::uint64_t time, std::int32_t parent, std::int32_t child);
  /// exec: all mappings of `pid` are gone.
  void exec(std::uint64_t time, std::int32_t pid);
  /// Knowledge of a file's build-id from elsewhere (the feature section of a recording), given
  /// before or after its mappings. Does not replace one that a mapping record carried.
  void set_build_id(std::string_view path, std::string_view build_id);

  /// Of several the last is kept.
  void set_kernel_reference(KernelReference reference) { kernel_reference_ = std::move(reference); }
  /// nullopt when the recording has none (kptr_restrict).
  const std::optional<KernelReference>& kernel_reference() const noexcept {
    return kernel_reference_;
  }

  /// Approximate memory of the added events in bytes, including names.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Makes the added events available to lookups. It may be called repeatedly while a recording is
  /// read; the cost is proportional to the new events.
  void seal();

  /// The newest mapping of `pid` at `time` (events of that very time have happened) that covers
  /// `address`; where none does, what it inherited by fork. nullopt when nothing was mapped there.
  /// Only after `seal`.
  std::optional<FileLocation> resolve(std::int32_t pid, std::uint64_t address,
                                      std::uint64_t time) const;

  /// Whether `resolve` gives the same result at every time in [from, to]. Also false if that is
  /// expensive to determine: with more than kMostCompared events at the address in that time, or
  /// many ancestors.
  bool constant_between(std::int32_t pid, std::uint64_t address, std::uint64_t from,
                        std::uint64_t to) const;

  /// The time of the newest event of `pid` until `time` (included) that concerns `address`: a
  /// mapping that covers it, an exec, a fork that the process was born by. 0 when there is none.
  std::uint64_t last_change(std::int32_t pid, std::uint64_t address, std::uint64_t time) const;
  /// The time of the oldest such event after `time`; nullopt when there is none.
  std::optional<std::uint64_t> next_change(std::int32_t pid, std::uint64_t address,
                                           std::uint64_t time) const;
  /// Addresses around `address` that no event of `pid` concerns without concerning it too. May be
  /// without the last address of all.
  AddressRange alike(std::int32_t pid, std::uint64_t address) const;

  const MappedFile& file(FileIndex index) const { return files_[index]; }
  std::size_t file_count() const noexcept { return files_.size(); }

 private:
  /// A point between events: all events of smaller moments have happened.
  struct Moment {
    std::uint64_t time = 0;
    std::uint64_t order = 0;  // among events of equal time: the order of adding

    friend bool operator<(const Moment& a, const Moment& b) {
      return a.time != b.time ? a.time < b.time : a.order < b.order;
    }
  };
  struct Mapping {
    Moment moment;
    AddressRange range;
    std::uint64_t file_offset;
    FileIndex file;
  };
  struct Process;
  /// The pid starts again: by exec without mappings, by fork with those of its parent.
  struct Beginning {
    Moment moment;
    const Process* parent;  // null: exec
  };
  /// Events by time. Batches overlap in time, so a later one may belong earlier.
  struct Beginnings {
    std::vector<Beginning> events;
  };
  struct Mappings {
    std::vector<Mapping> events;
    OverlapIndex index;  // over `events`
  };
  /// Each batch is at least twice as large as the next, so there are few, and an event is moved
  /// from batch to batch a few times only (the logarithmic method of Bentley and Saxe).
  struct Process {
    std::vector<Mappings> mappings;
    std::vector<Beginnings> beginnings;
    std::vector<Mapping> new_mappings;  // not sealed, in the order of adding
    std::vector<Beginning> new_beginnings;
  };

  /// What a process has of its ancestors since a beginning: the same distance from each of these
  /// addresses to the bytes in a file, or nothing.
  struct Inherited {
    AddressRange addresses;
    std::optional<FileLocation> of_first;
  };

  template <typename Event>
  static std::size_t before(const std::vector<Event>& events, Moment moment);
  template <typename Batch, typename Event>
  static void add_batch(std::vector<Batch>& batches, std::vector<Event>& events);
  static Moment after_all_at(std::uint64_t time);
  static const Mapping* newest_mapping(const Process& process, std::uint64_t address,
                                       Moment moment);
  static const Beginning* newest_beginning(const Process& process, Moment moment);
  static AddressRange alike(const Process& process, std::uint64_t address);
  std::optional<FileLocation> resolve_before(const Process& process, std::uint64_t address,
                                             Moment moment, std::size_t& steps) const;
  std::optional<FileLocation> inherited(const Process& process, const Beginning& beginning,
                                        std::uint64_t address, std::size_t& steps) const;
  Moment next_moment(std::uint64_t time) { return {time, order_++}; }
  const Process* find(std::int32_t pid) const;
  Process& process(std::int32_t pid);
  Process& unsealed(std::int32_t pid);
  FileIndex intern(MappedFile file);
  bool same(const std::optional<FileLocation>& a, const std::optional<FileLocation>& b) const;

  std::uint64_t order_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::int32_t, Process> processes_;  // no hash: a recording may name any pids
  std::vector<Process*> unsealed_;             // those with new events
  /// Cached lookups in ancestors, by start and first address, until new events are sealed. Lookups
  /// change it, so only one thread at a time may look up.
  mutable std::map<const Beginning*, std::map<std::uint64_t, Inherited>> inherited_;
  mutable std::size_t inherited_answers_ = 0;
  std::vector<MappedFile> files_;
  std::map<std::pair<std::string, std::string>, FileIndex> file_indices_;  // as recorded
  std::map<std::string, std::string, std::less<>> known_build_ids_;        // by path
  std::optional<KernelReference> kernel_reference_;
};

}  // namespace skid::symbols
