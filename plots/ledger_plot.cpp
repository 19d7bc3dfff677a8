#include "plots/ledger_plot.h"

#include "plots/class_fill.h"
#include "plots/figure_rows.h"
#include "plots/figure_text.h"
#include "plots/palette.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::kSampleClasses;
using analysis::SampleClass;

using Boxes = std::vector<std::tuple<double, double, double, double, double, double>>;

void draw_bars(Canvas& canvas, const EventRows& event, const RowFigure::Panel& panel) {
  gnuplotio::Gnuplot& gnuplot = canvas.gnuplot();
  gnuplot << "set xrange [0:100]\nset xtics 20 nomirror scale 0.5\n"
             "set grid xtics lt 1 lc rgb '#E4E4E4'\nset format x "
          << (panel.labelled ? "'%g%%'" : "''") << "\nset xlabel '"
          << (panel.labelled ? "share of the samples read" : "") << "'\n";
  std::array<Boxes, kSampleClasses> boxes;
  for (std::size_t row = 0; row < event.rows.size(); ++row) {
    const auto top = static_cast<double>(row);
    for (const ClassShare& part : class_shares(event.rows[row].column.measurement->samples)) {
      boxes[static_cast<std::size_t>(part.sample_class)].emplace_back(
          50 * (part.from + part.to), top + 0.5, 100 * part.from, 100 * part.to, top + 0.12,
          top + 0.88);
    }
  }
  std::string plots = "plot -1 notitle";  // beside the bars, so that there is always something
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    if (boxes[i].empty()) continue;
    plots += ", '-' using 1:2:3:4:5:6 with boxxyerror " +
             style_of(fill_of(static_cast<SampleClass>(i))) + " notitle";
  }
  gnuplot << plots << '\n';
  for (const Boxes& list : boxes) {
    if (!list.empty()) gnuplot.send1d(list);
  }
}

}  // namespace

std::vector<ClassShare> class_shares(const analysis::Ledger& ledger) {
  std::vector<ClassShare> shares;
  const auto read = static_cast<double>(ledger.read());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    const std::uint64_t count = ledger[sample_class];
    if (count == 0) continue;
    shares.push_back(
        {sample_class, static_cast<double>(sum) / read, static_cast<double>(sum + count) / read});
    sum += count;
  }
  return shares;
}

Drawing draw_ledgers(const std::vector<output::MachineGroup>& machines) {
  RowFigure figure;
  figure.title = title_of("Where samples fall, by class", machines);
  figure.note = "each bar: all samples read of an event at a level";
  figure.one_axis = true;
  std::set<SampleClass> present;
  for (const EventRows& event : rows_by_event(machines)) {
    for (const Row& row : event.rows) {
      for (const ClassShare& part : class_shares(row.column.measurement->samples)) {
        present.insert(part.sample_class);
      }
    }
  }
  for (const SampleClass sample_class : present) {
    figure.legend.push_back(
        {fill_of(sample_class), std::string(analysis::words_for(sample_class))});
  }
  figure.text = [](const Row& row) {
    return samples_text(*row.column.measurement) +
           (row.column.measurement->synthetic ? ", synthetic" : "");
  };
  figure.draw = draw_bars;
  return draw_rows(machines, figure);
}

}  // namespace skid::plots
