#include "src/audit/ordered_samples.h"

#include "src/locate/visit.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace skid::audit {

std::vector<OrderedSample> ordered_samples(perfdata::Recording& recording,
                                           const locate::Digest& digest,
                                           const std::map<std::uint32_t, BlockRule>& rules) {
  std::vector<OrderedSample> samples;
  if (rules.empty()) return samples;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::uint64_t gaps = 0;
  locate::visit_records(recording, digest, [&](const locate::VisitedRecord& visited) {
    // One that a filter leaves out still separates its neighbours.
    const perfdata::Sample* sample = visited.left_out ? visited.left_out : visited.sample;
    if (sample == nullptr) {
      if (perfdata::hides_samples(visited.record.type)) ++gaps;
      return;
    }
    const auto rule = rules.find(sample->attribute);
    if (rule == rules.end() || samples.size() == kMost) return;
    OrderedSample& added = samples.emplace_back();
    added = {sample->attribute, sample->tid, gaps << 16U | (sample->cpu & 0xffffU), {}};
    added.location.file = symbols::Region::kNoFile;
    if (visited.location && rule->second.takes({sample->mode, sample->exact})) {
      added.location = *visited.location;
    }
  });
  std::ranges::stable_sort(samples, [](const auto& a, const auto& b) {
    return std::tie(a.attribute, a.tid) < std::tie(b.attribute, b.tid);
  });
  return samples;
}

}  // namespace skid::audit
