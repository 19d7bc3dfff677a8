// The addresses at which processes mapped the files of samples.
#pragma once

#include "src/symbols/file_location.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

/// The addresses at which processes mapped files.
///
/// Example: a sample at 0x555555555139 is at the link-time address 0x1139 of its file. So the file
/// has the bias 0x555555554000, and a breakpoint at 0x555555558028 watches the link-time address
/// 0x4028.
class FileBiases {
 public:
  /// `profile` must outlive this.
  explicit FileBiases(const measure::Profile& profile) : profile_(profile) {}

  /// Notes that a process mapped a file with this bias.
  void add(symbols::FileIndex file, std::uint64_t bias) { biases_[file].insert(bias); }

  /// Whether a byte in a process with this bias of `file` is data of that file, or of another one
  /// that all processes mapped at the same address. Called when all biases are noted.
  bool is_data_of_file(std::uint64_t byte, symbols::FileIndex file, std::uint64_t bias);

 private:
  bool contains(symbols::FileIndex file, std::uint64_t address) const;

  const measure::Profile& profile_;
  /// The differences between the addresses in processes and those of the file.
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
  /// The answers of is_data_of_file().
  std::map<std::tuple<std::uint64_t, symbols::FileIndex, std::uint64_t>, bool> known_;
};

}  // namespace skid::correct
