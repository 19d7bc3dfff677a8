// libpfm4's tables of events: pfm_tables.cpp is the only code that calls libpfm4.
#pragma once

#include "src/events/event.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace skid::events
