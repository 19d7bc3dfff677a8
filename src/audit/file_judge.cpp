// Judges whether the code at a sampled place can have caused the event. docs/audit.md, "Rules", has
// all rules.
//
// Which instruction is judged depends on the rule. For an event that loads cause, and a sample at
// 401003:
//
//   401000  mov (%rdi), %rax
//   401003  add %rax, %rcx        sampled
//   401006  ...
//
//   Rule::sampled           judges ADD: it does not load, so the sample is impossible
//   Rule::predecessor       judges MOV, if nothing else leads to 401003 (predecessor()): possible
//   Rule::data_breakpoint   judges MOV as well, because x86 traps after the access
//
// A pair of instructions that the CPU fuses is one operation, so that both halves are judged
// together (FunctionCode::fused_with()). An instruction that is executed in parts can be its own
// predecessor, because the sample can be between two parts.
#include "src/audit/file_judge.h"

#include "src/code/branches.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace skid::audit {
namespace {

using code::FunctionCode;
using code::Step;
using code::Suspects;
using events::Verdict;

Judgement judgement_on(const FunctionCode& code, Suspects suspects, Verdict verdict) {
  return {.verdict = verdict,
          .address = code.address_of(suspects.first),
          .end = code.address_of(suspects.last) + code.steps()[suspects.last].length,
          .categories = code.categories_of(suspects)};
}
/// Whether instructions can have triggered a breakpoint on data. Accesses without an operand
/// (system instructions, cache line flushes) are unknown.
Verdict touches(const FunctionCode& code, Suspects suspects, bool writes_only) {
  Verdict verdict = Verdict::never;
  for (std::size_t i = suspects.first; i <= suspects.last; ++i) {
    const Step& step = code.steps()[i];
    if (writes_only ? step.stores : step.accesses_memory()) return Verdict::conditional;
    if (step.categories.contains(instructions::Category::other) ||
        step.categories.contains(instructions::Category::flush)) {
      verdict = Verdict::unknown;
    }
  }
  return verdict;
}

/// Whether an aarch64 instruction can have triggered a watchpoint. Only loads and stores are known.
Verdict accesses(const Step& step, bool writes_only) {
  if (writes_only ? step.stores : step.accesses_memory()) return Verdict::conditional;
  return step.loads ? Verdict::never : Verdict::unknown;
}

bool counts_indirect_branches(std::span<const events::Cause> causes) {
  using enum instructions::Category;
  return std::ranges::any_of(causes, [](const events::Cause& cause) {
    const bool indirect = cause.category == indirect_jump || cause.category == indirect_call ||
                          cause.category == return_near;
    return indirect && cause.verdict < Verdict::unknown;
  });
}

}  // namespace

Judgement FileJudge::judge(std::span<const events::Cause> causes, Rule rule,
                           std::uint64_t file_offset) {
  const auto address = module_.address_at(file_offset);
  if (!address || !module_.has_code()) return {NotJudged::no_code};
  if (!arch_ || (recorded_ && *recorded_ != *arch_)) return {NotJudged::architecture};
  if (const auto reason = go_to(*address); reason != NotJudged::none) return {reason};
  const Rule here = rule_here(rule);
  if (here == Rule::sampled) return by_catalogue(causes, index_);
  if (here == Rule::predecessor) return by_predecessor(causes);
  if (here == Rule::data_breakpoint || here == Rule::write_breakpoint) {
    return by_breakpoint(here == Rule::write_breakpoint);
  }
  if (here == Rule::none || here == Rule::execute_breakpoint) return {NotJudged::unknown_cause};
  const Step& step = code_->steps()[index_];
  Verdict verdict = Verdict::unknown;
  if (here != Rule::page_fault) {
    verdict = accesses(step, here == Rule::write_watchpoint);
  } else if (step.accesses_memory()) {
    // Any instruction can be on a page that is not mapped; data addresses are not recorded here.
    verdict = Verdict::conditional;
  }
  return judgement_on(*code_, {index_, index_}, verdict);
}

