// The samples that perf makes of counter values: one for each event that occurred.
#pragma once

#include "src/perfdata/sample.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace skid::perfdata {

class Recording;
struct Record;

/// Replaces samples with counter values (PERF_SAMPLE_READ) by those that perf delivers
/// (deliver_sample_group() in tools/perf/util/session.c): one for each counter that has changed
/// since the previous sample, with its event, and the change as its period.
class CountedSamples {
 public:
  /// Returns the samples of a record, which are valid until the next call. `sample`: the decoded
  /// record. It is returned as it is if it has no counter values with ids.
  std::span<const Sample> of(const Recording& recording, const Record& record,
                             const Sample& sample);

 private:
  /// Last values by id; if counters are inherited, by id and thread.
  std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> values_;
  std::vector<Sample> samples_;
};

}  // namespace skid::perfdata
