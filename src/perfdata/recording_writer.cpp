#include "src/perfdata/recording_writer.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/byte_writer.h"
#include "src/perfdata/feature_sections.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdio>
#include <limits>
#include <new>
#include <stdexcept>

#include <unistd.h>
#include <zstd.h>

namespace skid::perfdata {
namespace {

// struct perf_file_header and perf_pipe_file_header, tools/perf/util/header.h of the kernel.
constexpr std::string_view kFileMagic = "PERFILE2";
constexpr std::uint64_t kFileHeader = 104, kPipeHeader = 16;
constexpr std::uint64_t kSection = 16;         // offset, size
constexpr std::size_t kDataSize = 48;          // offset of the data section's size in the header
constexpr std::uint64_t kEventUpdateName = 2;  // PERF_EVENT_UPDATE__NAME

constexpr std::size_t kLongestRecord = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
/// Bytes of records that are compressed at once. They fit into one record even if compression does
/// not make them smaller.
constexpr std::size_t kCompressedAtOnce = std::size_t{32} << 10;
/// Size of the kernel's buffers in HEADER_COMPRESSED, larger than any decompressed record.
constexpr std::uint32_t kKernelBuffer = 528'384;
constexpr std::uint32_t kCompressionVersion = 1;

/// Returns the bytes of a record.
std::string record_of(std::uint32_t type, std::uint16_t misc, std::string_view body) {
  if (body.size() > kLongestRecord - kRecordHeader) {
    throw std::length_error("a record exceeds the maximum of its 16-bit size");
  }
  ByteWriter record;
  record.u32(type).u16(misc).u16(static_cast<std::uint16_t>(kRecordHeader + body.size())).raw(body);
  return record.bytes();
}

/// Returns `features` with those that follow from the other arguments.
Features completed(Features features, const std::vector<Attribute>& events,
                   const WritingChoices& choices) {
  features.events.clear();
  for (const Attribute& event : events) features.events.push_back({event, event.name, event.ids});
  features.present.set(HEADER_EVENT_DESC);
  features.present.set(HEADER_NRCPUS, features.cpu_counts.has_value());
  features.present.set(HEADER_COMPRESSED, choices.compression.has_value());
  if (choices.compression) {
    // perf writes the ratio of the whole recording, which in a pipe is not known here.
    const auto level = static_cast<std::uint32_t>(*choices.compression);
    features.compression =
        Compression{kCompressionVersion, PERF_COMP_ZSTD, level, 0, kKernelBuffer};
  }
  features.present.set(HEADER_SAMPLE_TIME, !choices.pipe);
  features.sample_time.emplace(0, 0);  // `finish` sets them
  return features;
}

/// Continues a zstd stream with `bytes`, and flushes it. Returns the compressed bytes.
std::string compressed(ZSTD_CCtx* stream, std::string_view bytes) {
  std::string compressed(kLongestRecord - kRecordHeader, '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
  const std::size_t left = ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush);
  if (left != 0) throw std::logic_error("zstd: what was compressed does not fit into a record");
  compressed.resize(out.pos);
  return compressed;
}

}  // namespace

void RecordingWriter::Free::operator()(ZSTD_CCtx_s* stream) const noexcept {
  ZSTD_freeCCtx(stream);
}

RecordingWriter::RecordingWriter(FileDescriptor file, std::filesystem::path path,
                                 const std::vector<Attribute>& events, const Features& features,
                                 const WritingChoices& choices)
    : file_(std::move(file)),
      path_(std::move(path)),
      is_pipe_(choices.pipe),
      features_(completed(features, events, choices)) {
  if (choices.compression) {
    compressor_.reset(ZSTD_createCCtx());
    if (!compressor_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, *choices.compression);
  }
  if (is_pipe_) {
    write_pipe_header(events);
  } else {
    write_file_header(events);
  }
}

void RecordingWriter::write_file_header(const std::vector<Attribute>& events) {
  ByteWriter ids;
  ByteWriter entries;
  for (const Attribute& event : events) {
    entries.raw(encode_attribute(event, &event == events.data()));
    entries.u64(kFileHeader + ids.bytes().size()).u64(event.ids.size() * sizeof(std::uint64_t));
    for (const std::uint64_t id : event.ids) ids.u64(id);
  }
  std::array<std::uint64_t, 4> bits{};
  constexpr unsigned kWord = 64;
  for (const auto& [bit, content] : encode_features(features_)) {
    bits[bit / kWord] |= std::uint64_t{1} << (bit % kWord);
  }
  const std::uint64_t entries_begin = kFileHeader + ids.bytes().size();
  data_begin_ = entries_begin + entries.bytes().size();
  ByteWriter header;
  header.raw(kFileMagic).u64(kFileHeader).u64(kWrittenAttribute + kSection);
  header.u64(entries_begin).u64(entries.bytes().size());
  header.u64(data_begin_).u64(0);  // the size of the records, which `finish` writes
  header.u64(0).u64(0);            // event types, no longer written by perf
  for (const std::uint64_t word : bits) header.u64(word);
  append(header.bytes());
  append(ids.bytes());
  append(entries.bytes());
}

void RecordingWriter::write_pipe_header(const std::vector<Attribute>& events) {
  ByteWriter header;
  header.raw(kFileMagic).u64(kPipeHeader);
  append(header.bytes());
  for (const Attribute& event : events) {
    ByteWriter body;
    body.raw(encode_attribute(event, &event == events.data()));
    for (const std::uint64_t id : event.ids) body.u64(id);
    write_stored(PERF_RECORD_HEADER_ATTR, body.bytes());
  }
  for (const auto& [bit, content] : encode_features(features_)) {
    ByteWriter body;
    body.u64(bit).raw(content);
    write_stored(PERF_RECORD_HEADER_FEATURE, body.bytes());
  }
  for (const Attribute& event : events) {
    if (event.ids.empty()) continue;
    ByteWriter body;
    body.u64(kEventUpdateName).u64(event.ids.front()).text(event.name);
    write_stored(PERF_RECORD_EVENT_UPDATE, body.bytes());
  }
}

void RecordingWriter::append(std::string_view bytes) {
  buffer_ += bytes;
  written_ += bytes.size();
  if (buffer_.size() >= kWriteBytes) flush();
}

void RecordingWriter::flush() {
  write_all(file_, buffer_, path_.string());
  buffer_.clear();
}

void RecordingWriter::write(std::uint32_t type, std::uint16_t misc, std::string_view body) {
  const std::string record = record_of(type, misc, body);
  if (!compressor_ || record.size() > kCompressedAtOnce) {
    if (compressor_) compress_gathered();
    append(record);
    return;
  }
  if (gathered_.size() + record.size() > kCompressedAtOnce) compress_gathered();
  gathered_ += record;
}

void RecordingWriter::compress_gathered() {
  if (gathered_.empty()) return;
  append(record_of(PERF_RECORD_COMPRESSED, 0, compressed(compressor_.get(), gathered_)));
  gathered_.clear();
}

void RecordingWriter::write_stored(std::uint32_t type, std::string_view body) {
  compress_gathered();
  append(record_of(type, 0, body));
}

void RecordingWriter::finish(std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time) {
  compress_gathered();
  if (is_pipe_) {
    flush();
    return;
  }
  const std::uint64_t data_size = written_ - data_begin_;
  if (sample_time) features_.sample_time = sample_time;
  const auto sections = encode_features(features_);
  ByteWriter table;
  std::uint64_t offset = written_ + sections.size() * kSection;
  for (const auto& [bit, content] : sections) {
    table.u64(offset).u64(content.size());
    offset += content.size();
  }
  append(table.bytes());
  for (const auto& [bit, content] : sections) append(content);
  flush();
  ::lseek(file_.get(), kDataSize, SEEK_SET);
  append(ByteWriter().u64(data_size).bytes());
  flush();
}

}  // namespace skid::perfdata
