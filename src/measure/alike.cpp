#include "src/measure/alike.h"

#include "analysis/basis.h"
#include "analysis/comparison.h"
#include "analysis/contract.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "runway/trigger.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace skid::measure {
namespace {

using analysis::Measurement;
using events::Counted;

/// What a measured event represents.
struct Represented {
  Counted counted = Counted::other;
  bool is_tagged = false;        ///< by the trigger of the target, not by what is counted
  bool is_best_trigger = false;  ///< the trigger is the one best suited for what is counted
};

Represented represented_by(const Measurement& m, const std::shared_ptr<Catalogues>& catalogues) {
  if (m.basis.addresses && analysis::judges_tagged(*m.basis.addresses)) return {.is_tagged = true};
  perfdata::Attribute attribute;
  attribute.type = m.event.type;
  attribute.config = m.event.config;
  attribute.config1 = m.event.config1;
  machine::Machine machine;
  machine.cpu = m.cpu;
  RecordedEvent event{.attribute = attribute, .pmu_name = {}, .machine = machine};
  RecordedCpu(machine, catalogues).look_up(event);
  Represented found{.counted = event.counted};
  const auto arch = arch_of_kernel(m.cpu.arch);
  if (arch && !events::samples_any_instruction(event.counted)) {
    const auto kinds = events::kinds_causing(event.counted, *arch);
    found.is_best_trigger = !kinds.empty() && name_of(kinds.front()) == m.trigger->kind;
  }
  return found;
}

/// Whether two events on the same trigger represent the same.
bool are_alike(const Represented& a, const Represented& b) {
  if (a.is_tagged || b.is_tagged) {
    return (a.is_tagged || a.is_best_trigger) && (b.is_tagged || b.is_best_trigger);
  }
  return a.counted == b.counted && a.counted != Counted::other &&
         a.counted != Counted::any_instruction;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> events_alike(
    const analysis::Comparison& comparison, const std::shared_ptr<Catalogues>& catalogues) {
  // Measurements of one label and trigger represent the same; the first one stands for them.
  using Key = std::pair<std::string, std::string>;
  std::map<Key, const Measurement*> of_baseline, of_others;
  for (const analysis::ComparisonRow& row : comparison.rows) {
    for (const analysis::ComparisonCell& cell : row.cells) {
      const Measurement& m = *cell.runs.front();
      if (!m.trigger) continue;
      auto& measured = cell.side == comparison.baseline ? of_baseline : of_others;
      measured.try_emplace({m.event.label, m.trigger->kind}, &m);
    }
  }
  std::vector<std::pair<Key, Represented>> others;  // that are not compared
  for (const auto& [key, m] : of_others) {
    if (!of_baseline.contains(key)) others.emplace_back(key, represented_by(*m, catalogues));
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> paired;
  for (const auto& [key, m] : of_baseline) {
    if (others.empty() || of_others.contains(key)) continue;
    const Represented one = represented_by(*m, catalogues);
    for (const auto& [other_key, other] : others) {
      const auto& [label, other_label] = std::tie(key.first, other_key.first);
      // Measurements with other triggers are not compared.
      if (key.second != other_key.second || label == other_label || paired.contains(label) ||
          paired.contains(other_label) || !are_alike(one, other)) {
        continue;
      }
      paired.insert({label, other_label});
      pairs.emplace_back(label, other_label);
    }
  }
  return pairs;
}

}  // namespace skid::measure
