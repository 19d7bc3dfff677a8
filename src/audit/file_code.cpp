#include "src/audit/file_code.h"

#include "src/symbols/location.h"
#include "src/symbols/module.h"

#include <set>

namespace skid::audit {

using analysis::NotJudged;
using instructions::Access;
using instructions::Category;
using instructions::falls_through;
using instructions::Flow;

namespace {

std::string base_name(const std::string& function) {
  return function.substr(0, function.find('.', 1));
}

constexpr std::size_t kMostBlocks = 64;  // of a loop

struct Finder {
  FileCode& file;
  const FunctionCode& code;
  const Branches& branches = file.branches();
  FunctionBlocks found = {};

  FunctionBlocks find() {
    find_basic_blocks();
    for (std::size_t last = 0; last < found.basic.size(); ++last) {
      auto loop = loop_that_ends_with(last);
      const bool overlaps = loop && !found.loops.empty() && loop->first <= found.loops.back().last;
      if (!loop || overlaps) continue;
      loop->sources = sources_of(*loop);
      loop->destinations = destinations_of(*loop);
      found.loops.push_back(std::move(*loop));
    }
    return std::move(found);
  }

  using Blocks = std::optional<std::vector<std::size_t>>;

  const Step& step(std::size_t index) const { return code.steps()[index]; }
  const Step& last_step(std::size_t block) const { return step(found.basic[block].end - 1); }
  std::uint64_t address_of(std::size_t block) const {
    return code.address_of(found.basic[block].begin);
  }

  void find_basic_blocks() {
    const std::size_t end = code.first_undecoded();
    for (std::size_t i = 0; i < end; ++i) {
      const bool follows = i > 0 && step(i - 1).flow == Flow::next && !step(i - 1).calls_kernel;
      const std::uint64_t address = code.address_of(i);
      if (!follows || branches.may_enter(address) || file.is_labelled(address)) {
        if (!found.basic.empty()) found.basic.back().end = i;
        found.basic.push_back({i, end});
      }
    }
  }

  /// The block with the instruction at `address`.
  std::optional<std::size_t> block_around(std::uint64_t address) const {
    const auto index = code.find(address);
    if (!index || *index >= code.first_undecoded()) return std::nullopt;
    const auto after = std::ranges::upper_bound(found.basic, *index, {}, &BasicBlock::begin);
    return static_cast<std::size_t>(after - found.basic.begin()) - 1;
  }

  /// Where the branch at the end of a block leads, which begins a block if it is in the function.
  std::optional<std::size_t> target_of(std::size_t block) const {
    const auto target = code.target_of(found.basic[block].end - 1);
    return target ? block_around(*target) : std::nullopt;
  }

  std::optional<Loop> loop_that_ends_with(std::size_t last) const {
    const auto first = target_of(last);
    if (!first || *first > last || last - *first >= kMostBlocks) return std::nullopt;
    if (last_step(last).flow == Flow::call) return std::nullopt;
    for (std::size_t i = *first; i < last; ++i) {
      if (!falls_through(last_step(i).flow) || last_step(i).calls_kernel) return std::nullopt;
      const auto target = target_of(i);
      if (target && *first <= *target && *target <= last) return std::nullopt;
    }
    return Loop{*first, last, {}, {}};
  }

  Blocks sources_of(const Loop& loop) const {
    std::set<std::size_t> sources;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      const std::uint64_t address = address_of(i);
      // Exception handlers begin after calls, and where nothing falls through.
      const bool falls_in = i > 0 && falls_through(last_step(i - 1).flow);
      if (!falls_in || last_step(i - 1).calls_kernel || file.is_labelled(address) ||
          branches.may_enter_from_elsewhere(address)) {
        return std::nullopt;
      }
      if (i == loop.first) sources.insert(i - 1);
      for (const auto& branch : branches.branches_to(address)) {
        const auto from = block_around(branch.from);
        if (!from) return std::nullopt;
        if (*from < loop.first || *from > loop.last) sources.insert(*from);
      }
    }
    return std::vector<std::size_t>(sources.begin(), sources.end());
  }

  Blocks destinations_of(const Loop& loop) const {
    std::set<std::size_t> destinations;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      if (i == loop.last && last_step(i).flow == Flow::conditional) {
        if (i + 1 == found.basic.size()) return std::nullopt;
        destinations.insert(i + 1);
      }
      if (i == loop.last || last_step(i).flow == Flow::next) continue;
      const auto target = target_of(i);
      if (!target) return std::nullopt;
      destinations.insert(*target);
    }
    return std::vector<std::size_t>(destinations.begin(), destinations.end());
  }
};

}  // namespace

bool returns(const instructions::Instruction& instruction) {
  return instruction.flow == Flow::leaves &&
         instruction.categories.contains(instructions::Category::branch);
}

