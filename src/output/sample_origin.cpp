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

OriginNotice origin_notice(SampleOrigin origin, const std::string& of) {
  const std::string begin = of.empty() ? "" : of + ": ";
  if (origin == SampleOrigin::emulator) {
    return {"EMULATED",
            begin + "an emulated CPU (QEMU) took the samples; its skid at level 0 is a parameter"};
  }
  return {"SYNTHETIC", begin + "samples made by skidscan synth, not measured"};
}

std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of) {
  if (origin == SampleOrigin::cpu) return {};
  const OriginNotice notice = origin_notice(origin, of);
  return page.field(notice.title, notice.text, Ink::yellow);
}

}  // namespace skid::output
