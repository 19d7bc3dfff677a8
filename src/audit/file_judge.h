// Whether the code at a sampled place of a file can have caused the event.
#pragma once

#include "src/audit/blocks.h"
#include "src/audit/branches.h"
#include "src/audit/event_rule.h"
#include "src/audit/function_code.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace skid::audit {

/// A verdict and the instructions that it is about.
struct Judgement {
  events::Verdict verdict = events::Verdict::unknown;
  std::uint64_t address = 0;  ///< of the first instruction judged
  std::uint64_t end = 0;      ///< after the last one
  instructions::Categories categories;
};
using Answer = std::variant<Judgement, NotJudged>;

/// Judges the places of one file. Keeps the code of the last function.
class FileJudge {
 public:
  /// `recorded`: the architecture of the recording; nullopt if it has none. `loop`: the iteration
  /// of a target that skidscan built, whose labels are entered only by the preceding instruction
  /// and by direct branches; nullopt for all other files.
  FileJudge(const symbols::Module& module, std::optional<Arch> recorded,
            std::optional<AddressRange> loop)
      : module_(module), arch_(module.arch()), recorded_(recorded), loop_(loop) {}

  /// Of the function or target's loop at a place; the place's own address where there is none.
  std::uint64_t begin_of_function(std::uint64_t file_offset) const;

  /// A rule as it is on the code of this file.
  Rule rule_here(Rule rule) const { return arch_ ? rule_on(rule, *arch_) : rule; }

  /// By a rule that takes code. `causes`: of the event, for Rule::sampled and Rule::predecessor.
  Answer judge(std::span<const events::Cause> causes, Rule rule, std::uint64_t file_offset);

  /// A function with its blocks.
  struct Blocks {
    std::string function;
    const FunctionCode* code = nullptr;  ///< until the next place is judged
    FunctionBlocks blocks;
  };
  /// Of the function at a link-time address; nullopt where there is none, or its code cannot be
  /// judged.
  std::optional<Blocks> blocks_around(std::uint64_t address);

 private:
  /// The code around one sampled address.
  struct CodeAround {
    const FunctionCode* code = nullptr;  ///< null: where its function begins is not known
    std::string function;
    std::size_t index = 0;  ///< of the sampled instruction
  };

  NotJudged go_to(std::uint64_t address);
  const Branches& branches();
  std::optional<std::size_t> predecessor();
  Answer by_predecessor(std::span<const events::Cause> causes);
  Answer by_catalogue(std::span<const events::Cause> causes, std::size_t index) const;
  Answer by_breakpoint(bool writes_only);
  Judgement by_watchpoint(bool writes_only) const;

  const symbols::Module& module_;
  std::optional<Arch> arch_, recorded_;
  std::optional<AddressRange> loop_;
  std::optional<FunctionCode> decoded_;  ///< the last function
  AddressRange decoded_range_;
  bool has_function_ = false;
  CodeAround around_;
  std::optional<Branches> branches_;  ///< read when they are first needed
};

}  // namespace skid::audit
