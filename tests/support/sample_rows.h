// Samples as rows of text, from `perf script` and from `skidscan samples`, for comparison.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// One sample. Fields that a tool does not print, or prints as [unknown], are empty.
struct SampleRow {
  std::string time;  ///< ns
  std::string pid, tid, event;
  std::string ip;  ///< hexadecimal without prefix
  std::string sym;
  std::string symoff;  ///< "0x1f"
  std::string dso;

  friend std::strong_ordering operator<=>(const SampleRow&, const SampleRow&) = default;
};

/// Number of occurrences of each row: perf prints samples by time, skidscan in file order.
using SampleRows = std::map<SampleRow, int>;

/// Reads what `perf script --ns -F time,pid,tid,event,ip[,sym,symoff,dso]` printed. Other lines
/// are returned in `strange`.
SampleRows rows_of_perf(std::string_view printed, std::vector<std::string>& strange);

/// Reads what `skidscan samples --columns time,pid,tid,event,ip[,sym,symoff,dso]` printed.
SampleRows rows_of_skidscan(std::string_view printed, std::vector<std::string>& strange);

/// The rows of `a` that `b` does not have, or has less often.
SampleRows without(const SampleRows& a, const SampleRows& b);

/// Total number of samples.
int samples_in(const SampleRows& rows);

/// The first few rows, one per line.
std::string describe(const SampleRows& rows);

}  // namespace skid::test
