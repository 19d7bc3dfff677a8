// Parts that models and placements have in common, read from their JSON.
#pragma once

#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"

#include <optional>

namespace skid::synth {

/// "machine" of a document: what the recording claims to be of. `arch`: of its code, which no other
/// architecture's vendor may be named with. Throws InputError.
machine::Machine read_machine(const JsonValue& document, Arch arch);
/// What the vendor of its "machine" tells; nullopt where none is named, or another one.
std::optional<Arch> arch_of_machine(const JsonValue& document);

/// "buffers" of a document. Throws InputError.
Buffers read_buffers(const JsonValue& document);

}  // namespace skid::synth
