#include "src/events/triggers.h"

#include "runway/loop_events.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace skid::events {
namespace {

using runway::LoopEvents;
using runway::TriggerKind;
using K = Counted;
using T = TriggerKind;
using V = Verdict;
using Count = LoopEvents::Count;

struct Row {
  Counted counted;
  TriggerKind kind;
  Verdict verdict;
};

/// For each of what events count, the kinds that cause it, best suited first: the plainest one, and
/// of several the one with the fewest other triggers in its loop.
constexpr std::array kRows{
    // Every instruction takes cycles; these take most of an iteration's. A miss of all caches takes
    // hundreds on any CPU, a division 20 to 90 on older ones and 10 to 18 on newer.
    Row{K::cycles, T::load_dram, V::can},
    Row{K::cycles, T::div, V::can},
    Row{K::instructions, T::load, V::can},
    Row{K::loads, T::load, V::can},
    Row{K::loads, T::load_l2, V::can},
    Row{K::loads, T::load_l3, V::can},
    Row{K::loads, T::load_dram, V::can},
    Row{K::loads, T::xmm_load, V::can},
    Row{K::loads, T::ymm_load, V::can},
    Row{K::loads, T::zmm_load, V::can},
    Row{K::loads, T::string_load, V::can},
    Row{K::loads, T::nt_load, V::can},
    Row{K::loads, T::lock_rmw, V::can},
    Row{K::loads, T::prefetch, V::maybe},
    Row{K::loads, T::mfence, V::maybe},
    Row{K::loads, T::cpuid, V::maybe},
    Row{K::loads, T::ret, V::maybe},  // of the stack
    Row{K::loads, T::fault, V::can},
    Row{K::locked_loads, T::lock_rmw, V::can},
    // The watched datum stays in the L1.
    Row{K::l1_hits, T::load, V::can},
    Row{K::l1_hits, T::xmm_load, V::can},
    Row{K::l1_hits, T::ymm_load, V::can},
    Row{K::l1_hits, T::zmm_load, V::can},
    Row{K::l1_hits, T::string_load, V::can},
    Row{K::l1_hits, T::nt_load, V::can},
    Row{K::l1_hits, T::lock_rmw, V::maybe},
    Row{K::l1_hits, T::prefetch, V::maybe},
    Row{K::l2_hits, T::load_l2, V::can},
    Row{K::l3_hits, T::load_l3, V::can},
    Row{K::l1_misses, T::load_l2, V::can},
    Row{K::l1_misses, T::load_l3, V::can},
    Row{K::l1_misses, T::load_dram, V::can},
    // On some CPUs these count as loads that miss.
    Row{K::l1_misses, T::mfence, V::maybe},
    Row{K::l1_misses, T::cpuid, V::maybe},
    Row{K::l2_misses, T::load_l3, V::can},
    Row{K::l2_misses, T::load_dram, V::can},
    Row{K::l2_misses, T::mfence, V::maybe},
    Row{K::l2_misses, T::cpuid, V::maybe},
    Row{K::l3_misses, T::load_dram, V::can},
    // Where the memory is of the node that the target runs on.
    Row{K::local_memory, T::load_dram, V::conditional},
    Row{K::cache_misses, T::load_dram, V::can},
    Row{K::stores, T::store, V::can},
    Row{K::stores, T::nt_store, V::can},
    Row{K::stores, T::lock_rmw, V::can},
    Row{K::stores, T::call, V::maybe},  // of the return address
    Row{K::branches, T::branch_taken, V::can},
    Row{K::branches, T::branch_not_taken, V::can},
    Row{K::branches, T::branch_mispredict, V::can},
    Row{K::branches, T::call, V::can},
    Row{K::branches, T::ret, V::can},
    Row{K::conditional_branches, T::branch_not_taken, V::can},
    Row{K::conditional_branches, T::branch_mispredict, V::can},
    // Taken or not by chance, and predicted rightly or not.
    Row{K::taken_conditional_branches, T::branch_mispredict, V::conditional},
    Row{K::untaken_conditional_branches, T::branch_not_taken, V::can},
    Row{K::untaken_conditional_branches, T::branch_mispredict, V::conditional},
    Row{K::taken_branches, T::branch_taken, V::can},
    Row{K::taken_branches, T::call, V::can},
    Row{K::taken_branches, T::ret, V::can},
    Row{K::taken_branches, T::branch_mispredict, V::conditional},
    Row{K::calls, T::call, V::can},
    Row{K::returns, T::ret, V::can},
    Row{K::mispredicted, T::branch_mispredict, V::conditional},
    Row{K::mispredicted, T::ret, V::can},
    Row{K::mispredicted_conditional, T::branch_mispredict, V::conditional},
    Row{K::mispredicted_taken_conditional, T::branch_mispredict, V::conditional},
    Row{K::mispredicted_untaken_conditional, T::branch_mispredict, V::conditional},
    Row{K::mispredicted_taken, T::ret, V::can},
    Row{K::mispredicted_taken, T::branch_mispredict, V::conditional},
    Row{K::mispredicted_returns, T::ret, V::can},
    Row{K::divisions, T::div, V::can},
    Row{K::divider_uops, T::div, V::can},
    Row{K::divider_cycles, T::div, V::can},
    Row{K::prefetches, T::prefetch, V::can},
    Row{K::flushes, T::flush, V::can},
    Row{K::cpuids, T::cpuid, V::can},
};

/// What the trigger instruction of a kind is to causes_of().
Category category_of(TriggerKind kind) {
  switch (kind) {
    case T::load:
    case T::load_l2:
    case T::load_l3:
    case T::load_dram:
    case T::fault:
      return Category::gp_load;
    case T::xmm_load:
      return Category::xmm_load;
    case T::ymm_load:
      return Category::ymm_load;
    case T::zmm_load:
      return Category::zmm_load;
    case T::string_load:
      return Category::str_load;
    case T::nt_load:
      return Category::nt_load;
    case T::store:
    case T::nt_store:
      return Category::store;
    case T::lock_rmw:
      return Category::locked_load;
    case T::prefetch:
      return Category::prefetch;
    case T::flush:
      return Category::flush;
    case T::mfence:
      return Category::mfence;
    case T::cpuid:
      return Category::cpuid;
    case T::div:
      return Category::div;
    case T::branch_taken:
    case T::branch_not_taken:
    case T::branch_mispredict:
      return Category::branch;
    case T::call:  // these access the stack
    case T::ret:
      return Category::other;
    case T::none:
      return Category::nop;
  }
  return Category::other;
}

bool is_load_event(Counted counted) {
  switch (counted) {
    case K::loads:
    case K::locked_loads:
    case K::l1_hits:
    case K::l2_hits:
    case K::l3_hits:
    case K::l1_misses:
    case K::l2_misses:
    case K::l3_misses:
    case K::local_memory:
      return true;
    default:
      return false;
  }
}

/// What is known of the kind's category, where anything is.
std::optional<Verdict> known_verdict(const Cpu& cpu, const Event& event, TriggerKind kind) {
  if (counting_unit(cpu.core, event.config).empty()) return std::nullopt;
  return verdict_on(causes_of(cpu.core, event.config), {category_of(kind)});
}

Count difference(Count a, Count b) {
  if (!a || !b) return std::nullopt;
  return *a - *b;
}

/// Instructions that some CPUs count as loads although they load nothing into a register, those
/// that are several loads, and those whose counting nobody told of: their number depends on the
/// CPU.
bool is_doubtful_load(TriggerKind kind) {
  return kind == T::prefetch || kind == T::mfence || kind == T::cpuid || kind == T::flush ||
         kind == T::string_load || kind == T::fault || kind == T::ret;
}

/// AMD's LS_DISPATCH has a umask of its own for operations that load and store the same address
/// (Processor Programming Reference, PMCx029), and which it is for the atomic ones is not told.
bool is_doubtful_dispatch(const Cpu& cpu, Counted counted, TriggerKind kind) {
  return cpu.layout == ConfigLayout::amd && kind == T::lock_rmw &&
         (counted == K::loads || counted == K::stores);
}

Count divider_events(const LoopEvents& loop) {
  if (loop.divisions == 0.0) return 0;
  return std::nullopt;  // as many micro-ops and cycles as the CPU takes
}

/// One for each trigger of the kind, which nothing else in a loop is.
Count triggers_if(const runway::Specification& specification, TriggerKind wanted) {
  if (specification.trigger != wanted) return 0;
  return static_cast<double>(runway::triggers_of(specification));
}

/// Counts of LoopEvents, put together. An unconditional branch is always taken.
Count count_of(Counted counted, const runway::Specification& specification) {
  const LoopEvents loop = runway::loop_events_of(specification);
  const Count untaken = difference(loop.branches, loop.taken_branches);
  const bool returns = specification.trigger == T::ret;
  switch (counted) {
    case K::instructions:
      return loop.instructions;
    case K::loads:
      return loop.loads;
    case K::locked_loads:
      return loop.locked_loads;
    case K::l1_hits:
      return difference(loop.loads, loop.l1_misses);
    case K::l2_hits:
      return difference(loop.l1_misses, loop.l2_misses);
    case K::l3_hits:
      return difference(loop.l2_misses, loop.l3_misses);
    case K::l1_misses:
      return loop.l1_misses;
    case K::l2_misses:
      return loop.l2_misses;
    case K::l3_misses:
      return loop.l3_misses;
    case K::stores:
      return loop.stores;
    case K::branches:
      return loop.branches;
    case K::conditional_branches:
      return loop.conditional_branches;
    case K::taken_conditional_branches:
      return difference(loop.conditional_branches, untaken);
    case K::untaken_conditional_branches:
      return untaken;
    case K::taken_branches:
      return loop.taken_branches;
    case K::calls:
      return loop.calls;
    case K::returns:
      return loop.returns;
    case K::mispredicted:
      return loop.mispredicted_branches;
    case K::mispredicted_conditional:
      return returns ? 0 : loop.mispredicted_branches;
    case K::mispredicted_returns:
      return returns ? loop.mispredicted_branches : 0;
    case K::divisions:
      return loop.divisions;
    case K::divider_uops:
    case K::divider_cycles:
      return divider_events(loop);
    case K::prefetches:
      return triggers_if(specification, T::prefetch);
    case K::flushes:
      return triggers_if(specification, T::flush);
    case K::cpuids:
      return triggers_if(specification, T::cpuid);
    default:
      return std::nullopt;
  }
}

}  // namespace

