#include "src/perfdata/recording.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/support/byte_reader.h"
#include "src/support/file.h"
#include "src/support/losses.h"
#include "src/support/temporary_directory.h"

#include <algorithm>
#include <bitset>
#include <cstdio>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace skid::perfdata {

void Recording::add_short_record(const Record& record) {
  // All of a recording may be damaged, and formatting faults is slow.
  if (faults_.is_full()) return;
  fault(record.offset,
        fmt::format("a {} of {} bytes that ends inside its fields",
                    name_of_record_type(record.type), record.body.size() + kRecordHeader),
        "", "the record was left out");
}

void Recording::add_aux(const Record& record, Losses& losses) {
  ByteReader body(record.body, order_);
  body.skip(16);  // aux_offset, aux_size
  const std::uint64_t flags = body.u64();
  if (body.failed()) return add_short_record(record);
  ++losses.aux_records;
  if ((flags & PERF_AUX_FLAG_TRUNCATED) != 0) ++losses.aux_truncated;
  if ((flags & PERF_AUX_FLAG_PARTIAL) != 0) ++losses.aux_partial;
  if ((flags & PERF_AUX_FLAG_COLLISION) != 0) ++losses.aux_collisions;
}

void Recording::add_throttle(const Record& record, Losses& losses) {
  constexpr std::size_t kMostCounters = std::size_t{1} << 16;
  const bool begins = record.type == PERF_RECORD_THROTTLE;
  if (begins) ++losses.throttled;
  ByteReader body(record.body, order_);
  const std::uint64_t time = body.u64();
  body.skip(8);  // id, which counters of one event may share
  const std::uint64_t stream = body.u64();
  if (body.failed()) return add_short_record(record);
  if (throttled_.size() >= kMostCounters && !throttled_.contains(stream)) return;
  Throttled& throttled = throttled_[stream];
  const auto since = std::exchange(throttled.since, begins ? std::optional(time) : std::nullopt);
  if (!begins && since && time > *since) throttled.total += time - *since;
}

std::uint64_t Recording::longest_throttle() const {
  std::uint64_t longest = 0;
  for (const auto& [stream, throttled] : throttled_) longest = std::max(longest, throttled.total);
  return longest;
}

void Recording::add_losses(const Record& record, Losses& losses) {
  if (record.type == PERF_RECORD_THROTTLE || record.type == PERF_RECORD_UNTHROTTLE) {
    return add_throttle(record, losses);
  }
  if (record.type == PERF_RECORD_AUX) return add_aux(record, losses);
  const bool is_of_records = record.type == PERF_RECORD_LOST;
  if (!is_of_records && record.type != PERF_RECORD_LOST_SAMPLES) return;
  if (!is_of_records && (record.misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF) != 0) return;
  if (const auto lost = parse_lost(record, order_)) {
    (is_of_records ? losses.lost_records : losses.lost_samples) += *lost;
  } else {
    add_short_record(record);
  }
}

std::optional<Sample> Recording::decode(const Record& record) {
  const auto decoded = decoder_.decode(record);
  switch (decoded.problem) {
    case SampleDecoder::Problem::none:
      return decoded.sample;
    case SampleDecoder::Problem::unknown_id:
      ++left_out_.unknown_ids;
      break;
    case SampleDecoder::Problem::too_short:
      ++left_out_.short_samples;
      add_short_record(record);
      break;
  }
  return std::nullopt;
}

void Recording::fault(std::uint64_t offset, std::string found, std::string expected,
                      std::string remedy) {
  faults_.add(segment_path(), offset, std::move(found), std::move(expected), std::move(remedy));
}

bool Recording::stop(std::uint64_t offset, std::string found, std::string expected,
                     std::string remedy) {
  fault(offset, std::move(found), std::move(expected), std::move(remedy));
  stopped_ = true;
  return false;
}

