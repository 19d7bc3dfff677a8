// The functions of the kinds of figures. A kind that needs what only some measurements have leaves
// the others out, and throws ValueError if that leaves none.
#pragma once

#include "plots/drawing.h"
#include "plots/machines.h"

#include <string>
#include <vector>

namespace skid::analysis {
struct Comparison;
}  // namespace skid::analysis

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::plots {

struct FigureOptions;

Figure histogram_figure(const Machines& machines, const FigureOptions& options);
Figure cdf_figure(const Machines& machines, const FigureOptions& options);
Figure breakdown_figure(const Machines& machines, const FigureOptions& options);
/// Shows measurements with several triggers at known distances.
Figure bias_figure(const Machines& machines, const FigureOptions& options);
/// Shows measurements with a delay from overflow to record.
Figure delay_figure(const Machines& machines, const FigureOptions& options);
/// Shows a row for each measurement, in the colour of its CPU.
Figure forest_figure(const Machines& machines, const FigureOptions& options);
/// Shows a row for each side; with many sides, for those that differ. `inputs` are their names.
Figure forest_figure(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureOptions& options);
/// Shows the blocks of code of audits. Throws Error if no block was judged.
Figure audit_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options);

}  // namespace skid::plots
