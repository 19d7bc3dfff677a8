// Verdicts on measurements as cells of a table.
#pragma once

#include "analysis/contract.h"
#include "src/output/cell.h"

#include <array>
#include <cstddef>

namespace skid::output {

inline Ink ink_of(analysis::Verdict verdict) {
  if (verdict == analysis::Verdict::kept) return Ink::green;
  if (verdict == analysis::Verdict::broken) return Ink::red;
  return verdict == analysis::Verdict::undecided ? Ink::yellow : Ink::dim;
}

/// Counts measurements by verdict, the worst first: "2 broken, 1 kept"; "kept" where all are. The
/// cell has the colour of the worst. `counts`: by Verdict.
Cell verdict_counts(const std::array<std::size_t, 4>& counts);

}  // namespace skid::output
