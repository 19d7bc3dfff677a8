#include "src/audit/file_judge.h"

#include <algorithm>

namespace skid::audit {
namespace {

using events::Verdict;

/// Instructions that were one operation, or one instruction alone.
struct Suspects {
  std::size_t first = 0, last = 0;
};

Suspects fused_with(const FunctionCode& code, std::size_t index) {
  const auto& steps = code.steps();
  Suspects suspects{index, index};
  if (index > 0 && fuses(steps[index - 1].fusion, steps[index].fusion)) suspects.first = index - 1;
  if (index + 1 < steps.size() && fuses(steps[index].fusion, steps[index + 1].fusion)) {
    suspects.last = index + 1;
  }
  return suspects;
}

Judgement judgement_on(const FunctionCode& code, Suspects suspects) {
  Judgement judgement;
  judgement.address = code.address_of(suspects.first);
  judgement.end = code.address_of(suspects.last) + code.steps()[suspects.last].length;
  for (std::size_t i = suspects.first; i <= suspects.last; ++i) {
    judgement.categories |= code.steps()[i].categories;
  }
  return judgement;
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

/// The same for an aarch64 instruction, of which only loads and stores are known.
Verdict accesses(const Step& step, bool writes_only) {
  if (writes_only ? step.stores : step.accesses_memory()) return Verdict::conditional;
  return step.loads ? Verdict::never : Verdict::unknown;
}

bool counts_indirect_branches(std::span<const events::Cause> causes) {
  using enum instructions::Category;
  return std::any_of(causes.begin(), causes.end(), [](const events::Cause& cause) {
    const bool indirect = cause.category == indirect_jump || cause.category == indirect_call ||
                          cause.category == return_near;
    return indirect && cause.verdict < Verdict::unknown;
  });
}

}  // namespace

std::uint64_t FileJudge::begin_of_function(std::uint64_t file_offset) const {
  const auto address = module_.address_at(file_offset);
  if (!address) return 0;
  if (loop_ && loop_->contains(*address)) return loop_->begin;
  const auto function = module_.function_at(*address);
  return function ? function->range.begin : *address;
}

Answer FileJudge::judge(std::span<const events::Cause> causes, Rule rule,
                        std::uint64_t file_offset) {
  const auto address = module_.address_at(file_offset);
  if (!address || !module_.has_code()) return NotJudged::no_code;
  if (!arch_ || (recorded_ && *recorded_ != *arch_)) return NotJudged::architecture;
  if (const auto reason = go_to(*address); reason != NotJudged::none) return reason;
  const FunctionCode& code = *around_.code;
  switch (rule_here(rule)) {
    case Rule::sampled:
      return by_catalogue(causes, around_.index);
    case Rule::predecessor:
      return by_predecessor(causes);
    case Rule::data_breakpoint:
    case Rule::write_breakpoint:
      return by_breakpoint(rule == Rule::write_breakpoint);
    case Rule::data_watchpoint:
    case Rule::write_watchpoint:
      return by_watchpoint(rule_here(rule) == Rule::write_watchpoint);
    case Rule::page_fault: {
      Judgement judgement = judgement_on(code, {around_.index, around_.index});
      // Any instruction can be on a page that is not mapped; data addresses are not recorded here.
      if (code.steps()[around_.index].accesses_memory()) judgement.verdict = Verdict::conditional;
      return judgement;
    }
    case Rule::execute_breakpoint:
    case Rule::none:
      break;
  }
  return NotJudged::unknown_cause;
}

/// Finds the instruction at `address` in `around_`; or why it cannot be judged.
NotJudged FileJudge::go_to(std::uint64_t address) {
  auto function = module_.function_at(address);
  if (function && loop_ && loop_->contains(address)) function->range = *loop_;
  has_function_ = function && function->range.size() <= FunctionCode::kLargest;
  // Two instructions and what may be fused with the second.
  constexpr std::uint64_t kAlone = 32;
  const AddressRange range =
      has_function_ ? function->range : AddressRange{address, address + kAlone};
  if (!decoded_ || decoded_range_ != range) {
    decoded_.emplace(*arch_, range.begin, module_.code(range));
    decoded_range_ = range;
  }
  around_.code = &*decoded_;
  around_.function = function ? function->name : std::string();
  around_.index = decoded_->find(address).value_or(0);
  return decoded_->problem_at(address);
}

std::optional<std::size_t> FileJudge::predecessor() {
  if (around_.code->computes_jumps()) return std::nullopt;
  // A symbol may be entered, also from places where no branch is seen.
  const std::uint64_t address = around_.code->address_of(around_.index);
  const bool is_in_loop = loop_ && loop_->contains(address);
  if (!is_in_loop && branches().is_labelled(address)) return std::nullopt;
  return only_predecessor(*around_.code, around_.index, branches(), around_.function);
}

const Branches& FileJudge::branches() {
  if (!branches_) branches_.emplace(module_, *arch_);
  return *branches_;
}

std::optional<FileJudge::Blocks> FileJudge::blocks_around(std::uint64_t address) {
  if (!module_.has_code() || arch_ != Arch::x86_64) return std::nullopt;
  if (recorded_ && *recorded_ != *arch_) return std::nullopt;
  if (go_to(address) == NotJudged::no_code) return std::nullopt;
  if (!has_function_ || around_.code->computes_jumps()) return std::nullopt;
  return Blocks{around_.function, around_.code,
                blocks_of(*around_.code, branches(), around_.function, loop_)};
}

Answer FileJudge::by_predecessor(std::span<const events::Cause> causes) {
  const std::size_t sampled = around_.index;
  if (around_.code->steps()[sampled].is_in_parts) {
    const Answer itself = by_catalogue(causes, sampled);
    const auto* judgement = std::get_if<Judgement>(&itself);
    if (judgement != nullptr && judgement->verdict != Verdict::never) return itself;
  }
  if (!has_function_) return NotJudged::no_function;
  const auto before = predecessor();
  if (!before) return NotJudged::no_only_predecessor;
  const Answer answer = by_catalogue(causes, *before);
  // The event itself leads to places that no direct branch names, such as exception handlers.
  const auto* judgement = std::get_if<Judgement>(&answer);
  const bool accuses = judgement != nullptr && judgement->verdict == Verdict::never;
  if (accuses && counts_indirect_branches(causes)) return NotJudged::no_only_predecessor;
  return answer;
}

Answer FileJudge::by_catalogue(std::span<const events::Cause> causes, std::size_t index) const {
  const FunctionCode& code = *around_.code;
  Judgement judgement = judgement_on(code, fused_with(code, index));
  judgement.verdict = events::verdict_on(causes, judgement.categories);
  // The fused partner of a jump at the first place precedes it: where no function is known, and
  // after a label of assembly, which looks like a function.
  const bool may_be_second = index == 0 && can_be_second(code.steps()[index].fusion);
  if (may_be_second && judgement.verdict == Verdict::never) {
    return NotJudged::no_function;
  }
  return judgement;
}

Judgement FileJudge::by_watchpoint(bool writes_only) const {
  const FunctionCode& code = *around_.code;
  Judgement judgement = judgement_on(code, {around_.index, around_.index});
  judgement.verdict = accesses(code.steps()[around_.index], writes_only);
  return judgement;
}

Answer FileJudge::by_breakpoint(bool writes_only) {
  const FunctionCode& code = *around_.code;
  const auto& steps = code.steps();
  const Step& sampled = steps[around_.index];
  if (sampled.is_in_parts &&
      touches(code, {around_.index, around_.index}, writes_only) == Verdict::conditional) {
    Judgement judgement = judgement_on(code, {around_.index, around_.index});
    judgement.verdict = Verdict::conditional;
    return judgement;
  }
  if (!has_function_) return NotJudged::no_function;
  const auto before = predecessor();
  if (!before) return NotJudged::no_only_predecessor;
  Suspects suspects = fused_with(code, *before);
  // CPUs of other vendors fuse other pairs than Intel's: a conditional jump counts with the
  // instruction before it.
  const bool is_jump = steps[suspects.first].flow == instructions::Flow::conditional;
  if (is_jump && suspects.first > 0) --suspects.first;
  Judgement judgement = judgement_on(code, suspects);
  judgement.verdict = touches(code, suspects, writes_only);
  if (is_jump && *before == 0 && judgement.verdict == Verdict::never) return NotJudged::no_function;
  const bool may_be_late = suspects.first > 0 && steps[suspects.first - 1].delays_traps;
  if (may_be_late && judgement.verdict == Verdict::never) judgement.verdict = Verdict::unknown;
  return judgement;
}

}  // namespace skid::audit
