// The records of a recording once more, with its samples located.
#pragma once

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
  const perfdata::Sample* sample = nullptr;       ///< null: another record, or a damaged sample
  std::optional<symbols::FileLocation> location;  ///< of `sample`, at its time
};
using Visitor = std::function<void(const VisitedRecord&)>;

/// Calls `visitor` for each record in the order of the recording. For what depends on single
/// samples, such as their data addresses, after the digest: only then is it known which mapped file
/// is the target. `recording`: after digest(), which gave `spaces`.
void visit_records(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                   const Visitor& visitor);

}  // namespace skid::locate
