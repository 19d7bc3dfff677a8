#include "src/locate/moved_places.h"

#include "src/locate/replay.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"

#include <algorithm>

namespace skid::locate {

using perfdata::SampleDecoder;
using perfdata::SampleKey;
using perfdata::SampleKind;

void MovedCounts::count(const SampleKey& key, std::uint32_t placement) {
  const Spot spot{key.address_space, placement};
  const auto next = static_cast<std::int32_t>(spots_.size());
  const auto [entry, added] = numbers_.try_emplace(spot, next);
  if (added) spots_.push_back(spot);
  const SampleKey here{key.ip, entry->second, key.attribute, key.kind};
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
    const SampleKey key{sample.ip, perfdata::address_space_of(kind, sample.pid), sample.attribute,
                        kind};
    if (!std::binary_search(places_.begin(), places_.end(), place_of(key))) continue;
    const auto location =
        locate(spaces, kind, key.address_space, key.ip, decoder.time_of(record, sample));
    counts.count(key, placements.number(location, key.ip));
  }
  counts.seal();
  return counts;
}

}  // namespace skid::locate
