// Writes perf.data as perf record of Linux 6.1 does: in file or pipe mode, compressed or not.
#pragma once

#include "src/perfdata/features.h"
#include "src/support/file.h"

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
  std::optional<int> compression = {};  ///< zstd level as of perf record -z, 1 to 22; nullopt: none
};

class RecordingWriter {
 public:
  /// Writes everything before the records. `file`: open for writing and, in file mode, at its
  /// beginning and seekable; `path` names it in errors. `events`: at least one; each attribute's
  /// `name` and `ids` are written too. Of `features` those with a bit in `present` are written, if
  /// they are strings, PMU mappings or the command line, and CPU counts where there are any; the
  /// descriptions of events and of compression follow from the other arguments. Throws Error if the
  /// file cannot be written.
  RecordingWriter(FileDescriptor file, std::filesystem::path path,
                  const std::vector<Attribute>& events, const Features& features,
                  const WritingChoices& choices);

  /// Appends a record. Throws std::length_error where it is longer than a record can be, Error when
  /// the file cannot be written.
  void write(std::uint32_t type, std::uint16_t misc, std::string_view body);
  /// Appends a record that perf itself writes, which is never compressed:
  /// PERF_RECORD_FINISHED_ROUND.
  void write_stored(std::uint32_t type, std::string_view body);

  /// Completes the recording. `sample_time`: of the first and the last sample, in ns; only a file
  /// has room for it.
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
  Features features_;                              ///< all that is written, and nothing else
  std::string buffer_;                             ///< bytes that are to be written
  std::uint64_t written_ = 0;                      ///< bytes in the file and in `buffer_`
  std::uint64_t data_begin_ = 0;                   ///< offset of the first record of a file
  std::string gathered_;                           ///< records that are to be compressed
  std::unique_ptr<ZSTD_CCtx_s, Free> compressor_;  ///< over the whole recording; null: none
};

}  // namespace skid::perfdata
