// The tables of intel/ and amd/, as they are part of the program.
#pragma once

#include <cstddef>
#include <string_view>

namespace skid::events {

/// models.tsv.
std::string_view intel_models();

/// events.tsv of amd/.
std::string_view amd_events_table();

/// events.tsv of intel/, compressed by zstd, and its size.
std::string_view compressed_intel_events();
extern const std::size_t kIntelEventsBytes;

}  // namespace skid::events