void Recording::start_segment(std::size_t index) {
  segment_ = index;
  stopped_ = false;
  announced_ = {};
  const Segment& segment = segments_[index];
  if (!from_pipe_) stream_ = ByteStream::of_file(segment.file.get(), segment.begin, segment.end);
  // Each file of a directory has a separate zstd stream.
  compressed_.begin();
}

std::size_t Recording::read(const StoredRecords& records, std::byte* memory) const {
  auto stream = std::span(memory, static_cast<std::size_t>(records.size()));
  return read_at(segments_[records.segment].file, stream, records.begin);
}

void Recording::add_changed(const StoredRecords& records, std::uint64_t offset) {
  Segment& segment = segments_[records.segment];
  if (std::exchange(segment.is_changed, true)) return;
  const bool was_cut = size_of(segment.file) < records.end;
  faults_.add(segment.path.string(), offset, was_cut ? "the end of the file" : "other records",
              was_cut ? fmt::format("records up to {:#x}", segment.end) : "those read before",
              was_cut ? "it became shorter while it was read" : "it changed while it was read");
}

void Recording::spool() {
  if (!from_pipe_) return;
  std::string directory;
  FileDescriptor copy = unnamed_file(directory);
  // Offsets are those of the pipe.
  ::lseek(copy.get(), static_cast<off_t>(stream_.position()), SEEK_SET);
  while (stream_.fill(1)) {
    const auto some = stream_.buffered();
    write_all(copy, {reinterpret_cast<const char*>(some.data()), some.size()}, directory,
              "set TMPDIR to a directory with room for the recording from the pipe");
    stream_.consume(some.size());
  }
  const std::uint64_t end = stream_.position();
  if (stream_.read_error() != 0) fault(end, describe_errno(stream_.read_error()), "");
  segments_.front().file = std::move(copy);
  segments_.front().end = end;
  from_pipe_ = false;
  start_segment(0);
}

void Recording::rewind() {
  rewound_ = true;
  faults_.begin_again();
  left_out_ = {};
  throttled_.clear();
  decoder_ = SampleDecoder(std::span(metadata_.attributes).first(attributes_at_start_), order_);
  spe_.rewind();
  in_trace_ = false;
  changes_made_ = 0;
  ++attributes_version_;
  ended_ = false;
  position_ = 0;
  start_segment(0);
}

std::span<const std::byte> Recording::buffered() const noexcept {
  if (announced_.left > 0 || stopped_) return {};
  return compressed_.is_open() ? compressed_.buffered() : stream_.buffered();
}

void Recording::consume(std::size_t bytes) noexcept {
  position_ += bytes;
  if (compressed_.is_open()) {
    compressed_.consume(bytes);
  } else {
    stream_.consume(bytes);
  }
}

bool Recording::next(Record& record) {
  while (!ended_) {
    if (stopped_) {
      // Not earlier, because the previous record may be in the buffer of the stream.
      if (segment_ + 1 < segments_.size()) {
        start_segment(segment_ + 1);
        continue;
      }
      if (next_of_trace(record)) return true;
      ended_ = true;
      continue;
    }
    if (announced_.left > 0 && !skip_announced()) continue;
    if (compressed_.is_open()) {
      if (next_compressed(record)) {
        accept(record);
        return true;
      }
    } else if (next_stored(record)) {
      accept_stored(record);
      accept(record);
      return true;
    } else {
      stopped_ = true;
    }
  }
  return false;
}

bool Recording::next_stored(Record& record) {
  if (!stream_.fill(kRecordHeader)) return end_of_segment();
  const std::uint64_t offset = stream_.position();
  const std::uint16_t size = read_record_header(stream_.buffered(), order_, record);
  if (size < kRecordHeader) {
    return stop(offset, fmt::format("a record of {} bytes", size),
                fmt::format("at least {}", kRecordHeader), kRecordAgain);
  }
  if (!stream_.fill(size)) {
    if (stop_if_cut()) return false;
    return stop(offset, fmt::format("a record of {} bytes", size),
                fmt::format("{} up to the end of the records", stream_.buffered().size()),
                kRecordAgain);
  }
  // RepeatedRecords compares the records that follow.
  if (record.type == PERF_RECORD_FINISHED_ROUND && !from_pipe_) {
    stream_.fill(ByteStream::kLargestFill);
  }
  record.offset = offset;
  record.position = position_;
  record.body = stream_.buffered().subspan(kRecordHeader, size - kRecordHeader);
  stream_.consume(size);
  position_ += size;
  return true;
}

