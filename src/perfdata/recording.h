// A perf.data recording: its metadata, and its records, read one after the other.
#pragma once

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/compressed_records.h"
#include "src/perfdata/fault_log.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/spe_samples.h"
#include "src/perfdata/stored_records.h"
#include "src/support/byte_order.h"
#include "src/support/error.h"
#include "src/support/file_descriptor.h"
#include "src/support/names.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid {
struct Losses;
}  // namespace skid

namespace skid::perfdata {

struct Attribute;
struct Features;
struct Record;

/// How a recording was stored.
enum class StorageMode { file, pipe, directory };
SKID_NAMES(StorageMode, "file", "pipe", "directory")

/// An opened recording. Memory does not grow with its length: records are read through bounded
/// buffers. Damage ends reading with a fault instead of an exception, so that everything before the
/// damage is used. Compressed records are returned as they are, followed by the records in them.
class Recording {
 public:
  /// Opens a recording: a perf.data file in file or pipe mode, a directory that
  /// `perf record --threads` wrote, a pipe or FIFO, or standard input ("-"). Throws InputError if
  /// nothing in it can be read; lesser damage is listed in `faults()`. `name`: its name in
  /// messages; empty: the path.
  static Recording open(const std::filesystem::path& path, const std::filesystem::path& name = {});

