#include "src/output/report/sample_origin.h"

#include "src/output/cell.h"
#include "src/output/page.h"

#include <string>
#include <string_view>

namespace skid::output {

std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of) {
  if (origin == SampleOrigin::cpu) return {};
  const std::string begin = of.empty() ? "" : of + ": ";
  return page.field(name_of(origin), begin + std::string(describe(origin)), Ink::yellow);
}

}  // namespace skid::output
