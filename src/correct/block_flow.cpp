#include "src/correct/block_flow.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace skid::correct {
namespace {

using instructions::Instruction;
using Kind = instructions::Flow;

constexpr std::size_t kMostBlocks = 4096;
constexpr std::uint64_t kLargestFunction = 1u << 20;  // bytes

std::size_t block_of(const auto& blocks, std::uint64_t address) {
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), address,
                       [](std::uint64_t at, const auto& block) { return at < block.range.begin; });
  return static_cast<std::size_t>(after - blocks.begin()) - 1;
}

void add(const std::array<double, 2>& executions, std::array<double, 2>& sum) {
  sum[0] += executions[0];
  sum[1] += executions[1];
}

/// Shares of candidates that differ more between two solutions are not determined.
constexpr double kMostDifference = 0.02;

/// How far samples are from what was expected of them, by Pearson's statistic with an allowance for
/// what is not chance: the ratio of two events' samples is an estimate.
class Misfit {
 public:
  /// `expected`: of each. `scale`: of both, to one sample.
  void add(std::span<const double> seen, double expected, double scale = 1) {
    for (const double one : seen) {
      constexpr double kAllowance = 0.02;
      const double samples = expected / scale, difference = one / scale - samples;
      const double allowed = kAllowance * samples;
      sum_ += difference * difference / (std::max(samples, 1.0) + allowed * allowed);
      ++terms_;
    }
  }
  /// At 1 in 10,000 with as many degrees of freedom as there are terms, which are too many.
  bool rejects() const {
    constexpr double kUnlikely = 1e-4;
    return terms_ > 0 && analysis::chi_square_p(terms_, sum_) < kUnlikely;
  }

 private:
  double sum_ = 0;
  int terms_ = 0;
};

}  // namespace

std::size_t BlockFlow::add_way(Function& function, Way way) {
  const std::size_t number = function.ways.size();
  if (way.from != kOutside) function.blocks[way.from].out.push_back(number);
  if (way.to != kOutside) function.blocks[way.to].in.push_back(number);
  function.ways.push_back(way);
  return number;
}

/// The blocks of a function; nullopt where it cannot be followed: parts do not decode, or jumps are
/// computed.
std::optional<BlockFlow::Function> BlockFlow::divide(AddressRange range) {
  if (range.size() > kLargestFunction) return std::nullopt;
  Function function;
  for (std::uint64_t at = range.begin; at < range.end;) {
    Block block;
    block.range = flow_.block_at(at);
    if (block.range.begin != at || function.blocks.size() == kMostBlocks) return std::nullopt;
    while (at < block.range.end) {
      const auto instruction = flow_.instruction_at(at);
      if (!instruction || instruction->flow == Kind::indirect_jump) return std::nullopt;
      block.instructions.push_back(at);
      at += instruction->length;
    }
    function.blocks.push_back(std::move(block));
  }
  if (function.blocks.empty()) return std::nullopt;
  for (std::size_t block = 0; block < function.blocks.size(); ++block) connect(function, block);
  return function;
}

