// Text on samples that contradict the data source or the data address that they recorded.
#pragma once

#include <cstdint>
#include <string>

namespace skid::audit {
struct EventAudit;
}  // namespace skid::audit

namespace skid::output {

struct Page;

/// Returns a line on data sources and one on data addresses; empty where the event has none.
/// `fewest`: contradicted samples that make a line on data sources. `with_event`: the lines begin
/// with the name of the event.
std::string contradictions_text(const Page& page, const audit::EventAudit& event,
                                std::uint64_t fewest, bool with_event);

}  // namespace skid::output
