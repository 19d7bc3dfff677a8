// How a recording is read: twice, because the file and offset of a sample are known only when all
// mappings are. perf writes the buffers of the CPUs one after the other, so that a mapping may
// follow samples of the code that it maps.
//
// Most recordings of one program have all mappings at the front, and are read little more than
// once. With 64 MiB of samples (S; M mappings, F forks, execs):
//
//   offset   0            1 MiB                32.5 MiB               64 MiB
//            |M M S M F S S|S S S S S S S S S S S|S S S S S S S S S S S S|
//   pass 1   |notes pieces |counts               |counts                 |
//            |thread 1                           |thread 2               |
//   pass 2   |counts pieces|
//
// - The first pass takes all records that are not samples. It reads only the headers of samples,
//   and notes where they are stored: pieces of 256 KiB (append_piece).
// - After 1 MiB of samples (DigestSetup::quiet) it counts the samples that follow at once, by the
//   mappings known then, if few mappings came before and none in the second half of that MiB
//   (begin_early). The counts are right if no mapping, fork, exec or event comes until the end.
// - At the same time a second thread walks the rest of the file from its middle, where records seem
//   to begin (second_half.h). Its result is used if the first thread arrives exactly there.
// - The second pass counts what is not counted yet: the pieces of the first MiB, or if another
//   mapping came, all pieces. Two threads take one piece after the other (count_pieces).
// - One thread reads the recording again in order if samples are compressed, if events are
//   described among them, or for a filter (count_in_order).
//
// docs/reading.md, "Speed and memory", describes it for users.
#include "src/locate/digest.h"

#include "src/locate/pieces.h"
#include "src/locate/place_counter.h"
#include "src/locate/replay.h"
#include "src/locate/sample_filter.h"
#include "src/locate/second_half.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/perfdata/sample_times.h"
#include "src/perfdata/stored_records.h"
#include "src/support/cores.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <linux/perf_event.h>

namespace skid::locate {

using perfdata::Record;
using perfdata::Recording;
using perfdata::StoredRecords;

class Digester {
 public:
  Digester(Recording& recording, const DigestSetup& setup)
      : recording_(recording),
        setup_(setup),
        filter_(setup.filter != nullptr && setup.filter->divides_events()
                    ? std::make_shared<SampleFilter>(*setup.filter)
                    : nullptr),
        replay_(recording, result_.spaces, Replay::kMostBytes,
                filter_ ? filter_->names() : nullptr),
        in_order_(filter_ != nullptr) {
    if (setup.filter != nullptr && setup.filter->takes_copies) {
      result_.spaces.take_replaced_code_for_copies();
    }
  }

  Digest digest() {
    recording_.spool();
    read_other_records();
    if (second_half_.valid()) second_half_.wait();  // its guess was wrong
    throttled_ = recording_.longest_throttle();
    // The share of throttled time needs the times of samples, which the first pass does not note.
    const bool is_early_right = is_early_valid() && throttled_ == 0;
    replay_.seal();
    if (filter_) filter_->begin(recording_, result_.spaces);
    const auto& attributes = recording_.attributes();
    counter_.emplace(new_counter());
    end_early(is_early_right);
    if (in_order_) {
      count_in_order();
    } else {
      count_pieces();
    }
    result_.totals = counter_->totals();
    result_.totals.resize(attributes.size());
    result_.throttled_share = counter_->times().share_of(throttled_);
    result_.unknown_ids = counter_->unknown_ids();
    result_.located = counter_->take_counts();
    if (!filter_) {
      for (const EventTotals& one : result_.totals) result_.filtered.all += one.samples;
      result_.filtered.selected = result_.filtered.all;
    }
    result_.filter = std::move(filter_);
    return std::move(result_);
  }

