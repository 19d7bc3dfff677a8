// What the data sources and latencies of samples (PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_WEIGHT) show:
// which operation the sampled instruction must have done, and records that cannot be right.
#pragma once

#include "src/code/function_code.h"
#include "src/locate/visit_records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::events {
struct Cause;
}  // namespace skid::events

namespace skid::symbols {
struct FileLocation;
}  // namespace skid::symbols

namespace skid::locate {
struct LocatedSamples;
}  // namespace skid::locate

namespace skid::measure {

struct Profile;
struct TargetGeometry;

/// An operation on memory. `either`: a load or a store.
enum class Operation : std::uint8_t { load, store, either };

/// Returns the operation that the sampled instruction must be able to do, by the data source of the
/// sample; a prefetch counts as a load. nullopt: none is recorded, it is neither load nor store, or
/// the address is not exact or not in user mode.
std::optional<Operation> operation_of(const Profile& profile, const locate::VisitedRecord& visited);

/// Returns what does an operation on x86-64: the causes of MEM_INST_RETIRED.ALL_LOADS, ALL_STORES
/// and ANY. An instruction with the verdict `never` contradicts a data source.
std::span<const events::Cause> causes_of(Operation operation);

/// Finds the samples on a target's trigger whose data source contradicts the trigger: their address
/// is wrong, so they are no hits. Code of aarch64 is not judged.
class ContradictedHits {
 public:
  /// `geometry`: of the target; null where none was found. Both must outlive this.
  ContradictedHits(const Profile& profile, const TargetGeometry* geometry);

  /// Whether records are to be added.
  bool reads() const noexcept { return code_.has_value(); }
  /// Counts a sample if it is contradicted. Returns whether it is.
  bool add(const locate::VisitedRecord& visited);
  /// Returns how many of these samples are contradicted, and counts them no longer: samples of one
  /// place can come in several parts.
  std::uint64_t take(const locate::LocatedSamples& located);

 private:
  const Profile& profile_;
  const TargetGeometry* geometry_;
  std::optional<code::FunctionCode> code_;  ///< the iteration, or the hit function
  /// Samples by attribute and place.
  std::map<std::pair<std::uint32_t, symbols::FileLocation>, std::uint64_t> samples_;
};

/// Sentences on records by attribute.
using RecordWarnings = std::map<std::uint32_t, std::vector<std::string>>;

/// Returns by attribute a sentence for each kind of record that cannot be right, with its number of
/// samples: latencies below the threshold of a load latency event, and loads that hit a cache that
/// the counted loads missed. Its visitor is empty if no event records what is needed.
locate::RecordCheck<RecordWarnings> impossible_records(const Profile& profile);

}  // namespace skid::measure
