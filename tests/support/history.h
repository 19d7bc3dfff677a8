// Random histories of processes and their samples, and the place of each sample by brute force.
#pragma once

#include "tests/support/recording_builder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace skid::test {

/// An occurrence that is recorded.
struct Occurrence {
  enum class What { sample, map, map2, fork, listed_fork, thread, exec, comm };

  What what = What::sample;
  std::uint64_t time = 0;     ///< ns; 0: synthesized by perf for the state before the recording
  std::int32_t pid = 0;       ///< for a fork of the child; -1 for mappings of the kernel
  std::int32_t parent = 0;    ///< for a fork
  std::uint64_t address = 0;  ///< of the mapping or the sample
  std::uint64_t length = 0, file_offset = 0;  ///< of the mapping
  std::string file;                           ///< of the mapping
  std::uint16_t misc = 2;                     ///< PERF_RECORD_MISC_* as recorded
  std::uint32_t event = 0;                    ///< of the sample
  unsigned cpu = 0;                           ///< whose buffer contains it
};

/// A place and its number of samples, of whichever processes.
struct PlaceKey {
  std::uint32_t event = 0;
  std::uint64_t ip = 0;    ///< of samples in kernel mode with a mapping, else 0
  std::uint32_t kind = 0;  ///< perfdata::SampleKind::bits
  std::string file;        ///< empty: no mapping
  std::uint64_t file_offset = 0;

  friend auto operator<=>(const PlaceKey&, const PlaceKey&) = default;
};
using PlaceCounts = std::map<PlaceKey, std::uint64_t>;

/// Parameters of a history.
struct HistoryShape {
  std::size_t occurrences = 3000;
  unsigned cpus = 4;
  std::uint32_t events = 1;
  bool timed = true;             ///< whether records carry times
  double changes = 0.1;          ///< share of the occurrences that are not samples
  std::uint64_t addresses = 24;  ///< distinct sampled addresses per mapping
  std::uint64_t slots = 6;       ///< pages where mappings begin; a few are mapped repeatedly
  double hot = 0;                ///< share of the samples of the first process
  bool same_times = true;        ///< whether some occurrences have the same time
};

/// A random history, sorted by time; mappings of time 0 come first.
std::vector<Occurrence> random_history(const HistoryShape& shape, std::mt19937_64& random);

/// The places of the samples of `history`, replayed by time; of equal times in the given order,
/// samples last. Not `timed`: in the given order.
PlaceCounts places_by_replay(const std::vector<Occurrence>& history, bool timed);

/// Number of samples of `expected` with another place in `found`.
std::uint64_t misplaced(const PlaceCounts& expected, const PlaceCounts& found);

/// The history in the order in which perf reads the buffers of the CPUs, one after the other. Each
/// element is one round.
std::vector<std::vector<Occurrence>> in_rounds(const std::vector<Occurrence>& history,
                                               unsigned cpus, std::size_t rounds,
                                               std::mt19937_64& random);

/// Writes histories as recordings.
class HistoryWriter {
 public:
  explicit HistoryWriter(const HistoryShape& shape) : shape_(shape) {}

  /// A recording without records.
  RecordingBuilder begin() const;
  void add(RecordingBuilder& builder, const Occurrence& occurrence) const;
  RecordingBuilder whole(const std::vector<Occurrence>& history) const;

 private:
  HistoryShape shape_;
};

}  // namespace skid::test
