#include "src/correct/splits.h"

#include "src/audit/branch_counter.h"
#include "src/audit/branch_filter.h"
#include "src/code/control_flow.h"
#include "src/correct/candidates.h"
#include "src/correct/correction.h"
#include "src/instructions/instruction.h"
#include "src/locate/visit_records.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/branch_entry.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include <linux/perf_event.h>

namespace skid::correct {
namespace {

constexpr std::uint64_t kLongestRun = std::uint64_t{1}
                                      << 20;  // bytes; longer ones are not within a function
constexpr double kMostOutOfStep = 0.01;

std::uint64_t& samples_by(SplitBy by, CorrectedEvent& event) {
  return event.correction.split_by[static_cast<std::size_t>(by)];
}

}  // namespace

std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto all = static_cast<double>(samples);
  std::vector<std::uint64_t> parts;
  double until = 0;
  std::uint64_t given = 0;
  for (const double weight : weights) {
    until += weight;
    // Beyond 2^53 samples, the product can be rounded up to more than all of them.
    const double exact = until < sum ? std::ceil(all * until / sum) : all;
    const std::uint64_t next =
        exact < all ? std::min(samples, static_cast<std::uint64_t>(exact)) : samples;
    parts.push_back(next - given);
    given = next;
  }
  return parts;
}

void Splits::add(code::ControlFlow& flow, CorrectedEvent& event, const Sampled& one,
                 std::uint64_t address, const Candidates& candidates, Spread& spread) {
  const std::vector<double> equal(spread.candidates.size(), 1);
  spread.samples = apportion(spread.recorded, equal);
  samples_by(SplitBy::equal_shares, event) += spread.recorded;
  if (!event.attribute.has(PERF_SAMPLE_BRANCH_STACK)) return;
  Split split;
  split.spread = event.spreads.size();
  split.weights.resize(candidates.known.size() + 1);
  for (std::size_t i = 0; i < candidates.known.size(); ++i) {
    for (const std::uint64_t last : candidates.known[i].leads_from) {
      if (last == address) return;  // executed in parts: records do not show how often
      const std::uint64_t from = one.offset + (last - address);
      split.by_way[from].push_back(i);
      const auto instruction = flow.instruction_at(last);
      if (instruction && last + instruction->length == address) split.falls_from = from;
    }
  }
  splits_.emplace(Key(one.attribute, {one.file, one.offset}), std::move(split));
}

void Splits::count(const Key& key, std::optional<std::uint64_t> offset_from) {
  const auto [begin, end] = splits_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    Split& split = at->second;
    const auto from = offset_from ? key.second.offset + *offset_from : split.falls_from;
    const auto found = from ? split.by_way.find(*from) : split.by_way.end();
    if (found == split.by_way.end()) {
      ++split.weights.back();
      continue;
    }
    for (const std::size_t candidate : found->second) {
      split.weights[candidate] += 1 / static_cast<double>(found->second.size());
    }
  }
}

void Splits::decide(const measure::Profile& profile, CorrectedEvents& events) {
  /// Numbers of samples: `in` step with their newest record, whose target they follow, and `out`.
  struct Steps {
    std::uint64_t in = 0, out = 0;
  };
  std::map<std::uint32_t, Steps> steps;
  for (const auto& [key, split] : splits_) {
    const std::uint32_t attribute = key.first;
    const auto filter = audit::branch_filter(profile.events[attribute].attribute,
                                             profile.machine().cpu, Arch::x86_64);
    if (filter.no_contiguity == audit::NoContiguity::none) steps.try_emplace(attribute);
  }
  if (steps.empty()) return;
  profile.visit([&](const locate::VisitedRecord& visited) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr || sample->mode != perfdata::CpuMode::user || !visited.location) return;
    const auto found = steps.find(sample->attribute);
    if (found == steps.end()) return;
    const auto& decoder = profile.recording.decoder();
    const auto details = decoder.details(visited.record, *sample);
    if (!details || details->branch_stack.size() < perfdata::kBranchEntry) return;
    const auto newest = perfdata::branch_entry(details->branch_stack, 0, decoder.order());
    if (!audit::is_run(newest, {.from = sample->ip, .to = sample->ip})) return;
    if (newest.to > sample->ip || sample->ip - newest.to > kLongestRun) {
      ++found->second.out;
      return;
    }
    ++found->second.in;
    count({sample->attribute, *visited.location},
          newest.to == sample->ip ? std::optional(newest.from - newest.to) : std::nullopt);
  });
  for (auto& [key, split] : splits_) {
    const auto found = steps.find(key.first);
    if (found == steps.end()) continue;
    const auto [in, out] = found->second;
    if (static_cast<double>(out) > kMostOutOfStep * static_cast<double>(in + out)) continue;
    CorrectedEvent& event = events.at(found->first);
    Spread& spread = event.spreads[split.spread];
    const std::span weights(split.weights.data(), spread.candidates.size());
    if (std::ranges::all_of(weights, [](double one) { return one <= 0; })) continue;
    spread.samples = apportion(spread.recorded, weights);
    samples_by(SplitBy::equal_shares, event) -= spread.recorded;
    samples_by(SplitBy::branch_records, event) += spread.recorded;
  }
}

}  // namespace skid::correct
