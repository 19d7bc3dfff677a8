// Writes perf.data as perf record of Linux 6.1 does, in file or pipe mode, compressed or not.
#pragma once

#include "src/perfdata/features.h"
#include "src/support/file_descriptor.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct ZSTD_CCtx_s;  // of zstd

namespace skid::perfdata {

struct Attribute;

/// Where and how a recording is written.
struct WritingChoices {
  bool pipe = false;                    ///< pipe mode, else file mode
  std::optional<int> compression = {};  ///< level of perf record -z, 1 to 22; nullopt: none
};

class RecordingWriter {
 public:
  /// Writes everything that precedes the records. `file`: open for writing; in file mode also
  /// seekable and at its beginning. `path`: names the file in errors. `events`: at least one; the
  /// `name` and `ids` of attributes are written, too. `features`: strings, PMU mappings and the
  /// command line are written if their bit in `present` is set, CPU counts if there are any; the
  /// descriptions of events and of compression follow from the other arguments. Throws Error if the
  /// file cannot be written.
  RecordingWriter(FileDescriptor file, std::filesystem::path path,
                  const std::vector<Attribute>& events, const Features& features,
                  const WritingChoices& choices);

  /// Appends a record. Throws std::length_error if it is longer than a record can be, Error if the
  /// file cannot be written.
  void write(std::uint32_t type, std::uint16_t misc, std::string_view body);
  /// Appends a record that perf itself writes and that is never compressed, such as
  /// PERF_RECORD_FINISHED_ROUND.
  void write_stored(std::uint32_t type, std::string_view body);

  /// Completes the recording. `sample_time`: times of the first and the last sample, in ns; written
  /// in file mode only.
  void finish(std::optional<std::pair<std::uint64_t, std::uint64_t>> sample_time);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* stream) const noexcept;
  };

  void append(std::string_view bytes);
  void flush();
  void compress_gathered();
  void write_file_header(const std::vector<Attribute>& events);
  void write_pipe_header(const std::vector<Attribute>& events);

  FileDescriptor file_;
  std::filesystem::path path_;
  bool is_pipe_ = false;
  Features features_;             ///< the features that are written
  std::string buffer_;            ///< bytes to be written
  std::uint64_t written_ = 0;     ///< bytes in the file and in `buffer_`
  std::uint64_t data_begin_ = 0;  ///< offset of the first record of a file
  std::string gathered_;          ///< records to be compressed
  std::unique_ptr<ZSTD_CCtx_s, Free>
      compressor_;  ///< one stream for the whole recording; null: none
};

}  // namespace skid::perfdata
