#include "src/audit/blocks.h"

#include "src/instructions/instruction.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace skid::audit {
namespace {

using instructions::Flow;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
/// Nested deeper, loops are taken for parts of the one that they are in, which joins fewer blocks.
constexpr int kDeepest = 32;

/// A basic block in the graph of the function's direct branches.
struct Node {
  std::vector<std::size_t> successors, predecessors;
  bool entered = false;  ///< also from where no branch of the function is seen
  bool leaves = false;   ///< also to where no block of the function is, or not surely to one
  bool splits = false;   ///< ends with a call
};

/// Strongly connected components of some nodes by R. Tarjan's algorithm (SIAM J. Comput. 1, 1972),
/// without recursion. `follow(from, to)`: whether an edge counts.
template <typename Follow>
std::vector<std::vector<std::size_t>> components_of(const std::vector<Node>& nodes,
                                                    const std::vector<std::size_t>& some,
                                                    std::vector<std::size_t>& order,
                                                    std::vector<std::size_t>& low, Follow follow) {
  std::vector<std::vector<std::size_t>> components;
  std::vector<std::size_t> stack;
  std::vector<std::pair<std::size_t, std::size_t>> path;  // node, its next successor
  std::size_t count = 0;
  for (const std::size_t node : some) order[node] = kNone;
  for (const std::size_t start : some) {
    if (order[start] != kNone) continue;
    path.emplace_back(start, 0);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == 0) {
        order[node] = low[node] = count++;
        stack.push_back(node);
      }
      if (next < nodes[node].successors.size()) {
        const std::size_t from = node, to = nodes[node].successors[next++];
        if (!follow(from, to)) continue;
        if (order[to] == kNone) {
          path.emplace_back(to, 0);
        } else {
          low[from] = std::min(low[from], order[to]);  // of finished ones it is the largest
        }
        continue;
      }
      const std::size_t done = node;
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
      if (low[done] != order[done]) continue;
      auto& component = components.emplace_back();
      std::size_t member = kNone;
      do {
        member = stack.back();
        stack.pop_back();
        component.push_back(member);
        order[member] = low[member] = kNone - 1;
      } while (member != done);
    }
  }
  return components;
}

class Finder {
 public:
  Finder(const FunctionCode& code, const Branches& branches,
         const std::optional<AddressRange>& loop)
      : code_(code), branches_(branches), loop_(loop) {}

  FunctionBlocks find() {
    find_basic_blocks();
    connect();
    Region all{std::vector<std::size_t>(nodes_.size()), 0, 0};
    std::iota(all.nodes.begin(), all.nodes.end(), std::size_t{0});
    region_.assign(nodes_.size(), 0);
    order_.resize(nodes_.size());
    low_.resize(nodes_.size());
    is_cut_.assign(nodes_.size(), false);
    is_joined_.assign(nodes_.size(), false);
    std::vector<Region> work{std::move(all)};
    while (!work.empty()) {
      const Region region = std::move(work.back());
      work.pop_back();
      join(region);
      for (Region& inner : loops_in(region)) work.push_back(std::move(inner));
    }
    return std::move(found_);
  }

 private:
  /// The function, or a loop.
  struct Region {
    std::vector<std::size_t> nodes;
    std::size_t number = 0;
    int depth = 0;
  };

  const Step& step(std::size_t index) const { return code_.steps()[index]; }

  void find_basic_blocks() {
    const std::size_t end = code_.first_undecoded();
    for (std::size_t i = 0; i < end; ++i) {
      const bool follows = i > 0 && step(i - 1).flow == Flow::next && !step(i - 1).calls_kernel;
      const std::uint64_t address = code_.address_of(i);
      if (!follows || branches_.may_enter(address) || is_labelled(address)) {
        if (!found_.basic.empty()) found_.basic.back().end = i;
        found_.basic.push_back({i, end});
      }
    }
  }

  bool is_labelled(std::uint64_t address) const {
    return !(loop_ && loop_->contains(address)) && branches_.is_labelled(address);
  }

  /// The node that begins there.
  std::optional<std::size_t> node_at(std::uint64_t address) const {
    const auto index = code_.find(address);
    if (!index) return std::nullopt;
    const auto found =
        std::lower_bound(found_.basic.begin(), found_.basic.end(), *index,
                         [](const BasicBlock& block, std::size_t at) { return block.begin < at; });
    if (found == found_.basic.end() || found->begin != *index) return std::nullopt;
    return static_cast<std::size_t>(found - found_.basic.begin());
  }

