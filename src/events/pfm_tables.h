// The events of libpfm4, which pfm_tables.cpp alone calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct Event;

/// A core PMU of libpfm4.
struct PfmPmu {
  std::string name;            ///< "skl"
  std::string description;     ///< "Intel Skylake"
  bool present = false;        ///< true for a PMU of this machine
  bool of_perf_alone = false;  ///< true if perf's names have it and libpfm4 does not
};

/// Sets what libpfm4 reads of this program's environment. It must be called before there is a
/// second thread. All other functions of this header may then be called by several threads at once,
/// and initialize libpfm4.
void prepare_pfm_tables() noexcept;

/// Lists all core PMUs but the architectural one of Intel, whose events do not describe the CPU.
/// Throws Error when libpfm4 cannot be initialized.
std::vector<PfmPmu> pfm_core_pmus();

/// Lists the events of a PMU with their umasks, "EVENT.UMASK" or "EVENT". Equivalent spellings are
/// aliases of one event. Throws Error for a PMU that is not in pfm_core_pmus().
std::vector<Event> pfm_events(const std::string& pmu);

/// Encodes an event by any spelling that libpfm4 takes, such as several umasks or modifiers
/// ("INST_RETIRED:ANY_P:c=1:i"). The precise flag is libpfm4's for the combination.
/// Returns nullopt if libpfm4 does not have the event.
std::optional<Event> pfm_encode(const std::string& pmu, std::string_view spelling);

}  // namespace skid::events
