// All events of one CPU: from Intel's table, from a directory of Intel's event files, or from
// libpfm4, which pfm_tables.cpp alone calls. And the default ones: what `record` records of its PMU
// when no event is named.
#pragma once

#include "runway/trigger.h"
#include "src/events/event.h"

#include <filesystem>

namespace skid::events {

/// A core PMU of libpfm4.
struct PfmPmu {
  std::string name;            ///< "skl"
  std::string description;     ///< "Intel Skylake"
  bool present = false;        ///< it is this machine's
  bool of_perf_alone = false;  ///< libpfm4 does not have it, and perf's names do
};

/// Sets what libpfm4 reads of this program's environment: to be called before there is a second
/// thread. All else here may then be called by several threads at once, and initializes libpfm4.
void prepare_pfm_tables() noexcept;

/// All core PMUs but the architectural one of Intel, whose events do not describe the CPU. Throws
/// Error when libpfm4 cannot be initialized.
std::vector<PfmPmu> pfm_core_pmus();

/// The events of a PMU with their umasks, "EVENT.UMASK" or "EVENT". Equivalent spellings are
/// aliases of one event. Throws Error for a PMU that is not in pfm_core_pmus().
std::vector<Event> pfm_events(const std::string& pmu);

/// An event by any spelling that libpfm4 takes, such as several umasks or modifiers
/// ("INST_RETIRED:ANY_P:c=1:i"). The precise flag is libpfm4's for the combination. nullopt
/// when it does not have it.
std::optional<Event> pfm_encode(const std::string& pmu, std::string_view spelling);

/// Which CPU, and where its events are read.
struct CatalogueRequest {
  std::string cpu;                    ///< as --cpu; empty: this machine's
  std::filesystem::path perfmon;      ///< directory of Intel's event files; empty: built in
  std::string_view option = "--cpu";  ///< that named the CPU, for messages
};

class Catalogue {
 public:
  Catalogue(Cpu cpu, std::vector<Event> events);

  const Cpu& cpu() const noexcept { return cpu_; }
  const std::vector<Event>& events() const noexcept { return events_; }

  /// The PMUs of the events: one for each core type.
  const std::vector<std::string>& pmus() const noexcept { return pmus_; }

  /// The event of a name, a raw code, or terms of perf; on a hybrid CPU one for each kind of
  /// core. A raw code that no row has is answered by the row it modifies, or by its event with a
  /// bare umask. Throws UsageError when nothing has that name or event.
  std::vector<Event> find(std::string_view spelling) const;
  /// The same; empty when nothing has that name or event.
  std::vector<Event> find_if_known(std::string_view spelling) const;

  /// The same for the fields of perf_event_attr; empty when nothing has that event. If events of
  /// one code differ in config1 alone, another value of config1 gets their common properties.
  std::vector<Event> find_code(std::uint64_t config, std::uint64_t config1) const;

  /// The events of that name, in any case and with ':' or '.'; empty if no event has it. Spellings
  /// that only libpfm4 can encode are not found.
  std::vector<Event> find_name(std::string_view name) const;

  struct Filter {
    bool precise_only = false;
    std::string pattern;  ///< part of a name, or a pattern with * and ?; in any case
    std::optional<runway::TriggerKind> trigger = {};  ///< only those that this kind causes
  };
  /// Sorted by name.
  std::vector<Event> list(const Filter& filter) const;

  /// Adds the descriptions that libpfm4 has; Intel's table has none.
  void describe(std::vector<Event>& events) const;

 private:
  std::optional<Event> find_code(std::string_view pmu, std::uint64_t config,
                                 std::uint64_t config1) const;
  Event with_exact_code(Event event, std::uint64_t config) const;

  Cpu cpu_;
  std::vector<Event> events_;
  std::vector<std::string> pmus_;
};

/// The PMU of libpfm4 that `cpu` names; where it is empty the one of `here`, or the one that
/// libpfm4 finds present. Throws UsageError for a name that is not among `pmus`, Error when none is
/// present; both messages name a remedy.
const PfmPmu& choose_pmu(const std::vector<PfmPmu>& pmus, std::string_view cpu,
                         const machine::CpuIdentity& here, std::string_view option = "--cpu");

/// Throws what choose_pmu() and read_perfmon() throw.
Catalogue open_catalogue(const CatalogueRequest& request, const machine::Machine& here);

/// The events of Intel's table or of libpfm4 for the CPU of a machine, which need not be this one;
/// nullopt where neither has it.
std::optional<Catalogue> find_catalogue(const machine::Machine& machine);

struct DefaultEvent {
  std::string_view stands_for;  ///< "a load", "a taken branch", "cycles"
  std::string name;             ///< readable: "MEM_LOAD_RETIRED.L3_MISS", "cycles"
  std::string perf_event;       ///< as perf's -e takes it, without modifiers
  runway::TriggerKind trigger{};
  Counted counted = Counted::other;
  std::vector<int> levels;  ///< precise levels that the machine takes for it, ascending
};

struct DefaultSet {
  std::vector<DefaultEvent> events;  ///< none without a core PMU
  std::vector<std::string> notes;    ///< what was left out and why, a line each
};

/// The events of each of a machine's core PMUs for a load, an L3-missing load, a store, a taken
/// branch, a mispredicted branch and cycles, as raw events, so that perf need not know them. AMD:
/// what IBS does. `catalogue` null: none covers the CPU, and generic cycles and branches are used.
DefaultSet default_set(const machine::Machine& machine, const Catalogue* catalogue);

/// perf's own events that any CPU may have, at all levels: for a CPU of which nothing is
/// known but the architecture of `machine`.
DefaultSet any_cpu_set(const machine::Machine& machine);

/// The PMU that events without one are recorded on: the performance cores' of a hybrid machine;
/// null if the machine has none.
const machine::CorePmu* main_core_pmu(const machine::Machine& machine);

/// Of one kind of core of a hybrid x86 machine, "cpu_core": perf opens an event without a PMU on
/// all kinds.
bool is_of_hybrid(const machine::CorePmu& pmu);

/// A raw event with its name, as perf's -e takes it: "cpu/config=0x20d1,name=X/". A name that perf
/// would not read as one is left out.
std::string raw_perf_event(const Event& event, std::string_view pmu);

}  // namespace skid::events
