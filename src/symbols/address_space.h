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
#include <unordered_map>
#include <utility>
#include <vector>

namespace skid::symbols {

/// A mapped file as the recording names it; not yet opened, not yet believed.
struct MappedFile {
  std::string path;      ///< "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", "//anon"
  std::string build_id;  ///< lower-case hexadecimal; empty when the recording has none

  friend bool operator==(const MappedFile&, const MappedFile&) = default;
};

/// Where the recorded kernel was loaded, told by one of its symbols.
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
/// Recordings do not say what was unmapped, so a mapping lasts until newer ones cover it, its
/// process execs, or another process is born with its pid.
class AddressSpaces {
 public:
  static constexpr std::int32_t kKernel = -1;  ///< pid of kernel mappings, as perf writes it

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

  /// Ends adding. Events added afterwards count once it is called again.
  void seal();

  /// The newest mapping of `pid` at `time` (events of that very time have happened) that covers
  /// `address`; where none does, what it inherited by fork. nullopt when nothing was mapped there.
  /// Only after `seal`.
  std::optional<FileLocation> resolve(std::int32_t pid, std::uint64_t address,
                                      std::uint64_t time) const;

  /// Whether `resolve` gives the same answer at every time in [from, to].
  bool constant_between(std::int32_t pid, std::uint64_t address, std::uint64_t from,
                        std::uint64_t to) const;

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
  /// The pid begins anew: by exec with nothing, by fork with what its parent had.
  struct Beginning {
    Moment moment;
    std::optional<std::int32_t> parent;
  };
  struct Process {
    std::vector<Mapping> mappings;      // by moment, once sealed
    std::vector<Beginning> beginnings;  // by moment, once sealed
    OverlapIndex index;                 // over `mappings`, once sealed
    bool sealed = false;
  };

  static Moment after_all_at(std::uint64_t time);
  static std::size_t mappings_before(const Process& process, Moment moment);
  Moment next_moment(std::uint64_t time) { return {time, order_++}; }
  Process& unsealed(std::int32_t pid);
  FileIndex intern(MappedFile file);
  std::optional<FileLocation> resolve_before(std::int32_t pid, std::uint64_t address,
                                             Moment moment) const;
  bool same(const std::optional<FileLocation>& a, const std::optional<FileLocation>& b) const;

  std::uint64_t order_ = 0;
  std::unordered_map<std::int32_t, Process> processes_;
  std::vector<MappedFile> files_;
  std::map<std::pair<std::string, std::string>, FileIndex> file_indices_;  // as recorded
  std::map<std::string, std::string, std::less<>> known_build_ids_;        // by path
  std::optional<KernelReference> kernel_reference_;
};

}  // namespace skid::symbols
