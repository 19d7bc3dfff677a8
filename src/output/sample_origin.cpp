#include "src/output/sample_origin.h"

#include "src/output/page.h"

namespace skid::output {

std::string_view origin_word(SampleOrigin origin) {
  switch (origin) {
    case SampleOrigin::cpu:
      return "";
    case SampleOrigin::emulator:
      return ", emulated";
    case SampleOrigin::model:
      break;
  }
  return ", synthetic";
}

std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of) {
  if (origin == SampleOrigin::cpu) return {};
  const std::string begin = of.empty() ? "" : of + ": ";
  if (origin == SampleOrigin::model) {
    return page.field("SYNTHETIC", begin + "samples made by skidscan synth, not measured",
                      Ink::yellow);
  }
  return page.field(
      "EMULATED",
      begin + "an emulated CPU (QEMU) took the samples; its skid at level 0 is a parameter",
      Ink::yellow);
}

}  // namespace skid::output
