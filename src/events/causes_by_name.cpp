// Causes of a retired event of Intel's, by the words of its name.

#include "src/events/cause_table.h"
#include "src/events/causes.h"
#include "src/events/spelling.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
namespace {

using C = Category;
using V = Verdict;
using Of = std::initializer_list<Category>;

constexpr Of kLoads{C::gp_load,  C::xmm_load, C::ymm_load,   C::zmm_load,
                    C::str_load, C::nt_load,  C::locked_load};
/// Loads that Intel does not document, or documents for some cores only: loads of the stack and of
/// targets (retired load instructions by their definition), software prefetches, and microcode,
/// which was measured to load on some cores (the article of measured_causes()).
constexpr Of kDoubtfulLoads{C::other_load, C::prefetch, C::mfence, C::cpuid, C::io};
constexpr Of kNoAccess{C::branch, C::cond_branch,   C::jump,        C::indirect_jump,
                       C::call,   C::indirect_call, C::return_near, C::div,
                       C::vector, C::lea,           C::nop,         C::no_memory};
constexpr Of kBranches{C::cond_branch, C::jump,          C::indirect_jump,
                       C::call,        C::indirect_call, C::return_near};

constexpr std::string_view kOtherBranches = "of other kinds";

/// Whether one of `parts` is a part of the name between '.' and '_'.
bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("._"), name.size());
    if (contains(parts, name.substr(0, end))) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return contains(names, name);
}

/// Memory accesses of retired instructions or their micro-ops. `name`: all of it.
std::vector<Cause> of_memory(std::string_view family, std::string_view kind,
                             std::string_view name) {
  const bool prefetches = has_part(kind, {"SWPF"});
  const bool locked = kind == "LOCK_LOADS";
  const bool stores = has_part(kind, {"STORES", "STORE"}) || family == "MEM_STORE_RETIRED";
  const bool loads = !stores && (has_part(kind, {"LOADS", "LOAD", "LATENCY"}) ||
                                 has_part(name, {"LOAD", "UNCORE"}) || kind == "HITM");
  // All that have the access cause the event, or only those whose access goes a certain way.
  const bool all = is_one_of(
      kind, {"ALL_LOADS", "LOADS", "ALL_STORES", "STORES", "ANY", "ALL", "LOCK_LOADS", "ALL_SWPF"});
  const V some = all ? V::can : V::conditional;
  CauseTable table;
  table.set(kNoAccess, V::never);
  table.set({C::store, C::prefetch}, V::never);
  table.set(kLoads, V::never);
  if (prefetches) {
    table.set({C::prefetch}, some);
    return table.take();
  }
  if (locked) {
    // XCHG with memory locks without the prefix.
    table.set({C::locked_load}, some);
    table.set({C::other_load}, V::maybe);
    return table.take();
  }
  if (!stores) {
    table.set(kDoubtfulLoads, V::maybe);
    table.set(kLoads, some);
  }
  if (!loads) {
    // Stores of the state of the processor, and to devices, are not documented.
    table.set({C::other_load}, stores ? V::never : V::maybe);
    table.set({C::store}, some);
    table.set({C::prefetch}, V::maybe);
  }
  return table.take();
}

/// The kinds of near branches that an event counts, by the last part of its name; none where the
/// part has no meaning here.
std::vector<Category> branches_of(std::string_view kind) {
  const auto is = [kind](std::initializer_list<std::string_view> names) {
    return is_one_of(kind, names);
  };
  if (is({"COND", "CONDITIONAL", "JCC", "COND_TAKEN", "COND_NTAKEN", "TAKEN_JCC", "NOT_TAKEN"})) {
    return {C::cond_branch};
  }
  if (is({"NEAR_CALL", "CALL"})) return {C::call, C::indirect_call};
  if (is({"REL_CALL", "NEAR_DIRECT_CALL", "DIRECT_NEAR_CALL"})) return {C::call};
  if (is({"IND_CALL", "INDIRECT_CALL", "NEAR_INDIRECT_CALL"})) return {C::indirect_call};
  if (is({"RET", "RETURN", "NEAR_RETURN"})) return {C::return_near};
  if (is({"INDIRECT_JMP", "NEAR_INDIRECT_JMP"})) return {C::indirect_jump};
  if (is({"REL_JMP", "NEAR_DIRECT_JMP"})) return {C::jump};
  if (is({"NEAR_JMP"})) return {C::jump, C::indirect_jump};
  if (is({"NON_RETURN_IND", "INDIRECT", "NEAR_INDIRECT"})) {
    return {C::indirect_jump, C::indirect_call};
  }
  if (is({"NEAR_INDIRECT_OR_RETURN"})) return {C::indirect_jump, C::indirect_call, C::return_near};
  if (is({"ALL_BRANCHES", "ALL_BRANCHES_PEBS", "NEAR_TAKEN", "TAKEN", "ALL_TAKEN_BRANCHES",
          "MISPRED"})) {
    return kBranches;
  }
  return {};
}

