// The faults of a recording that were found while it was read.
#pragma once

#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// The remedy for most faults of a recording.
inline constexpr const char* kRecordAgain = "the recording is damaged or was cut off; record again";

/// Faults in the order in which they were found. Only the first 100 are listed.
class FaultLog {
 public:
  /// Lists a fault, unless it was listed when the recording was read before.
  void add(InputFault fault) {
    any_ = true;
    if (is_full()) return;
    // Identified by offset and finding: the file may have changed since.
    const auto is_known = [&fault](const InputFault& known) {
      return known.offset == fault.offset && known.found == fault.found && known.file == fault.file;
    };
    if (is_again_ && std::ranges::any_of(faults_, is_known)) return;
    faults_.push_back(std::move(fault));
  }
  void add(const std::filesystem::path& file, std::uint64_t offset, std::string found,
           std::string expected, std::string remedy = {}) {
    add({file.string(), offset, std::move(found), std::move(expected), std::move(remedy)});
  }

  /// To be called when the recording is read again: faults found before are not listed twice.
  void begin_again() noexcept { is_again_ = true; }

  /// Whether no more faults are listed, so that their texts need not be composed.
  bool is_full() const noexcept { return faults_.size() >= kMost; }
  /// Whether there was any fault.
  bool any() const noexcept { return any_; }
  const std::vector<InputFault>& list() const noexcept { return faults_; }

 private:
  static constexpr std::size_t kMost = 100;

  std::vector<InputFault> faults_;
  bool any_ = false;
  bool is_again_ = false;
};

}  // namespace skid::perfdata
