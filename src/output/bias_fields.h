// The members of a test for an even distribution, with their keys in JSON.
#pragma once

#include "analysis/distributions.h"
#include "src/support/field_writer.h"

namespace skid {

SKID_WRITTEN_FIELDS(analysis::Bias, largest_ratio, chi_square, degrees, p)

}  // namespace skid
