// A filter applied to the samples of one recording.
#pragma once

#include "src/locate/filter.h"
#include "src/symbols/file_location.h"
#include "src/symbols/thread_names.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {
class Recording;
struct Sample;
}  // namespace skid::perfdata

namespace skid::symbols {
class AddressSpaces;
}  // namespace skid::symbols

namespace skid::locate {

/// Decides which samples of a recording a Filter selects. For one thread.
class SampleFilter {
 public:
  explicit SampleFilter(Filter filter) : filter_(std::move(filter)) {}

  /// Returns where Replay enters the names of threads; null if the filter does not need them.
  symbols::ThreadNames* names() { return filter_.lists[Filter::comm].empty() ? nullptr : &names_; }

  /// Prepares the filter. To be called before the first sample, when the events are known; for comm
  /// and dso after all mappings and names are, and for shares of time when the whole recording was
  /// read. For them it reads the samples again if the header has no times, and leaves the recording
  /// at its beginning. Throws InputError if samples lack a field that the filter needs.
  void begin(perfdata::Recording& recording, const symbols::AddressSpaces& spaces);

  /// Whether a sample is selected; counted in `filtered` unless that is null. `time`: the result of
  /// SampleDecoder::time_of. `file`: the file that is mapped there, or Region::kNoFile.
  bool selects(const perfdata::Sample& sample, std::uint64_t time, symbols::FileIndex file,
               Filtered* filtered = nullptr) const;

 private:
  Filter filter_;  ///< after `begin` without shares of time
  symbols::ThreadNames names_;
  std::vector<std::string> files_;  ///< paths by FileIndex; empty without a list of dsos
};

}  // namespace skid::locate
