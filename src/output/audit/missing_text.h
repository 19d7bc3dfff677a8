// Text on what an audit needs and does not have.
#pragma once

#include <string>
#include <vector>

namespace skid::audit {
struct Audit;
struct EventAudit;
}  // namespace skid::audit

namespace skid::output {

struct Page;

/// Lists the files that are missing, and how to get them; empty if none is.
std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page);

/// Says why no measured delay holds for the event, and how to measure it; empty if one holds, or
/// none was looked for.
std::string missing_delay_text(const audit::EventAudit& event);

}  // namespace skid::output
