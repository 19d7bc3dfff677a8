// How often the ways between the blocks of functions were executed, estimated from samples in them.
#pragma once

#include "src/correct/candidates.h"
#include "src/correct/flow.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace skid::correct {

/// Samples at an instruction, by its link-time address.
using SamplesAt = std::function<double(std::uint64_t)>;

/// Samples that show how often instructions of a file were executed.
struct Evidence {
  SamplesAt event;         ///< of the event that is corrected
  SamplesAt instructions;  ///< of an `instructions` event; empty: none
  bool precise = false;    ///< that one is at level 2 or 3, without a skid
};

/// Of one event in one file. What enters a block leaves it, a call returns to the next
/// instruction, and samples are in proportion to executions
///   - of the event, where every execution of an instruction causes it (Suspicion::takes_always):
///     those after such an instruction;
///   - of an `instructions` event: all; with a constant skid each instruction has as many as it was
///     executed, as one instruction was executed so many before it. A macro-fused pair is left at
///     once: its successor has those of both.
/// The estimate is the least sum of squares with executions that are not negative, each count by
/// its Poisson variance.
class BlockFlow {
 public:
  /// `steps_left`: of the solution, to be shared with others of the recording; functions for which
  /// they do not suffice are not estimated.
  BlockFlow(Flow& flow, const Suspicion& suspicion, Evidence evidence, double& steps_left)
      : flow_(flow),
        suspicion_(suspicion),
        evidence_(std::move(evidence)),
        steps_left_(steps_left) {}

  /// How often each candidate of samples at `address` led there, and last what is not known, if
  /// that may have. Empty where the samples do not determine it, or contradict the model.
  std::vector<double> weights(std::uint64_t address, const Candidates& candidates);

 private:
  static constexpr std::size_t kOutside = SIZE_MAX;
  /// Of two solutions, which differ where the samples do not determine it.
  using Executions = std::array<double, 2>;

  /// A way from the end of one block to the beginning of another.
  struct Way {
    std::size_t from = kOutside, to = kOutside;  ///< blocks
    std::uint64_t last = 0;                      ///< instruction of `from`; 0: from outside
    bool causes = false;   ///< the instruction that leads there causes the event
    bool is_pair = false;  ///< a macro-fused pair leads there
    Executions executions = {};
  };
  struct Block {
    AddressRange range;
    std::vector<std::uint64_t> instructions;
    std::vector<std::size_t> in, out;  ///< ways
  };
  /// The sum of factor * executions of some ways is `value`, give or take sqrt(variance).
  struct Equation {
    std::vector<std::pair<std::size_t, double>> ways;
    double value = 0, variance = 1;
    double scale = 1;    ///< of `value`, to one sample
    bool keeps = false;  ///< what enters a block leaves it: no samples
  };
  struct Function {
    std::vector<Block> blocks;
    std::vector<Way> ways;
    bool is_solved = false;
  };

  const Function* function_at(std::uint64_t address);
  std::optional<Function> divide(AddressRange range);
  void connect(Function& function, std::size_t block);
  std::size_t add_way(Function& function, Way way);
  std::vector<Equation> equations_of(const Function& function);
  bool is_vague(std::uint64_t address, bool in_block);
  void solve(Function& function);
  /// As often as the block was executed that ends with the instruction at `address`.
  Executions executions_of(std::uint64_t address);

  Flow& flow_;
  Suspicion suspicion_;
  Evidence evidence_;
  double& steps_left_;
  /// By range; nullopt: it cannot be followed.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::optional<Function>> functions_;
};

}  // namespace skid::correct
