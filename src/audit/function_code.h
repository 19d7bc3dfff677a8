// The instructions of one function, in a few bytes each.
#pragma once

#include "analysis/not_judged.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace skid::audit {

/// The facts of an instruction that an audit uses.
struct Step {
  instructions::Categories categories;  ///< empty where nothing decodes
  std::uint8_t length = 1;              ///< bytes
  instructions::Flow flow = instructions::Flow::leaves;
  instructions::Fusion fusion = instructions::Fusion::none;
  bool decodes = false;
  bool loads = false, stores = false;  ///< memory, by any operand
  /// Done in parts (REP strings, gathers, scatters): traps and interrupts between two of them find
  /// it as the next instruction.
  bool is_in_parts = false;
  bool delays_traps = false;
  /// Memory, but only by a mask or a condition.
  bool is_conditional = false;
  bool calls_kernel = false;

  bool accesses_memory() const noexcept { return loads || stores; }
  bool is_nop() const noexcept;
};

Step step_of(Arch arch, const std::optional<instructions::Instruction>& instruction);

/// A function decoded from its first byte to its end. Bytes that do not decode are stepped over one
/// by one, on aarch64 by words.
class FunctionCode {
 public:
  /// Larger ones are not decoded; compilers do not generate them.
  static constexpr std::uint64_t kLargest = std::uint64_t{4} << 20;

  FunctionCode(Arch arch, std::uint64_t begin, std::span<const std::byte> code);

  std::uint64_t begin() const noexcept { return begin_; }
  const std::vector<Step>& steps() const noexcept { return steps_; }
  std::uint64_t address_of(std::size_t index) const { return begin_ + offsets_[index]; }
  /// Of a direct jump or call.
  std::optional<std::uint64_t> target_of(std::size_t index) const;
  /// The instruction that begins at `address`; nullopt inside of one, or outside.
  std::optional<std::size_t> find(std::uint64_t address) const;
  /// Why nothing can be judged by the instruction at `address`: the code ends before, it is inside
  /// of one, or it does not decode; none: it can.
  analysis::NotJudged problem_at(std::uint64_t address) const;
  /// Whether all before that instruction decodes.
  bool decodes_until(std::size_t index) const noexcept { return index <= first_undecoded_; }
  /// How many instructions decode, from the first one on.
  std::size_t first_undecoded() const noexcept { return first_undecoded_; }
  /// Whether it jumps to an address in a register or memory.
  bool computes_jumps() const noexcept { return computes_jumps_; }

 private:
  std::uint64_t begin_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> offsets_;                          ///< of the steps, from `begin_`
  std::vector<std::pair<std::size_t, std::uint64_t>> targets_;  ///< by index, ascending
  bool computes_jumps_ = false;
  std::size_t first_undecoded_;  ///< steps_.size() where all decodes
};

}  // namespace skid::audit
