#include "plots/figure_text.h"

#include "analysis/wording.h"
#include "plots/canvas.h"
#include "plots/characters.h"
#include "src/output/escape.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace skid::plots {

using analysis::Measurement;
using output::MachineGroup;

std::string machine_text(const MachineGroup& machine, bool of_several) {
  std::string text = output::cpu_name(machine.cpu);
  if (of_several && !machine.cpu.microcode.empty()) text += ", microcode " + machine.cpu.microcode;
  if (machine.cpu.hypervisor) text += ", under " + *machine.cpu.hypervisor;
  if (!machine.kernel.empty()) text += ", Linux " + machine.kernel;
  // The letters that the levels' labels carry.
  if (machine.sources.size() > 1) {
    for (const output::Source& source : machine.sources) {
      text += fmt::format("; {}: {}", source.letter, source.name);
    }
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text, int room, int points, std::size_t most) {
  const auto width = static_cast<std::size_t>(std::max(1.0, room / text_width(1, points)));
  std::vector<std::string> lines = output::wrap(drawable(text, Fonts::of_viewers), width);
  if (lines.empty()) lines.emplace_back();
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() = output::shorten(lines.back(), width - 2) + " …";
  }
  return lines;
}

std::string samples_text(const Measurement& m) {
  std::string text = analysis::counted(m.samples.read(), "sample");
  if (m.period.requested) {
    text += fmt::format(", period {}", *m.period.requested);
  } else if (m.period.effective && std::isfinite(*m.period.effective)) {
    text += fmt::format(", period ~{:.0f}", *m.period.effective);
  }
  return text;
}

std::string title_of(std::string_view what, const std::vector<MachineGroup>& machines) {
  bool synthetic = false;
  for (const MachineGroup& machine : machines) {
    for (const output::EventGroup& event : machine.events) {
      for (const output::Column& column : event.columns) {
        synthetic |= column.measurement->synthetic;
      }
    }
  }
  return std::string(what) + (synthetic ? " (SYNTHETIC)" : "");
}

}  // namespace skid::plots
