// Text on the binaries that an audit needs and does not have.
#pragma once

#include <string>
#include <vector>

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::output {

struct Page;

/// Lists the files that are missing, and how to get them; empty if none is.
std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page);

}  // namespace skid::output