Branches::Branches(const symbols::Module& module, Arch arch, CodeBudget& budget)
    : labels_(module.symbol_values()), arch_(arch), budget_(budget) {
  const std::vector<std::uint64_t> starts = module.function_starts();
  std::uint64_t begin = 0;  // ranges of a damaged file overlap; each byte is decoded once
  for (const AddressRange& range : module.executable_ranges()) {
    begin = std::max(begin, range.begin);
    auto start = std::ranges::upper_bound(starts, begin);
    while (begin < range.end) {
      const std::uint64_t end = start == starts.end() ? range.end : std::min(*start, range.end);
      const auto function = module.function_range_at(begin);
      const std::uint64_t middle = function ? std::clamp(function->end, begin, end) : begin;
      scan(module, begin, middle);
      if (middle < end) gaps_.push_back(middle);
      scan(module, middle, end);
      begin = end;
      if (start != starts.end()) ++start;
    }
  }
  std::ranges::sort(branches_);
  std::ranges::sort(through_memory_, [](const auto& a, const auto& b) {
    return std::pair(a.first.begin, a.second) < std::pair(b.first.begin, b.second);
  });
  spread_computed_jumps(module);
}

void Branches::spread_computed_jumps(const symbols::Module& module) {
  std::ranges::sort(thunks_);
  std::ranges::sort(computing_code_);
  for (const std::uint64_t begin : computing_code_) add_computing(module, begin);
  const auto computes = [&](std::uint64_t address) {
    return std::ranges::binary_search(computing_code_, begin_of_part(module, address));
  };
  for (const Branch& branch : branches_) {
    if (branch.kind != Kind::jump_from_elsewhere) continue;
    if (is_labelled(branch.to)) {
      if (std::ranges::binary_search(thunks_, branch.to)) add_computing(module, branch.from);
    } else {
      if (computes(branch.from)) add_computing(module, branch.to);
      if (computes(branch.to)) add_computing(module, branch.from);
    }
  }
  computing_code_ = {};
}

std::uint64_t Branches::begin_of_part(const symbols::Module& module, std::uint64_t address) const {
  if (const auto function = module.function_range_at(address)) return function->begin;
  const auto after = std::ranges::upper_bound(gaps_, address);
  return after == gaps_.begin() ? 0 : *(after - 1);
}

void Branches::scan(const symbols::Module& module, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  const AddressRange range{begin, end};
  bool stored = false;  // by the preceding instruction
  while (begin < end) {
    const std::size_t kept = branches_.size() + through_memory_.size();
    if (left_ == 0 || budget_.is_exhausted() || kept >= kMostBranches) {
      is_whole_ = false;
      return;
    }
    const std::uint64_t block_end = end - begin > kBlock ? begin + kBlock : end;
    const auto bytes = module.code({begin, block_end});
    if (bytes.empty()) return;
    const std::span<const std::byte> code(bytes);
    // An instruction may reach into the next block, which begins with it.
    const std::uint64_t last =
        block_end == end ? code.size()
                         : code.size() - std::min<std::size_t>(code.size() - 1,
                                                               instructions::kLongestInstruction);
    std::uint64_t offset = 0, decoded = 0;
    for (; offset < last; ++decoded) {
      const auto instruction = instructions::classify(arch_, code.subspan(offset), begin + offset);
      if (!instruction) {
        offset += instructions::step_without_instruction(arch_);
        stored = false;
        continue;
      }
      if (instruction->target) {
        Kind kind = Kind::call;
        if (instruction->flow != Flow::call) {
          const bool is_within = range.contains(*instruction->target);
          kind = is_within ? Kind::jump_within : Kind::jump_from_elsewhere;
        }
        branches_.push_back({*instruction->target, kind, begin + offset});
      }
      const bool is_computed = instruction->flow == Flow::indirect_jump ||
                               (instruction->flow == Flow::call && !instruction->target);
      for (const auto& operand : instruction->memory) {
        if (is_computed && operand.fixed) {
          through_memory_.emplace_back(*operand.fixed, begin + offset);
        }
      }
      const bool returns_to_stored = stored && returns(*instruction);
      if (returns_to_stored && (thunks_.empty() || thunks_.back() != range.begin)) {
        thunks_.push_back(range.begin);
      }
      stored = instruction->sets_return;
      if (instruction->flow == Flow::indirect_jump || returns_to_stored) {
        const std::uint64_t part = begin_of_part(module, begin + offset);
        if (computing_code_.empty() || computing_code_.back() != part) {
          computing_code_.push_back(part);
        }
      }
      offset += instruction->length;
    }
    begin += offset;
    left_ -= std::min(left_, offset);
    budget_.take(decoded);
    if (code.size() < block_end - (begin - offset)) return;  // the file ends before
  }
}

