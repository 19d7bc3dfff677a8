// What the data sources and latencies of samples (PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_WEIGHT) show:
// which operation the sampled instruction must have done, and records that cannot be right.
#pragma once

#include "src/locate/visit_records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::events {
struct Cause;
}  // namespace skid::events

namespace skid::measure {

struct Profile;

/// An operation on memory. `either`: a load or a store.
enum class Operation : std::uint8_t { load, store, either };

/// Returns the operation that the sampled instruction must be able to do, by the data source of the
/// sample; a prefetch counts as a load. nullopt: none is recorded, it is neither load nor store, or
/// the address is not exact or not in user mode.
std::optional<Operation> operation_of(const Profile& profile, const locate::VisitedRecord& visited);

/// Returns what does an operation on x86-64: the causes of MEM_INST_RETIRED.ALL_LOADS, ALL_STORES
/// and ANY. An instruction with the verdict `never` contradicts a data source.
std::span<const events::Cause> causes_of(Operation operation);

/// Sentences on records by attribute.
using RecordWarnings = std::map<std::uint32_t, std::vector<std::string>>;

/// Returns by attribute a sentence for each kind of record that cannot be right, with its number of
/// samples: latencies below the threshold of a load latency event, and loads that hit a cache that
/// the counted loads missed. Its visitor is empty if no event records what is needed.
locate::RecordCheck<RecordWarnings> impossible_records(const Profile& profile);

}  // namespace skid::measure
