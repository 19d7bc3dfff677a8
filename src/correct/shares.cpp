#include "src/correct/shares.h"

#include "src/audit/branch_counter.h"
#include "src/locate/visit.h"
#include "src/perfdata/branch_stack.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace skid::correct {
namespace {

constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;  // bytes; longer: not one function
constexpr double kMostOutOfStep = 0.01;

/// Counts the ways in the branch stacks of samples, newest branch first.
class WayCounter {
 public:
  WayCounter(const symbols::AddressSpaces& spaces, const std::vector<Ways>& ways)
      : spaces_(spaces), ways_(ways), by_place_(ways.size()) {
    for (const Ways& one : ways) {
      in_all_records_.push_back({std::vector<std::uint64_t>(one.from.size()), 0});
    }
    of_samples_ = in_all_records_;
    std::iota(by_place_.begin(), by_place_.end(), std::size_t{0});
    std::sort(by_place_.begin(), by_place_.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(ways[a].file, ways[a].offset) < std::tie(ways[b].file, ways[b].offset);
    });
  }

  /// `at`: of the sample.
  void count(const perfdata::Sample& sample, std::uint64_t time,
             const std::optional<symbols::FileLocation>& at,
             std::span<const perfdata::BranchEntry> branches) {
    // The newest one runs to the sample.
    const perfdata::BranchEntry sampled{.from = sample.ip, .to = sample.ip};
    if (at && audit::is_run(branches.front(), sampled)) {
      count_newest(sample, time, *at, branches.front());
    }
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const perfdata::BranchEntry& branch = branches[i];
      if (branch.speculation == PERF_BR_SPEC_WRONG_PATH) continue;
      const auto to = locate(sample.pid, branch.to, time);
      if (!to) continue;
      for_each(to->file, to->offset, to->offset + 1,
               [&](std::size_t way) { add_branch(way, branch, in_all_records_[way]); });
      // The run from there to the next newer branch.
      if (i == 0 || branches[i - 1].from < branch.to) continue;
      if (!audit::is_run(branch, branches[i - 1])) continue;
      const std::uint64_t length = branches[i - 1].from - branch.to;
      if (length > kLongestRun) continue;
      for_each(to->file, to->offset + 1, to->offset + length + 1,
               [&](std::size_t way) { add_fall(way, in_all_records_[way]); });
    }
  }

  std::vector<WayCounts> result() && {
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      const Steps steps = steps_[ways_[way].attribute];
      const double most = kMostOutOfStep * static_cast<double>(steps.in + steps.out);
      const auto& from = of_samples_[way].from;
      const auto shown = std::accumulate(from.begin(), from.end(), of_samples_[way].elsewhere);
      if (shown > 0 && static_cast<double>(steps.out) <= most) {
        in_all_records_[way] = std::move(of_samples_[way]);
      }
    }
    return std::move(in_all_records_);
  }

 private:
  /// Samples whose newest record is of a branch that led to their instruction, and others.
  struct Steps {
    std::uint64_t in = 0, out = 0;
  };

  void count_newest(const perfdata::Sample& sample, std::uint64_t time, symbols::FileLocation at,
                    const perfdata::BranchEntry& newest) {
    const auto to = locate(sample.pid, newest.to, time);
    const bool leads_here = to && to->file == at.file && to->offset <= at.offset &&
                            at.offset - to->offset <= kLongestRun;
    ++(leads_here ? steps_[sample.attribute].in : steps_[sample.attribute].out);
    if (!leads_here) return;
    for_each(at.file, at.offset, at.offset + 1, [&](std::size_t way) {
      if (ways_[way].attribute != sample.attribute) return;
      if (to->offset == at.offset) {
        add_branch(way, newest, of_samples_[way]);
      } else {
        add_fall(way, of_samples_[way]);
      }
    });
  }

  void add_branch(std::size_t way, const perfdata::BranchEntry& branch, WayCounts& counts) const {
    const auto& from = ways_[way].from;
    const std::uint64_t offset = ways_[way].offset + (branch.from - branch.to);
    const auto found = std::find(from.begin(), from.end(), offset);
    add(static_cast<std::size_t>(found - from.begin()), counts);
  }
  void add_fall(std::size_t way, WayCounts& counts) const { add(ways_[way].falls_from, counts); }
  static void add(std::size_t from, WayCounts& counts) {
    ++(from < counts.from.size() ? counts.from[from] : counts.elsewhere);
  }

  std::optional<symbols::FileLocation> locate(std::int32_t pid, std::uint64_t address,
                                              std::uint64_t time) {
    const bool is_same = pid == pid_ && region_.addresses.contains(address) &&
                         region_.since <= time && time < region_.until;
    if (!is_same) {
      region_ = spaces_.find(pid, address, time);
      pid_ = pid;
    }
    return region_.location_of(address);
  }

  /// Numbers of the ways to instructions at [begin, end) of a file.
  template <typename Visit>
  void for_each(symbols::FileIndex file, std::uint64_t begin, std::uint64_t end, Visit visit) {
    auto at = std::lower_bound(by_place_.begin(), by_place_.end(), std::pair(file, begin),
                               [&](std::size_t way, const auto& key) {
                                 return std::pair(ways_[way].file, ways_[way].offset) < key;
                               });
    for (; at != by_place_.end() && ways_[*at].file == file && ways_[*at].offset < end; ++at) {
      visit(*at);
    }
  }

  const symbols::AddressSpaces& spaces_;
  const std::vector<Ways>& ways_;
  std::vector<std::size_t> by_place_;  ///< numbers of `ways_`, by file and offset
  std::vector<WayCounts> in_all_records_, of_samples_;
  std::map<std::uint32_t, Steps> steps_;  ///< by attribute
  std::int32_t pid_ = 0;
  symbols::Region region_{{0, 0}, 0, 0};
};

}  // namespace

