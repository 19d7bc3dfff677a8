#include "src/measure/catalogues.h"

#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::measure {
namespace {

/// A fleet has a few kinds of CPUs; inputs that are made up could have any number.
constexpr std::size_t kMostKnown = 32;

/// All of a machine that a catalogue depends on.
std::string key_of(const machine::Machine& machine) {
  const auto number = [](const std::optional<int>& value) {
    return value ? fmt::format("{}", *value) : std::string("?");
  };
  const machine::CpuIdentity& cpu = machine.cpu;
  std::string key;
  // No name contains a NUL.
  for (const std::string& part :
       {cpu.arch, cpu.vendor, cpu.model_name, number(cpu.family), number(cpu.model),
        number(cpu.stepping),
        machine.core_pmus.empty() ? std::string() : machine.core_pmus.front().name}) {
    key += part;
    key += '\0';
  }
  return key;
}

}  // namespace

std::shared_ptr<const events::Catalogue> Catalogues::of(const machine::Machine& machine) {
  std::string key = key_of(machine);
  const std::scoped_lock lock(mutex_);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  std::shared_ptr<const events::Catalogue> made;
  if (perfmon_.empty()) {
    if (auto catalogue = events::find_catalogue(machine)) {
      made = std::make_shared<const events::Catalogue>(std::move(*catalogue));
    }
  } else {
    made = std::make_shared<const events::Catalogue>(
        events::open_catalogue({.cpu = {}, .perfmon = perfmon_}, machine));
  }
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace(std::move(key), made);
  return made;
}

}  // namespace skid::measure
