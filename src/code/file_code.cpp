#include "src/code/file_code.h"

#include "src/instructions/instruction.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <cstddef>

namespace skid::code {

using analysis::NotJudged;
using instructions::falls_through;

AddressRange FileCode::range_around(std::uint64_t address) const {
  const auto range = module_.function_range_at(address);
  if (!range) return {address, address + 1};
  return is_in_loop(address) ? *loop_ : *range;
}

FileCode::Found FileCode::function_at(std::uint64_t address) {
  if (!module_.function_range_at(address)) return {nullptr, NotJudged::no_function};
  const AddressRange range = range_around(address);
  if (last_ && last_->range == range) return {last_, NotJudged::none};
  if (range.size() > FunctionCode::kLargest || budget_.is_exhausted()) {
    return {nullptr, NotJudged::too_much_code};
  }
  // Functions that overlap are decoded again; compilers' code has few of them.
  const std::uint64_t cost = last_ && last_->range.contains(range.begin) ? 2 : 1;
  const auto named = module_.function_at(address);
  last_ = std::make_shared<const Function>(Function{
      named ? named->name : "", range, FunctionCode(arch_, range.begin, module_.code(range))});
  budget_.take(cost * last_->code.steps().size());
  return {last_, NotJudged::none};
}

const Branches& FileCode::branches() {
  if (!branches_) branches_.emplace(module_, arch_, budget_);
  return *branches_;
}

Paths FileCode::paths_of(const Function& function) {
  Paths paths;
  paths.computes_jumps = computes_jumps(function);
  bool falls = true;
  for (std::size_t i = 0; i < function.code.steps().size(); ++i) {
    paths.falls_into.push_back(falls);
    const Step& step = function.code.steps()[i];
    if (!falls_through(step.flow)) {
      falls = false;
    } else if (!falls) {
      falls = !step.is_nop() || branches().may_enter(function.code.address_of(i));
    }
  }
  return paths;
}

}  // namespace skid::code
