// Records by where they are stored in the files of a recording.
#pragma once

#include <cstddef>
#include <cstdint>

namespace skid::perfdata {

/// Whole records, one after the other, as they are stored in a file.
struct StoredRecords {
  std::size_t segment = 0;           ///< number of the file
  std::uint64_t begin = 0, end = 0;  ///< offsets in the file
  std::uint64_t position = 0;        ///< Record::position of the first record
  std::uint64_t size() const noexcept { return end - begin; }
};

}  // namespace skid::perfdata