 private:
  /// Samples that one thread counts in the first pass, by the mappings known when it began to.
  struct Early {
    Early(const perfdata::SampleDecoder& known, const symbols::AddressSpaces& spaces,
          bool keeps_addresses)
        : decoder(known), counter(layout, decoder, spaces, keeps_addresses) {
      layout.use(decoder);
    }
    perfdata::SampleDecoder decoder;
    perfdata::BulkLayout layout;
    PlaceCounter counter;
  };

  /// Makes the first pass. It looks only at the headers of samples and notes where they are stored.
  /// While no mapping follows it counts them at once, and they are not read again.
  void read_other_records() {
    follow_attributes();
    Record record;
    for (;;) {
      const auto stored = recording_.stored();
      auto buffered = recording_.buffered();
      if (stored.begin <= boundary_) {
        buffered = buffered.first(std::min(buffered.size(), boundary_ - stored.begin));
      }
      std::uint64_t last_time = 0;
      const std::size_t samples = layout_.samples_at_front(buffered, &last_time);
      if (samples > 0) {
        result_.repeated.pass(stored.begin + samples, last_time);
        if (is_early_valid()) early_->counter.count(buffered.first(samples), recording_.position());
        note(stored, samples);
        recording_.consume(samples);
        if (const auto before = walked_;
            (walked_ += samples) >= setup_.quiet && before < setup_.quiet) {
          begin_early();
          start_second_half();
        }
        continue;
      }
      if (stored.begin == boundary_ && recording_.is_at_record() && take_second_half()) continue;
      if (!recording_.next(record)) break;
      const bool is_compressed = record.type == perfdata::PERF_RECORD_COMPRESSED ||
                                 record.type == perfdata::PERF_RECORD_COMPRESSED2;
      // The second pass decompresses samples again, or decodes them by the events known at each.
      if (is_compressed) in_order_ = true;
      if (attributes_version_ != recording_.attributes_version()) {
        follow_attributes();
        mappings_at_early_ = kNone;
        if (!pieces_.empty() || !first_pieces_.empty()) in_order_ = true;
      }
      auto one = recording_.stored();
      one.end = one.begin;
      one.begin -= record.body.size() + perfdata::kRecordHeader;
      one.position -= one.size();
      if (record.type != PERF_RECORD_SAMPLE) {
        take(record);
        if (may_be_in_piece(record.type)) extend_piece(pieces_, one, setup_.piece);
        if (record.type == perfdata::PERF_RECORD_FINISHED_ROUND) {
          result_.repeated.check(recording_, recording_.stored(), recording_.buffered(), layout_);
        }
        continue;
      }
      const auto sample = recording_.decode(record);  // a sample that is too short becomes a fault
      if (recording_.is_in_trace()) {
        in_order_ = true;  // it is stored nowhere
      } else if (sample) {
        result_.repeated.pass(one.end, sample->time);
      }
      if (is_early_valid()) early_->counter.count(record);
      note(one, one.size());
    }
  }

  /// Decides after some samples whether those that follow are counted in the first pass.
  void begin_early() {
    if (filter_ || walked_at_mapping_ > walked_ / 2 || result_.spaces.bytes() > kFewMappings)
      return;
    early_spaces_ = result_.spaces;
    early_spaces_->seal();
    mappings_at_early_ = result_.spaces.bytes();
    early_.emplace(recording_.decoder(), *early_spaces_, keeps_addresses());
    first_pieces_ = std::exchange(pieces_, {});
    end_ = recording_.position();
  }

  /// Whether neither a mapping, fork or exec nor an event has come since `begin_early`.
  bool is_early_valid() const { return mappings_at_early_ == result_.spaces.bytes(); }

  /// Adopts what was counted in the first pass if it is right, and leaves the rest for the second.
  void end_early(bool is_right) {
    if (is_right) {
      counter_->merge(early_->counter);
      if (early_half_ && is_half_taken_) counter_->merge(early_half_->counter);
      pieces_ = std::move(first_pieces_);
    } else {
      end_ = kNone;
      pieces_.insert(pieces_.begin(), first_pieces_.begin(), first_pieces_.end());
    }
    early_half_.reset();
    early_.reset();
    early_spaces_.reset();
  }

