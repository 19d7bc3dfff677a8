// A perf.data recording: its metadata, and its records one after the other.
#pragma once

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/compressed_records.h"
#include "src/perfdata/fault_log.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {

struct Attribute;
struct Features;
struct Record;

/// How a recording was stored.
enum class StorageMode { file, pipe, directory };

/// "file", "pipe", "directory"
std::string_view name_of(StorageMode mode);

/// An opened recording. Memory does not grow with its length: records are read through bounded
/// buffers. Damage ends reading with a fault instead of an exception, so that everything before it
/// counts. Compressed records are returned as they are, followed by the records in them.
class Recording {
 public:
  /// Opens a recording: a perf.data file in file or pipe mode, the directory that
  /// `perf record --threads` leaves, a pipe or FIFO, or standard input ("-"). Throws InputError
  /// when nothing in it can be read; lesser damage is listed in `faults()`.
  static Recording open(const std::filesystem::path& path);

  StorageMode mode() const noexcept { return mode_; }
  ByteOrder byte_order() const noexcept { return order_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  /// In pipe mode both are empty at first and grow while records are read.
  const std::vector<Attribute>& attributes() const noexcept { return metadata_.attributes; }
  const Features& features() const noexcept { return metadata_.features; }
  /// Grows with each change of `attributes()`.
  unsigned attributes_version() const noexcept { return attributes_version_; }
  /// Decodes the samples of the attributes known so far. Stays the same object.
  const SampleDecoder& decoder() const noexcept { return decoder_; }

  /// Samples that `decode` could not give out.
  struct LeftOut {
    std::uint64_t unknown_ids = 0;    ///< their id belongs to no event
    std::uint64_t short_samples = 0;  ///< they end inside their fields
  };
  /// Decodes a PERF_RECORD_SAMPLE that `next` gave out. nullopt when it has to be left out, which
  /// is counted since the beginning or the last `rewind`, and a fault where the record is short.
  std::optional<Sample> decode(const Record& record);
  const LeftOut& left_out() const noexcept { return left_out_; }

  /// Reads the next record, in the order of the file. False at the end of the data or at damage
  /// that makes the rest unreadable. `record.body` is valid until the next call.
  bool next(Record& record);

  /// The records in memory, without reading more; the last one may be truncated. A caller that is
  /// faster than `next` at some of them may process and consume them.
  std::span<const std::byte> buffered() const noexcept;
  /// Whether a record, not bytes that one announced, begins where `next` continues.
  bool is_at_record() const noexcept { return announced_.left == 0; }
  /// Position (Record::position) of the first byte of `buffered()`.
  std::uint64_t position() const noexcept { return position_; }
  /// Skips whole records at the start of `buffered()`. They must be PERF_RECORD_SAMPLEs, because
  /// other records may affect reading.
  void consume(std::size_t bytes) noexcept;

  /// Whole records, one after the other, as they are stored in a file.
  struct StoredRecords {
    std::size_t segment = 0;           ///< number of the file
    std::uint64_t begin = 0, end = 0;  ///< offsets in it
    std::uint64_t position = 0;        ///< Record::position of the first
    std::uint64_t size() const noexcept { return end - begin; }
  };
  /// Where `buffered()`, not decompressed, and the rest of its file are stored.
  StoredRecords stored() const noexcept {
    return {segment_, stream_.position(), segments_[segment_].end, position_};
  }
  /// Continues after `size` bytes of these, which are whole records that do not affect reading.
  void skip_stored(std::uint64_t size) {
    stream_.skip(size);
    position_ += size;
  }
  /// Reads records that were read before into `memory`, which has room for them. Returns the number
  /// of bytes, which are fewer if the file was cut meanwhile. Several threads may do so at a time.
  std::size_t read(const StoredRecords& records, std::byte* memory) const;
  ByteStream stream_of(const StoredRecords& records) const {
    return ByteStream::of_file(segments_[records.segment].file.get(), records.begin, records.end);
  }
  /// Notes that the bytes beyond `offset`, when read again, were not whole records. One fault
  /// describes the rest of a file: further ones are not listed.
  void add_changed(const StoredRecords& records, std::uint64_t offset);

  /// The file of a recording in one file, the first of a directory's. It is read at offsets: its
  /// position may be changed.
  const FileDescriptor& first_file() const noexcept { return segments_.front().file; }

  /// Whether `rewind` is possible: on a pipe only after `spool`.
  bool rewindable() const noexcept { return !from_pipe_; }
  /// Copies the rest of a pipe into a temporary file, from which it is then read; offsets stay
  /// those in the pipe. Does nothing for files. Only before the first record. Throws Error when
  /// there is no room for the copy.
  void spool();
  /// Goes back to the first record; `next` does not report the same faults again.
  void rewind();

  /// Everything that was found wrong so far; empty for a sound recording.
  const std::vector<InputFault>& faults() const noexcept { return faults_.list(); }
  /// Whether records are missing because of a fault: exit status 2.
  bool read_in_part() const noexcept { return faults_.any(); }
  /// Notes a fault that a later stage found.
  void add_fault(InputFault fault) { faults_.add(std::move(fault)); }
  /// Notes a record that ended inside its fields and was left out.
  void add_short_record(const Record& record);
  /// Adds what a PERF_RECORD_LOST or PERF_RECORD_LOST_SAMPLES reports to one of the sums, or notes
  /// that it is too short. Other records change nothing.
  void add_lost(const Record& record, std::uint64_t& lost_records, std::uint64_t& lost_samples);

 private:
  /// A range of records: the data section, a whole pipe, or a file of a directory.
  struct Segment {
    std::filesystem::path path;
    FileDescriptor file;
    std::uint64_t begin = 0, end = 0;
    bool is_changed = false;  ///< since it was read first; listed as a fault
  };
  /// Bytes that a record announces and that follow it.
  struct Announced {
    std::uint64_t offset = 0;  ///< of the record
    std::uint64_t size = 0;
    std::uint64_t left = 0;  ///< of them
    bool is_kept = false;    ///< as tracing data
  };

  /// The change that a record made to the decoding of samples: a second reading goes through it
  /// again.
  struct Change {
    std::uint64_t position = 0;  ///< of the record
    MetadataChange what = MetadataChange::none;
    bool with_ids = true;  ///< an attribute that was added had ids then
  };

  explicit Recording(std::filesystem::path path) : path_(std::move(path)) {}

  void open_pipe(FileDescriptor pipe);
  void open_file(const std::filesystem::path& path, FileDescriptor file);
  void open_directory();

  void start_segment(std::size_t index);
  bool next_stored(Record& record);
  bool next_compressed(Record& record);
  void note_compressed_problem();
  /// Whether reading failed or reached the end of the file too early; ends the segment then.
  bool stop_if_cut();
  bool end_of_segment();
  /// Processes a record in the file as far as it affects reading.
  void accept_stored(const Record& record);
  /// Skips the bytes that follow the previous record.
  bool skip_announced();
  /// Processes a metadata record, compressed or not.
  void accept(const Record& record);
  /// Lets the decoder follow a change of the attributes.
  void follow(const Change& change);

  const std::filesystem::path& segment_path() const { return segments_[segment_].path; }
  void fault(std::uint64_t offset, std::string found, std::string expected,
             std::string remedy = {});
  /// Ends the segment at damage. Returns false.
  bool stop(std::uint64_t offset, std::string found, std::string expected, std::string remedy = {});

  std::filesystem::path path_;
  StorageMode mode_ = StorageMode::file;
  bool from_pipe_ = false;
  ByteOrder order_ = ByteOrder::little;
  Metadata metadata_;
  SampleDecoder decoder_;
  unsigned attributes_version_ = 1;
  LeftOut left_out_;

  std::vector<Change> changes_;
  std::size_t changes_made_ = 0;         ///< of them, since the beginning or the last rewind
  std::size_t attributes_at_start_ = 0;  ///< known before the first record

  std::vector<Segment> segments_;
  std::size_t segment_ = 0;
  ByteStream stream_;
  std::uint64_t position_ = 0;
  bool stopped_ = false;  ///< nothing more is to be read from this segment
  bool ended_ = false;    ///< nor from any other
  bool rewound_ = false;

  Announced announced_;

  CompressedRecords compressed_;
  FaultLog faults_;
};

}  // namespace skid::perfdata
