// All events of one CPU: from Intel's table, from a directory of Intel's event files, or from
// libpfm4.
#pragma once

#include "runway/trigger.h"
#include "src/events/cpu.h"
#include "src/events/event.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct CpuIdentity;
struct Machine;
}  // namespace skid::machine

namespace skid::events {

struct PfmPmu;
struct Spelling;

/// Which CPU, and where its events are read.
struct CatalogueRequest {
  std::string cpu;                ///< value of --cpu; empty: this machine's CPU
  std::filesystem::path perfmon;  ///< directory of Intel's event files; empty: built in
  /// Whether an Arm CPU gets a catalogue without events where libpfm4 was built for x86.
  bool may_lack_events = false;
};

class Catalogue {
 public:
  Catalogue(Cpu cpu, std::vector<Event> events);

  const Cpu& cpu() const noexcept { return cpu_; }
  const std::vector<Event>& events() const noexcept { return events_; }

  /// Returns the PMUs of the events: one for each core type.
  const std::vector<std::string>& pmus() const noexcept { return pmus_; }

  /// Finds the event of a name, a raw code, or terms of perf; on a hybrid CPU one for each kind of
  /// core, unless the spelling names the PMU. A raw code that no row has is answered by the row it
  /// modifies, or by its event with a bare umask. Empty if nothing has that name or event.
  std::vector<Event> find(const Spelling& parts) const;

  /// Finds events by the fields of perf_event_attr; empty if nothing has that event. If events of
  /// one code differ in config1 alone, another value of config1 gets their common properties.
  std::vector<Event> find_code(std::uint64_t config, std::uint64_t config1) const;
  /// Finds the events that the kernel takes for a generic cache event (cache_event()), by its
  /// perf_event_attr.config; empty if it takes none or nothing is known of it.
  std::vector<Event> find_cache_event(std::uint64_t config) const;

  /// Finds the events of a name, in any case and with ':' or '.'; empty if no event has it.
  /// Spellings that only libpfm4 can encode are not found.
  std::vector<Event> find_name(std::string_view name) const;

  struct Filter {
    bool precise_only = false;
    std::string pattern;  ///< part of a name, or a pattern with * and ?, in any case
    std::optional<runway::TriggerKind> trigger =
        {};  ///< lists only the events that this kind causes
  };
  /// Lists the events that pass the filter, sorted by name.
  std::vector<Event> list(const Filter& filter) const;

  /// Adds the descriptions that libpfm4 has; Intel's table has none.
  void describe(std::vector<Event>& events) const;

 private:
  std::optional<Event> find_code(std::string_view pmu, std::uint64_t config,
                                 std::uint64_t config1) const;
  /// Finds mem-loads and mem-stores.
  std::vector<Event> find_kernel_event(const Spelling& parts) const;
  /// Finds what libpfm4 alone can encode.
  std::vector<Event> find_pfm_event(const Spelling& parts) const;
  Event with_exact_code(Event event, std::uint64_t config) const;

  Cpu cpu_;
  std::vector<Event> events_;
  std::vector<std::string> pmus_;
};

/// Returns the PMU of libpfm4 that `cpu` names; where it is empty the one of `here`, or the one
/// that libpfm4 finds present. Throws ValueError for a name that is not among `pmus`, Error when
/// none is present; both messages name a remedy.
const PfmPmu& choose_pmu(const std::vector<PfmPmu>& pmus, std::string_view cpu,
                         const machine::CpuIdentity& here);

/// Lists the CPUs that have a built-in catalogue, each with all its names.
std::vector<std::vector<std::string>> known_cpus();

/// Opens the requested catalogue. Throws what choose_pmu() and read_perfmon() throw.
Catalogue open_catalogue(const CatalogueRequest& request, const machine::Machine& here);

/// Finds the events of Intel's table or of libpfm4 for the CPU of a machine, which need not be this
/// one; nullopt where neither has it.
std::optional<Catalogue> find_catalogue(const machine::Machine& machine);

/// Finds the events that libpfm4 has for a CPU by its name, as --cpu takes it; nullopt where it has
/// none. `at_hand`: whether the CPU is that of `machine`.
std::optional<Catalogue> find_pfm_catalogue(std::string_view cpu, const machine::Machine& machine,
                                            bool at_hand);

}  // namespace skid::events
