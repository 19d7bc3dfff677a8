#include "src/audit/event_blocks.h"

#include <algorithm>
#include <numeric>

namespace skid::audit {

void EventBlocks::add(const std::string& path, symbols::FileIndex file,
                      const FileJudge::Blocks& function, const SamplesByAddress& samples) {
  const EvenEvent even = rule_.event();
  auto judged = samples_of_blocks(*function.code, function.blocks, even, samples);
  if (judged.empty()) return;
  const std::size_t first = loops_.size();
  for (LoopSamples& loop : samples_of_loops(*function.code, function.blocks, even, samples)) {
    loops_.push_back({std::move(loop)});
  }
  const std::size_t end = loops_.size();
  for (BlockSamples& block : judged) {
    std::size_t loop = loop_of(block.range, first, end);
    if (loop == end) {
      loop = loops_.size();
      loops_.push_back({{block, {}}});
    }
    blocks_.push_back({path, function.function, std::move(block), {}, loop});
  }
  for (std::size_t loop = first; loop < loops_.size(); ++loop) {
    const auto& places = loops_[loop].samples.all.places;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      std::uint64_t sampled = places[i].address;
      if (even.rule == Rule::predecessor) {
        sampled += function.code->steps()[*function.code->find(sampled)].length;
      }
      const auto at = samples.find(sampled);
      if (at != samples.end()) numbers_[{file, at->second.offset}] = {loop, i};
    }
  }
}

/// The loop that contains a block; `end` if none does. The loops from `first` to `end` are disjoint
/// and ascending.
std::size_t EventBlocks::loop_of(const AddressRange& block, std::size_t first,
                                 std::size_t end) const {
  const auto at = [&](std::size_t i) { return loops_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto after = std::upper_bound(at(first), at(end), block.begin,
                                      [](std::uint64_t address, const LoopFinding& loop) {
                                        return address < loop.samples.all.range.begin;
                                      });
  if (after == at(first)) return end;
  const auto loop = after - 1;
  if (block.end > loop->samples.all.range.end) return end;
  return static_cast<std::size_t>(loop - loops_.begin());
}

void EventBlocks::add_order(std::span<const OrderedSample> samples) {
  std::vector<analysis::SampleOrderTest> tests(loops_.size());
  for (LoopFinding& loop : loops_) {
    if (pebs_period_ == 0) break;
    const auto& distances = loop.samples.distances;
    loop.pairs.distances = distances;
    loop.pairs.iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
  }
  std::vector<std::uint32_t> run;
  std::size_t of_loop = 0;
  const auto end_run = [&] {
    if (run.empty()) return;
    tests[of_loop].add(run);
    analysis::SamplePairs& pairs = loops_[of_loop].pairs;
    for (std::size_t i = 1; i < run.size() && !pairs.distances.empty(); ++i) {
      pairs.add(run[i - 1], run[i], pebs_period_);
    }
    run.clear();
  };
  const OrderedSample* last = nullptr;
  for (const OrderedSample& sample : samples) {
    const auto number = numbers_.find({sample.location.file, sample.location.offset});
    const bool is_place = number != numbers_.end();
    const bool goes_on = last != nullptr && last->tid == sample.tid &&
                         last->stretch == sample.stretch && is_place &&
                         number->second.loop == of_loop;
    if (!goes_on) end_run();
    last = &sample;
    if (!is_place) continue;
    of_loop = number->second.loop;
    run.push_back(number->second.place);
  }
  end_run();
  for (std::size_t i = 0; i < tests.size(); ++i) loops_[i].order = tests[i].finish();
}

BlockBias EventBlocks::judge(std::size_t top) {
  const auto most =
      std::ranges::max_element(by_reason_, {}, [](const auto& one) { return one.second; });
  return judge_blocks(std::move(blocks_), std::move(loops_), rule_,
                      most == by_reason_.end() ? NotJudged::none : most->first, delay_, top);
}

}  // namespace skid::audit
