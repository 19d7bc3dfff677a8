// The kinds of figures: each function makes one of measurements. Those that need what only some
// measurements have leave the others out, and throw UsageError when all are.
#pragma once
#include "plots/drawing.h"
#include "plots/figure.h"

#include <string>
#include <vector>

namespace skid::analysis {
struct Comparison;
}  // namespace skid::analysis

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::plots {

Figure histogram_figure(const Machines& machines, const FigureOptions& options);
Figure cdf_figure(const Machines& machines, const FigureOptions& options);
Figure breakdown_figure(const Machines& machines, const FigureOptions& options);
/// Of measurements with several triggers at known distances.
Figure bias_figure(const Machines& machines, const FigureOptions& options);
/// Of measurements with a delay from overflow to record.
Figure delay_figure(const Machines& machines, const FigureOptions& options);
/// A row for each measurement, in the colour of its CPU.
Figure forest_figure(const Machines& machines, const FigureOptions& options);
/// A row for each side; with many sides, for those that differ. `inputs`: their names.
Figure forest_figure(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureOptions& options);
/// Throws Error where no block was judged.
Figure audit_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options);

}  // namespace skid::plots
