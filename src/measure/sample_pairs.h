// Consecutive samples of a target's thread, and the events of an iteration that they are of.
#pragma once

#include "analysis/basis.h"
#include "src/locate/visit.h"
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
  /// `geometry`: of the target, which must outlive the reader; null where none was found.
  SamplePairReader(const std::vector<RecordedEvent>& events, const TargetGeometry* geometry);

  /// Whether records are to be added.
  bool reads() const noexcept { return reads_; }
  void add(const locate::VisitedRecord& visited);
  /// Sets the pairs of these events. `bases`: by attribute.
  void finish(std::vector<analysis::Basis>& bases) &&;

 private:
  struct Last {
    std::uint32_t cpu = 0;
    std::uint64_t event = 0;  ///< number in the iteration
  };
  struct Event {
    int level = 0;  ///< precise_ip
    std::uint64_t period = 0;
    analysis::SamplePairs pairs;
    std::map<std::int32_t, Last> last;  ///< by thread; no hash: any threads may come
  };

  /// The number of the event that a sample is of; nullopt: not known.
  std::optional<std::uint64_t> event_of(const locate::VisitedRecord& visited,
                                        const Event& event) const;

  const TargetGeometry* geometry_;
  std::vector<std::uint64_t> begins_;         ///< instructions of an iteration before each trigger
  std::vector<std::optional<Event>> events_;  ///< by attribute
  bool reads_ = false;
};

}  // namespace skid::measure
