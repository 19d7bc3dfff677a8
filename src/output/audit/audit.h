// The findings of `skidscan audit` as text for people, as JSON and as CSV for programs.
#pragma once

#include "src/support/error.h"

#include <string>
#include <vector>

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::output {

struct Page;

/// Returns one screen: the share of impossible samples, a line per event, the samples that were not
/// judged, and the worst functions and instructions. With `page.details` there is a section for
/// each event of each recording. All names are escaped.
std::string audit_text(const std::vector<audit::Audit>& audits, const Page& page);

/// Returns the sentence that begins audit_text(), escaped.
std::string audit_answer(const std::vector<audit::Audit>& audits);

/// Explains why no sample was judged: "none of 5,000 samples could be judged: mostly no known
/// mapping …".
std::string why_none_is_judged(const std::vector<audit::Audit>& audits);

/// Returns JSON of schema skidscan.audit/1, documented in docs/formats.md. Ends with a newline.
/// `unread`: inputs that are not among the audits.
std::string audit_json(const std::vector<audit::Audit>& audits,
                       const std::vector<UnreadInput>& unread = {});

/// Returns CSV: a row for each event as a whole, for each reason not to judge, for each function
/// and for each instruction. Quoting is that of RFC 4180, the header line is first;
/// docs/formats.md lists the columns.
std::string audit_csv(const std::vector<audit::Audit>& audits);

}  // namespace skid::output
