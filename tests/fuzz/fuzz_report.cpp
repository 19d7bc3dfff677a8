// A report in JSON: written again it is unchanged, and it can be merged.
#include "analysis/repeats.h"
#include "src/output/report/report.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace skid;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_control(char c) {
  return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
}

void use(std::string_view text) {
  const auto measurements = output::read_report(text, "input");
  const std::string written = output::report_json(measurements);
  const auto again = output::read_report(written, "written");
  require(output::report_json(again) == written);
  for (const std::string& shown :
       {output::report_text(measurements, {}), output::report_csv(measurements)}) {
    require(std::none_of(shown.begin(), shown.end(), is_control));
  }

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    use({reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {  // an expected refusal
  }
  return 0;
}
