#include "analysis/measurement.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "plots/drawing.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/machines.h"
#include "plots/rows.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skid::plots {

struct FigureOptions;

Figure breakdown_figure(const Machines& machines, const FigureOptions& options) {
  RowPlot plot(begin_figure("Where samples fall, by class", machines, options, 900));
  analysis::Breakdown all;
  Rows bars;
  plot.add_all(machines, [&](const analysis::Measurement& m, std::size_t /*machine*/, double y) {
    auto& bar = bars.emplace_back(Rows::value_type{y});
    for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
      bar.push_back(static_cast<double>(m.samples[static_cast<analysis::SampleClass>(i)]));
    }
    all += m.samples;
    if (m.samples.read() == 0) plot.add_note("no samples", y);
    return run_text(m);
  });
  plot.panel.series.push_back(
      {"for [c=1:10] $d using (0):($1*shown(c)):(share(c-1)):(share(c)):($1-.36):($1+.36) "
       "with boxxyerror fs solid border rgb 'white' lc rgb class[c]",
       std::move(bars)});
  add_class_keys(plot.figure, all, analysis::kSampleClasses);
  return plot.finish(0, "share of the samples read");
}

}  // namespace skid::plots
