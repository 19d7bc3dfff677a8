#include "src/correct/splits.h"

#include "src/correct/block_flow.h"

#include <algorithm>
#include <map>
#include <utility>

namespace skid::correct {
namespace {

/// Of the addresses of a process from those of its file; 0 where no breakpoint depends on it.
std::uint64_t distance_of(std::uint64_t ip, std::uint64_t address) {
  return ip == 0 ? 0 : ip - address;
}

/// Shares by the ways that branch records show; empty where they show none.
std::vector<double> weights_by_ways(const OpenSplit& open, const WayCounts& ways,
                                    std::size_t candidates) {
  std::vector<double> weights;
  double sum = 0;
  std::vector<double> sharing(ways.from.size());
  for (const auto& ways_of : open.ways_of) {
    for (const std::size_t way : ways_of) ++sharing[way];
  }
  for (const auto& ways_of : open.ways_of) {
    if (ways_of.empty()) return {};
    double weight = 0;
    for (const std::size_t way : ways_of) {
      weight += static_cast<double>(ways.from[way]) / sharing[way];
    }
    weights.push_back(weight);
    sum += weight;
  }
  if (weights.size() < candidates) {  // the last one is what is not known
    weights.push_back(static_cast<double>(ways.elsewhere));
    sum += weights.back();
  }
  return sum > 0 ? weights : std::vector<double>();
}

bool shows_nothing(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(), [](double one) { return one <= 0; });
}
}  // namespace

void Splits::use_executed(std::vector<Executed> executed, bool precise) {
  executed_ = std::move(executed);
  std::sort(executed_.begin(), executed_.end());
  executed_is_precise_ = precise;
}

void Splits::add(Flow& flow, const CorrectedEvent& event, const Sampled& one, std::uint64_t address,
                 const Candidates& candidates, const Suspicion& suspicion) {
  OpenSplit open;
  open.share = event.spreads.size();
  open.ways.attribute = one.attribute;
  open.ways.file = one.file;
  open.ways.offset = one.offset;
  for (const Candidate& candidate : candidates.known) {
    open.ways_of.emplace_back();
    for (const std::uint64_t last : candidate.leads_from) {
      if (last == address) continue;  // itself: no way leads there
      const std::uint64_t from = one.offset + (last - address);
      auto& ways = open.ways.from;
      const auto known = std::find(ways.begin(), ways.end(), from);
      open.ways_of.back().push_back(static_cast<std::size_t>(known - ways.begin()));
      if (known != ways.end()) continue;
      ways.push_back(from);
      const auto instruction = flow.instruction_at(last);
      if (instruction && last + instruction->length == address) {
        open.ways.falls_from = ways.size() - 1;
      }
    }
  }
  open.address = address;
  open.distance = distance_of(one.ip, address);
  open.needs_estimate = !event.attribute.has(PERF_SAMPLE_BRANCH_STACK);
  if (open.needs_estimate) {
    open.candidates = candidates;
    open.suspicion = suspicion;
  }
  open_.push_back(std::move(open));
}

void Splits::estimate(const symbols::Module& module, Flow& flow, std::span<const Sampled> all) {
  const std::span<OpenSplit> added = std::span(open_).subspan(estimated_);
  estimated_ = open_.size();
  if (added.empty()) return;
  // Samples by event, distance of the process's addresses, and link-time address.
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, double> samples;
  for (const Sampled& one : all) {
    const auto address = module.address_at(one.offset);
    if (!address) continue;
    samples[{one.attribute, distance_of(one.ip, *address), *address}] +=
        static_cast<double>(one.samples);
  }
  std::map<std::pair<std::uint32_t, std::uint64_t>, BlockFlow> flows;
  for (OpenSplit& open : added) {
    if (!open.needs_estimate) continue;
    const std::pair key(open.ways.attribute, open.distance);
    const symbols::FileIndex file = open.ways.file;
    Evidence evidence;
    evidence.event = [&samples, key](std::uint64_t address) {
      const auto found = samples.find({key.first, key.second, address});
      return found == samples.end() ? 0 : found->second;
    };
    if (!executed_.empty()) {
      const std::uint64_t to_offset = open.ways.offset - open.address;
      evidence.instructions = [this, file, to_offset](std::uint64_t address) {
        return executed(file, address + to_offset);
      };
      evidence.precise = executed_is_precise_;
    }
    auto& block_flow =
        flows.try_emplace(key, flow, open.suspicion, evidence, steps_left_).first->second;
    open.estimate = block_flow.weights(open.address, open.candidates);
    open.candidates = {};
    open.suspicion = {};
  }
}

double Splits::executed(symbols::FileIndex file, std::uint64_t offset) const {
  double samples = 0;
  auto at = std::lower_bound(executed_.begin(), executed_.end(),
                             std::tuple(file, offset, std::uint64_t{0}));
  for (; at != executed_.end() && std::get<0>(*at) == file && std::get<1>(*at) == offset; ++at) {
    samples += static_cast<double>(std::get<2>(*at));
  }
  return samples;
}

void Splits::decide(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                    const machine::CpuIdentity& cpu, CorrectedEvents& events) {
  std::vector<Ways> ways;
  for (const OpenSplit& open : open_) ways.push_back(open.ways);
  const auto counted = count_ways(recording, spaces, ways, cpu);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const OpenSplit& open = open_[i];
    CorrectedEvent& event = events.at(open.ways.attribute);
    Spread& spread = event.spreads[open.share];
    std::vector<double> weights;
    if (!counted.empty()) weights = weights_by_ways(open, counted[i], spread.candidates.size());
    SplitBy by = SplitBy::branch_records;
    if (weights.empty()) {
      weights = open.estimate;
      by = executed_.empty() ? SplitBy::blocks : SplitBy::instructions;
    }
    if (shows_nothing(weights)) {
      weights.assign(spread.candidates.size(), 1);
      by = SplitBy::equal_shares;
    }
    event.correction.split_by[static_cast<std::size_t>(by)] += spread.recorded;
    spread.samples = apportion(spread.recorded, weights);
  }
}
}  // namespace skid::correct
