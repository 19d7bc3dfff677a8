// A perf.data file: what its header tells, and its records one after the other.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace skid::perfdata {

/// Bytes [offset, offset + size) of a file.
struct FileSection {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// An opened recording. Memory does not grow with its length: records are read through one buffer.
/// Damage ends the reading with a fault instead of an exception, so that what came before counts.
class Recording {
 public:
  /// Opens a perf.data file and reads header, attributes and feature sections. Throws InputError
  /// when nothing in it can be read; lesser damage is listed in `faults()`.
  static Recording open(const std::filesystem::path& path);

  ByteOrder byte_order() const noexcept { return order_; }
  const std::vector<Attribute>& attributes() const noexcept { return attributes_; }
  const Features& features() const noexcept { return features_; }
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Reads the next record, in file order. False at the end of the data or at damage that makes the
  /// rest unreadable. `record.body` is valid until the next call.
  bool next(Record& record);
  /// Goes back to the first record; `next` does not report the faults met before again.
  void rewind();

  /// Everything that was found wrong so far; empty for a sound recording.
  const std::vector<InputFault>& faults() const noexcept { return faults_; }
  /// Whether records are missing because of a fault: exit status 2.
  bool read_in_part() const noexcept { return read_in_part_; }
  /// Notes a fault of a record that a later stage found.
  void add_fault(InputFault fault);
  /// Notes a record that ended inside its fields and was left out.
  void add_short_record(const Record& record);

 private:
  explicit Recording(std::filesystem::path path);

  void read_header();
  void read_attributes(FileSection section, std::uint64_t entry_size);
  void read_features(std::uint64_t table_offset, const std::array<std::uint64_t, 4>& bits);
  void adopt_event_names();
  /// Makes at least `size` unread bytes available in the buffer; false when the data ends before.
  bool fill(std::size_t size);
  std::size_t read_at(std::span<std::byte> bytes, std::uint64_t offset) const;
  /// The bytes of a section; faults and gives fewer when it reaches past the end of the file.
  std::vector<std::byte> section_bytes(FileSection section, const std::string& what);
  void fault(std::uint64_t offset, std::string found, std::string allowed, std::string remedy = {});
  bool stop(std::uint64_t offset, std::string found, std::string allowed, std::string remedy = {});

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t file_size_ = 0;
  ByteOrder order_ = ByteOrder::little;
  std::vector<Attribute> attributes_;
  Features features_;

  std::uint64_t data_begin_ = 0;     ///< file offset of the first record
  std::uint64_t data_end_ = 0;       ///< file offset behind the last record
  std::uint64_t read_position_ = 0;  ///< file offset behind the buffered bytes
  std::vector<std::byte> buffer_;
  std::size_t buffer_begin_ = 0, buffer_end_ = 0;  ///< the unread part of buffer_
  bool ended_ = false;
  bool rewound_ = false;
  bool met_compressed_ = false;

  std::vector<InputFault> faults_;
  bool read_in_part_ = false;
};

}  // namespace skid::perfdata
