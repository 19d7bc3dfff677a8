// The ELF note that makes a recording of a target readable years later: its format, both ways.
//
// Section .note.skidscan, in a PT_NOTE segment, so that it survives `strip`. Owner "skidscan",
// type 1. The descriptor, little-endian like both architectures:
//
//   offset  size  content
//        0     4  format version; 1
//        4     4  n, the number of addresses
//        8   8*n  the addresses, in the order of "addresses" in the text
//    8+8*n     -  JSON text in UTF-8, without a terminator, to the end of the descriptor
//
// The addresses are words that the linker fills in, so that they cannot differ from the code. The
// text names them, and holds what was requested and what to expect; `readelf -p .note.skidscan`
// shows it:
//
//   {"addresses":      ["loop", "loop_end", "lead_in", "trigger", "runway", "runway_end", "datum",
//                       for each trigger after the first "trigger", "runway", "runway_end",
//                       for each other trigger "other_trigger", "other_trigger_end"],
//    "specification":  {"arch", "trigger", "access_bytes", "nop_bytes", "nops", "lead_in_nops",
//                       "gaps" of several triggers, "working_set_bytes" of a pointer chase, and
//                       "iterations" or "nanoseconds"},
//    "expectations":   [{"event", "offset" in instructions or null, "events_per_iteration"}],
//    "data":           [{"of": "trigger" or "other_trigger", "offset" in bytes from the datum,
//                        "bytes"}], not in targets built by older versions,
//    "tool_version":   of the skidscan that built the target}
//
// Where one part begins the one before it ends: the lead-in ends at the first trigger, a trigger at
// its runway, and `loop_end` follows the last instruction of the iteration.
#pragma once

#include "runway/target.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace skid::runway {

struct Specification;

inline constexpr std::string_view kNoteSection = ".note.skidscan";
inline constexpr std::string_view kNoteOwner = "skidscan";
inline constexpr std::uint32_t kNoteType = 1;
inline constexpr std::uint32_t kNoteVersion = 1;
/// Spaces that end the text of a pointer chase, in bytes: room for larger numbers when
/// with_working_set() changes the size.
inline constexpr std::size_t kSpareBytes = 64;

/// Returns, for each built-in event, the expected offset (instructions) and events per iteration
/// (docs/method.md).
std::vector<Expectation> expectations_for(const Specification& specification);

/// Lists the data that the triggers of a target of this specification access.
std::vector<TouchedData> data_of(const Specification& specification);

/// Converts a specification to the JSON of the note.
nlohmann::ordered_json json_of(const Specification& specification);
/// Converts a description to JSON without the addresses.
nlohmann::ordered_json json_of(const TargetDescription& description);

/// Returns the note's JSON text, one line, of a target with that number of other triggers.
std::string note_text(const Specification& specification, std::size_t other_triggers);

/// Decodes a descriptor. `path` and `offset` are for the message. The content is checked
/// for being a possible specification, not against the code. Throws InputError.
TargetDescription parse_note(std::string_view descriptor, const std::filesystem::path& path,
                             std::uint64_t offset);

}  // namespace skid::runway