/// Adds the ways to a block, and those from it to the outside.
void BlockFlow::connect(Function& function, std::size_t number) {
  const AddressRange range{function.blocks.front().range.begin, function.blocks.back().range.end};
  const Block block = function.blocks[number];
  const auto candidates = candidates_of(flow_, block.range.begin, suspicion_);
  const auto causes = [&](std::uint64_t last) {
    return std::any_of(candidates.known.begin(), candidates.known.end(),
                       [&](const Candidate& one) { return one.leads_from.contains(last); });
  };
  const auto any_leads = [&](const auto& condition) {
    return std::any_of(candidates.known.begin(), candidates.known.end(), [&](const Candidate& one) {
      return std::any_of(one.leads_from.begin(), one.leads_from.end(), condition);
    });
  };
  const bool outside_causes = any_leads([&](std::uint64_t at) { return !range.contains(at); });
  const bool returns_cause = any_leads([&](std::uint64_t at) {  // of a recursive function
    const auto instruction = flow_.instruction_at(at);
    return instruction && instruction->flow == Kind::leaves;
  });
  // A call before the block returns to it: its callee's RETs are that way.
  std::uint64_t call = 0;
  if (number > 0) {
    const std::uint64_t before = function.blocks[number - 1].instructions.back();
    const auto instruction = flow_.instruction_at(before);
    if (instruction->flow == Kind::call) call = before;
  }
  const Predecessors predecessors = flow_.predecessors(block.range.begin);
  bool is_entered = predecessors.anything;
  for (const Instruction& one : predecessors.unknown) {
    is_entered |= call == 0 || one.flow != Kind::leaves;
  }
  for (const Predecessor& one : predecessors.known) {
    if (one.tie != Tie::none || (call != 0 && one.instruction.flow == Kind::leaves)) continue;
    if (!range.contains(one.address)) {
      is_entered = true;
      continue;
    }
    const bool is_pair = std::any_of(
        predecessors.known.begin(), predecessors.known.end(), [&](const Predecessor& other) {
          return other.tie == Tie::fused && other.leads_from == one.address;
        });
    add_way(function, {block_of(function.blocks, one.address), number, one.address,
                       causes(one.address), is_pair});
  }
  if (call != 0) {
    const bool call_causes = outside_causes || returns_cause || candidates.unknown;
    add_way(function, {number - 1, number, call, call_causes, false});
  }
  if (is_entered) {
    add_way(function, {kOutside, number, 0, false, false});
    if (outside_causes || candidates.unknown) {
      add_way(function, {kOutside, number, 0, true, false});
    }
  }
  const auto last = flow_.instruction_at(block.instructions.back());
  const bool jumps_out = last->target && last->flow != Kind::call && !range.contains(*last->target);
  const bool falls_out = number + 1 == function.blocks.size() && last->flow != Kind::jump;
  if (last->flow == Kind::leaves || jumps_out || falls_out) {
    add_way(function, {number, kOutside, 0, false, false});
  }
}

/// Empty where no sample says anything, or those within a block contradict each other.
std::vector<BlockFlow::Equation> BlockFlow::equations_of(const Function& function) {
  struct Count {
    Equation equation;
    bool of_instructions = false;
  };
  Misfit misfit;
  std::vector<Count> counts;
  double of_event = 0, of_instructions = 0;  // per instruction, in blocks that have both
  for (const Block& block : function.blocks) {
    Equation all;
    for (const std::size_t way : block.in) all.ways.emplace_back(way, 1);
    std::vector<double> caused, executed;
    for (std::size_t i = 0; i < block.instructions.size(); ++i) {
      const std::uint64_t address = block.instructions[i];
      const auto candidates = candidates_of(flow_, address, suspicion_);
      const bool is_sure =
          !candidates.known.empty() &&
          std::all_of(candidates.known.begin(), candidates.known.end(), [&](const Candidate& one) {
            const auto instruction = flow_.instruction_at(one.address);
            return instruction && suspicion_.takes_always(*instruction);
          });
      if (i == 0) {
        Equation entered;
        for (const std::size_t way : block.in) {
          if (function.ways[way].causes) entered.ways.emplace_back(way, 1);
        }
        entered.value = evidence_.event(address);
        if (is_vague(address, false)) continue;
        if (is_sure && suspicion_.skid == 1) counts.push_back({entered, false});
        if (!evidence_.instructions) continue;
        entered.ways.clear();
        for (const std::size_t way : block.in) {
          const bool of_two = function.ways[way].is_pair && !evidence_.precise;
          entered.ways.emplace_back(way, of_two ? 2 : 1);
        }
        entered.value = evidence_.instructions(address);
        counts.push_back({entered, true});
        continue;
      }
      const auto here = flow_.instruction_at(address);
      const auto before = flow_.instruction_at(block.instructions[i - 1]);
      // Nothing is sampled in the middle of a pair.
      if (instructions::fuses(before->fusion, here->fusion) || is_vague(address, true)) continue;
      if (is_sure && candidates.known.size() == 1 && !candidates.unknown && i >= suspicion_.skid) {
        caused.push_back(evidence_.event(address));
      }
      if (evidence_.instructions) executed.push_back(evidence_.instructions(address));
    }
    for (const auto* samples : {&caused, &executed}) {
      if (samples->empty()) continue;
      Equation equation = all;
      for (auto& way : equation.ways) way.second = static_cast<double>(samples->size());
      equation.value = std::accumulate(samples->begin(), samples->end(), 0.0);
      misfit.add(*samples, equation.value / static_cast<double>(samples->size()));
      counts.push_back({equation, samples == &executed});
    }
    if (!caused.empty() && !executed.empty()) {
      of_event += counts.end()[-2].equation.value / static_cast<double>(caused.size());
      of_instructions += counts.back().equation.value / static_cast<double>(executed.size());
    }
  }
  if (counts.empty() || misfit.rejects()) return {};
  // Executions are in samples of the event, or of the other one where they have nothing in common.
  const double scale = of_event > 0 && of_instructions > 0 ? of_event / of_instructions : 1;
  const bool have_both = of_event > 0 && of_instructions > 0;
  std::vector<Equation> equations;
  for (auto& [equation, is_of_instructions] : counts) {
    if (evidence_.instructions && !have_both && !is_of_instructions) continue;
    const double factor = is_of_instructions ? scale : 1;
    equation.variance = factor * factor * std::max(equation.value, 1.0);
    equation.value *= factor;
    equation.scale = factor;
    equations.push_back(std::move(equation));
  }
  double most = 1;
  for (const Equation& equation : equations) most = std::max(most, equation.value);
  for (const Block& block : function.blocks) {
    Equation kept;
    for (const std::size_t way : block.in) kept.ways.emplace_back(way, 1);
    for (const std::size_t way : block.out) kept.ways.emplace_back(way, -1);
    kept.variance = most / 100;
    kept.keeps = true;
    if (!block.out.empty()) equations.push_back(std::move(kept));
  }
  return equations;
}

