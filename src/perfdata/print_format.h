// Whether a tracepoint's print fmt may be given to libtraceevent.
#pragma once

#include "src/perfdata/tracepoint_format.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::perfdata {

/// A field whose value says how much libtraceevent will read or write.
struct CountLimit {
  std::size_t field = 0;   ///< index in TracepointFormat::fields
  std::uint64_t most = 0;  ///< its value may not be larger
};

/// libtraceevent was written for what kernels print and trusts it: unknown fields make it follow
/// null pointers, a division by 0 ends the process, nesting fills the stack, counts and indices
/// lead out of the payload. So only formats of the shape that kernels write are given to it:
/// expressions that are closed, nested less than 64 deep, of known functions and existing fields,
/// divided by constants only, indexed by small constants only, in as many as the conversions take.
///
/// Returns what the payload has to hold for the rest to be safe; nullopt when the format is not of
/// this shape. payload_room: bytes that may be read from any place in the payload on.
std::optional<std::vector<CountLimit>> check_print_format(const TracepointFormat& format,
                                                          std::uint64_t payload_room);

}  // namespace skid::perfdata
