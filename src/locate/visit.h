// The records of a recording once more, with its samples located.
#pragma once

#include "src/locate/digest.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/symbols/address_space.h"

#include <functional>
#include <optional>

namespace skid::locate {

/// A record as it is read again.
struct VisitedRecord {
  const perfdata::Record& record;
  /// Null: another record, a damaged sample, or one that the filter of the digest leaves out.
  const perfdata::Sample* sample = nullptr;
  std::optional<symbols::FileLocation> location;  ///< of `sample`, at its time
  const perfdata::Sample* left_out = nullptr;     ///< by the filter
};
using Visitor = std::function<void(const VisitedRecord&)>;

/// Calls `visitor` for each record in the order of the recording. For what depends on single
/// samples, such as their data addresses, after the digest: only then is it known which mapped file
/// is the target. `recording`: after digest(), which gave `digest`.
void visit_records(perfdata::Recording& recording, const Digest& digest, const Visitor& visitor);

}  // namespace skid::locate
