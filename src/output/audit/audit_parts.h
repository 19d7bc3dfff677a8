// Parts of an audit's text.
#pragma once

#include "src/audit/audit.h"
#include "src/output/page.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::output {

/// Places listed without --details.
inline constexpr std::size_t kMostPlaces = 5;

/// The part of a path after its last '/', escaped.
std::string file_name(const std::string& path);

/// Of the branch records of all events together: how many are impossible, why, where, and what was
/// not judged; empty where no event has any.
std::string branch_records_text(const std::vector<audit::Audit>& audits, const Page& page);

/// Which files are missing, and how to get them; empty if none is.
std::string missing_text(const std::vector<audit::Audit>& audits, const Page& page);

}  // namespace skid::output
