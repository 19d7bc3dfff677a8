// Whether two inputs of a command contain the same recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
struct Measurement;
struct Part;
}  // namespace skid::analysis

namespace skid::measure {
struct RecordingSummary;
}  // namespace skid::measure

namespace skid::commands {

/// Refuses a recording that is in two inputs of a command which adds inputs up: its samples would
/// count twice, and intervals would be too narrow (docs/merge.md). A recording is known by the
/// times of its first and last sample, in ns, and its number of samples. One without times, and a
/// synthetic one, whose times follow from the model, is known by its path or its contents.
class DistinctRecordings {
 public:
  /// `inputs` must outlive this. `remedy`: what the message adds to "leave one out"; may be empty.
  explicit DistinctRecordings(const std::vector<std::string>& inputs, std::string remedy = {})
      : inputs_(inputs), remedy_(std::move(remedy)) {}

  /// Adds the recordings of a measurement of the input with this number. Throws Error that names
  /// two inputs with the same recording.
  void add(const analysis::Measurement& measurement, std::size_t input);
  void add(const measure::RecordingSummary& recording, std::size_t input);

 private:
  /// `what`: which of its samples, and of which machine.
  void add(const analysis::Part& part, bool synthetic, const std::string& what, std::size_t input);
  /// Returns the hash of a file's contents; nullopt if it cannot be read.
  std::optional<std::uint64_t> contents_of(const std::string& path);

  const std::vector<std::string>& inputs_;
  std::string remedy_;
  std::map<std::string, std::size_t> seen_;  ///< inputs by what identifies a recording
  std::map<std::string, std::optional<std::uint64_t>> contents_;  ///< hashes by path
};

}  // namespace skid::commands
