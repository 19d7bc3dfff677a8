#include "src/output/delay_text.h"

#include "analysis/delay.h"
#include "analysis/wording.h"

#include <fmt/format.h>

namespace skid::output {

std::string range_text(std::uint64_t low, std::uint64_t high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

std::string delay_text(const analysis::Delay& delay, const analysis::SamplePairs& pairs) {
  const std::string range = range_of(delay);
  return fmt::format(
      "{} instruction{} from overflow to record (p5 {}, p50 {}, p95 {}); predicts {} of {} next "
      "samples (independent: {}), {} left out",
      range, range == "1" ? "" : "s", delay.p5, delay.p50, delay.p95,
      analysis::percent(delay.predicted), pairs.pairs(), analysis::percent(delay.independent),
      pairs.left_out);
}

}  // namespace skid::output
