// Cache rates and the backend hierarchy of one output of perf stat, as text and as JSON.
#pragma once

#include "src/perfstat/reading.h"
#include "src/support/names.h"

#include <string>
#include <vector>

namespace skid::analysis {
struct LfbShares;
struct Rates;
}  // namespace skid::analysis

namespace skid::perfstat {
struct Selection;
}  // namespace skid::perfstat

namespace skid::output {

struct Page;

/// The parts of a report on rates, which must outlive it.
struct RatesReport {
  const perfstat::Reading& reading;
  const perfstat::Selection& selection;
  const analysis::LfbShares& shares;
  const std::vector<analysis::Rates>& rates;  ///< of Selection::cores
};

SKID_NAMES(perfstat::State, "counted", "not counted", "not supported")

std::string rates_text(const RatesReport& report, const Page& page);

/// Returns JSON of schema skidscan.rates/1, documented in docs/formats.md. Ends with a newline.
std::string rates_json(const RatesReport& report);

}  // namespace skid::output