std::vector<Cause> of_branches(std::string_view kind, bool mispredicted) {
  for (const std::string_view variant : {"_PS", "_TPEBS", "_COST", "_R3", "_FWD", "_BWD"}) {
    if (kind.ends_with(variant)) kind.remove_suffix(variant.size());
  }
  const std::vector<Category> counted = branches_of(kind);
  CauseTable table;
  if (counted.empty()) return table.take();
  const bool all = counted.size() == kBranches.size();
  // Interrupts, faults and system calls are far branches, and a transaction's abort is an indirect
  // one (Intel's event files); of these a sample can be anywhere. They are not mispredicted as near
  // branches are.
  const bool others_too = !mispredicted && is_one_of(kind, {"ALL_BRANCHES", "ALL_BRANCHES_PEBS",
                                                            "TAKEN", "ALL_TAKEN_BRANCHES"});
  const bool aborts_too = is_one_of(kind, {"INDIRECT", "NEAR_INDIRECT", "NEAR_INDIRECT_OR_RETURN"});
  if (!others_too && !aborts_too) {
    table.set_all_but_microcode(V::never);
    table.set({C::branch}, V::never, all ? std::string_view("far ones") : kOtherBranches);
  }
  const bool depends = mispredicted || has_part(kind, {"TAKEN", "NTAKEN"});
  for (const Category category : counted) table.set({category}, depends ? V::conditional : V::can);
  return table.take();
}

/// Some instructions of `category`, by their types and widths, can cause the event; no others can.
std::vector<Cause> of_some(Category category) {
  CauseTable table;
  table.set_all_but_microcode(V::never);
  table.set({category}, V::conditional);
  return table.take();
}

/// Events of the families in which any instruction causes the others (docs/events.md).
std::vector<Cause> of_some_instructions(std::string_view name) {
  CauseTable table;
  table.set_all_but_microcode(V::never);
  if (name == "INST_RETIRED.NOP") {
    table.set({C::nop}, V::can);
    table.set({C::prefetch}, V::maybe, "PREFETCHIT0, PREFETCHIT1");
  } else if (name == "INST_RETIRED.REP_ITERATION") {
    table.set({C::str_load, C::store}, V::conditional, "with a repetition prefix");
  } else if (name == "INST_RETIRED.MACRO_FUSED") {
    // Which one of the two instructions has the record is not documented.
    table.set({C::cond_branch, C::branch}, V::maybe, "fused with the instruction before it");
    table.set({C::no_memory, C::gp_load}, V::maybe, "fused with a conditional branch");
  } else {  // FRONTEND_RETIRED.UNKNOWN_BRANCH
    table.set(kBranches, V::conditional);
    table.set({C::branch}, V::maybe, "far ones");
  }
  return table.take();
}

std::vector<Cause> find_causes(std::string_view family, std::string_view kind,
                               std::string_view name) {
  if (is_one_of(family, {"MEM_INST_RETIRED", "MEM_UOPS_RETIRED", "MEM_TRANS_RETIRED",
                         "MEM_STORE_RETIRED", "MEM_UNCORE_RETIRED"}) ||
      (family.starts_with("MEM_LOAD_") && contains(family, "RETIRED"))) {
    return of_memory(family, kind, name);
  }
  if (family == "BR_INST_RETIRED") return of_branches(kind, kind == "MISPRED");
  if (family == "BR_MISP_RETIRED") return of_branches(kind, true);
  if (is_one_of(family, {"FP_ARITH_INST_RETIRED", "FP_INST_RETIRED", "FP_FLOPS_RETIRED",
                         "SSEX_UOPS_RETIRED"}) ||
      is_one_of(name, {"INST_RETIRED.X87", "INST_RETIRED.MMX", "UOPS_RETIRED.X87"})) {
    return of_some(C::vector);
  }
  if (is_one_of(name, {"UOPS_RETIRED.FPDIV", "UOPS_RETIRED.IDIV"})) return of_some(C::div);
  if (is_one_of(name, {"INST_RETIRED.NOP", "INST_RETIRED.REP_ITERATION", "INST_RETIRED.MACRO_FUSED",
                       "FRONTEND_RETIRED.UNKNOWN_BRANCH"})) {
    return of_some_instructions(name);
  }
  return CauseTable().take();
}

}  // namespace

std::vector<Cause> causes_by_name(std::string_view name) {
  const std::string whole = normalized(name);
  std::string_view kind = whole;
  const std::string_view family = take_until('.', kind);
  return find_causes(family, kind, whole);
}

}  // namespace skid::events
