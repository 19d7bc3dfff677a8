#include "src/locate/digest.h"

#include "src/locate/address_space_epochs.h"
#include "src/locate/arrival_window.h"
#include "src/locate/moved_places.h"
#include "src/locate/replay.h"
#include "src/perfdata/format.h"
#include "src/perfdata/lanes.h"
#include "src/perfdata/sample.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace skid::locate {

using perfdata::Record;
using perfdata::Recording;
using perfdata::Sample;
using perfdata::SampleDecoder;
using perfdata::SampleKind;

class Digester {
 public:
  Digester(Recording& recording, const perfdata::LaneSetup& lanes)
      : recording_(recording),
        lanes_(lanes),
        replay_(recording, result_.spaces),
        epochs_(result_.spaces),
        counter_(layout_, result_.located.counts_) {}

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
    replay_.seal();
    locate_rows();
    if (has_moved_) {
      take_moved_rows_out();
      auto& located = result_.located;
      located.moved_ = moved_.read(recording_, result_.spaces, located.placements_);
    }
    return std::move(result_);
  }

 private:
  void count_file() {
    follow_attributes();
    perfdata::SampleScanner scanner(layout_, slices_);
    std::vector<perfdata::SampleRun> runs;
    Record record;
    for (;;) {
      const auto range = recording_.record_range();
      if (range && range->begin < range->end && range->end - range->begin >= lanes_.worth) {
        const auto handle = [this](const Record& other, perfdata::BulkCounter& counter) {
          take_or_count(other, counter);
        };
        perfdata::Lanes(recording_, layout_, slices_, counter_, handle, lanes_).run();
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
            perfdata::address_space_of(SampleKind(sample->mode, sample->exact), sample->pid),
            counter);
    }
  }

  void count(const Sample& sample, std::uint64_t time, std::int32_t address_space,
             perfdata::BulkCounter& counter) {
    counter.count(sample, time, recording_.position(), address_space, slices_.current());
    slices_.add(1);
  }

  void count_pipe() {
    ArrivalWindow<Sample> window(kMostHeld);
    const auto release = [&](std::uint64_t time, Sample& sample) {
      const SampleKind kind(sample.mode, sample.exact);
      const auto address_space = perfdata::address_space_of(kind, sample.pid);
      count(sample, time, epochs_.number(address_space, sample.ip, time), counter_);
    };
    follow_attributes();
    Record record;
    while (recording_.next(record)) {
      if (record.type == perfdata::PERF_RECORD_SAMPLE) {
        if (const auto sample = recording_.decode(record)) {
          window.add(recording_.decoder().time_of(record, *sample), *sample);
          if (!window.is_full()) continue;
          replay_.seal();
          window.release_half(release);
        }
        continue;
      }
      if (const auto address_space = take(record)) {
        epochs_.changed(*address_space, recording_.decoder().time_of(record));
      }
      if (record.type != perfdata::PERF_RECORD_FINISHED_ROUND) continue;
      replay_.seal();
      window.finish_round(release);
    }
    replay_.seal();
    window.finish(release);
    result_.located.epochs_ = epochs_.numbered();
  }

  void follow_attributes() {
    attributes_version_ = recording_.attributes_version();
    layout_.use(recording_.decoder());
  }

  /// Processes a record that is not a sample. Returns the address space whose mappings it changed.
  std::optional<std::int32_t> take(const Record& record) {
    if (attributes_version_ != recording_.attributes_version()) follow_attributes();
    const SampleDecoder& decoder = recording_.decoder();
    const auto changed = replay_.take(record);
    bool whole = true;
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
    if (changed) slices_.cut();
    return changed;
  }

  /// Whether all samples of a row are in the same file and offset; else some may not be.
  bool stays(const perfdata::SampleCount& count) const {
    const auto& of = count.of;
    if (!has_address_space(of.kind)) return true;
    const auto& spaces = result_.spaces;
    if (recording_.rewindable()) {
      return spaces.constant_between(of.address_space, of.ip, count.first, count.last);
    }
    if (epochs_.is_certain(of.address_space)) return true;
    // Samples from a pipe were counted after a delay, so a slice can contain samples from before
    // and after a change; samples with the same number cannot.
    const auto [first, last] = epochs_.times_of(of.address_space, of.ip);
    return spaces.constant_between(result_.located.address_space_of(count), of.ip,
                                   std::max(count.first, first), std::min(count.last, last));
  }

  std::uint64_t first_time_of(const perfdata::SampleCount& count) const {
    if (recording_.rewindable()) return count.first;
    const auto& number = epochs_.numbered()[static_cast<std::size_t>(count.of.address_space)];
    return std::max(count.first, number.first);
  }

  void locate_rows() {
    auto& located = result_.located;
    located.placement_by_row_.resize(located.counts_.rows());
    std::size_t last_row = located.counts_.rows();
    bool is_uncertain = false;
    located.counts_.for_each([&](std::size_t row, const perfdata::SampleCount& count) {
      auto& placement = located.placement_by_row_[row];
      if (row != last_row) {
        last_row = row;
        is_uncertain = !stays(count);
        if (is_uncertain && recording_.rewindable()) {
          placement = kMoved;
          has_moved_ = true;
        } else {
          const auto& of = count.of;
          const auto location = locate(result_.spaces, of.kind, located.address_space_of(count),
                                       of.ip, first_time_of(count));
          placement = located.placements_.number(location, of.ip);
        }
      }
      if (is_uncertain && placement != kMoved) result_.uncertain += count.samples;
    });
  }

  /// The rows of places that are read again, so that their memory is there for what is read.
  void take_moved_rows_out() {
    auto& located = result_.located;
    located.counts_.extract(
        [&](std::size_t row) { return located.placement_by_row_[row] == kMoved; },
        [&](const perfdata::SampleCount& count) { moved_.add(count); });
    std::erase(located.placement_by_row_, kMoved);
    located.placement_by_row_.shrink_to_fit();
  }

  Recording& recording_;
  perfdata::LaneSetup lanes_;
  Digest result_;
  Replay replay_;
  AddressSpaceEpochs epochs_;  ///< of a pipe
  perfdata::BulkLayout layout_;
  perfdata::SliceNumbers slices_;
  perfdata::BulkCounter counter_;
  unsigned attributes_version_ = 0;
  /// In the place of a placement: the mapping changed between the first and the last sample.
  static constexpr std::uint32_t kMoved = 0xffff'ffff;
  bool has_moved_ = false;  ///< of a file
  MovedPlaces moved_;
};

Digest digest(Recording& recording, const perfdata::LaneSetup& lanes) {
  return Digester(recording, lanes).digest();
}

}  // namespace skid::locate