  void connect() {
    nodes_.resize(found_.basic.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const BasicBlock& block = found_.basic[i];
      const std::uint64_t address = code_.address_of(block.begin);
      const Flow before = block.begin == 0 ? Flow::leaves : step(block.begin - 1).flow;
      // Exception handlers begin after calls, and where nothing falls through.
      const bool falls_in = before == Flow::next || before == Flow::conditional;
      Node& node = nodes_[i];
      node.entered |= !falls_in || is_labelled(address) ||
                      branches_.may_enter_from_elsewhere(address) ||
                      (block.begin > 0 && step(block.begin - 1).calls_kernel);
      const Step& last = step(block.end - 1);
      const auto lead = [&](std::optional<std::size_t> to) {
        if (!to) {
          node.leaves = true;
        } else if (std::find(node.successors.begin(), node.successors.end(), *to) ==
                   node.successors.end()) {
          node.successors.push_back(*to);
          nodes_[*to].predecessors.push_back(i);
        }
      };
      const bool may_end = last.flow == Flow::call || last.calls_kernel;
      if (last.flow == Flow::next || last.flow == Flow::conditional || may_end) {
        lead(i + 1 < nodes_.size() ? std::optional(i + 1) : std::nullopt);
      }
      if (last.flow == Flow::conditional || last.flow == Flow::jump) {
        const auto target = code_.target_of(block.end - 1);
        lead(target ? node_at(*target) : std::nullopt);
      }
      node.splits = may_end;
      if (may_end || last.flow == Flow::leaves || last.flow == Flow::indirect_jump) {
        node.leaves = true;
      }
    }
  }

  bool is_in(const Region& region, std::size_t node) const {
    return region_[node] == region.number;
  }

  /// The loops directly in a region. In a loop, branches to where it is entered make no further one
  /// (B. Steensgaard, "Sequentializing Program Dependence Graphs for Irreducible Programs", 1993).
  std::vector<Region> loops_in(const Region& region) {
    std::vector<Region> inner;
    if (region.depth >= kDeepest) return inner;
    if (region.depth > 0) {
      bool has_entry = false;
      for (const std::size_t node : region.nodes) {
        is_cut_[node] = nodes_[node].entered || comes_from_outside(region, node);
        has_entry |= is_cut_[node];
      }
      if (!has_entry) is_cut_[region.nodes.front()] = true;  // never executed
    }
    auto components = components_of(
        nodes_, region.nodes, order_, low_,
        [&](std::size_t, std::size_t to) { return is_in(region, to) && !is_cut_[to]; });
    for (auto& component : components) {
      if (component.size() < 2) continue;
      inner.push_back({std::move(component), ++regions_, region.depth + 1});
    }
    for (const Region& loop : inner) {
      for (const std::size_t node : loop.nodes) region_[node] = loop.number;
    }
    return inner;
  }

  bool comes_from_outside(const Region& region, std::size_t node) const {
    const auto& from = nodes_[node].predecessors;
    return std::any_of(from.begin(), from.end(),
                       [&](std::size_t one) { return !is_in(region, one); });
  }

  /// The only one of `some` that is in the region.
  std::optional<std::size_t> only_one_in(const Region& region,
                                         const std::vector<std::size_t>& some) const {
    std::optional<std::size_t> only;
    for (const std::size_t one : some) {
      if (!is_in(region, one)) continue;
      if (only) return std::nullopt;
      only = one;
    }
    return only;
  }

  void join(const Region& region) {
    std::optional<std::size_t> loop;
    for (const std::size_t from : region.nodes) {
      const Node& node = nodes_[from];
      if (is_joined_[from] || node.splits) continue;
      const auto to = only_one_in(region, node.successors);
      if (!to || *to == from || only_one_in(region, nodes_[*to].predecessors) != from) continue;
      const bool is_even = !node.leaves && node.successors.size() == 1 && !nodes_[*to].entered &&
                           nodes_[*to].predecessors.size() == 1;
      if (!is_even && region.depth == 0) continue;
      if (!is_even && !loop) {
        loop = found_.loops.size();
        found_.loops.push_back(describe(region));
      }
      found_.joins.push_back({from, *to, is_even ? std::nullopt : loop});
      is_joined_[from] = true;
    }
  }

  Loop describe(const Region& region) const {
    std::set<std::size_t> sources, destinations;
    bool knows_sources = true, knows_destinations = true;
    for (const std::size_t node : region.nodes) {
      knows_sources = knows_sources && !nodes_[node].entered;
      knows_destinations = knows_destinations && !nodes_[node].leaves;
      for (const std::size_t one : nodes_[node].predecessors) {
        if (!is_in(region, one)) sources.insert(one);
      }
      for (const std::size_t one : nodes_[node].successors) {
        if (!is_in(region, one)) destinations.insert(one);
      }
    }
    Loop loop;
    if (knows_sources) loop.sources.emplace(sources.begin(), sources.end());
    if (knows_destinations) loop.destinations.emplace(destinations.begin(), destinations.end());
    return loop;
  }

  const FunctionCode& code_;
  const Branches& branches_;
  const std::optional<AddressRange>& loop_;
  FunctionBlocks found_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> region_, order_, low_;
  std::vector<bool> is_cut_, is_joined_;
  std::size_t regions_ = 0;
};

}  // namespace

FunctionBlocks blocks_of(const FunctionCode& code, const Branches& branches,
                         const std::string& function, const std::optional<AddressRange>& loop) {
  if (code.computes_jumps() || branches.computes_jumps(function)) return {};
  return Finder(code, branches, loop).find();
}

}  // namespace skid::audit
