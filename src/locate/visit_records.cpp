#include "src/locate/visit_records.h"

#include "src/locate/digest.h"
#include "src/locate/region_cache.h"
#include "src/locate/sample_filter.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/symbols/region.h"

#include <memory>

#include <linux/perf_event.h>

namespace skid::locate {

void visit_records(perfdata::Recording& recording, const Digest& digest, const Visitor& visitor) {
  recording.rewind();
  RegionCache regions(digest.spaces);
  perfdata::Record record;
  while (recording.next(record)) {
    VisitedRecord visited{record, nullptr, std::nullopt, nullptr};
    perfdata::SampleDecoder::Decoded decoded;
    if (record.type == PERF_RECORD_SAMPLE) {
      const auto& decoder = recording.decoder();
      decoded = decoder.decode(record);
      if (decoded.problem == perfdata::SampleDecoder::Problem::none) {
        const auto time = decoder.time_of(record, decoded.sample);
        const auto location = regions.locate(decoded.sample, time);
        const auto file = location ? location->file : symbols::Region::kNoFile;
        if (!digest.filter || digest.filter->selects(decoded.sample, time, file)) {
          visited.sample = &decoded.sample;
          visited.location = location;
        } else {
          visited.left_out = &decoded.sample;
        }
      }
    }
    visitor(visited);
  }
}

}  // namespace skid::locate
