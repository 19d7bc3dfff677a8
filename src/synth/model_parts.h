// Parts of the JSON of a model that placements of the tests have too.
#pragma once

#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"

#include <optional>

namespace skid::synth {

/// "machine" of a document: the machine that the recording names. `arch`: of its code, which the
/// vendor must match. Throws InputError.
machine::Machine read_machine(const JsonValue& document, Arch arch);
/// The architecture of the vendor of its "machine"; nullopt for none or an unknown one.
std::optional<Arch> arch_of_machine(const JsonValue& document);

/// "buffers" of a document. Throws InputError.
Buffers read_buffers(const JsonValue& document);

}  // namespace skid::synth
