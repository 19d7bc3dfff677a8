// The records that shape address spaces, taken out of a recording.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <optional>

namespace skid::locate {

/// What a record meant for address spaces.
enum class Replayed {
  nothing,    ///< it is of another type
  entered,    ///< its space changed
  too_short,  ///< it ends inside its fields and was left out
};

/// Enters MMAP, MMAP2, FORK and COMM records into `spaces`. `changed`, where given, is the space
/// that the record changed.
Replayed replay(const perfdata::Record& record, const perfdata::SampleDecoder& decoder,
                symbols::AddressSpaces& spaces, std::int32_t* changed = nullptr);

/// Enters what the feature section knows of build-ids.
void replay_build_ids(const perfdata::Features& features, symbols::AddressSpaces& spaces);

/// Whether the code of such samples is in any space that the recording describes: guests and
/// hypervisors have none in a host's recording.
bool has_space(perfdata::SampleKind kind);

/// The file and offset of `ip` in `space` at `time`; nullopt when nothing was mapped there or
/// samples of this kind have no space.
std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            perfdata::SampleKind kind, std::int32_t space,
                                            std::uint64_t ip, std::uint64_t time);

/// Reads a recording to its end for its mappings alone; they are sealed.
symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording);

}  // namespace skid::locate
