#include "analysis/confidence.h"

#include "analysis/distributions.h"

namespace skid::analysis {

double two_sided_z() {
  static const double z = normal_reach(kConfidence);
  return z;
}

}  // namespace skid::analysis
