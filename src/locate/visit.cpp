#include "src/locate/visit.h"

#include "src/locate/region_cache.h"
#include "src/perfdata/format.h"

namespace skid::locate {

void visit_records(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                   const Visitor& visitor) {
  recording.rewind();
  RegionCache regions(spaces);
  perfdata::Record record;
  while (recording.next(record)) {
    VisitedRecord visited{record, nullptr, std::nullopt};
    perfdata::SampleDecoder::Decoded decoded;
    if (record.type == PERF_RECORD_SAMPLE) {
      const auto& decoder = recording.decoder();
      decoded = decoder.decode(record);
      if (decoded.problem == perfdata::SampleDecoder::Problem::none) {
        visited.sample = &decoded.sample;
        visited.location = regions.locate(decoded.sample, decoder.time_of(record, decoded.sample));
      }
    }
    visitor(visited);
  }
}

}  // namespace skid::locate
