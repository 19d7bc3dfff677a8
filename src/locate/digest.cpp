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
//   (FirstPass::begin_early). The counts are right if no mapping, fork, exec or event comes until
//   the end.
// - At the same time a second thread walks the rest of the file from its middle, where records seem
//   to begin (second_half.h). Its result is used if the first thread arrives exactly there.
// - The second pass counts what is not counted yet: the pieces of the first MiB, or if another
//   mapping came, all pieces. Two threads take one piece after the other (count_pieces).
// - One thread reads the recording again in order if samples are compressed, if events are
//   described among them, or for a filter (count_in_order).
//
// docs/reading.md, "Speed and memory", describes it for users.
#include "src/locate/digest.h"

#include "src/locate/early_counts.h"
#include "src/locate/pieces.h"
#include "src/locate/place_counter.h"
#include "src/locate/replay.h"
#include "src/locate/sample_filter.h"
#include "src/locate/sample_reading.h"
#include "src/locate/second_half.h"
#include "src/locate/second_pass.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/perfdata/sample_times.h"
#include "src/perfdata/stored_records.h"

#include <algorithm>
#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <linux/perf_event.h>

namespace skid::locate {
namespace {

using perfdata::Record;
using perfdata::StoredRecords;

/// What the second pass has to count.
struct Uncounted {
  Pieces pieces;
  std::uint64_t end = UINT64_MAX;  ///< position (Record::position) where it ends
};

/// The first pass: it takes all records that are not samples, and notes where samples are stored.
/// While no mapping follows it counts them at once, so that they need not be read again.
class FirstPass {
 public:
  /// All must outlive the pass. `result` receives mappings, losses and repeated records. `filter`:
  /// receives the names of threads if it needs them; null: all samples are counted.
  FirstPass(SampleReading& reading, SampleFilter* filter, Digest& result)
      : reading_(reading),
        result_(result),
        may_begin_early_(filter == nullptr),
        replay_(reading.recording, result.spaces, Replay::kMostBytes,
                filter != nullptr ? filter->names() : nullptr) {}

  /// Reads the recording to its end.
  void read() {
    auto& recording = reading_.recording;
    reading_.follow_attributes();
    Record record;
    for (;;) {
      if (take_samples()) continue;
      if (recording.stored().begin == boundary_ && recording.is_at_record() && take_second_half()) {
        continue;
      }
      if (!recording.next(record)) break;
      take_next(record);
    }
    if (second_half_.valid()) second_half_.wait();  // its guess was wrong
    is_early_right_ = early_.are_right(result_.spaces);
    replay_.seal();
  }

  /// Adds what was counted to `counter`, if that is right and `may_take`, and returns the rest.
  Uncounted finish(bool may_take, PlaceCounter& counter) {
    if (may_take && is_early_right_) {
      early_.merge_into(counter);
      return {std::move(before_early_), early_begin_};
    }
    pieces_.insert(pieces_.begin(), before_early_.begin(), before_early_.end());
    return {std::move(pieces_)};
  }

 private:
  /// Takes the samples that are next, if any.
  bool take_samples() {
    auto& recording = reading_.recording;
    const auto stored = recording.stored();
    auto buffered = recording.buffered();
    if (stored.begin <= boundary_) {
      buffered = buffered.first(std::min(buffered.size(), boundary_ - stored.begin));
    }
    std::uint64_t last_time = 0;
    const std::size_t samples = reading_.layout.samples_at_front(buffered, &last_time);
    if (samples == 0) return false;
    result_.repeated.pass(stored.begin + samples, last_time);
    if (early_.are_right(result_.spaces)) {
      early_.counter().count(buffered.first(samples), recording.position());
    }
    note(stored, samples);
    recording.consume(samples);
    const auto before = walked_;
    walked_ += samples;
    if (walked_ >= reading_.setup.quiet && before < reading_.setup.quiet) {
      begin_early();
      start_second_half();
    }
    return true;
  }

  /// Takes a record that take_samples() does not take: any other one, or a sample that has to be
  /// decoded.
  void take_next(const Record& record) {
    auto& recording = reading_.recording;
    const bool is_compressed = record.type == perfdata::PERF_RECORD_COMPRESSED ||
                               record.type == perfdata::PERF_RECORD_COMPRESSED2;
    // The second pass decompresses samples again, or decodes them by the events known at each.
    if (is_compressed) reading_.in_order = true;
    if (reading_.lacks_attributes()) {
      reading_.follow_attributes();
      early_.give_up();
      if (!pieces_.empty() || !before_early_.empty()) reading_.in_order = true;
    }
    auto one = recording.stored();
    one.end = one.begin;
    one.begin -= record.body.size() + perfdata::kRecordHeader;
    one.position -= one.size();
    if (record.type != PERF_RECORD_SAMPLE) {
      take(record);
      if (may_be_in_piece(record.type)) extend_piece(pieces_, one, reading_.setup.piece);
      if (record.type == perfdata::PERF_RECORD_FINISHED_ROUND) {
        result_.repeated.check(recording, recording.stored(), recording.buffered(),
                               reading_.layout);
      }
      return;
    }
    const auto sample = recording.decode(record);  // a sample that is too short becomes a fault
    if (recording.is_in_trace()) {
      reading_.in_order = true;  // it is stored nowhere
    } else if (sample) {
      result_.repeated.pass(one.end, sample->time);
    }
    if (early_.are_right(result_.spaces)) early_.counter().count(record);
    note(one, one.size());
  }

  /// Processes a record that is not a sample.
  void take(const Record& record) {
    const auto before = result_.spaces.bytes();
    replay_.take(record);
    if (result_.spaces.bytes() != before) walked_at_mapping_ = walked_;
    reading_.recording.add_losses(record, result_);
  }

