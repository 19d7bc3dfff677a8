#include "src/locate/digest.h"

#include "src/locate/replay.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace skid::locate {
namespace {

using perfdata::Record;
using perfdata::Recording;
using perfdata::SampleDecoder;
using symbols::AddressSpaces;

perfdata::SampleCounts count(Recording& recording, const SampleDecoder& decoder,
                             const RecordingClock& clock, Digest& digest) {
  perfdata::SampleCounts counts;
  Record record;
  while (recording.next(record)) {
    if (record.type == perfdata::PERF_RECORD_SAMPLE) {
      const auto decoded = decoder.decode(record);
      switch (decoded.problem) {
        case SampleDecoder::Problem::none:
          counts.add(decoded.sample, clock.time_of(record, decoded.sample));
          break;
        case SampleDecoder::Problem::unknown_id:
          ++digest.unknown_ids;
          break;
        case SampleDecoder::Problem::too_short:
          recording.add_short_record(record);
          break;
      }
      continue;
    }
    bool whole = replay(record, recording.byte_order(), clock, digest.spaces);
    if (record.type == perfdata::PERF_RECORD_LOST) {
      const auto lost = perfdata::parse_lost(record, recording.byte_order());
      whole = lost.has_value();
      digest.lost_records += lost.value_or(0);
    } else if (record.type == perfdata::PERF_RECORD_LOST_SAMPLES) {
      const auto lost = perfdata::parse_lost_samples(record, recording.byte_order());
      whole = lost.has_value();
      digest.lost_samples += lost.value_or(0);
    } else if (record.type == perfdata::PERF_RECORD_THROTTLE) {
      ++digest.throttled;
    }
    if (!whole) recording.add_short_record(record);
  }
  return counts;
}

struct KeyLess {
  bool operator()(const perfdata::SampleKey& a, const perfdata::SampleKey& b) const {
    return std::tie(a.ip, a.pid, a.attribute, a.mode, a.exact) <
           std::tie(b.ip, b.pid, b.attribute, b.mode, b.exact);
  }
};
using LocatedSlots = std::map<perfdata::SampleKey, std::vector<LocatedSamples>, KeyLess>;

bool same_place(const std::optional<symbols::FileLocation>& a,
                const std::optional<symbols::FileLocation>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->file == b->file && a->offset == b->offset);
}

/// Reads the samples of the keys in `moved` again and attributes each by its own time.
void locate_by_time(Recording& recording, const SampleDecoder& decoder, const RecordingClock& clock,
                    const AddressSpaces& spaces, LocatedSlots& moved) {
  recording.rewind();
  Record record;
  while (recording.next(record)) {
    if (record.type != perfdata::PERF_RECORD_SAMPLE) continue;
    const auto decoded = decoder.decode(record);
    if (decoded.problem != SampleDecoder::Problem::none) continue;
    const auto& sample = decoded.sample;
    const perfdata::SampleKey key(sample);
    const auto found = moved.find(key);
    if (found == moved.end()) continue;
    const auto location = locate(spaces, key, clock.time_of(record, sample));
    auto& places = found->second;
    auto place = std::find_if(places.begin(), places.end(), [&](const LocatedSamples& candidate) {
      return same_place(candidate.location, location);
    });
    if (place == places.end()) place = places.insert(place, {key, location, 0, 0});
    ++place->samples;
    place->period_sum += sample.period;
  }
}

}  // namespace

Digest digest(Recording& recording) {
  Digest result;
  const SampleDecoder decoder(recording.attributes(), recording.byte_order());
  const RecordingClock clock(recording);
  const auto counts = count(recording, decoder, clock, result);
  replay_build_ids(recording.features(), result.spaces);
  result.spaces.seal();

  LocatedSlots moved;
  for (const auto& entry : counts.entries()) {
    LocatedSamples located{entry.key, std::nullopt, entry.samples, entry.period_sum};
    const auto space = space_of(entry.key);
    if (space && !result.spaces.constant_between(*space, entry.key.ip, entry.first, entry.last)) {
      moved.emplace(entry.key, std::vector<LocatedSamples>{});
      continue;
    }
    located.location = locate(result.spaces, entry.key, entry.first);
    result.located.push_back(located);
  }
  if (!moved.empty()) {
    locate_by_time(recording, decoder, clock, result.spaces, moved);
    for (const auto& [key, places] : moved) {
      result.located.insert(result.located.end(), places.begin(), places.end());
    }
  }
  return result;
}

}  // namespace skid::locate
