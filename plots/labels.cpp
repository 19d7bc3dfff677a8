#include "plots/labels.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "plots/drawing.h"
#include "plots/figure_options.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/sample_origin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {

using analysis::Measurement;
using output::MachineGroup;

namespace {

std::string period_text(const analysis::Period& period) {
  if (period.requested) return fmt::format("period {}", *period.requested);
  if (!period.effective || !std::isfinite(*period.effective)) return {};
  return fmt::format("period ~{:.0f}", *period.effective);
}

}  // namespace

Figure begin_figure(std::string_view title, const Machines& machines, const FigureOptions& options,
                    double width) {
  Figure figure{.paper = paper_of(options, width)};
  figure.title = options.title.empty() ? std::string(title) : options.title;
  add_mark(figure, output::title_mark(machines));
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const MachineGroup& machine = machines[i];
    const std::string name = machine_name(machines, i);
    std::string text =
        (name.empty() ? "" : name + ": ") + output::machine_text(machine.cpu, machine.kernel);
    for (const output::Source& source : machine.sources) {
      if (machine.sources.size() > 1) {
        text += fmt::format("; {}: {}", source.letter, source.name);
      } else if (machines.size() > 1) {
        text += "; " + source.name;
      }
    }
    figure.head.push_back(std::move(text));
  }
  return figure;
}

void add_mark(Figure& figure, std::string mark) {
  figure.title += mark;
  figure.mark = std::move(mark);
}

std::string machine_name(const Machines& machines, std::size_t machine) {
  return machines.size() == 1 ? "" : fmt::format("CPU {}", machine + 1);
}

std::string samples_text(const std::vector<const Measurement*>& runs, std::string_view separator) {
  std::uint64_t samples = 0;
  std::set<std::string> periods;
  for (const Measurement* run : runs) {
    samples += run->samples.read();
    periods.insert(period_text(run->period));
  }
  const std::string period = periods.size() == 1 ? *periods.begin() : "several periods";
  std::string text = analysis::counted(samples, "sample");
  if (!period.empty()) text.append(separator).append(period);
  return text;
}

std::string run_text(const Measurement& m) {
  return samples_text({&m}) + output::origin_word(output::origin_of(m));
}

std::string hits_text(const Measurement& m, std::uint64_t beyond) {
  return (m.hit_ratio.total > 0 ? "hits " + analysis::percent(m.hit_ratio.value)
                                : std::string("no judged sample")) +
         (beyond > 0 ? fmt::format(", {} beyond", beyond) : "");
}

void add_class_keys(Figure& figure, const analysis::Breakdown& all, std::size_t classes) {
  for (std::size_t i = 0; i < classes; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    if (all[sample_class] == 0) continue;
    figure.keys.push_back({fmt::format("with boxes lc rgb class[{}]", i + 1),
                           std::string(analysis::describe(sample_class))});
  }
}

}  // namespace skid::plots
