// Address spaces from the mapping, fork and exec records of a recording.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace skid::locate {

/// Builds address spaces from the mapping, fork and exec records of a recording and its build-ids.
/// Damage and excess are added to the faults of the recording.
class Replay {
 public:
  /// Limit of memory for mappings, plus kBytesAByte for each stored byte of the recording read so
  /// far. Mapping, fork and exec records of perf need less than kBytesAByte times their size, so
  /// only compressed ones can exceed the limit; a few kilobytes of these could fill any memory.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kBytesAByte = 8;

  /// Both must outlive this. `most_bytes`: instead of kMostBytes.
  Replay(perfdata::Recording& recording, symbols::AddressSpaces& spaces,
         std::uint64_t most_bytes = kMostBytes)
      : recording_(recording), spaces_(spaces), most_bytes_(most_bytes) {}

  /// Enters MMAP, MMAP2, FORK and COMM records. Returns the address space that changed; nullopt for
  /// none.
  std::optional<std::int32_t> take(const perfdata::Record& record);

  /// Adds the build-ids that are known so far, and seals the address spaces.
  void seal();

 private:
  bool has_room(std::uint64_t offset);
  std::optional<std::int32_t> enter_mapping(perfdata::MappingRecord& mapping,
                                            perfdata::CpuMode mode, std::uint64_t time);

  perfdata::Recording& recording_;
  symbols::AddressSpaces& spaces_;
  std::uint64_t most_bytes_;
  std::size_t build_ids_ = 0;       ///< entered so far
  std::uint64_t offset_ = 0;        ///< of the last record
  std::uint64_t files_before_ = 0;  ///< bytes of the files of a directory before that
  bool is_full_ = false;
};

/// Whether the code of such samples is in any address space that the recording describes: guests
/// and hypervisors have none in a host's recording.
bool has_address_space(perfdata::SampleKind kind);

/// The file and offset of `ip` in `address_space` at `time`; nullopt when nothing was mapped there
/// or samples of this kind have no address space.
std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            perfdata::SampleKind kind, std::int32_t address_space,
                                            std::uint64_t ip, std::uint64_t time);

/// Reads only the mappings of a recording, to its end, and seals them.
symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording);

}  // namespace skid::locate
