#include "src/perfdata/recording_writer.h"

#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

namespace skid::perfdata {
namespace {

// struct perf_file_header and perf_pipe_file_header, tools/perf/util/header.h of the kernel.
constexpr std::string_view kFileMagic = "PERFILE2";
constexpr std::uint64_t kFileHeader = 104, kPipeHeader = 16;
constexpr std::uint64_t kSection = 16;          // offset, size
constexpr std::size_t kDataSize = 48;           // offset of the data section's size in the header
constexpr std::uint64_t kAttributeBytes = 128;  // PERF_ATTR_SIZE_VER7
constexpr std::size_t kNameAlignment = 64;      // NAME_ALIGN
constexpr std::uint64_t kEventUpdateName = 2;   // PERF_EVENT_UPDATE__NAME

constexpr std::size_t kLongestRecord = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
/// Records of so many bytes are compressed at once: even if they do not shrink they fit into one
/// record.
constexpr std::size_t kCompressedAtOnce = std::size_t{32} << 10;
/// Size of the kernel's buffers in HEADER_COMPRESSED; larger than any decompressed record.
constexpr std::uint32_t kKernelBuffer = 528'384;
constexpr std::uint32_t kCompressionVersion = 1;

std::string record_of(std::uint32_t type, std::uint16_t misc, std::string_view body) {
  if (body.size() > kLongestRecord - kRecordHeader) {
    throw std::length_error("a record exceeds the maximum of its 16-bit size");
  }
  RecordBody record;
  record.u32(type).u16(misc).u16(static_cast<std::uint16_t>(kRecordHeader + body.size())).raw(body);
  return record.bytes();
}

/// struct perf_event_attr, include/uapi/linux/perf_event.h.
std::string encode(const Attribute& attribute, bool is_first) {
  const auto bit = [](unsigned position, bool set) { return std::uint64_t{set} << position; };
  constexpr unsigned kPreciseIp = 15;
  const std::uint64_t flags =
      bit(0, true) | bit(1, true) |                                            // disabled, inherit
      bit(4, attribute.exclude_user) | bit(5, attribute.exclude_kernel) |      //
      bit(6, attribute.exclude_hypervisor) | bit(8, is_first) |                // mmap
      bit(9, is_first) | bit(10, attribute.frequency) | bit(12, true) |        // comm, on exec
      bit(13, is_first) | std::uint64_t{attribute.precise_ip} << kPreciseIp |  // task
      bit(18, attribute.sample_id_all) | bit(19, attribute.exclude_host) |     //
      bit(20, attribute.exclude_guest) | bit(23, is_first) | bit(24, is_first);  // mmap2, comm_exec
  RecordBody body;
  body.u32(attribute.type).u32(kAttributeBytes).u64(attribute.config);
  body.u64(attribute.period_or_frequency).u64(attribute.sample_type).u64(attribute.read_format);
  body.u64(flags).u32(0).u32(attribute.bp_type).u64(attribute.config1).u64(attribute.config2);
  body.u64(attribute.branch_sample_type).u64(attribute.sample_regs_user);
  std::string bytes = body.bytes();
  bytes.resize(kAttributeBytes, '\0');
  return bytes;
}

/// As perf writes strings in feature sections: size, then the padded characters.
void put_counted(RecordBody& body, std::string_view text) {
  const std::size_t padded = (text.size() / kNameAlignment + 1) * kNameAlignment;
  std::string characters(text);
  characters.resize(padded, '\0');
  body.u32(static_cast<std::uint32_t>(padded)).raw(characters);
}

std::string event_descriptions(const std::vector<Attribute>& events) {
  RecordBody body;
  body.u32(static_cast<std::uint32_t>(events.size())).u32(kAttributeBytes);
  for (const Attribute& event : events) {
    body.raw(encode(event, &event == events.data()));
    body.u32(static_cast<std::uint32_t>(event.ids.size()));
    put_counted(body, event.name);
    for (const std::uint64_t id : event.ids) body.u64(id);
  }
  return body.bytes();
}

/// Bits and contents, ascending.
std::vector<std::pair<unsigned, std::string>> encode(const Features& features,
                                                     const std::vector<Attribute>& events,
                                                     const WritingChoices& choices) {
  std::vector<std::pair<unsigned, std::string>> sections;
  const auto add = [&](unsigned bit, const auto& fill) {
    RecordBody body;
    fill(body);
    sections.emplace_back(bit, body.bytes());
  };
  const auto add_text = [&](unsigned bit, const std::string& text) {
    if (features.present.test(bit)) add(bit, [&](RecordBody& body) { put_counted(body, text); });
  };
  add_text(HEADER_HOSTNAME, features.hostname);
  add_text(HEADER_OSRELEASE, features.os_release);
  add_text(HEADER_VERSION, features.perf_version);
  add_text(HEADER_ARCH, features.arch);
  if (features.cpu_counts) {
    add(HEADER_NRCPUS, [&](RecordBody& body) {
      body.u32(features.cpu_counts->available).u32(features.cpu_counts->online);
    });
  }
  add_text(HEADER_CPUDESC, features.cpu_description);
  add_text(HEADER_CPUID, features.cpuid);
  if (features.present.test(HEADER_CMDLINE)) {
    add(HEADER_CMDLINE, [&](RecordBody& body) {
      body.u32(static_cast<std::uint32_t>(features.command_line.size()));
      for (const std::string& argument : features.command_line) put_counted(body, argument);
    });
  }
  sections.emplace_back(HEADER_EVENT_DESC, event_descriptions(events));
  if (features.present.test(HEADER_PMU_MAPPINGS)) {
    add(HEADER_PMU_MAPPINGS, [&](RecordBody& body) {
      body.u32(static_cast<std::uint32_t>(features.pmu_mappings.size()));
      for (const auto& [number, name] : features.pmu_mappings) {
        body.u32(number);
        put_counted(body, name);
      }
    });
  }
  if (choices.compression) {
    add(HEADER_COMPRESSED, [&](RecordBody& body) {
      // perf writes the ratio that it reached, which is not known before the end of a pipe.
      body.u32(kCompressionVersion).u32(PERF_COMP_ZSTD);
      body.u32(static_cast<std::uint32_t>(*choices.compression)).u32(0).u32(kKernelBuffer);
    });
  }
  return sections;
}

}  // namespace

/// One zstd stream over the whole recording, flushed at the end of each record.
class RecordingWriter::Compressor {
 public:
  explicit Compressor(int level) : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    if (!context_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  }

