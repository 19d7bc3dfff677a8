// The records that shape address spaces, taken out of a recording.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <optional>

namespace skid::locate {

/// The clock of a recording: time stamps where any event records them, else the order in the file.
class RecordingClock {
 public:
  explicit RecordingClock(const perfdata::Recording& recording);

  /// When a record other than a sample happened. Records without a time stamp in a recording that
  /// has them come before everything, as perf delivers them.
  std::uint64_t time_of(const perfdata::Record& record) const;
  std::uint64_t time_of(const perfdata::Record& record, const perfdata::Sample& sample) const;

 private:
  bool has_times_ = false;
  perfdata::ByteOrder order_;
  /// Where the records' trailers are described: all events of one recording agree on it.
  perfdata::Attribute trailer_;
};

/// Enters MMAP, MMAP2, FORK and COMM records into `spaces`. False when `record` is one of these but
/// too short to be read.
bool replay(const perfdata::Record& record, perfdata::ByteOrder order, const RecordingClock& clock,
            symbols::AddressSpaces& spaces);

/// Enters what the feature section knows of build-ids.
void replay_build_ids(const perfdata::Features& features, symbols::AddressSpaces& spaces);

/// Whose mappings hold the code of these samples: kernel samples of all processes share one space;
/// guests and hypervisors have none in a host's recording.
std::optional<std::int32_t> space_of(const perfdata::SampleKey& key);

/// The file and offset of a sampled address at `time`; nullopt when nothing was mapped there.
std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            const perfdata::SampleKey& key, std::uint64_t time);

/// Reads a recording to its end for its mappings alone; they are sealed.
symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording);

}  // namespace skid::locate
