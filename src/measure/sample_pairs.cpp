#include "src/measure/sample_pairs.h"

#include "runway/instructions.h"
#include "src/events/triggers.h"
#include "src/perfdata/format.h"

#include <utility>

namespace skid::measure {

SamplePairReader::SamplePairReader(const std::vector<RecordedEvent>& events,
                                   const TargetGeometry* geometry,
                                   std::vector<analysis::Basis>& bases)
    : geometry_(geometry) {
  if (geometry == nullptr || !geometry->description) return;
  const runway::Specification& specification = geometry->description->specification;
  const auto iteration =
      runway::events_per_iteration(specification, instructions::Counted::instructions);
  if (!iteration) return;
  const analysis::Geometry shape = geometry->map.geometry();
  std::uint64_t begin = static_cast<std::uint64_t>(-shape.lowest_offset);
  std::vector<std::uint64_t> distances = shape.trigger_distances;
  for (const std::uint64_t distance : distances) {
    begins_.push_back(begin);
    begin += distance;
  }
  const auto instructions = static_cast<std::uint64_t>(*iteration);
  const std::uint64_t before_last = begins_.back() - begins_.front();
  if (instructions <= before_last) return;
  distances.back() = instructions - before_last;  // with those of the loop

  for (const RecordedEvent& recorded : events) {
    const perfdata::Attribute& attribute = recorded.attribute;
    const EventKnowledge& knowledge = recorded.knowledge;
    if (attribute.frequency || attribute.period_or_frequency == 0 || attribute.exclude_user ||
        !knowledge.event || !is_pebs(recorded)) {
      continue;
    }
    analysis::SamplePairs pairs{.iteration = instructions};
    if (knowledge.counted != instructions::Counted::instructions) {
      const auto expected = events::expected_events(knowledge.cpu, *knowledge.event, specification);
      if (distances.size() < 2 || expected != static_cast<double>(distances.size())) continue;
      pairs.distances = distances;
    }
    auto& counted = bases[recorded.index].sample_pairs;
    counted = std::move(pairs);
    events_.emplace(
        recorded.index,
        Event{static_cast<int>(attribute.precise_ip), attribute.period_or_frequency, *counted, {}});
  }
}

std::optional<std::uint64_t> SamplePairReader::event_of(const locate::VisitedRecord& visited,
                                                        const Event& event) const {
  // Level 1 samples the instruction that is executed next.
  const std::int64_t successor = event.level == kConstantSkid ? 1 : 0;
  const auto place = geometry_->classify(visited, event.level);
  if (!place.offset) return std::nullopt;
  if (!event.pairs.distances.empty()) {
    if (!place.trigger || place.offset->instructions != successor) return std::nullopt;
    return *place.trigger;
  }
  const auto instruction = static_cast<std::int64_t>(begins_[place.trigger.value_or(0)]) +
                           place.offset->instructions - successor;
  if (instruction < 0) return std::nullopt;
  return static_cast<std::uint64_t>(instruction);
}

void SamplePairReader::add(const locate::VisitedRecord& visited) {
  const perfdata::Sample* sample = visited.sample;
  if (sample == nullptr) {
    if (!perfdata::hides_samples(visited.record.type)) return;
    for (auto& [attribute, event] : events_) {
      event.pairs.left_out += event.last.size();
      event.last.clear();
    }
    return;
  }
  const auto found = events_.find(sample->attribute);
  if (found == events_.end()) return;
  Event& event = found->second;
  const auto number = event_of(visited, event);
  const auto before = event.last.find(sample->tid);
  if (before != event.last.end()) {
    if (number && before->second.cpu == sample->cpu) {
      event.pairs.add(before->second.event, *number, event.period);
    } else {
      ++event.pairs.left_out;
    }
  }
  if (number) {
    event.last[sample->tid] = {sample->cpu, *number};
  } else {
    event.last.erase(sample->tid);
  }
}

}  // namespace skid::measure
