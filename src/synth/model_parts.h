// Parts that models and placements have in common, read from their JSON.
#pragma once

#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"

namespace skid::synth {

/// "machine" of a document: what the recording claims to be of. Throws InputError.
machine::Machine read_machine(const JsonValue& document, Arch arch);

/// "buffers" of a document. Throws InputError.
Buffers read_buffers(const JsonValue& document);

}  // namespace skid::synth
