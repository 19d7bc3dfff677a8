// The texts of measurements in all figures.
#pragma once

#include "plots/drawing.h"
#include "plots/machines.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
class Breakdown;
struct Measurement;
}  // namespace skid::analysis

namespace skid::plots {

struct FigureOptions;

/// Begins a figure with the title of `options`, else with `title`. It is marked SYNTHETIC if any
/// measurement is. The machines are in its head; several are numbered and have the names of their
/// sources. `width` is the width in pixels if `options` have none.
Figure begin_figure(std::string_view title, const Machines& machines, const FigureOptions& options,
                    double width);

/// Adds what made the samples (output::title_mark()) to the title; without a title the figure shows
/// it alone.
void add_mark(Figure& figure, std::string mark);

/// Returns "CPU 2" if there are several machines, else an empty text.
std::string machine_name(const Machines& machines, std::size_t machine);

/// Writes "5101 samples, period 7". With several runs it has all samples, and "several periods" if
/// they differ.
std::string samples_text(const std::vector<const analysis::Measurement*>& runs,
                         std::string_view separator = ", ");

/// Writes "5101 samples, period 7, synthetic".
std::string run_text(const analysis::Measurement& measurement);

/// Writes "hits 99.9%, 3 beyond". `beyond` is the number of samples off the axis.
std::string hits_text(const analysis::Measurement& measurement, std::uint64_t beyond);

/// Adds those of the first `classes` classes to the legend that have samples in `all`.
void add_class_keys(Figure& figure, const analysis::Breakdown& all, std::size_t classes);

}  // namespace skid::plots