Arch arch_of(const Cpu& cpu) {
  return cpu.layout == ConfigLayout::arm ? Arch::aarch64 : Arch::x86_64;
}

std::optional<double> expected_events(const Cpu& cpu, const Event& event,
                                      const runway::Specification& specification) {
  const Counted counted = counted_by(cpu, event);
  const TriggerKind kind = specification.trigger;
  if (is_doubtful_dispatch(cpu, counted, kind)) return std::nullopt;
  const Count count = count_of(counted, specification);
  if (!is_load_event(counted) || !is_doubtful_load(kind)) return count;
  // Only what certainly is no load leaves the rest of the loop as it is.
  return known_verdict(cpu, event, kind) == Verdict::never ? count : std::nullopt;
}

std::vector<TriggerCause> triggers_of(const Cpu& cpu, const Event& event) {
  std::vector<TriggerCause> causes;
  const Counted counted = counted_by(cpu, event);
  const Arch arch = arch_of(cpu);
  for (const Row& row : kRows) {
    if (row.counted != counted || runway::refusal(row.kind, arch)) continue;
    Verdict verdict = is_doubtful_dispatch(cpu, counted, row.kind) ? V::maybe : row.verdict;
    if (is_load_event(counted)) {
      const auto known = known_verdict(cpu, event, row.kind);
      if (known == Verdict::never) continue;
      // Where the access goes is known here; where the source is silent the rows' word counts.
      const bool certain = known == Verdict::can || known == Verdict::conditional;
      if (certain && verdict == Verdict::maybe) verdict = *known;
    }
    causes.push_back({row.kind, verdict,
                      expected_events(cpu, event, runway::default_specification(arch, row.kind))});
  }
  return causes;
}

bool may_cause(TriggerKind kind, Counted counted) {
  return std::any_of(kRows.begin(), kRows.end(),
                     [&](const Row& row) { return row.counted == counted && row.kind == kind; });
}

std::optional<TriggerKind> best_trigger(const Cpu& cpu, const Event& event) {
  const auto causes = triggers_of(cpu, event);
  if (causes.empty()) return std::nullopt;
  return causes.front().kind;
}

}  // namespace skid::events
