// `skidscan audit`: what was found, as text for people, as JSON and as CSV for programs.
#pragma once

#include "src/audit/audit.h"
#include "src/output/page.h"

#include <string>
#include <vector>

namespace skid::output {

/// A section for each event of each recording: shares, verdicts, what could not be judged, and
/// functions and instructions with impossible samples. All names are escaped. The machine is said
/// where it is not that of the recording before, and the same remark once.
std::string audit_text(const std::vector<audit::Audit>& audits, const Page& page);

/// Schema skidscan.audit/1, as docs/formats.md tells. Ends with a newline.
std::string audit_json(const std::vector<audit::Audit>& audits);

/// A row for each event as a whole, for each reason not to judge, for each function and for each
/// instruction; RFC 4180 quoting, header line first; docs/formats.md lists the columns.
std::string audit_csv(const std::vector<audit::Audit>& audits);

}  // namespace skid::output
