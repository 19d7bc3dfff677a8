#include "src/locate/digest.h"

#include "src/locate/arrival_window.h"
#include "src/locate/replay.h"
#include "src/locate/space_epochs.h"
#include "src/perfdata/format.h"
#include "src/perfdata/lanes.h"
#include "src/perfdata/sample.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace skid::locate {

using perfdata::Record;
using perfdata::Recording;
using perfdata::Sample;
using perfdata::SampleDecoder;
using perfdata::SampleKind;

namespace {

/// Samples from a pipe that are held back at most: 9 MiB of them.
constexpr std::size_t kMostHeld = std::size_t{128} << 10;

bool same_place(const std::optional<symbols::FileLocation>& a,
                const std::optional<symbols::FileLocation>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->file == b->file && a->offset == b->offset);
}

}  // namespace

class Digester {
 public:
  explicit Digester(Recording& recording)
      : recording_(recording), counter_(layout_, result_.located.counts_) {}

  Digest digest() {
    if (recording_.rewindable()) {
      count_file();
    } else {
      count_pipe();
    }
    counter_.finish();
    result_.located.counts_.seal();
    result_.totals = counter_.totals();
    result_.totals.resize(recording_.attributes().size());
    result_.unknown_ids = recording_.left_out().unknown_ids + counter_.unknown_ids();
    replay_build_ids(recording_.features(), result_.spaces);
    result_.spaces.seal();
    locate_rows();
    if (!moved_.empty()) locate_by_time();
    return std::move(result_);
  }

 private:
  struct PlaceLess {
    using Place = std::tuple<std::uint64_t, std::int32_t, std::uint32_t, std::uint32_t>;
    static Place of(const LocatedSamples& located) {
      return {located.ip, located.space, located.attribute, located.kind.bits()};
    }
    bool operator()(const LocatedSamples& a, const LocatedSamples& b) const {
      return of(a) < of(b);
    }
  };

  void count_file() {
    follow_attributes();
    perfdata::SampleScanner scanner(layout_, slices_);
    std::vector<perfdata::SampleRun> runs;
    Record record;
    for (;;) {
      const auto stretch = recording_.stretch();
      if (stretch && perfdata::Lanes::are_worth(*stretch)) {
        const auto handle = [this](const Record& other, perfdata::BulkCounter& counter) {
          take_or_count(other, counter);
        };
        perfdata::Lanes(recording_, layout_, slices_, counter_, handle).run();
      }
      recording_.consume(scanner.scan(recording_.buffered(), recording_.position(), runs));
      for (const auto& run : runs) counter_.count(run);
      runs.clear();
      if (!recording_.next(record)) break;
      take_or_count(record, counter_);
    }
  }

  void take_or_count(const Record& record, perfdata::BulkCounter& counter) {
    if (record.type != perfdata::PERF_RECORD_SAMPLE) {
      take(record);
    } else if (const auto sample = recording_.decode(record)) {
      count(*sample, recording_.decoder().time_of(record, *sample),
            perfdata::space_of(SampleKind(sample->mode, sample->exact), sample->pid), counter);
    }
  }

  void count(const Sample& sample, std::uint64_t time, std::int32_t space,
             perfdata::BulkCounter& counter) {
    counter.count(sample, time, recording_.position(), space, slices_.current());
    slices_.add(1);
  }

  void count_pipe() {
    SpaceEpochs epochs;
    ArrivalWindow<Sample> window(kMostHeld);
    const auto release = [&](std::uint64_t time, Sample& sample) {
      const SampleKind kind(sample.mode, sample.exact);
      const auto space = perfdata::space_of(kind, sample.pid);
      count(sample, time, epochs.number(space, time), counter_);
    };
    follow_attributes();
    Record record;
    while (recording_.next(record)) {
      if (record.type == perfdata::PERF_RECORD_SAMPLE) {
        if (const auto sample = recording_.decode(record)) {
          window.add(recording_.decoder().time_of(record, *sample), *sample);
          if (window.is_full()) window.release_half(release);
        }
        continue;
      }
      if (const auto space = take(record)) {
        epochs.changed(*space, recording_.decoder().time_of(record));
      }
      if (record.type == perfdata::PERF_RECORD_FINISHED_ROUND) window.finish_round(release);
    }
    window.finish(release);
    result_.located.epochs_ = epochs.numbered();
  }

  void follow_attributes() {
    attributes_version_ = recording_.attributes_version();
    layout_.use(recording_.decoder());
  }

