// Random histories of processes and their samples, and where each sample belongs by brute force.
#pragma once

#include "tests/support/recording_builder.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace skid::test {

/// Something that happened to a computer and stands in its recording.
struct Happening {
  enum class What { sample, map, map2, fork, listed_fork, thread, exec, comm };

  What what = What::sample;
  std::uint64_t time = 0;     ///< ns; 0: written by perf, of what was so before the recording
  std::int32_t pid = 0;       ///< of the child, where it forks; -1 for mappings of the kernel
  std::int32_t parent = 0;    ///< where it forks
  std::uint64_t address = 0;  ///< of the mapping or the sample
  std::uint64_t length = 0, file_offset = 0;  ///< of the mapping
  std::string file;                           ///< of the mapping
  std::uint16_t misc = 2;                     ///< PERF_RECORD_MISC_* as recorded
  std::uint32_t event = 0;                    ///< of the sample
  unsigned cpu = 0;                           ///< in whose buffer it stands
};

/// Where samples are, and how many.
struct PlaceKey {
  std::uint32_t event = 0;
  std::int32_t address_space = 0;  ///< pid; -1: the kernel
  std::uint64_t ip = 0;
  std::uint32_t kind = 0;  ///< perfdata::SampleKind::bits
  std::string file;        ///< empty: nothing was mapped there
  std::uint64_t file_offset = 0;

  friend auto operator<=>(const PlaceKey&, const PlaceKey&) = default;
};
using PlaceCounts = std::map<PlaceKey, std::uint64_t>;

/// What a history is to be like.
struct HistoryShape {
  std::size_t happenings = 3000;
  unsigned cpus = 4;
  std::uint32_t events = 1;
  bool timed = true;             ///< whether records carry times
  double changes = 0.1;          ///< part of the happenings that are no samples
  std::uint64_t addresses = 24;  ///< distinct sampled addresses a mapping
  std::uint64_t slots = 6;       ///< pages where mappings begin: few are mapped again and again
  double hot = 0;                ///< part of the samples that are of the first process
  bool same_times = true;        ///< whether some things happen in the same nanosecond
};

/// A random history in the order of time; mappings of time 0 come first.
std::vector<Happening> random_history(const HistoryShape& shape, std::mt19937_64& random);

/// The places of the samples of `history`: everything that happened is replayed in the order of
/// time, what happened at one time in the order given here, samples of that time last. Not `timed`:
/// in the order given.
PlaceCounts places_by_replay(const std::vector<Happening>& history, bool timed);

/// How many samples of `expected` have another place in `found`.
std::uint64_t misplaced(const PlaceCounts& expected, const PlaceCounts& found);

/// The history as perf finds it in the buffers of the CPUs: it empties one after the other, again
/// and again. What one round brings is one element.
std::vector<std::vector<Happening>> in_rounds(const std::vector<Happening>& history, unsigned cpus,
                                              std::size_t rounds, std::mt19937_64& random);

/// Writes histories as recordings.
class HistoryWriter {
 public:
  explicit HistoryWriter(const HistoryShape& shape) : shape_(shape) {}

  /// A recording without records.
  RecordingBuilder begin() const;
  void add(RecordingBuilder& builder, const Happening& happening) const;
  RecordingBuilder whole(const std::vector<Happening>& history) const;

 private:
  HistoryShape shape_;
};

}  // namespace skid::test
