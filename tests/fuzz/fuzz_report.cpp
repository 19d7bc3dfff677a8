// A report in JSON: written again it is unchanged, and it can be merged.
#include "analysis/measurement.h"
#include "analysis/merge.h"
#include "analysis/repeats.h"
#include "src/output/page.h"
#include "src/output/report/report.h"
#include "src/support/error.h"
#include "tests/fuzz/target.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const auto measurements = output::read_report(text_of(input), "input");
  const std::string written = output::report_json(measurements);
  const auto again = output::read_report(written, "written");
  require(output::report_json(again) == written);
  require_no_control_characters(output::report_text(measurements, {}));
  require_no_control_characters(output::report_csv(measurements));

  auto twice = measurements;
  std::vector<std::size_t> inputs(measurements.size(), 0);
  for (auto measurement : measurements) {
    measurement.file += " copied";
    for (auto& part : measurement.merged_from) part.file += " copied";
    twice.push_back(measurement);
    inputs.push_back(1);
  }
  try {
    std::uint64_t samples = 0;
    for (const auto& sum :
         analysis::merge(twice, inputs, analysis::RepeatPolicy::pair).measurements) {
      samples += sum.samples.read();
    }
    for (const auto& part : twice) samples -= part.samples.read();
    require(samples == 0);
  } catch (const Error&) {  // a report of the same recording twice
  }
}
