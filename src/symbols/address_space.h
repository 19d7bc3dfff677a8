// Which file an address belonged to, and the name of a thread, at a time: the records of mappings
// and names replayed in time order.
#pragma once

#include "src/support/address.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::symbols {

class OverlapIndex;

/// A mapped file as the recording names it; not opened or verified.
struct MappedFile {
  std::string path;      ///< "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", "//anon"
  std::string build_id;  ///< lower-case hexadecimal; empty when the recording has none
  /// The bytes of code that the kernel generated and named in a record; 0: a file.
  std::uint64_t symbol_size = 0;
  /// Whether a mapping of it could be executed and not read.
  bool is_execute_only = false;

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

  friend auto operator<=>(const FileLocation&, const FileLocation&) = default;
};

/// Addresses that have the same distance from the bytes of a file, for some time.
struct Region {
  static constexpr FileIndex kNoFile = 0xffff'ffff;

  AddressRange addresses{0, UINT64_MAX};        ///< may be without the last address of all
  std::uint64_t since = 0, until = UINT64_MAX;  ///< all times in [since, until)
  FileIndex file = kNoFile;                     ///< kNoFile: nothing is mapped there
  std::uint64_t distance = 0;                   ///< file offset minus address, modulo 2^64
  std::size_t ancestors = 0;                    ///< whose mappings were looked at

  std::optional<FileLocation> location_of(std::uint64_t address) const {
    if (file == kNoFile) return std::nullopt;
    return FileLocation{file, address + distance};
  }
};

/// Mapping events of one recording. They may be added in any order; `seal`, after all of them, puts
/// them in time order (events of equal time keep the order in which they were added). Lookups are
/// safe from several threads at a time. Times are nanoseconds of the
/// recording's clock; a recording without times passes its record offsets instead.
///
/// Recordings do not contain unmappings, so a mapping lasts until newer ones cover it, its process
/// execs, or its pid is reused.
class AddressSpaces {
 public:
  static constexpr std::int32_t kKernel = -1;  ///< pid of kernel mappings, as perf writes it
  /// The most ancestors with mappings of their own in which inherited mappings are looked for.
  /// Longer chains of forks without an exec occur only in crafted recordings.
  static constexpr std::size_t kMostMappedAncestors = 256;

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

  /// Ends adding events, and makes them available to `find`. Once.
  void seal();

  /// The newest mapping of `pid` at `time` that covers `address` (events of that very time have
  /// happened). Where none does, the one it inherited by fork. Around both come the addresses and
  /// times for which the answer is the same. Only after `seal`.
  Region find(std::int32_t pid, std::uint64_t address, std::uint64_t time) const;

  const MappedFile& file(FileIndex index) const { return files_[index]; }
  std::size_t file_count() const noexcept { return files_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// A mapping; before `seal` also a fork or exec, whose file is one of the two below.
  struct Mapping {
    std::uint64_t since;
    AddressRange range;  ///< of a fork: it begins at the parent's pid
    std::uint64_t distance;
    FileIndex file;
    std::uint32_t owner;  ///< the pid; since `seal` the life
  };
  static constexpr FileIndex kExec = 0xffff'fffe, kFork = 0xffff'fffd;  // not of a file

  /// The mappings of a process from a fork or exec, or its first mapping, to the next fork or exec.
  struct Life {
    std::uint32_t parent = kNone;  ///< the life that it inherits from
    std::uint32_t inherited = 0;   ///< the number of mappings that it had then, more than none
    std::size_t first = 0;         ///< of its own in mappings_, in the order of time
    std::uint32_t count = 0;
    std::shared_ptr<const OverlapIndex> index;  ///< over many
  };
  struct Start {
    std::int32_t pid;
    std::uint32_t life;
    std::uint64_t since;
  };

  void add(Mapping event);
  void begin_lives(const std::vector<std::uint32_t>& order);
  void place_mappings(std::vector<std::uint32_t> order);
  const Mapping* newest(const Life& life, std::size_t count, std::uint64_t address,
                        AddressRange& alike) const;
  FileIndex intern(MappedFile file);

  std::vector<Life> lives_;
  std::vector<Start> starts_;      // by pid and time
  std::vector<Mapping> mappings_;  // as added; since `seal` by life and time
  std::uint64_t bytes_ = 0;
  std::vector<MappedFile> files_;
  std::map<std::pair<std::string, std::string>, FileIndex> file_indices_;  // as recorded
  std::map<std::string, std::string, std::less<>> known_build_ids_;        // by path
  std::optional<KernelReference> kernel_reference_;
};

/// The names (comm) of the threads of one recording. They may be added in any order; `seal`, after
/// all of them, puts them in time order (those of equal time keep the order in which they were
/// added). Times as in AddressSpaces.
class ThreadNames {
 public:
  /// PERF_RECORD_COMM: `tid` has this name from `time` on.
  void rename(std::uint64_t time, std::int32_t tid, std::string comm);
  /// PERF_RECORD_FORK: thread `child` begins, with the name that `parent` has at that time.
  void fork(std::uint64_t time, std::int32_t parent, std::int32_t child);

  /// Approximate memory of what was added in bytes.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Ends adding, and makes the names available to `at`. Once.
  void seal();

  /// As perf names threads: without a record ":1234", and the idle thread, 0, "swapper".
  std::string at(std::int32_t tid, std::uint64_t time) const;

 private:
  struct Event {
    std::uint64_t since;
    std::int32_t tid;
    std::int32_t parent;  ///< of a fork; else `tid`
    std::string name;     ///< of a fork since `seal`; empty: unknown
  };

  std::vector<Event> events_;  ///< as added; since `seal` by thread and time
  std::uint64_t bytes_ = 0;
};

}  // namespace skid::symbols