bool Recording::stop_if_cut() {
  const std::size_t left = stream_.buffered().size();
  if (stream_.read_error() != 0) {
    stop(stream_.position(), describe_errno(stream_.read_error()), "");
    return true;
  }
  if (stream_.left().value_or(left) > left) {
    stop(stream_.position(), "the end of the file",
         fmt::format("records up to {:#x}", segments_[segment_].end),
         "it became shorter while it was read");
    return true;
  }
  return false;
}

bool Recording::end_of_segment() {
  if (stop_if_cut()) return false;
  const std::size_t left = stream_.buffered().size();
  if (left > 0) {
    return stop(stream_.position(), fmt::format("{} bytes after the last record", left),
                "whole records", kRecordAgain);
  }
  if (const std::size_t rest = compressed_.drop_rest(); rest > 0) {
    fault(compressed_.offset(),
          fmt::format("compressed records that end with {} bytes of another one", rest),
          "whole records", kRecordAgain);
  }
  return false;
}

void Recording::accept_stored(const Record& record) {
  switch (record.type) {
    case PERF_RECORD_COMPRESSED:
    case PERF_RECORD_COMPRESSED2:
      compressed_.open(record, order_);
      note_compressed_problem();
      break;
    case PERF_RECORD_AUXTRACE:
    case PERF_RECORD_HEADER_TRACING_DATA: {
      // The announced data follow the record and are not part of its size.
      const bool is_trace = record.type == PERF_RECORD_AUXTRACE;
      ByteReader body(record.body, order_);
      const std::uint64_t size = is_trace ? body.u64() : body.u32();
      const auto left = stream_.left();
      const bool is_kept = !is_trace && !rewound_ && metadata_.features.tracing_data.empty() &&
                           size <= kLargestFeature;
      // The record of simpleperf contains its data (TracingDataRecord in
      // system/extras/simpleperf/record.cpp).
      if (!is_trace && !body.failed() && body.remaining() >= size) {
        if (is_kept) add_tracing_data(body.take(size));
        break;
      }
      if (body.failed() || (left && size > *left)) {
        stop(record.offset,
             fmt::format("{} of {} bytes", is_trace ? "an AUX trace" : "tracing data", size),
             fmt::format("{} up to the end of the records", left.value_or(0)), kRecordAgain);
        break;
      }
      announced_ = {record.offset, size, size, is_kept, is_trace && from_pipe_};
      if (is_trace) add_trace(record);
      break;
    }
    default:
      break;
  }
}

void Recording::add_tracing_data(std::span<const std::byte> some) {
  auto& tracing_data = metadata_.features.tracing_data;
  tracing_data.insert(tracing_data.end(), some.begin(), some.end());
  metadata_.features.present.set(HEADER_TRACING_DATA);
}

void Recording::add_trace(const Record& record) {
  auto data = parse_aux_data(record, order_);
  if (!rewound_) hardware_trace_.bytes += announced_.size;
  if (!data || !hardware_trace_.is_decoded) return;
  data->segment = segment_;
  data->offset = stream_.position();
  data->stored = from_pipe_ ? trace_copied_ : data->offset;
  spe_.add(*data);
}

void Recording::copy_from_pipe(std::span<const std::byte> some) {
  std::string directory;
  if (!trace_copy_) trace_copy_ = unnamed_file(directory);
  write_all(trace_copy_, {reinterpret_cast<const char*>(some.data()), some.size()}, directory,
            "set TMPDIR to a directory with room for the AUX data from the pipe");
  trace_copied_ += some.size();
}