  StorageMode mode() const noexcept { return mode_; }
  ByteOrder byte_order() const noexcept { return order_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the events. In pipe mode there are none at first; they are added while records are
  /// read.
  const std::vector<Attribute>& attributes() const noexcept { return metadata_.attributes; }
  /// Returns the features. In pipe mode they, too, are added while records are read.
  const Features& features() const noexcept { return metadata_.features; }
  /// Returns a number that increases with each change of `attributes()`.
  unsigned attributes_version() const noexcept { return attributes_version_; }
  /// Returns the decoder for samples of the attributes known so far. It is always the same object.
  const SampleDecoder& decoder() const noexcept { return decoder_; }

  /// Samples that `decode` rejected.
  struct LeftOut {
    std::uint64_t unknown_ids = 0;    ///< their id belongs to no event
    std::uint64_t short_samples = 0;  ///< they end inside their fields
  };
  /// Decodes a PERF_RECORD_SAMPLE that `next` returned. nullopt: an unknown id or a truncated
  /// sample; left_out() counts it (from the last rewind() on), and a truncated one is a fault, too.
  std::optional<Sample> decode(const Record& record);
  const LeftOut& left_out() const noexcept { return left_out_; }

  /// Reads the next record, in the order of the file. False at the end of the data, or at damage
  /// that makes the rest unreadable. `record.body` is valid until the next call.
  bool next(Record& record);

  /// Returns the records in memory, without reading more; the last one may be truncated. A caller
  /// may process some of them faster than `next` would, and consume them.
  std::span<const std::byte> buffered() const noexcept;
  /// Whether `next` continues at the header of a record; false inside bytes that a record announced
  /// (tracing data, AUX).
  bool is_at_record() const noexcept { return announced_.left == 0; }
  /// Whether the last record was made from AUX data (SPE), and is stored nowhere. Such samples
  /// follow all records of the files.
  bool is_in_trace() const noexcept { return in_trace_; }
  /// Returns the position (Record::position) of the first byte of `buffered()`.
  std::uint64_t position() const noexcept { return position_; }
  /// Skips whole records at the start of `buffered()`. They must be PERF_RECORD_SAMPLEs, because
  /// other records may affect reading.
  void consume(std::size_t bytes) noexcept;

  using StoredRecords = perfdata::StoredRecords;
  /// Returns where `buffered()`, if it is not decompressed, and the rest of its file are stored.
  StoredRecords stored() const noexcept {
    return {segment_, stream_.position(), segments_[segment_].end, position_};
  }
  /// Skips `size` bytes of stored(), which are whole records that do not affect reading.
  void skip_stored(std::uint64_t size) {
    stream_.skip(size);
    position_ += size;
  }
  /// Reads records that were read before into `memory`, which has room for them. Returns the number
  /// of bytes, which is smaller if the file was truncated meanwhile. Thread-safe.
  std::size_t read(const StoredRecords& records, std::byte* memory) const;
  /// Returns a stream of these records, independent of the position of the recording.
  ByteStream stream_of(const StoredRecords& records) const {
    return ByteStream::of_file(segments_[records.segment].file.get(), records.begin, records.end);
  }
  /// Notes that the bytes from `offset` on, when read again, were not whole records. Only one such
  /// fault per file is listed, which describes the rest of the file.
  void add_changed(const StoredRecords& records, std::uint64_t offset);

  /// Returns the file of the recording; the first file of a directory. The recording reads it at
  /// offsets, so that its file position may be changed.
  const FileDescriptor& first_file() const noexcept { return segments_.front().file; }

  /// Whether `rewind` is possible: on a pipe only after `spool`.
  bool rewindable() const noexcept { return !from_pipe_; }
  /// Copies the rest of a pipe into a temporary file, from which it is then read. Offsets remain
  /// those in the pipe. Does nothing for files. To be called before the first record. Throws Error
  /// if there is no space for the copy.
  void spool();
  /// Goes back to the first record; `next` does not report the same faults again.
  void rewind();

  /// Returns all faults that were found so far.
  const std::vector<InputFault>& faults() const noexcept { return faults_.list(); }
  /// A trace that the CPU wrote into memory (Intel PT, CoreSight, SPE).
  struct HardwareTrace {
    std::uint32_t type = 0;  ///< of PERF_RECORD_AUXTRACE_INFO; 0: no trace was announced
    std::uint64_t bytes = 0;
    /// Whether its records are samples: those of SPE, once their event is known.
    bool is_decoded = false;
    SpeCounts spe = {};  ///< counts of its records, if it is decoded and was read to its end
  };
  /// Returns the hardware trace among the records that were read so far.
  const HardwareTrace& hardware_trace() const noexcept { return hardware_trace_; }

  /// Whether records are missing because of a fault: exit status 2.
  bool read_in_part() const noexcept { return faults_.any(); }
  /// Notes a fault that a later stage found.
  void add_fault(InputFault fault) { faults_.add(std::move(fault)); }
  /// Notes a record that ended inside its fields and was left out.
  void add_short_record(const Record& record);
  /// Adds PERF_RECORD_LOST, LOST_SAMPLES, THROTTLE and AUX to `losses`; notes a truncated one, and
  /// for how long each counter was throttled. Ignores other records, and lost samples that perf's
  /// own filter dropped.
  void add_losses(const Record& record, Losses& losses);
  /// Returns for how many ns the counter that was throttled longest took no samples, by the records
  /// of add_losses() since the beginning or the last rewind.
  std::uint64_t longest_throttle() const;

 private:
  /// A range of records: the data section, a whole pipe, or a file of a directory.
  struct Segment {
    std::filesystem::path path;
    FileDescriptor file;
    std::uint64_t begin = 0, end = 0;
    bool is_changed = false;  ///< it changed since it was first read; the fault is listed
  };
  /// Bytes that follow a record which announces them.
  struct Announced {
    std::uint64_t offset = 0;  ///< offset of the record
    std::uint64_t size = 0;
    std::uint64_t left = 0;  ///< bytes not yet read
    bool is_kept = false;    ///< they are kept as tracing data
    bool is_copied = false;  ///< they are copied to a file, because they are read at the end
  };

  /// A change that a record made to how samples are decoded. It is repeated when the recording is
  /// read again.
  struct Change {
    std::uint64_t position = 0;  ///< position of the record
    MetadataChange what = MetadataChange::none;
    bool with_ids = true;  ///< the added attribute had ids at that time
  };

  explicit Recording(std::filesystem::path path) : path_(std::move(path)) {}

  void open_pipe(FileDescriptor pipe);
  void open_file(const std::filesystem::path& path, FileDescriptor file);
  void open_directory();

  void start_segment(std::size_t index);
  bool next_stored(Record& record);
  bool next_compressed(Record& record);
  void note_compressed_problem();
  /// Ends the segment if reading failed or reached the end of the file too early. Returns whether
  /// it did.
  bool stop_if_cut();
  /// Lists faults at the end of the segment. Returns false.
  bool end_of_segment();
  /// Processes a stored record that affects how the following bytes are read.
  void accept_stored(const Record& record);
  /// Adds bytes to the tracing data of the features.
  void add_tracing_data(std::span<const std::byte> some);
  /// Notes the AUX data of SPE that follow a record.
  void add_trace(const Record& record);
  /// Returns the next sample of a hardware trace. False at the end.
  bool next_of_trace(Record& record);
  /// Copies bytes of a pipe that are read at its end.
  void copy_from_pipe(std::span<const std::byte> some);
  /// Skips the bytes that the previous record announced. False if they are not complete.
  bool skip_announced();
  /// Notes a PERF_RECORD_THROTTLE or UNTHROTTLE.
  void add_throttle(const Record& record, Losses& losses);
  /// Adds the flags of a PERF_RECORD_AUX to `losses`.
  void add_aux(const Record& record, Losses& losses);
  /// Processes a metadata record, compressed or not.
  void accept(const Record& record);
  /// Adapts the decoder to a change of the attributes.
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

  /// When a counter was throttled, in ns.
  struct Throttled {
    std::optional<std::uint64_t> since = {};
    std::uint64_t total = 0;  ///< of what ended
  };
  std::map<std::uint64_t, Throttled> throttled_;  ///< by stream id

  std::vector<Change> changes_;
  std::size_t changes_made_ = 0;  ///< number of `changes_` since the beginning or the last rewind
  std::size_t attributes_at_start_ = 0;  ///< number known before the first record

  std::vector<Segment> segments_;
  std::size_t segment_ = 0;
  ByteStream stream_;
  std::uint64_t position_ = 0;
  bool stopped_ = false;  ///< nothing more can be read from this segment
  bool ended_ = false;    ///< nothing more can be read from any segment
  bool rewound_ = false;

  Announced announced_;
  HardwareTrace hardware_trace_;
  SpeSamples spe_;
  bool in_trace_ = false;
  FileDescriptor trace_copy_;  ///< AUX data of a pipe
  std::uint64_t trace_copied_ = 0;

  CompressedRecords compressed_;
  FaultLog faults_;
};

}  // namespace skid::perfdata