  /// Notes where samples are stored: `size` bytes from the start of `stored`.
  void note(StoredRecords stored, std::uint64_t size) {
    if (in_order_) return;
    stored.end = stored.begin + size;
    append_piece(pieces_, stored, setup_.piece);
  }

  /// Whether samples are also counted by address: those of breakpoints are compared by it.
  bool keeps_addresses() const {
    const auto& attributes = recording_.attributes();
    return std::ranges::any_of(attributes, [](const perfdata::Attribute& attribute) {
      return attribute.type == PERF_TYPE_BREAKPOINT;
    });
  }
  PlaceCounter new_counter() {
    PlaceCounter counter(layout_, recording_.decoder(), result_.spaces, keeps_addresses(),
                         filter_.get(), &result_.filtered);
    if (throttled_ > 0) counter.note_times();
    return counter;
  }

  /// Whether there is a core for a second thread.
  bool has_core() {
    if (setup_.cores == nullptr) return Cores::usable() > 1;
    if (!core_) core_ = setup_.cores->try_take();
    return core_ != nullptr;
  }

  /// Starts the second thread of the first pass, if it is worth it.
  void start_second_half() {
    auto rest = recording_.stored();
    if (in_order_ || rest.size() < setup_.worth || !has_core()) return;
    const auto boundary = guess_boundary(recording_, rest);
    if (!boundary) return;
    rest.position += *boundary - rest.begin;
    rest.begin = *boundary;
    if (early_) early_half_.emplace(recording_.decoder(), *early_spaces_, keeps_addresses());
    try {
      second_half_ = std::async(std::launch::async, [this, rest, layout = layout_] {
        return walk_second_half(recording_, rest, layout, setup_.piece,
                                early_half_ ? &early_half_->counter : nullptr);
      });
      boundary_ = *boundary;
    } catch (const std::system_error&) {  // no thread available: continue with one
    }
  }

  /// Adopts the results of the second thread when the first one is at the boundary, where a record
  /// begins. False if the rest has to be read in order.
  bool take_second_half() {
    boundary_ = kNone;
    auto half = second_half_.get();
    const auto rest = recording_.stored();
    if (!half || half->segment != rest.segment || in_order_) return false;
    is_half_taken_ = true;
    result_.repeated.add(half->repeated);
    for (const auto& piece : half->pieces) append_piece(pieces_, piece, setup_.piece);
    auto offset = half->offsets.begin();
    for (auto& some : half->others) {
      const std::vector<std::byte> freed = std::move(some);
      for (std::span<const std::byte> others = freed; !others.empty(); ++offset) {
        Record record;
        const auto size =
            perfdata::read_record_header(others, recording_.decoder().order(), record);
        record.offset = *offset;
        record.position = rest.position + (*offset - rest.begin);
        record.body = others.first(size).subspan(perfdata::kRecordHeader);
        others = others.subspan(size);
        take(record);
      }
    }
    recording_.skip_stored(rest.size());
    return true;
  }

  /// Adapts the layout of samples to attributes that were added.
  void follow_attributes() {
    attributes_version_ = recording_.attributes_version();
    layout_.use(recording_.decoder());
  }

  /// Processes a record that is not a sample.
  void take(const Record& record) {
    const auto before = result_.spaces.bytes();
    replay_.take(record);
    if (result_.spaces.bytes() != before) walked_at_mapping_ = walked_;
    recording_.add_losses(record, result_);
  }

  /// Makes the second pass in the order of the recording, by one thread.
  void count_in_order() {
    recording_.rewind();
    layout_ = {};
    follow_attributes();
    Record record;
    while (recording_.position() < end_) {
      auto buffered = recording_.buffered();
      buffered = buffered.first(std::min(buffered.size(), end_ - recording_.position()));
      const std::size_t samples = layout_.samples_at_front(buffered);
      counter_->count(buffered.first(samples), recording_.position());
      recording_.consume(samples);
      if (recording_.position() >= end_ || !recording_.next(record)) break;
      if (attributes_version_ != recording_.attributes_version()) follow_attributes();
      if (record.type == PERF_RECORD_SAMPLE) counter_->count(record);
    }
  }

