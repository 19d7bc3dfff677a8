#include "src/correct/shares.h"

#include "src/locate/visit.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace skid::correct {
namespace {

constexpr std::size_t kBranchEntry = 24;                       // struct perf_branch_entry
constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;  // bytes; longer: not one function

struct TakenBranch {
  std::uint64_t from = 0, to = 0;
};

std::vector<TakenBranch> branches_of(std::span<const std::byte> stack, perfdata::ByteOrder order) {
  std::vector<TakenBranch> branches;
  perfdata::ByteReader reader(stack, order);
  while (reader.remaining() >= kBranchEntry) {
    TakenBranch& branch = branches.emplace_back();
    branch.from = reader.u64();
    branch.to = reader.u64();
    reader.skip(sizeof(std::uint64_t));
  }
  return branches;
}

class WayCounter {
 public:
  WayCounter(const symbols::AddressSpaces& spaces, std::vector<Ways>& ways)
      : spaces_(spaces), ways_(ways), order_(ways.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(ways[a].file, ways[a].offset) < std::tie(ways[b].file, ways[b].offset);
    });
  }

  void count(std::int32_t pid, std::uint64_t time, const std::vector<TakenBranch>& branches) {
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const TakenBranch& branch = branches[i];
      const auto to = locate(pid, branch.to, time);
      if (!to) continue;
      for_each(to->file, to->offset, to->offset + 1,
               [&](Ways& ways) { jump(ways, to->offset + (branch.from - branch.to)); });
      // The run from there to the next newer branch.
      if (i == 0 || branches[i - 1].from < branch.to) continue;
      const std::uint64_t length = branches[i - 1].from - branch.to;
      if (length > kLongestRun) continue;
      for_each(to->file, to->offset + 1, to->offset + length + 1, [&](Ways& ways) {
        if (ways.falls_from != SIZE_MAX) {
          ++ways.taken[ways.falls_from];
        } else {
          ++ways.elsewhere;
        }
      });
    }
  }

 private:
  static void jump(Ways& ways, std::uint64_t from) {
    const auto found = std::find(ways.from.begin(), ways.from.end(), from);
    if (found == ways.from.end()) {
      ++ways.elsewhere;
    } else {
      ++ways.taken[static_cast<std::size_t>(found - ways.from.begin())];
    }
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

  /// Those at [begin, end) of a file.
  template <typename Visit>
  void for_each(symbols::FileIndex file, std::uint64_t begin, std::uint64_t end, Visit visit) {
    auto at = std::lower_bound(order_.begin(), order_.end(), std::pair(file, begin),
                               [&](std::size_t index, const auto& key) {
                                 return std::pair(ways_[index].file, ways_[index].offset) < key;
                               });
    for (; at != order_.end() && ways_[*at].file == file && ways_[*at].offset < end; ++at) {
      visit(ways_[*at]);
    }
  }

  const symbols::AddressSpaces& spaces_;
  std::vector<Ways>& ways_;
  std::vector<std::size_t> order_;
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
    const auto part = std::min(static_cast<std::uint64_t>(exact), left);
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

void count_ways(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                std::vector<Ways>& ways) {
  const auto& attributes = recording.attributes();
  const bool has_branches = std::any_of(
      attributes.begin(), attributes.end(),
      [](const auto& attribute) { return attribute.has(perfdata::PERF_SAMPLE_BRANCH_STACK); });
  if (!has_branches || ways.empty()) return;
  for (Ways& one : ways) one.taken.assign(one.from.size(), 0);
  WayCounter counter(spaces, ways);
  locate::visit_records(recording, spaces, [&](const locate::VisitedRecord& visited) {
    if (visited.sample == nullptr || visited.sample->mode != perfdata::CpuMode::user) return;
    const auto& decoder = recording.decoder();
    const auto details = decoder.details(visited.record, *visited.sample);
    if (!details || details->branch_stack.empty()) return;
    counter.count(visited.sample->pid, decoder.time_of(visited.record, *visited.sample),
                  branches_of(details->branch_stack, decoder.order()));
  });
}

}  // namespace skid::correct
