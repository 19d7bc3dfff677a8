// A function, decoded into a few bytes for each instruction.
#pragma once

#include "analysis/not_judged.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::code {

/// The facts of an instruction by which samples are judged.
struct Step {
  instructions::Categories categories;  ///< empty where nothing decodes
  std::uint8_t length = 1;              ///< bytes
  instructions::Flow flow = instructions::Flow::leaves;
  instructions::Fusion fusion = instructions::Fusion::none;
  bool decodes = false;
  bool loads = false, stores = false;  ///< whether any operand loads or stores memory
  /// It is executed in parts (REP strings, gathers, scatters): traps and interrupts between two of
  /// them find it as the next instruction.
  bool is_in_parts = false;
  bool delays_traps = false;  ///< Instruction::delays_traps
  /// A mask or a condition decides whether it accesses memory.
  bool is_conditional = false;
  bool calls_kernel = false;  ///< Instruction::calls_kernel

  bool accesses_memory() const noexcept { return loads || stores; }
  bool is_nop() const noexcept {
    return categories == instructions::Categories{instructions::Category::nop};
  }
};

/// Returns the facts of an instruction; nullopt: bytes that do not decode.
Step step_of(Arch arch, const std::optional<instructions::Instruction>& instruction);

/// The indices of the instructions of one fused operation, or of a single instruction.
struct Suspects {
  std::size_t first = 0, last = 0;
};

/// A function decoded from its first byte to its end. Bytes that do not decode are stepped over one
/// by one, on aarch64 by words.
class FunctionCode {
 public:
  /// Larger functions are not decoded; compilers do not generate them. Bytes.
  static constexpr std::uint64_t kLargest = std::uint64_t{4} << 20;

  /// `begin`: the address of the first byte of `code`.
  FunctionCode(Arch arch, std::uint64_t begin, std::span<const std::byte> code);

  std::uint64_t begin() const noexcept { return begin_; }
  const std::vector<Step>& steps() const noexcept { return steps_; }
  std::uint64_t address_of(std::size_t index) const { return begin_ + offsets_[index]; }
  /// Returns the target of a direct jump or call; nullopt for other instructions.
  std::optional<std::uint64_t> target_of(std::size_t index) const;
  /// Returns the index of the instruction that begins at `address`; nullopt if the address is
  /// inside of one or outside of the function.
  std::optional<std::size_t> find(std::uint64_t address) const;
  /// Why nothing can be judged by the instruction at `address`: the code ends before it, it is
  /// inside of an instruction, or it does not decode. NotJudged::none: it can be judged.
  analysis::NotJudged problem_at(std::uint64_t address) const;
  /// Returns an instruction with the one that the CPU fuses with it, if any.
  Suspects fused_with(std::size_t index) const;
  instructions::Categories categories_of(Suspects suspects) const;
  /// Returns the verdict on an instruction, with the one that it is fused with. nullopt: it is the
  /// first one and would be `never`, but its fused partner may precede the code. That is so where
  /// no function is known, and after a label of assembly, which looks like a function.
  std::optional<events::Verdict> verdict_on(std::span<const events::Cause> causes,
                                            std::size_t index) const;
  /// Whether everything before that instruction decodes.
  bool decodes_until(std::size_t index) const noexcept { return index <= first_undecoded_; }
  /// How many instructions decode, from the first one on.
  std::size_t first_undecoded() const noexcept { return first_undecoded_; }
  /// Whether the function jumps to an address in a register or memory.
  bool computes_jumps() const noexcept { return computes_jumps_; }

 private:
  std::uint64_t begin_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> offsets_;  ///< bytes from `begin_` to each step
  std::vector<std::pair<std::size_t, std::uint64_t>> targets_;  ///< targets by index, ascending
  bool computes_jumps_ = false;
  std::size_t first_undecoded_;  ///< steps_.size() if everything decodes
};

/// A function, or the iteration of a target, decoded.
struct Function {
  std::string name;  ///< empty: no symbol names it
  AddressRange range;
  FunctionCode code;
};

}  // namespace skid::code
