// Whether the code at a sampled place of a file can have caused an event.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/function_blocks.h"
#include "src/audit/rule.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::audit {

/// A verdict on instructions, or the reason why there is none.
struct Judgement {
  NotJudged not_judged = NotJudged::none;
  events::Verdict verdict = events::Verdict::unknown;
  std::uint64_t address = 0;  ///< first byte of the judged instructions
  std::uint64_t end = 0;      ///< address after the judged instructions; 0: no code was judged
  instructions::Categories categories = {};
};

/// Judges the places of one file. Keeps the code of the last function.
class FileJudge {
 public:
  /// `recorded`: the architecture of the recording; nullopt if it has none. `loop`, `budget`: see
  /// FileCode.
  FileJudge(const symbols::Module& module, std::optional<Arch> recorded,
            std::optional<AddressRange> loop, code::CodeBudget& budget)
      : module_(module),
        arch_(module.arch()),
        recorded_(recorded),
        file_(module, arch_.value_or(Arch::x86_64), loop, budget) {}

  const code::FileCode& file() const { return file_; }

  /// Returns rule_on() for the architecture of this file.
  Rule rule_here(Rule rule) const { return arch_ ? rule_on(rule, *arch_) : rule; }

  /// Judges a place by a rule that needs code. `causes`: what causes the event, for Rule::sampled
  /// and Rule::predecessor.
  Judgement judge(std::span<const events::Cause> causes, Rule rule, std::uint64_t file_offset);

  /// A function with its blocks.
  struct Blocks {
    std::string function;
    const code::FunctionCode* code = nullptr;  ///< valid until the next place is judged
    FunctionBlocks blocks;
  };
  /// Returns the blocks of the function at a link-time address; nullopt if no function is there, or
  /// its code cannot be judged.
  std::optional<Blocks> blocks_around(std::uint64_t address);
  /// Whether the last place's function, or its file, has too much code to decode.
  bool is_cut() const { return without_function_ == NotJudged::too_much_code || file_.is_cut(); }

 private:
  /// Finds the instruction at `address` in `code_`. Returns why it cannot be judged;
  /// NotJudged::none: it can.
  NotJudged go_to(std::uint64_t address);
  NotJudged why_no_predecessor() const {
    return is_cut() ? NotJudged::too_much_code : NotJudged::no_only_predecessor;
  }
  /// Returns the index of the only instruction that can precede the sampled one: the one before it
  /// in the code, if it falls through and nothing else leads there. nullopt at function entries and
  /// possible destinations of branches and computed jumps, and after calls, instructions that do
  /// not fall through, and the padding that follows these, because exception handlers begin there.
  std::optional<std::size_t> predecessor();
  Judgement by_predecessor(std::span<const events::Cause> causes);
  Judgement by_catalogue(std::span<const events::Cause> causes, std::size_t index) const;
  Judgement by_breakpoint(bool writes_only);

  const symbols::Module& module_;
  std::optional<Arch> arch_, recorded_;
  code::FileCode file_;
  std::shared_ptr<const code::Function> function_;  ///< function of the last place; null: none
  std::optional<code::Paths> paths_;                ///< paths of `function_`, once they are needed
  NotJudged without_function_ = NotJudged::none;    ///< why `function_` is null
  std::optional<code::FunctionCode> alone_;         ///< code at the last place without a function
  const code::FunctionCode* code_ = nullptr;        ///< code around the sampled address
  std::size_t index_ = 0;                           ///< index of the sampled instruction
};

}  // namespace skid::audit
