#include "src/correct/places.h"

#include "src/audit/branch_records.h"
#include "src/correct/flow.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include <linux/perf_event.h>

namespace skid::correct {
namespace {

constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;  // bytes; longer: not one function
constexpr double kMostOutOfStep = 0.01;

std::uint64_t& samples_by(SplitBy by, CorrectedEvent& event) {
  return event.correction.split_by[static_cast<std::size_t>(by)];
}

class Folder {
 public:
  Folder(By by, const measure::Profile& profile, const Blocks& blocks)
      : by_(by), profile_(profile), blocks_(blocks), units_(Before{by}) {}

  /// The sum that samples at a place belong to.
  Place& sum_of(const SpreadPlace& at) {
    const auto known = known_.find(at);
    if (known != known_.end()) return *known->second;
    sums_.push_back(describe(at));
    const auto [unit, is_new] = units_.insert(&sums_.back());
    Place& sum = **unit;
    if (is_source_line(by_, sum)) {  // instructions of one or more functions
      if (sum.symbol != sums_.back().symbol) sum.symbol.clear();
      sum.address.reset();
      sum.offset = 0;
    }
    if (!is_new) sums_.pop_back();
    return *known_.emplace(at, &sum).first->second;
  }

  /// Ends the folding.
  std::deque<Place> take_places() {
    known_.clear();
    units_.clear();
    std::ranges::sort(sums_, [this](const Place& a, const Place& b) {
      const auto counts = std::tie(a.corrected, a.recorded, a.high);
      const auto others = std::tie(b.corrected, b.recorded, b.high);
      return counts != others ? others < counts : Before{by_}(&a, &b);
    });
    return std::move(sums_);
  }

 private:
  static bool is_source_line(By by, const Place& place) {
    return by == By::line && !place.source_file.empty();
  }
  /// Orders places; those of one unit are equal.
  struct Before {
    By by;

    bool operator()(const Place* a, const Place* b) const { return key_of(*a) < key_of(*b); }
    std::tuple<const std::string&, const std::string&, std::optional<std::uint64_t>,
               const std::string&, int>
    key_of(const Place& place) const {
      static const std::string kNone;
      if (is_source_line(by, place)) {
        return {place.module, kNone, std::nullopt, place.source_file, place.source_line};
      }
      return {place.module, place.symbol, place.address, kNone, 0};
    }
  };

  Place describe(const SpreadPlace& at) const {
    Place place;
    const symbols::Module* module = nullptr;
    if (at.file != symbols::Region::kNoFile) {
      const symbols::MappedFile& file = profile_.digest.spaces.file(at.file);
      place.module = file.path;
      if (at.is_linked) module = profile_.modules.find(file).module;
    }
    std::uint64_t begin = at.address;
    if (module != nullptr) {
      if (auto function = module->function_at(at.address)) {
        place.symbol = std::move(function->name);
        begin = function->range.begin;
      }
    }
    place.address = address_of(at, place, begin);
    if (module != nullptr && by_ != By::function) {
      if (auto line = module->line_at(place.address.value_or(at.address))) {
        place.source_file = std::move(line->file);
        place.source_line = line->line;
      }
    }
    if (place.address && !place.symbol.empty()) place.offset = *place.address - begin;
    return place;
  }

  /// The first byte of the unit that a place is part of; nullopt: that unit has no address.
  std::optional<std::uint64_t> address_of(const SpreadPlace& at, const Place& place,
                                          std::uint64_t begin) const {
    if (at.file == symbols::Region::kNoFile) return std::nullopt;
    if (by_ == By::function) return place.symbol.empty() ? std::nullopt : std::optional(begin);
    if (by_ == By::block) {
      const auto block = blocks_.find({at.file, at.address});
      return at.is_linked && block != blocks_.end() ? block->second : at.address;
    }
    return at.address;
  }

  By by_;
  const measure::Profile& profile_;
  const Blocks& blocks_;
  std::deque<Place> sums_;
  std::set<Place*, Before> units_;
  std::map<SpreadPlace, Place*> known_;
};

}  // namespace

std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile,
                       const Blocks& blocks) {
  Folder folder(by, profile, blocks);
  add_up(spreads, [&](const SpreadPlace& place) -> Counts& { return folder.sum_of(place); });
  spreads = {};
  return folder.take_places();
}

std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto all = static_cast<double>(samples);
  std::vector<std::uint64_t> parts;
  double until = 0;
  std::uint64_t given = 0;
  for (const double weight : weights) {
    until += weight;
    // The product can be rounded up to more samples than there are, beyond 2^53.
    const double exact = until < sum ? std::ceil(all * until / sum) : all;
    const std::uint64_t next =
        exact < all ? std::min(samples, static_cast<std::uint64_t>(exact)) : samples;
    parts.push_back(next - given);
    given = next;
  }
  return parts;
}

void Splits::add(Flow& flow, CorrectedEvent& event, const Sampled& one, std::uint64_t address,
                 const Candidates& candidates, Spread& spread) {
  const std::vector<double> equal(spread.candidates.size(), 1);
  spread.samples = apportion(spread.recorded, equal);
  samples_by(SplitBy::equal_shares, event) += spread.recorded;
  if (!event.attribute.has(PERF_SAMPLE_BRANCH_STACK)) return;
  Split split;
  split.spread = event.spreads.size();
  split.weights.resize(candidates.known.size() + 1);
  for (std::size_t i = 0; i < candidates.known.size(); ++i) {
    for (const std::uint64_t last : candidates.known[i].leads_from) {
      if (last == address) return;  // executed in parts: how often, no way shows
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
  /// Samples that follow the target of their newest record, and others.
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