/// Whether samples at an instruction may be of another one than that executed before: traps that
/// wait, and pairs of which it depends on the CPU whether they are fused. `in_block`: with fused
/// ones.
bool BlockFlow::is_vague(std::uint64_t address, bool in_block) {
  const Predecessors predecessors = flow_.predecessors(address);
  return std::any_of(
      predecessors.known.begin(), predecessors.known.end(), [&](const Predecessor& one) {
        const bool waits = suspicion_.is_breakpoint && one.instruction.delays_traps;
        const bool is_tied = one.tie != Tie::none && (in_block || one.tie != Tie::fused);
        return waits || (is_tied && suspicion_.counts(one));
      });
}

/// Coordinate descent: each way in turn takes the value that fits best, given the others.
void BlockFlow::solve(Function& function) {
  const auto equations = equations_of(function);
  if (equations.empty()) return;
  struct Term {
    std::size_t equation;
    double factor;
  };
  std::vector<std::vector<Term>> terms(function.ways.size());
  double most = 1;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    most = std::max(most, equations[i].value);
    for (const auto& [way, factor] : equations[i].ways) {
      auto& of_way = terms[way];
      if (!of_way.empty() && of_way.back().equation == i) {
        of_way.back().factor += factor;  // a loop of one block enters and leaves it
      } else {
        of_way.push_back({i, factor});
      }
    }
  }
  const auto descend = [&](const std::vector<double>& initial) {
    constexpr double kMostSteps = 2e6, kPrecision = 1e-9;
    std::vector<double> values = initial;
    std::vector<double> left;
    for (const Equation& equation : equations) {
      double sum = 0;
      for (const auto& [way, factor] : equation.ways) sum += factor * values[way];
      left.push_back(equation.value - sum);
    }
    const auto ways = static_cast<double>(values.size());
    double change = most;
    for (double steps = 0; change > kPrecision * most; steps += ways) {
      steps_left_ -= ways;
      if (steps_left_ < 0 || steps > kMostSteps) return std::vector<double>();
      change = 0;
      for (std::size_t way = 0; way < values.size(); ++way) {
        double slope = 0, curvature = 0;
        for (const Term& term : terms[way]) {
          const double weight = term.factor / equations[term.equation].variance;
          slope += weight * left[term.equation];
          curvature += weight * term.factor;
        }
        if (curvature <= 0) continue;
        const double next = std::max(0.0, values[way] + slope / curvature);
        const double difference = next - values[way];
        values[way] = next;
        for (const Term& term : terms[way]) left[term.equation] -= term.factor * difference;
        change = std::max(change, std::abs(difference));
      }
    }
    return values;
  };
  // What is not determined keeps a trace of where the descent began: of small and of large numbers,
  // no two alike (by the golden ratio).
  std::vector<double> small, large;
  for (std::size_t way = 0; way < function.ways.size(); ++way) {
    constexpr double kGoldenRatio = 0.618'033'988'75, kSmall = 0.001;
    double whole = 0;
    const double share = std::modf(kGoldenRatio * static_cast<double>(way + 1), &whole);
    small.push_back(kSmall * most * share);
    large.push_back(most * (2 - share));
  }
  const auto one = descend(small), other = descend(large);
  if (one.empty() || other.empty()) return;
  Misfit misfit;
  for (const Equation& equation : equations) {
    if (equation.keeps) continue;
    double sum = 0;
    for (const auto& [way, factor] : equation.ways) sum += factor * one[way];
    misfit.add({&equation.value, 1}, sum, equation.scale);
  }
  if (misfit.rejects()) return;
  function.is_solved = true;
  for (std::size_t way = 0; way < function.ways.size(); ++way) {
    function.ways[way].executions = {one[way], other[way]};
  }
}

