#include "src/correct/splits.h"

#include <algorithm>
#include <utility>

namespace skid::correct {
namespace {

Places mates_of(Flow& flow, symbols::FileIndex file, std::uint64_t address,
                const Suspicion& suspicion) {
  Places mates;
  const AddressRange block = flow.block_at(address).range;
  for (std::uint64_t at = block.begin; at < block.end;) {
    const auto instruction = flow.instruction_at(at);
    if (!instruction) return {};
    if (at != address && suspicion.takes_always(*instruction)) mates.push_back({file, at, true});
    at += instruction->length;
  }
  return mates;
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

/// Each candidate's executions, as often as its block was executed, by what else is sampled
/// there, less those whose samples moved to it from elsewhere. One candidate of which nothing is
/// known gets the rest, several get the same part of it. Empty where nothing is known of any.
std::vector<double> weights_by_blocks(const CorrectedEvent& event, const OpenSplit& open) {
  const Spread& spread = event.spreads[open.share];
  std::vector<double> weights;
  double known = 0;
  std::size_t unknown = 0;
  constexpr double kUnknown = -1;
  for (std::size_t i = 0; i < spread.candidates.size(); ++i) {
    double sum = 0;
    std::size_t mates = 0;
    for (const SpreadPlace& mate : i < open.mates.size() ? open.mates[i] : Places()) {
      if (event.is_open.contains(mate)) continue;
      const auto whole = event.whole.find(mate);
      if (whole != event.whole.end()) sum += static_cast<double>(whole->second);
      ++mates;
    }
    if (mates == 0) {
      weights.push_back(kUnknown);
      ++unknown;
      continue;
    }
    const auto whole = event.whole.find(spread.candidates[i]);
    const double moved = whole == event.whole.end() ? 0 : static_cast<double>(whole->second);
    weights.push_back(std::max(0.0, sum / static_cast<double>(mates) - moved));
    known += weights.back();
  }
  if (unknown == weights.size()) return {};
  const double rest = std::max(0.0, static_cast<double>(spread.recorded) - known);
  for (double& weight : weights) {
    if (weight == kUnknown) weight = rest / static_cast<double>(unknown);
  }
  return weights;
}

bool shows_nothing(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(), [](double one) { return one <= 0; });
}
}  // namespace

void Splits::use_executed(std::vector<Executed> executed) {
  executed_ = std::move(executed);
  std::sort(executed_.begin(), executed_.end());
}

void Splits::add(Flow& flow, CorrectedEvent& event, const Sampled& one, std::uint64_t address,
                 const Candidates& candidates, const Suspicion& suspicion) {
  open_.push_back(open_split(flow, event, one, address, candidates));
  for (const Candidate& candidate : candidates.known) {
    open_.back().mates.push_back(mates_of(flow, one.file, candidate.address, suspicion));
    event.is_open.insert({one.file, candidate.address, true});
  }
}

OpenSplit Splits::open_split(Flow& flow, const CorrectedEvent& event, const Sampled& one,
                             std::uint64_t address, const Candidates& candidates) const {
  OpenSplit open;
  open.attribute = one.attribute;
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
  if (!executed_.empty() && !candidates.unknown) {
    for (const Candidate& candidate : candidates.known) {
      const Flow::Block block = flow.block_at(candidate.address);
      const std::uint64_t begin = one.offset + (block.range.begin - address);
      open.executions.push_back(executed(one.file, {begin, begin + block.range.size()}) /
                                static_cast<double>(block.instructions));
    }
  }
  return open;
}

double Splits::executed(symbols::FileIndex file, AddressRange offsets) const {
  double samples = 0;
  auto at = std::lower_bound(executed_.begin(), executed_.end(),
                             std::tuple(file, offsets.begin, std::uint64_t{0}));
  for (; at != executed_.end() && std::get<0>(*at) == file && std::get<1>(*at) < offsets.end;
       ++at) {
    samples += static_cast<double>(std::get<2>(*at));
  }
  return samples;
}

void Splits::decide(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                    const machine::CpuIdentity& cpu, CorrectedEvents& events) {
  std::vector<Ways> ways;
  for (OpenSplit& open : open_) ways.push_back(std::move(open.ways));
  const auto counted = count_ways(recording, spaces, ways, cpu);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const OpenSplit& open = open_[i];
    CorrectedEvent& event = events.at(open.attribute);
    Spread& spread = event.spreads[open.share];
    std::vector<double> weights;
    if (!counted.empty()) weights = weights_by_ways(open, counted[i], spread.candidates.size());
    SplitBy by = SplitBy::branch_records;
    if (weights.empty()) {
      weights = open.executions;
      by = SplitBy::instructions;
    }
    if (shows_nothing(weights)) {
      weights = weights_by_blocks(event, open);
      by = SplitBy::blocks;
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
