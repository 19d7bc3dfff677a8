// How the classes of the ledger look in figures.
#pragma once

#include "analysis/ledger.h"
#include "plots/canvas.h"

namespace skid::plots {

Fill fill_of(analysis::SampleClass sample_class);

}  // namespace skid::plots
