// Reading of a model, and of its parts that other documents share, from JSON.
#pragma once

#include "src/support/address.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace skid {
class JsonValue;
}  // namespace skid

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::synth {

struct Buffers;
struct Model;

/// Reads a model. Throws InputError with the file, the key, the value and the expected values.
Model read_model(const std::filesystem::path& path);
/// Reads a model from a text; `name` replaces the file in messages. Throws InputError.
Model parse_model(std::string_view text, const std::string& name);

/// Reads "machine" of a document: the machine that the recording names. `arch`: architecture of the
/// recording's code, which the vendor must match. Throws InputError.
machine::Machine read_machine(const JsonValue& document, Arch arch);
/// Returns the architecture of the vendor of a document's "machine"; nullopt if there is none or it
/// is unknown.
std::optional<Arch> arch_of_machine(const JsonValue& document);
/// Returns the architecture of a vendor's CPUs; nullopt for unknown vendors. Vendors are named as
/// /proc/cpuinfo and perf name them: "GenuineIntel", or Arm's implementers "0x41".
std::optional<Arch> arch_of_vendor(std::string_view vendor);
/// Reads "buffers" of a document. Throws InputError.
Buffers read_buffers(const JsonValue& document);

}  // namespace skid::synth
