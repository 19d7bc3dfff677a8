#include "src/measure/alike.h"

#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "runway/trigger.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace skid::measure {
namespace {

using analysis::Measurement;
using events::Counted;

/// What a measured event represents.
struct Represented {
  const Measurement* measurement;
  Counted counted = Counted::other;
  bool is_tagged = false;  ///< by the trigger of the target, not by what is counted
};

Represented represented_by(const Measurement& m, const std::shared_ptr<Catalogues>& catalogues) {
  if (m.basis.addresses && analysis::judges_tagged(*m.basis.addresses)) return {&m, {}, true};
  perfdata::Attribute attribute;
  attribute.type = m.event.type;
  attribute.config = m.event.config;
  attribute.config1 = m.event.config1;
  machine::Machine machine;
  machine.cpu = m.cpu;
  RecordedEvent event{.attribute = attribute, .machine = machine};
  RecordedCpu(machine, catalogues).look_up(event);
  return {&m, event.counted};
}

/// Whether the trigger of a target is the one that is best suited for what is counted.
bool is_trigger_of(Counted counted, const Measurement& m) {
  const auto arch = arch_of_kernel(m.cpu.arch);
  if (!arch || events::samples_any_instruction(counted)) return false;
  const auto kinds = events::kinds_causing(counted, *arch);
  return !kinds.empty() && name_of(kinds.front()) == m.trigger->kind;
}

bool are_alike(const Represented& a, const Represented& b) {
  const auto& trigger = a.measurement->trigger;
  const auto& other_trigger = b.measurement->trigger;
  // Measurements with other triggers are not compared.
  if (!trigger || !other_trigger || trigger->kind != other_trigger->kind) return false;
  if (a.is_tagged && b.is_tagged) return true;
  if (a.is_tagged) return is_trigger_of(b.counted, *a.measurement);
  if (b.is_tagged) return is_trigger_of(a.counted, *b.measurement);
  return a.counted == b.counted && a.counted != Counted::other &&
         a.counted != Counted::any_instruction;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> events_alike(
    const std::vector<Measurement>& measurements, const std::vector<std::size_t>& input_of,
    std::size_t baseline, const std::shared_ptr<Catalogues>& catalogues) {
  std::vector<Represented> of_baseline, of_others;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    (input_of[i] == baseline ? of_baseline : of_others)
        .push_back(represented_by(measurements[i], catalogues));
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> paired;
  for (const Represented& one : of_baseline) {
    const std::string& label = one.measurement->event.label;
    for (const Represented& other : of_others) {
      const std::string& other_label = other.measurement->event.label;
      if (paired.contains(label) || paired.contains(other_label) || label == other_label ||
          !are_alike(one, other)) {
        continue;
      }
      paired.insert({label, other_label});
      pairs.emplace_back(label, other_label);
    }
  }
  return pairs;
}

}  // namespace skid::measure
