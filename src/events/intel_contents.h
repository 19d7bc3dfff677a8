// The files of intel/, as they are part of the program.
#pragma once

#include <cstddef>
#include <string_view>

namespace skid::events {

/// models.tsv.
std::string_view intel_models();

/// events.tsv, compressed by zstd, and its size.
std::string_view compressed_intel_events();
extern const std::size_t kIntelEventsBytes;

}  // namespace skid::events
