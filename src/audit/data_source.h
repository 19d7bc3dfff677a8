// Whether the data sources of samples agree with the instructions that they are at.
#pragma once

#include "src/audit/contradictions.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/machine/machine.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"

#include <cstdint>
#include <map>
#include <optional>

namespace skid::audit {

/// By attribute, samples with EXACT_IP in user mode whose data source (PERF_SAMPLE_DATA_SRC) is a
/// load, a store or a prefetch, where there are any. An instruction contradicts what cannot cause a
/// retired load or store by name (events::causes_by_name); code of aarch64 is not judged. Reads the
/// recording once more, unless no event recorded data sources. `recording`: after `digest` was made
/// of it. `cpu`, `arch`: as recorded; nullopt: not recorded.
std::map<std::uint32_t, Contradictions> check_data_sources(perfdata::Recording& recording,
                                                           const locate::Digest& digest,
                                                           locate::ModuleStore& modules,
                                                           const machine::CpuIdentity& cpu,
                                                           std::optional<Arch> arch);

}  // namespace skid::audit