const BlockFlow::Function* BlockFlow::function_at(std::uint64_t address) {
  const AddressRange range = flow_.function_around(address);
  const auto [known, is_new] = functions_.try_emplace(std::pair(range.begin, range.end));
  if (is_new) {
    known->second = divide(range);
    if (known->second) solve(*known->second);
  }
  return known->second && known->second->is_solved ? &*known->second : nullptr;
}

BlockFlow::Executions BlockFlow::executions_of(std::uint64_t address) {
  const Function* function = function_at(address);
  if (function == nullptr) return {std::nan(""), std::nan("")};
  Executions sum = {};
  for (const std::size_t way : function->blocks[block_of(function->blocks, address)].in) {
    add(function->ways[way].executions, sum);
  }
  return sum;
}

std::vector<double> BlockFlow::weights(std::uint64_t address, const Candidates& candidates) {
  const Function* function = function_at(address);
  if (function == nullptr) return {};
  const Block& block = function->blocks[block_of(function->blocks, address)];
  if (block.range.begin != address) return {};
  const auto sharing = [&](std::uint64_t last) {
    return static_cast<double>(
        std::count_if(candidates.known.begin(), candidates.known.end(),
                      [&](const Candidate& one) { return one.leads_from.contains(last); }));
  };
  // Callees return to the block, and other functions jump there, by ways of these executions.
  Executions entered = {};
  for (const std::size_t number : block.in) {
    const Way& way = function->ways[number];
    if (way.causes && sharing(way.last) == 0) add(way.executions, entered);
  }
  std::vector<Executions> values(candidates.known.size());
  // Ways from other functions: the candidate's number, and executions.
  std::vector<std::pair<std::size_t, Executions>> elsewhere;
  Executions of_elsewhere = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const std::uint64_t last : candidates.known[i].leads_from) {
      if (last == address) return {};  // executed in parts: how often, no way shows
      const auto way = std::find_if(block.in.begin(), block.in.end(), [&](std::size_t number) {
        return function->ways[number].last == last;
      });
      const bool is_here = way != block.in.end();
      Executions executions = is_here ? function->ways[*way].executions : executions_of(last);
      for (double& value : executions) value /= sharing(last);
      if (is_here) {
        add(executions, values[i]);
      } else {
        add(executions, of_elsewhere);
        elsewhere.emplace_back(i, executions);
      }
    }
  }
  if (candidates.unknown && !elsewhere.empty()) return {};  // they enter by the same ways
  for (const auto& [i, executions] : elsewhere) {
    for (std::size_t solution = 0; solution < entered.size(); ++solution) {
      const double all = of_elsewhere[solution];
      const double share = elsewhere.size() == 1 ? 1 : executions[solution] / all;
      values[i][solution] += share * entered[solution];
    }
  }
  if (candidates.unknown) values.push_back(entered);
  Executions sum = {};
  for (const Executions& value : values) add(value, sum);
  std::vector<double> weights;
  for (const Executions& value : values) {
    const double one = value[0] / sum[0], other = value[1] / sum[1];
    if (!(std::abs(one - other) <= kMostDifference)) return {};  // also of 0 / 0
    weights.push_back(one + other);
  }
  return weights;
}

}  // namespace skid::correct