  /// Takes a record that is no sample. Returns the space whose mappings it changed.
  std::optional<std::int32_t> take(const Record& record) {
    if (attributes_version_ != recording_.attributes_version()) follow_attributes();
    const SampleDecoder& decoder = recording_.decoder();
    std::int32_t changed = 0;
    const auto replayed = replay(record, decoder, result_.spaces, &changed);
    bool whole = replayed != Replayed::too_short;
    if (record.type == perfdata::PERF_RECORD_LOST) {
      const auto lost = perfdata::parse_lost(record, decoder.order());
      whole = lost.has_value();
      result_.lost_records += lost.value_or(0);
    } else if (record.type == perfdata::PERF_RECORD_LOST_SAMPLES) {
      const auto lost = perfdata::parse_lost_samples(record, decoder.order());
      whole = lost.has_value();
      result_.lost_samples += lost.value_or(0);
    } else if (record.type == perfdata::PERF_RECORD_THROTTLE) {
      ++result_.throttled;
    }
    if (!whole) recording_.add_short_record(record);
    if (replayed != Replayed::entered) return std::nullopt;
    slices_.cut();
    return changed;
  }

  void locate_rows() {
    auto& located = result_.located;
    located.locations_.resize(located.counts_.rows());
    const auto& spaces = result_.spaces;
    std::size_t last_row = located.counts_.rows();
    located.counts_.for_each([&](std::size_t row, const perfdata::SampleCount& count) {
      auto& place = located.locations_[row];
      const std::int32_t space = located.space_of(count);
      if (row != last_row) {
        last_row = row;
        place.file = LocatedCounts::kNowhere;
        const auto kind = count.of.kind;
        const auto [first, last] = located.times_of(count);
        const bool stays =
            !has_space(kind) || spaces.constant_between(space, count.of.ip, first, last);
        if (!stays && recording_.rewindable()) {
          place.file = LocatedCounts::kMoved;
        } else if (const auto found = locate(spaces, kind, space, count.of.ip, first)) {
          place = *found;
        }
        row_is_uncertain_ = !stays;
      }
      if (place.file == LocatedCounts::kMoved) {
        moved_.emplace(
            LocatedSamples{count.of.ip, space, count.of.attribute, count.of.kind, std::nullopt, 0},
            std::vector<LocatedSamples>{});
        moved_end_ = std::max(moved_end_, count.end);
      } else if (row_is_uncertain_) {
        result_.uncertain += count.samples;
      }
    });
  }

  /// Reads the samples of the moved places again and attributes each by its own time.
  void locate_by_time() {
    std::vector<std::uint64_t> addresses;  // ascending, as moved_ is
    for (const auto& [key, places] : moved_) {
      if (addresses.empty() || addresses.back() != key.ip) addresses.push_back(key.ip);
    }
    recording_.rewind();
    const SampleDecoder& decoder = recording_.decoder();
    Record record;
    while (recording_.position() < moved_end_ && recording_.next(record)) {
      if (record.type != perfdata::PERF_RECORD_SAMPLE) continue;
      const auto decoded = decoder.decode(record);
      if (decoded.problem != SampleDecoder::Problem::none) continue;
      const Sample& sample = decoded.sample;
      if (!std::binary_search(addresses.begin(), addresses.end(), sample.ip)) continue;
      const SampleKind kind(sample.mode, sample.exact);
      LocatedSamples here{
          sample.ip, perfdata::space_of(kind, sample.pid), sample.attribute, kind, std::nullopt, 0};
      const auto found = moved_.find(here);
      if (found == moved_.end()) continue;
      here.location =
          locate(result_.spaces, kind, here.space, here.ip, decoder.time_of(record, sample));
      auto& places = found->second;
      auto place = std::find_if(places.begin(), places.end(), [&](const auto& candidate) {
        return same_place(candidate.location, here.location);
      });
      if (place == places.end()) place = places.insert(place, here);
      ++place->samples;
    }
    for (const auto& [key, places] : moved_) {
      result_.located.moved_.insert(result_.located.moved_.end(), places.begin(), places.end());
    }
  }

  Recording& recording_;
  Digest result_;
  perfdata::BulkLayout layout_;
  perfdata::SliceNumbers slices_;
  perfdata::BulkCounter counter_;
  unsigned attributes_version_ = 0;
  bool row_is_uncertain_ = false;
  std::uint64_t moved_end_ = 0;  ///< position behind which no sample of `moved_` stands
  std::map<LocatedSamples, std::vector<LocatedSamples>, PlaceLess> moved_;
};

Digest digest(Recording& recording) {
  return Digester(recording).digest();
}

}  // namespace skid::locate