  /// Makes the second pass by two threads, each of which takes one piece after the other.
  void count_pieces() {
    std::uint64_t largest = 0, all = 0;
    for (const auto& piece : pieces_) {
      largest = std::max(largest, piece.size());
      all += piece.size();
    }
    std::atomic<std::size_t> next = 0;
    using Changed = std::vector<std::pair<std::size_t, std::uint64_t>>;  // piece, bytes counted
    const auto work = [&](PlaceCounter& counter) {
      Changed changed;
      const auto memory = std::make_unique_for_overwrite<std::byte[]>(largest);
      for (std::size_t number; (number = next++) < pieces_.size();) {
        const auto& piece = pieces_[number];
        const std::span read(memory.get(), recording_.read(piece, memory.get()));
        const std::size_t counted = counter.count(read, piece.position);
        if (counted < piece.size()) changed.emplace_back(number, counted);
      }
      return changed;
    };
    std::optional<PlaceCounter> other;
    std::future<Changed> others;
    if (all >= setup_.worth && has_core()) {
      other.emplace(new_counter());
      try {
        others = std::async(std::launch::async, [&] { return work(*other); });
      } catch (const std::system_error&) {  // no thread available: continue with one
      }
    }
    Changed changed = work(*counter_);
    if (others.valid()) {
      const Changed more = others.get();
      changed.insert(changed.end(), more.begin(), more.end());
      counter_->merge(*other);
    }
    std::ranges::sort(changed);
    for (const auto& [number, counted] : changed) {
      recording_.add_changed(pieces_[number], pieces_[number].begin + counted);
    }
  }

  static constexpr std::uint64_t kNone = UINT64_MAX;
  static constexpr std::uint64_t kFewMappings = std::uint64_t{8} << 20;  ///< AddressSpaces::bytes

  Recording& recording_;
  const DigestSetup& setup_;
  Cores::Lease core_;
  Digest result_;
  std::shared_ptr<SampleFilter> filter_;  ///< only one thread may use it
  Replay replay_;
  perfdata::BulkLayout layout_;
  unsigned attributes_version_ = 0;
  bool in_order_;  ///< the second pass cannot take pieces
  Pieces pieces_;
  std::uint64_t throttled_ = 0;          ///< Recording::longest_throttle() of the first pass
  std::uint64_t walked_ = 0;             ///< bytes of samples in the first pass
  std::uint64_t walked_at_mapping_ = 0;  ///< `walked_` at the last mapping, fork or exec
  std::optional<symbols::AddressSpaces> early_spaces_;
  std::optional<Early> early_, early_half_;  ///< counts of the main thread; of `second_half_`
  bool is_half_taken_ = false;
  /// AddressSpaces::bytes when early counting began; kNone: it did not begin, or an event was
  /// described since.
  std::uint64_t mappings_at_early_ = kNone;
  Pieces first_pieces_;        ///< pieces before early counting began; `pieces_` has those after
  std::uint64_t end_ = kNone;  ///< position where the second pass ends
  std::uint64_t boundary_ = kNone;  ///< file offset where the second half may begin
  std::future<std::optional<SecondHalf>> second_half_;  ///< declared after all that its thread uses
  std::optional<PlaceCounter> counter_;
};

Digest digest(Recording& recording, const DigestSetup& setup) {
  return Digester(recording, setup).digest();
}

std::vector<std::uint64_t> exact_samples(const Digest& digest) {
  std::vector<std::uint64_t> exact(digest.totals.size());
  digest.located.for_each([&](const LocatedSamples& located) {
    if (located.kind.exact()) exact.at(located.attribute) += located.samples;
  });
  return exact;
}

}  // namespace skid::locate
