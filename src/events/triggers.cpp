#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "src/events/event.h"

#include <algorithm>

namespace skid::events {
namespace {

using runway::Kind;
using runway::TriggerKind;

bool is_load_event(Counted counted) {
  return counted == Counted::loads || counted == Counted::locked_loads ||
         counted == Counted::local_memory || missed_level(counted) || counted == Counted::l1_hits;
}

/// The verdict on the kind's category, where one is known.
std::optional<Verdict> known_verdict(const Cpu& cpu, const Event& event, const Kind& kind) {
  if (counting_unit(cpu.core, event.config).empty()) return std::nullopt;
  return verdict_on(measured_causes(cpu.core, event.config), {kind.category});
}

/// AMD's LS_DISPATCH has a separate umask for operations that load and store the same address
/// (Processor Programming Reference, PMCx029); whether it counts atomic ones is not documented.
bool is_doubtful_dispatch(const Cpu& cpu, Counted counted, const Kind& kind) {
  return cpu.layout == ConfigLayout::amd && kind.causes(Counted::locked_loads) &&
         (counted == Counted::loads || counted == Counted::stores);
}

}  // namespace

Arch arch_of(const Cpu& cpu) {
  return cpu.layout == ConfigLayout::arm ? Arch::aarch64 : Arch::x86_64;
}

std::vector<TriggerKind> kinds_causing(Counted counted, Arch arch) {
  std::vector<TriggerKind> kinds = runway::trigger_kinds_of(arch);
  std::erase_if(kinds,
                [counted](TriggerKind kind) { return !runway::kind_of(kind).causes(counted); });
  std::stable_partition(kinds.begin(), kinds.end(), [counted](TriggerKind kind) {
    return !runway::kind_of(kind).effect_on(counted)->second_choice;
  });
  return kinds;
}

std::optional<double> expected_events(const Cpu& cpu, const Event& event,
                                      const runway::Specification& specification) {
  const Counted counted = counted_by(cpu, event);
  const Kind& kind = runway::kind_of(specification.trigger);
  if (is_doubtful_dispatch(cpu, counted, kind)) return std::nullopt;
  if (is_load_event(counted) && kind.is_doubtful_load &&
      known_verdict(cpu, event, kind) != Verdict::never) {
    return std::nullopt;
  }
  return runway::events_per_iteration(specification, counted);
}

std::optional<int> missed_level(Counted counted) {
  switch (counted) {
    case Counted::l1_misses:
    case Counted::l2_hits:
      return 1;
    case Counted::l2_misses:
    case Counted::l3_hits:
      return 2;
    case Counted::l3_misses:
      return 3;
    default:
      return std::nullopt;
  }
}

std::vector<TriggerCause> triggers_of(const Cpu& cpu, const Event& event) {
  std::vector<TriggerCause> causes;
  const Counted counted = counted_by(cpu, event);
  const Arch arch = arch_of(cpu);
  for (const TriggerKind trigger : kinds_causing(counted, arch)) {
    const Kind& kind = runway::kind_of(trigger);
    Verdict verdict = kind.effect_on(counted)->by_trigger;
    if (is_doubtful_dispatch(cpu, counted, kind)) verdict = Verdict::maybe;
    if (is_load_event(counted)) {
      const auto known = known_verdict(cpu, event, kind);
      if (known == Verdict::never) continue;
      // Where the access goes is known here; where the source is silent the kind's verdict counts.
      const bool certain = known == Verdict::can || known == Verdict::conditional;
      if (certain && verdict == Verdict::maybe) verdict = *known;
    }
    causes.push_back({trigger, verdict,
                      expected_events(cpu, event, runway::default_specification(arch, trigger))});
  }
  return causes;
}

std::optional<TriggerKind> best_trigger(const Cpu& cpu, const Event& event) {
  const auto causes = triggers_of(cpu, event);
  if (causes.empty()) return std::nullopt;
  return causes.front().kind;
}

}  // namespace skid::events
