#include "src/locate/moved_places.h"

#include "src/locate/replay.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"

#include <algorithm>

namespace skid::locate {

using perfdata::SampleDecoder;
using perfdata::SampleKind;
using perfdata::Sighting;

void MovedCounts::count(const Sighting& sighting, std::uint32_t placement) {
  const Spot spot{sighting.space, placement};
  const auto next = static_cast<std::int32_t>(spots_.size());
  const auto [entry, added] = numbers_.try_emplace(spot, next);
  if (added) spots_.push_back(spot);
  const Sighting here{sighting.ip, entry->second, sighting.attribute, sighting.kind};
  counts_.add(std::span(&here, 1), 0);
}

void MovedPlaces::add(const perfdata::SampleCount& count) {
  places_.push_back(place_of(count.of));
  end_ = std::max(end_, count.end);
}

MovedCounts MovedPlaces::read(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                              Placements& placements) {
  places_.shrink_to_fit();
  std::sort(places_.begin(), places_.end());
  MovedCounts counts;
  recording.rewind();
  const SampleDecoder& decoder = recording.decoder();
  perfdata::Record record;
  while (recording.position() < end_ && recording.next(record)) {
    if (record.type != perfdata::PERF_RECORD_SAMPLE) continue;
    const auto decoded = decoder.decode(record);
    if (decoded.problem != SampleDecoder::Problem::none) continue;
    const perfdata::Sample& sample = decoded.sample;
    const SampleKind kind(sample.mode, sample.exact);
    const Sighting sighting{sample.ip, perfdata::space_of(kind, sample.pid), sample.attribute,
                            kind};
    if (!std::binary_search(places_.begin(), places_.end(), place_of(sighting))) continue;
    const auto location =
        locate(spaces, kind, sighting.space, sighting.ip, decoder.time_of(record, sample));
    counts.count(sighting, placements.number(location, sighting.ip));
  }
  counts.seal();
  return counts;
}

}  // namespace skid::locate