  std::string compress(std::string_view bytes) {
    std::string compressed(kLongestRecord - kRecordHeader, '\0');
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush);
    if (left != 0) throw std::logic_error("zstd: what was compressed does not fit into a record");
    compressed.resize(out.pos);
    return compressed;
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
};

RecordingWriter::RecordingWriter(FileDescriptor file, std::filesystem::path path,
                                 const std::vector<Attribute>& events, const Features& features,
                                 const WritingChoices& choices)
    : file_(std::move(file)),
      path_(std::move(path)),
      is_pipe_(choices.pipe),
      features_(encode(features, events, choices)) {
  if (choices.compression) compressor_ = std::make_unique<Compressor>(*choices.compression);
  if (is_pipe_) {
    write_pipe_header(events);
  } else {
    write_file_header(events);
  }
}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::write_file_header(const std::vector<Attribute>& events) {
  RecordBody ids;
  RecordBody entries;
  for (const Attribute& event : events) {
    entries.raw(encode(event, &event == events.data()));
    entries.u64(kFileHeader + ids.bytes().size()).u64(event.ids.size() * sizeof(std::uint64_t));
    for (const std::uint64_t id : event.ids) ids.u64(id);
  }
  std::array<std::uint64_t, 4> bits{};
  constexpr unsigned kWord = 64;
  for (const auto& [bit, content] : features_) {
    bits[bit / kWord] |= std::uint64_t{1} << (bit % kWord);
  }
  bits[HEADER_SAMPLE_TIME / kWord] |= std::uint64_t{1} << (HEADER_SAMPLE_TIME % kWord);
  const std::uint64_t entries_begin = kFileHeader + ids.bytes().size();
  data_begin_ = entries_begin + entries.bytes().size();
  RecordBody header;
  header.raw(kFileMagic).u64(kFileHeader).u64(kAttributeBytes + kSection);
  header.u64(entries_begin).u64(entries.bytes().size());
  header.u64(data_begin_).u64(0);  // the size of the records, which `finish` knows
  header.u64(0).u64(0);            // event types, no longer written by perf
  for (const std::uint64_t word : bits) header.u64(word);
  append(header.bytes());
  append(ids.bytes());
  append(entries.bytes());
}

void RecordingWriter::write_pipe_header(const std::vector<Attribute>& events) {
  RecordBody header;
  header.raw(kFileMagic).u64(kPipeHeader);
  append(header.bytes());
  for (const Attribute& event : events) {
    RecordBody body;
    body.raw(encode(event, &event == events.data()));
    for (const std::uint64_t id : event.ids) body.u64(id);
    write_stored(PERF_RECORD_HEADER_ATTR, body.bytes());
  }
  for (const auto& [bit, content] : features_) {
    RecordBody body;
    body.u64(bit).raw(content);
    write_stored(PERF_RECORD_HEADER_FEATURE, body.bytes());
  }
  for (const Attribute& event : events) {
    if (event.ids.empty()) continue;
    RecordBody body;
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
  append(record_of(PERF_RECORD_COMPRESSED, 0, compressor_->compress(gathered_)));
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
  RecordBody times;
  times.u64(sample_time ? sample_time->first : 0).u64(sample_time ? sample_time->second : 0);
  const auto next = std::find_if(features_.begin(), features_.end(), [](const auto& section) {
    return section.first > HEADER_SAMPLE_TIME;
  });
  features_.insert(next, {HEADER_SAMPLE_TIME, times.bytes()});
  RecordBody table;
  std::uint64_t offset = written_ + features_.size() * kSection;
  for (const auto& [bit, content] : features_) {
    table.u64(offset).u64(content.size());
    offset += content.size();
  }
  append(table.bytes());
  for (const auto& [bit, content] : features_) append(content);
  flush();
  ::lseek(file_.get(), kDataSize, SEEK_SET);
  append(RecordBody().u64(data_size).bytes());
  flush();
}

}  // namespace skid::perfdata