NotJudged FileJudge::go_to(std::uint64_t address) {
  auto [function, problem] = file_.function_at(address);
  if (function != function_) paths_.reset();
  function_ = std::move(function);
  without_function_ = problem;
  if (function_) {
    code_ = &function_->code;
  } else {
    // Bytes of two instructions and of what may be fused with the second.
    constexpr std::uint64_t kAlone = 32;
    alone_.emplace(*arch_, address, module_.code({address, address + kAlone}));
    code_ = &*alone_;
  }
  index_ = code_->find(address).value_or(0);
  return code_->problem_at(address);
}

std::optional<std::size_t> FileJudge::predecessor() {
  if (index_ == 0 || !code_->decodes_until(index_) || code_->computes_jumps()) return std::nullopt;
  // A symbol may be entered, also from places where no branch is seen.
  const std::uint64_t address = code_->address_of(index_);
  if (file_.is_labelled(address) || file_.branches().may_enter(address)) return std::nullopt;
  if (!paths_) paths_ = file_.paths_of(*function_);
  if (paths_->computes_jumps || !paths_->falls_into[index_]) return std::nullopt;
  return index_ - 1;
}

std::optional<FileJudge::Blocks> FileJudge::blocks_around(std::uint64_t address) {
  if (!module_.has_code() || arch_ != Arch::x86_64) return std::nullopt;
  if (recorded_ && *recorded_ != *arch_) return std::nullopt;
  if (go_to(address) == NotJudged::no_code) return std::nullopt;
  if (!function_ || code_->computes_jumps()) return std::nullopt;
  return Blocks{function_->name, code_, blocks_of(file_, *function_)};
}

Judgement FileJudge::by_predecessor(std::span<const events::Cause> causes) {
  const std::size_t sampled = index_;
  if (code_->steps()[sampled].is_in_parts) {
    Judgement itself = by_catalogue(causes, sampled);
    if (itself.not_judged == NotJudged::none && itself.verdict != Verdict::never) return itself;
  }
  if (!function_) return {without_function_};
  const auto before = predecessor();
  if (!before) return {why_no_predecessor()};
  Judgement judgement = by_catalogue(causes, *before);
  // The event itself leads to places that no direct branch names, such as exception handlers.
  if (judgement.verdict == Verdict::never && counts_indirect_branches(causes)) {
    return {NotJudged::no_only_predecessor};
  }
  return judgement;
}

Judgement FileJudge::by_catalogue(std::span<const events::Cause> causes, std::size_t index) const {
  const auto verdict = code_->verdict_on(causes, index);
  if (!verdict) return {NotJudged::no_function};
  return judgement_on(*code_, code_->fused_with(index), *verdict);
}

Judgement FileJudge::by_breakpoint(bool writes_only) {
  const FunctionCode& code = *code_;
  const auto& steps = code.steps();
  const Step& sampled = steps[index_];
  if (sampled.is_in_parts && touches(code, {index_, index_}, writes_only) == Verdict::conditional) {
    return judgement_on(code, {index_, index_}, Verdict::conditional);
  }
  if (!function_) return {without_function_};
  const auto before = predecessor();
  if (!before) return {why_no_predecessor()};
  Suspects suspects = code.fused_with(*before);
  // CPUs of other vendors fuse other pairs than Intel's: a conditional jump counts with the
  // instruction before it.
  const bool is_jump = steps[suspects.first].flow == instructions::Flow::conditional;
  if (is_jump && suspects.first > 0) --suspects.first;
  Verdict verdict = touches(code, suspects, writes_only);
  if (is_jump && *before == 0 && verdict == Verdict::never) return {NotJudged::no_function};
  const bool may_be_late = suspects.first > 0 && steps[suspects.first - 1].delays_traps;
  if (may_be_late && verdict == Verdict::never) verdict = Verdict::unknown;
  return judgement_on(code, suspects, verdict);
}

}  // namespace skid::audit
