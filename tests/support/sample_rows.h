// Samples as rows of text, from `perf script` and from `skidscan samples`, to be held side by side.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// One sample. What a tool does not print is empty; so is what it calls [unknown].
struct SampleRow {
  std::string time;  ///< ns
  std::string pid, tid, event;
  std::string ip;  ///< hexadecimal without prefix
  std::string sym;
  std::string symoff;  ///< "0x1f"
  std::string dso;

  friend std::strong_ordering operator<=>(const SampleRow&, const SampleRow&) = default;
};

/// How often each row occurs: perf prints samples in the order of time, skidscan in that of the
/// file.
using SampleRows = std::map<SampleRow, int>;

/// Reads what `perf script --ns -F time,pid,tid,event,ip[,sym,symoff,dso]` printed. Lines that are
/// no samples are given back in `strange`.
SampleRows rows_of_perf(std::string_view printed, std::vector<std::string>& strange);

/// Reads what `skidscan samples --columns time,pid,tid,event,ip[,sym,symoff,dso]` printed.
SampleRows rows_of_skidscan(std::string_view printed, std::vector<std::string>& strange);

/// The rows of `a` that `b` lacks or has less often.
SampleRows without(const SampleRows& a, const SampleRows& b);

/// How many samples the rows stand for.
int samples_in(const SampleRows& rows);

/// The first few rows, one a line.
std::string describe(const SampleRows& rows);

}  // namespace skid::test