  /// Notes where samples are stored: `size` bytes from the start of `stored`.
  void note(StoredRecords stored, std::uint64_t size) {
    if (reading_.in_order) return;
    stored.end = stored.begin + size;
    append_piece(pieces_, stored, reading_.setup.piece);
  }

  /// Decides after some samples whether those that follow are counted in this pass.
  void begin_early() {
    constexpr std::uint64_t kFewMappings = std::uint64_t{8} << 20;  // AddressSpaces::bytes
    const auto& spaces = result_.spaces;
    if (!may_begin_early_ || walked_at_mapping_ > walked_ / 2 || spaces.bytes() > kFewMappings) {
      return;
    }
    early_.begin(reading_, spaces);
    before_early_ = std::exchange(pieces_, {});
    early_begin_ = reading_.recording.position();
  }

  /// Starts the second thread, if it is worth it.
  void start_second_half() {
    auto rest = reading_.recording.stored();
    if (reading_.in_order || rest.size() < reading_.setup.worth || !reading_.has_core()) return;
    const auto boundary = guess_boundary(reading_.recording, rest);
    if (!boundary) return;
    rest.position += *boundary - rest.begin;
    rest.begin = *boundary;
    PlaceCounter* const counter = early_.begin_half(reading_);
    try {
      second_half_ = std::async(std::launch::async, [this, rest, counter,
                                                     layout = reading_.layout] {
        return walk_second_half(reading_.recording, rest, layout, reading_.setup.piece, counter);
      });
      boundary_ = *boundary;
    } catch (const std::system_error&) {  // no thread available: continue with one
    }
  }

  /// Adopts the results of the second thread when the first one is at the boundary, where a record
  /// begins. Returns false if the rest has to be read in order.
  bool take_second_half() {
    boundary_ = kNever;
    auto half = second_half_.get();
    const auto rest = reading_.recording.stored();
    if (!half || half->segment != rest.segment || reading_.in_order) return false;
    early_.take_half();
    result_.repeated.add(half->repeated);
    for (const auto& piece : half->pieces) append_piece(pieces_, piece, reading_.setup.piece);
    auto offset = half->offsets.begin();
    for (auto& some : half->others) {
      const std::vector<std::byte> freed = std::move(some);
      for (std::span<const std::byte> others = freed; !others.empty(); ++offset) {
        Record record;
        const auto size =
            perfdata::read_record_header(others, reading_.recording.decoder().order(), record);
        record.offset = *offset;
        record.position = rest.position + (*offset - rest.begin);
        record.body = others.first(size).subspan(perfdata::kRecordHeader);
        others = others.subspan(size);
        take(record);
      }
    }
    reading_.recording.skip_stored(rest.size());
    return true;
  }

  static constexpr std::uint64_t kNever = UINT64_MAX;

  SampleReading& reading_;
  Digest& result_;
  bool may_begin_early_;
  Replay replay_;
  Pieces pieces_;
  Pieces before_early_;  ///< pieces before early counting began; `pieces_` has those after
  std::uint64_t early_begin_ = kNever;   ///< position where early counting began
  std::uint64_t walked_ = 0;             ///< bytes of samples
  std::uint64_t walked_at_mapping_ = 0;  ///< `walked_` at the last mapping, fork or exec
  EarlyCounts early_;
  bool is_early_right_ = false;      ///< at the end of the recording
  std::uint64_t boundary_ = kNever;  ///< file offset where the second half may begin
  std::future<std::optional<SecondHalf>> second_half_;  ///< declared after all that its thread uses
};

}  // namespace

Digest digest(perfdata::Recording& recording, const DigestSetup& setup) {
  Digest result;
  SampleReading reading{.recording = recording, .setup = setup};
  std::shared_ptr<SampleFilter> filter;  // only one thread may use it
  if (setup.filter != nullptr && setup.filter->divides_events()) {
    filter = std::make_shared<SampleFilter>(*setup.filter);
    reading.in_order = true;
  }
  if (setup.filter != nullptr && setup.filter->takes_copies) {
    result.spaces.take_replaced_code_for_copies();
  }
  recording.spool();
  std::optional<FirstPass> first(std::in_place, reading, filter.get(), result);
  first->read();
  const std::uint64_t throttled = recording.longest_throttle();
  if (filter) filter->begin(recording, result.spaces);
  const auto new_counter = [&] {
    PlaceCounter counter(reading.layout, recording.decoder(), result.spaces,
                         reading.keeps_addresses(), filter.get(), &result.filtered);
    if (throttled > 0) counter.note_times();
    return counter;
  };
  PlaceCounter counter = new_counter();
  // The share of throttled time needs the times of samples, which the first pass does not note.
  const Uncounted rest = first->finish(throttled == 0, counter);
  first.reset();
  if (reading.in_order) {
    count_in_order(reading, rest.end, counter);
  } else {
    count_pieces(reading, rest.pieces, new_counter, counter);
  }
  result.totals = counter.totals();
  result.totals.resize(recording.attributes().size());
  result.throttled_share = counter.times().share_of(throttled);
  result.unknown_ids = counter.unknown_ids();
  result.located = counter.take_counts();
  if (!filter) {
    for (const EventTotals& one : result.totals) result.filtered.all += one.samples;
    result.filtered.selected = result.filtered.all;
  }
  result.filter = std::move(filter);
  return result;
}

std::vector<std::uint64_t> exact_samples(const Digest& digest) {
  std::vector<std::uint64_t> exact(digest.totals.size());
  digest.located.for_each([&](const LocatedSamples& located) {
    if (located.kind.exact()) exact.at(located.attribute) += located.samples;
  });
  return exact;
}

}  // namespace skid::locate
