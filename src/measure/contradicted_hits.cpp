#include "src/measure/contradicted_hits.h"

#include "analysis/addresses.h"
#include "analysis/not_judged.h"
#include "runway/target.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/events/causes.h"
#include "src/instructions/counted.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/visit_records.h"
#include "src/measure/data_source.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <memory>
#include <string>

#include <linux/perf_event.h>

namespace skid::measure {

using analysis::Contradiction;

ContradictedHits::ContradictedHits(const Profile& profile, const TargetGeometry* geometry)
    : profile_(profile), geometry_(geometry) {
  bool any = false;
  for (const RecordedEvent& event : profile.events) {
    auto& addresses = events_.emplace_back(address_event(event));
    // The address of a breakpoint is that of the event.
    if (addresses && addresses->source == analysis::AddressSource::request) addresses.reset();
    any = any || addresses || event.attribute.has(PERF_SAMPLE_DATA_SRC);
  }
  if (geometry == nullptr || !any) return;
  const symbols::Module& module = *geometry->module;
  const bool is_x86 =
      module.arch() == Arch::x86_64 && profile.arch().value_or(Arch::x86_64) == Arch::x86_64;
  if (!is_x86) return;
  std::optional<AddressRange> loop;
  if (geometry->description) loop = geometry->description->layout.loop;
  flow_.emplace(module, loop, budget_);
  accesses_.emplace(*flow_);
}

bool ContradictedHits::contradicts_source(const locate::VisitedRecord& visited,
                                          std::uint64_t address) {
  const auto operation = operation_of(profile_, visited);
  if (!operation) return false;
  const auto function = flow_->file().function_at(address).function;
  if (!function || function->code.problem_at(address) != analysis::NotJudged::none) return false;
  const auto index = function->code.find(address);
  return function->code.verdict_on(causes_of(*operation), *index) == events::Verdict::never;
}

bool ContradictedHits::contradicts_address(const locate::VisitedRecord& visited,
                                           std::uint64_t address) {
  const perfdata::Sample& sample = *visited.sample;
  const auto& event = events_[sample.attribute];
  if (!event || !event->takes({sample.mode, sample.exact})) return false;
  // The data of another build is elsewhere.
  if (profile_.digest.spaces.file(visited.location->file).build_id.empty()) return false;
  const auto record = address_record(profile_.recording, visited.record, sample, *event);
  if (!analysis::is_data_address(record.address)) return false;
  const auto [entry, is_new] = known_.try_emplace({address, event->moment});
  if (is_new) entry->second = accesses_->of_sample(address, event->moment);
  return judge(entry->second, record, *event).verdict == witness::Verdict::contradicted;
}

Contradiction ContradictedHits::add(const locate::VisitedRecord& visited) {
  const perfdata::Sample* sample = visited.sample;
  if (sample == nullptr || sample->mode != perfdata::CpuMode::user) return Contradiction::none;
  const RecordedEvent& recorded = profile_.events[sample->attribute];
  const auto& event = events_[sample->attribute];
  if (!event && !recorded.attribute.has(PERF_SAMPLE_DATA_SRC)) return Contradiction::none;
  const auto place = geometry_->classify(visited.location, recorded.landing);
  if (!place || !place->offset) return Contradiction::none;
  const std::uint64_t address = *geometry_->module->address_at(visited.location->offset);
  const bool is_next = event && event->moment == witness::Moment::successor;
  Contradiction found = Contradiction::none;
  if (place->offset->instructions == 0 && contradicts_source(visited, address)) {
    found = Contradiction::data_source;
  } else if (place->offset->instructions == (is_next ? 1 : 0) &&
             contradicts_address(visited, address)) {
    found = Contradiction::data_address;
  }
  if (found != Contradiction::none) {
    ++samples_[{*visited.location, sample->attribute, sample->exact}][found];
  }
  return found;
}

std::vector<std::pair<Contradiction, std::uint64_t>> ContradictedHits::take(
    const locate::LocatedSamples& located) {
  std::vector<std::pair<Contradiction, std::uint64_t>> taken;
  if (!located.location || located.kind.mode() != perfdata::CpuMode::user) return taken;
  const auto found = samples_.find({*located.location, located.attribute, located.kind.exact()});
  if (found == samples_.end()) return taken;
  std::uint64_t left = located.samples;
  for (auto& [contradiction, samples] : found->second) {
    taken.emplace_back(contradiction, std::min(samples, left));
    left -= taken.back().second;
    samples -= taken.back().second;
  }
  return taken;
}

}  // namespace skid::measure
