// Whether the data addresses of samples are those of the instructions that they are at.
#pragma once

#include "analysis/addresses.h"
#include "src/audit/contradictions.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace skid::audit {

/// By attribute, samples in user mode with the data address of an access, where there are any: of
/// page faults, and with EXACT_IP of PEBS and IBS. An instruction contradicts an address outside of
/// its one memory operand, where its constants, or its constants and the registers that the sample
/// recorded, give that operand; docs/audit.md has the rules. Reads the recording once more, unless
/// no event recorded such addresses. `recording`: after `digest` was made of it. `sources`: by
/// attribute; nullopt: without addresses. `arch`: as recorded; nullopt: not recorded.
std::map<std::uint32_t, Contradictions> check_data_addresses(
    perfdata::Recording& recording, const locate::Digest& digest, locate::ModuleStore& modules,
    const std::vector<std::optional<analysis::AddressSource>>& sources, std::optional<Arch> arch);

}  // namespace skid::audit