void Branches::add_computing(const symbols::Module& module, std::uint64_t address) {
  const auto function = module.function_at(address);
  if (!function) return;
  budget_.take(function->name.size());  // which a damaged file can make long
  computing_.insert(base_name(function->name));
}

std::span<const Branches::Branch> Branches::branches_to(std::uint64_t address) const {
  const auto first = std::ranges::lower_bound(branches_, Branch{address});
  const auto after =
      std::upper_bound(first, branches_.end(), Branch{address, Kind::jump_within, UINT64_MAX});
  return {first, after};
}

std::span<const Branches::Branch> Branches::branches_into(AddressRange range) const {
  const auto first = std::ranges::lower_bound(branches_, Branch{range.begin});
  const auto after = std::lower_bound(first, branches_.end(), Branch{range.end});
  return {first, after};
}

std::vector<std::uint64_t> Branches::branches_through(AddressRange bytes) const {
  std::vector<std::uint64_t> found;
  constexpr std::uint64_t kLargest = 16;  // bytes of an address with its segment: 10
  const std::uint64_t lowest = bytes.begin - std::min(bytes.begin, kLargest);
  auto at = std::ranges::lower_bound(through_memory_, lowest, {},
                                     [](const auto& one) { return one.first.begin; });
  for (; at != through_memory_.end() && at->first.begin < bytes.end; ++at) {
    if (bytes.begin < at->first.end) found.push_back(at->second);
  }
  return found;
}

bool Branches::may_enter_from_elsewhere(std::uint64_t address) const {
  const auto branches = branches_to(address);
  return !is_whole_ || (!branches.empty() && branches.front().kind != Kind::jump_within);
}

bool Branches::computes_jumps(const std::string& function) const {
  return computing_.contains(base_name(function));
}

Step step_of(Arch arch, const std::optional<instructions::Instruction>& instruction) {
  Step step;
  step.length = static_cast<std::uint8_t>(instructions::step_without_instruction(arch));
  if (!instruction) return step;
  step.categories = instruction->categories;
  step.length = static_cast<std::uint8_t>(instruction->length);
  step.flow = instruction->flow;
  step.fusion = instruction->fusion;
  step.decodes = true;
  step.is_in_parts = instruction->repeats;
  for (const instructions::MemoryOperand& operand : instruction->memory) {
    step.is_in_parts |= operand.vector_of_addresses;
    step.is_conditional |= operand.is_conditional;
    step.loads |= operand.access == Access::read || operand.access == Access::read_write;
    step.stores |= operand.access == Access::write || operand.access == Access::read_write;
  }
  step.delays_traps = instruction->delays_traps;
  step.calls_kernel = instruction->calls_kernel;
  return step;
}

FunctionCode::FunctionCode(Arch arch, std::uint64_t begin, std::span<const std::byte> code)
    : begin_(begin) {
  std::optional<std::size_t> undecoded;
  std::size_t offset = 0;
  while (offset < code.size()) {
    const auto instruction = instructions::classify(arch, code.subspan(offset), begin + offset);
    const Step step = step_of(arch, instruction);
    if (!step.decodes && !undecoded) undecoded = steps_.size();
    computes_jumps_ |= step.decodes && step.flow == instructions::Flow::indirect_jump;
    if (instruction && instruction->target)
      targets_.emplace_back(steps_.size(), *instruction->target);
    steps_.push_back(step);
    offsets_.push_back(static_cast<std::uint32_t>(offset));
    offset += step.length;
  }
  first_undecoded_ = undecoded.value_or(steps_.size());
}

std::optional<std::uint64_t> FunctionCode::target_of(std::size_t index) const {
  const auto found =
      std::ranges::lower_bound(targets_, index, {}, [](const auto& one) { return one.first; });
  if (found == targets_.end() || found->first != index) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> FunctionCode::find(std::uint64_t address) const {
  if (address < begin_) return std::nullopt;
  const auto found = std::ranges::lower_bound(offsets_, address - begin_);
  if (found == offsets_.end() || *found != address - begin_) return std::nullopt;
  return static_cast<std::size_t>(found - offsets_.begin());
}

NotJudged FunctionCode::problem_at(std::uint64_t address) const {
  if (steps_.empty() || address >= address_of(steps_.size() - 1) + steps_.back().length) {
    return NotJudged::no_code;
  }
  const auto index = find(address);
  if (!index) return NotJudged::inside_instruction;
  return steps_[*index].decodes ? NotJudged::none : NotJudged::not_decoded;
}

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
  last_ = std::make_shared<const Function>(
      Function{module_.function_at(address)->name, range,
               FunctionCode(arch_, range.begin, module_.code(range))});
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

FunctionBlocks blocks_of(FileCode& file, const Function& function) {
  if (file.computes_jumps(function) || file.is_cut()) return {};
  return Finder{file, function.code}.find();
}

}  // namespace skid::audit
