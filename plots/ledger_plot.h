// The classes of the ledger as a figure: a bar of shares for each measurement.
#pragma once

#include "analysis/ledger.h"
#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <vector>

namespace skid::plots {

/// The part of a bar that a class takes, in shares of the samples read.
struct ClassShare {
  analysis::SampleClass sample_class{};
  double from = 0, to = 0;
};

/// In the order of the classes, empty ones left out; nothing without samples.
std::vector<ClassShare> class_shares(const analysis::Ledger& ledger);

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_ledgers(const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
