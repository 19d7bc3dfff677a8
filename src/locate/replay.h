// Address spaces from the mapping, fork and exec records of a recording.
#pragma once

#include "src/perfdata/format.h"
#include "src/symbols/address_space.h"

#include <cstdint>

namespace skid::symbols {
class ThreadNames;
}  // namespace skid::symbols

namespace skid::perfdata {
class Recording;
struct KernelSymbolRecord;
struct MappingRecord;
struct Record;
}  // namespace skid::perfdata

namespace skid::locate {

/// Builds address spaces from the mapping, KSYMBOL, fork and exec records of a recording and its
/// build-ids. Damage and excess are added to the faults of the recording.
class Replay {
 public:
  /// Limit of memory for mappings, to which kBytesAByte is added for each stored byte of the
  /// recording read so far. Mapping, fork and exec records of perf need less than kBytesAByte times
  /// their size, so that only compressed ones can exceed the limit; without it a few kilobytes of
  /// these could fill any memory.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kBytesAByte = 8;

  /// All arguments must outlive this. `most_bytes`: the limit in place of kMostBytes. `names`:
  /// receives the names of threads, whose memory counts in the limit; null: they are ignored.
  Replay(perfdata::Recording& recording, symbols::AddressSpaces& spaces,
         std::uint64_t most_bytes = kMostBytes, symbols::ThreadNames* names = nullptr)
      : recording_(recording), spaces_(spaces), names_(names), most_bytes_(most_bytes) {}

  /// Enters MMAP, MMAP2, KSYMBOL, FORK and COMM records.
  void take(const perfdata::Record& record);

  /// Adds the build-ids, and seals the address spaces and names. Called after the last record.
  void seal();

 private:
  bool has_room(std::uint64_t offset);
  void enter_mapping(perfdata::MappingRecord& mapping, perfdata::CpuMode mode, std::uint64_t time);
  void enter_symbol(perfdata::KernelSymbolRecord& symbol, std::uint64_t time);

  perfdata::Recording& recording_;
  symbols::AddressSpaces& spaces_;
  symbols::ThreadNames* names_;
  std::uint64_t most_bytes_;
  std::uint64_t offset_ = 0;        ///< offset in the file of the last record
  std::uint64_t files_before_ = 0;  ///< directory: bytes of the files before that one
  bool is_full_ = false;
};

/// Reads a recording to its end for its mappings only, which are sealed; with `names` also for the
/// names of threads. `takes_copies`: AddressSpaces::take_replaced_code_for_copies().
symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording,
                                           symbols::ThreadNames* names = nullptr,
                                           bool takes_copies = false);

}  // namespace skid::locate