bool Recording::next_of_trace(Record& record) {
  while (const AuxData* const data = spe_.current()) {
    const Segment& segment = segments_[data->segment];
    if (!spe_.is_open()) {
      const auto& file = trace_copy_ ? trace_copy_ : segment.file;
      spe_.open(ByteStream::of_file(file.get(), data->stored, data->stored + data->size));
    }
    if (spe_.next(metadata_.attributes, metadata_.features, order_, record)) {
      record.position = position_;
      position_ += kRecordHeader + record.body.size();
      in_trace_ = true;
      return true;
    }
    if (const auto [malformed, first] = spe_.malformed(); malformed > 0) {
      faults_.add(segment.path, first, fmt::format("malformed packets of SPE, {}", malformed),
                  "packets of the Statistical Profiling Extension",
                  "the records that they are in were left out");
    }
  }
  hardware_trace_.spe = spe_.counts();
  in_trace_ = false;
  return false;
}

bool Recording::skip_announced() {
  if (announced_.is_kept || (announced_.is_copied && hardware_trace_.is_decoded)) {
    while (announced_.left > 0 && stream_.fill(1)) {
      const auto some = stream_.buffered().first(static_cast<std::size_t>(
          std::min<std::uint64_t>(announced_.left, stream_.buffered().size())));
      if (announced_.is_kept) {
        add_tracing_data(some);
      } else {
        copy_from_pipe(some);
      }
      stream_.consume(some.size());
      announced_.left -= some.size();
    }
  } else if (stream_.skip(announced_.left)) {
    announced_.left = 0;
  }
  const auto [offset, size, left, is_kept, is_copied] = announced_;
  if (left > 0) {
    announced_ = {};
    return stop(offset, fmt::format("{} bytes announced after a record", size),
                fmt::format("at most {}", size - left), kRecordAgain);
  }
  position_ += size;
  return true;
}

void Recording::accept(const Record& record) {
  if (record.type != PERF_RECORD_SAMPLE && !spe_.take(record, decoder_)) {
    fault(record.offset, "more threads or context switches than are kept", "",
          "samples of SPE may be without their thread");
  }
  if (rewound_) {
    while (changes_made_ < changes_.size() && changes_[changes_made_].position <= record.position) {
      follow(changes_[changes_made_]);
    }
    return;
  }
  if (record.type == PERF_RECORD_AUXTRACE_INFO) {
    hardware_trace_.type = ByteReader(record.body, order_).u32();
    if (spe_.take_info(record, order_, metadata_.attributes)) {
      hardware_trace_.is_decoded = true;
      changes_.push_back({record.position, MetadataChange::events_described, true});
      return follow(changes_.back());
    }
  }
  auto taken = take_metadata(record, order_, decoder_.ids(), metadata_);
  if (taken.change != MetadataChange::none) {
    const bool with_ids = !metadata_.attributes.empty() && !metadata_.attributes.back().ids.empty();
    changes_.push_back({record.position, taken.change, with_ids});
    follow(changes_.back());
  }
  if (!taken.problem.empty()) {
    fault(record.offset, std::move(taken.problem), "", "the record was left out");
  }
}

void Recording::follow(const Change& change) {
  ++changes_made_;
  ++attributes_version_;
  const std::size_t known = decoder_.layouts().size();
  if (change.what == MetadataChange::attribute_added) {
    Attribute attribute = metadata_.attributes[known];
    if (!change.with_ids) attribute.ids.clear();
    decoder_.add(attribute);
  } else {
    decoder_ = SampleDecoder(std::span(metadata_.attributes).first(known), order_);
  }
}

bool Recording::next_compressed(Record& record) {
  const bool given = compressed_.next(record, order_);
  note_compressed_problem();
  if (!given) return false;
  record.position = position_;
  position_ += kRecordHeader + record.body.size();
  return true;
}

void Recording::note_compressed_problem() {
  if (auto problem = compressed_.take_problem()) {
    fault(compressed_.offset(), std::move(problem->found), std::move(problem->expected),
          "the compressed records from here on are left out; record again");
  }
}

}  // namespace skid::perfdata
