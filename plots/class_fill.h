// How the classes of the ledger look in figures.
#pragma once

#include "analysis/ledger.h"
#include "plots/canvas.h"

#include <string_view>

namespace skid::plots {

Fill fill_of(analysis::SampleClass sample_class);

/// "other trigger": the key of the class as words.
std::string_view words_for(analysis::SampleClass sample_class);

}  // namespace skid::plots
