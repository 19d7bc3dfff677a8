// What was found wrong with a recording while it was read.
#pragma once

#include "src/support/error.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace skid::perfdata {

/// What is to be done about most of what can be wrong with a recording.
inline constexpr const char* kRecordAgain = "the recording is damaged or was cut off; record again";

/// Faults in the order in which they were found. A recording with very many lists the first ones.
class FaultLog {
 public:
  void add(InputFault fault);
  void add(const std::filesystem::path& file, std::uint64_t offset, std::string found,
           std::string allowed, std::string remedy = {});

  /// The recording is read again from here on: faults found before are not listed twice.
  void begin_again() noexcept { is_again_ = true; }

  /// No more are listed. The texts of faults need not be made any more.
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
