// Consecutive samples of a target's thread, and the events of an iteration that they are of.
#pragma once

#include "analysis/basis.h"
#include "src/locate/digest.h"
#include "src/measure/event_description.h"
#include "src/measure/target_geometry.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace skid::measure {

/// Counts the pairs of events that PEBS samples with a fixed period on an own target whose events
/// are known: its triggers alone cause the event, once each, or it counts all instructions.
class SamplePairReader {
 public:
  /// `geometry`: of the target; null where none was found. `bases`, by attribute, get the pairs.
  /// Both must outlive the reader.
  SamplePairReader(const std::vector<RecordedEvent>& events, const TargetGeometry* geometry,
                   std::vector<analysis::Basis>& bases);

  /// Whether records are to be added.
  bool reads() const noexcept { return !events_.empty(); }
  void add(const locate::VisitedRecord& visited);

 private:
  struct Last {
    std::uint32_t cpu = 0;
    std::uint64_t event = 0;  ///< number in the iteration
  };
  struct Event {
    int level = 0;  ///< precise_ip
    std::uint64_t period = 0;
    analysis::SamplePairs& pairs;
    std::map<std::int32_t, Last> last;  ///< by thread; no hash: any threads may come
  };

  /// The number of the event that a sample is of; nullopt: not known.
  std::optional<std::uint64_t> event_of(const locate::VisitedRecord& visited,
                                        const Event& event) const;

  const TargetGeometry* geometry_;
  std::vector<std::uint64_t> begins_;      ///< instructions of an iteration before each trigger
  std::map<std::uint32_t, Event> events_;  ///< by attribute
};

}  // namespace skid::measure
