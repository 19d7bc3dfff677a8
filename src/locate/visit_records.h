// Reading a recording once more, for results that depend on single samples.
#pragma once

#include "src/symbols/file_location.h"

#include <functional>
#include <optional>

namespace skid::perfdata {
class Recording;
struct Record;
struct Sample;
}  // namespace skid::perfdata

namespace skid::locate {

struct Digest;

/// A record as it is read again.
struct VisitedRecord {
  const perfdata::Record& record;
  /// The decoded sample; null for another record, a damaged sample, or one that the filter of the
  /// digest rejects.
  const perfdata::Sample* sample = nullptr;
  std::optional<symbols::FileLocation> location;  ///< place of `sample` at its time
  const perfdata::Sample* left_out = nullptr;     ///< sample that the filter rejects
};
using Visitor = std::function<void(const VisitedRecord&)>;

/// Work on single samples: `visitor`, empty if it needs none, is to be called for each record, and
/// `finish` once after that.
template <typename Result>
struct RecordCheck {
  Visitor visitor;
  std::function<Result()> finish;
};

/// Calls `visitor` for each record in the order of the recording. Used after the digest for results
/// that depend on single samples, such as their data addresses: only then is it known which mapped
/// file is the target. `recording`: the one that digest() read into `digest`.
void visit_records(perfdata::Recording& recording, const Digest& digest, const Visitor& visitor);

}  // namespace skid::locate
