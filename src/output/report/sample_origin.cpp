#include "src/output/report/sample_origin.h"

#include "src/output/cell.h"
#include "src/output/page.h"

#include <string>

namespace skid::output {

std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of) {
  if (origin == SampleOrigin::cpu) return {};
  const std::string begin = of.empty() ? "" : of + ": ";
  if (origin == SampleOrigin::model) {
    return page.field("SYNTHETIC", begin + "samples made by skidscan synth, not measured",
                      Ink::yellow);
  }
  return page.field(
      "EMULATED",
      begin + "an emulated CPU (QEMU) took the samples; their skid is that of the emulation",
      Ink::yellow);
}

}  // namespace skid::output