std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> parts;
  std::vector<double> remainders;
  std::uint64_t left = samples;
  for (const double weight : weights) {
    const double exact = static_cast<double>(samples) * (weight / sum);
    // Beyond 2^53 `exact` can be rounded up to more than there is, and to more than 64 bits hold.
    const bool is_all = exact >= static_cast<double>(left);
    const auto part = is_all ? left : static_cast<std::uint64_t>(exact);
    left -= part;
    parts.push_back(part);
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  // Rounding leaves fewer than one sample a part, but for numbers beyond 2^53.
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (weights[order[i]] <= 0) continue;
    const std::uint64_t more = left > order.size() ? left / order.size() : 1;
    parts[order[i]] += more;
    left -= more;
  }
  return parts;
}

std::vector<WayCounts> count_ways(perfdata::Recording& recording,
                                  const symbols::AddressSpaces& spaces,
                                  const std::vector<Ways>& ways, const machine::CpuIdentity& cpu) {
  const auto& attributes = recording.attributes();
  std::set<std::uint32_t> with_all_branches;
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    if (!attributes[index].has(PERF_SAMPLE_BRANCH_STACK)) continue;
    const auto filter = audit::branch_filter(attributes[index], cpu, Arch::x86_64);
    if (filter.no_contiguity == audit::NoContiguity::none) with_all_branches.insert(index);
  }
  if (with_all_branches.empty() || ways.empty()) return {};
  WayCounter counter(spaces, ways);
  std::vector<perfdata::BranchEntry> branches;
  locate::visit_records(recording, spaces, [&](const locate::VisitedRecord& visited) {
    if (visited.sample == nullptr || visited.sample->mode != perfdata::CpuMode::user) return;
    if (!with_all_branches.contains(visited.sample->attribute)) return;
    const auto& decoder = recording.decoder();
    const auto details = decoder.details(visited.record, *visited.sample);
    if (!details || details->branch_stack.size() < perfdata::kBranchEntry) return;
    branches.clear();
    for (std::size_t i = 0; i < details->branch_stack.size() / perfdata::kBranchEntry; ++i) {
      branches.push_back(perfdata::branch_entry(details->branch_stack, i, decoder.order()));
    }
    counter.count(*visited.sample, decoder.time_of(visited.record, *visited.sample),
                  visited.location, branches);
  });
  return std::move(counter).result();
}

}  // namespace skid::correct
