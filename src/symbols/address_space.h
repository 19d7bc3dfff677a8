// The files that addresses belong to, by time: the records of mappings replayed in time order.
#pragma once

#include "src/support/address.h"
#include "src/symbols/file_location.h"
#include "src/symbols/kernel_reference.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/region.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::symbols {

class OverlapIndex;

/// Mapping events of one recording. They may be added in any order; `seal`, called after all of
/// them, puts them in time order (events of equal time keep the order in which they were added).
/// Lookups are thread-safe. Times are nanoseconds of the recording's clock, or Record::position if
/// the recording has no times.
///
/// Recordings do not contain unmappings, so a mapping lasts until newer ones cover it, its process
/// execs, or its pid is reused.
class AddressSpaces {
 public:
  static constexpr std::int32_t kKernel = -1;  ///< pid of kernel mappings, as perf writes it
  /// Maximum number of ancestors with own mappings in which inherited mappings are searched.
  /// Longer chains of forks without an exec occur only in crafted recordings.
  static constexpr std::size_t kMostMappedAncestors = 256;

  /// Adds a mapping of `file` from `file_offset` on. An empty or inverted range is ignored. Files
  /// of one path with different devices or inodes are different files, unless `seal` finds them
  /// equal.
  void map(std::uint64_t time, std::int32_t pid, AddressRange range, std::uint64_t file_offset,
           MappedFile file);
  /// Adds a fork: `child` starts with the mappings that `parent` has at that time. Threads (child
  /// == parent) are ignored. Not for the FORK records that perf writes for processes that were
  /// running already (PERF_RECORD_MISC_FORK_EXEC): all mappings of the child follow these, and none
  /// is inherited.
  void fork(std::uint64_t time, std::int32_t parent, std::int32_t child);
  /// Adds an exec, which removes all mappings of `pid`.
  void exec(std::uint64_t time, std::int32_t pid);
  /// Sets the build-id of a path from another source than its mappings (the feature section of a
  /// recording), before or after they are added. Does not replace the build-id of a mapping record.
  /// A path with two build-ids has none: which file has which is not known.
  void set_build_id(std::string_view path, std::string_view build_id);

  /// Sets the load address of the kernel. If set more than once, the last one wins.
  void set_kernel_reference(KernelReference reference) { kernel_reference_ = std::move(reference); }
  /// Returns the load address of the kernel; nullopt when the recording has none (kptr_restrict).
  const std::optional<KernelReference>& kernel_reference() const noexcept {
    return kernel_reference_;
  }

  /// Returns the approximate memory of the added events in bytes, including names.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Executable memory without a file that was mapped over a part of a file in its process.
  struct ReplacedCode {
    FileIndex memory;
    AddressRange addresses;
    FileIndex file;
  };
  /// Returns the first 16 of these in the order of processes and time, those that are taken for
  /// copies left out. To be called after `seal`.
  const std::vector<ReplacedCode>& replaced_code() const noexcept { return replaced_code_; }

  /// Takes executable memory that was mapped over a part of a file for a copy of that part, as
  /// programs make it on huge pages. Nothing in a recording shows that it is one. To be called
  /// before `seal`.
  void take_replaced_code_for_copies() { takes_copies_ = true; }

  /// Ends adding events, and makes them available to `find`. To be called once.
  void seal();

  /// Finds the newest mapping of `pid` at `time` that covers `address` (events of exactly that time
  /// have happened); if there is none, the mapping that the process inherited by fork. Returns it
  /// with the addresses and times around the given ones for which the result is the same. To be
  /// called after `seal`.
  Region find(std::int32_t pid, std::uint64_t address, std::uint64_t time) const;

  const MappedFile& file(FileIndex index) const { return files_[index]; }
  std::size_t file_count() const noexcept { return files_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// A mapping; before `seal` also a fork or exec, whose `file` is kFork or kExec.
  struct Mapping {
    std::uint64_t since;
    AddressRange range;  ///< for a fork: begins at the pid of the parent
    std::uint64_t distance;
    FileIndex file;
    std::uint32_t owner;  ///< pid; after `seal` the index of the life
  };
  static constexpr FileIndex kExec = 0xffff'fffe, kFork = 0xffff'fffd;

  /// The mappings of a process from a fork or exec, or its first mapping, to the next fork or exec.
  struct Life {
    std::uint32_t parent = kNone;  ///< index of the life from which it inherits
    std::uint32_t inherited = 0;   ///< number of mappings of `parent` at that time, at least 1
    std::size_t first = 0;         ///< index in mappings_ of its own ones, which are in time order
    std::uint32_t count = 0;       ///< number of its own mappings
    std::shared_ptr<const OverlapIndex> index;  ///< null if there are few mappings
  };
  /// The start of a life.
  struct Start {
    std::int32_t pid;
    std::uint32_t life;
    std::uint64_t since;
  };

  void add(Mapping event);
  void begin_lives(const std::vector<std::uint32_t>& order);
  void place_mappings(std::vector<std::uint32_t> order);
  /// Gives files with one path and build-id whose code was mapped from the same offsets one index:
  /// where file systems are stacked, a file can have several inodes.
  void merge_equal_files();
  void find_replaced_code();
  const Mapping* newest(const Life& life, std::size_t count, std::uint64_t address,
                        AddressRange& alike) const;
  FileIndex intern(MappedFile file);

  std::vector<Life> lives_;
  std::vector<Start> starts_;      ///< sorted by pid and time
  std::vector<Mapping> mappings_;  ///< as added; after `seal` sorted by life and time
  std::uint64_t bytes_ = 0;
  std::vector<ReplacedCode> replaced_code_;
  bool takes_copies_ = false;
  std::vector<MappedFile> files_;
  /// By path, build-id in the record, inode and device.
  using FileKey = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;
  std::map<FileKey, FileIndex> file_indices_;
  std::map<std::string, std::string, std::less<>> known_build_ids_;  ///< by path
  std::optional<KernelReference> kernel_reference_;
};

}  // namespace skid::symbols
