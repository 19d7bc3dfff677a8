#include "plots/figure_text.h"

#include "analysis/wording.h"
#include "plots/canvas.h"
#include "plots/characters.h"
#include "src/output/escape.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include <fmt/format.h>

namespace skid::plots {

using analysis::Measurement;
using output::MachineGroup;

namespace {

std::string period_text(const analysis::Period& period) {
  if (period.requested) return fmt::format(", period {}", *period.requested);
  if (!period.effective || !std::isfinite(*period.effective)) return {};
  return fmt::format(", period ~{:.0f}", *period.effective);
}

}  // namespace

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

std::string machine_name(std::size_t machine) {
  return fmt::format("CPU {}", machine + 1);
}

std::vector<std::vector<std::string>> machine_lines(const std::vector<MachineGroup>& machines,
                                                    int room) {
  constexpr std::size_t kMostLines = 12;
  const bool one = machines.size() == 1;
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::string name = one ? "" : machine_name(i) + ": ";
    lines.push_back(lines_of(name + machine_text(machines[i], !one), room, 9, kMostLines));
  }
  return lines;
}

std::string samples_text(const Measurement& measurement) {
  return samples_text(std::vector<const Measurement*>{&measurement});
}

std::string samples_text(const std::vector<const Measurement*>& runs) {
  std::uint64_t samples = 0;
  std::set<std::string> periods;
  for (const Measurement* run : runs) {
    samples += run->samples.read();
    periods.insert(period_text(run->period));
  }
  return analysis::counted(samples, "sample") +
         (periods.size() == 1 ? *periods.begin() : ", several periods");
}

std::string title_of(std::string_view what, const std::vector<MachineGroup>& machines) {
  const bool synthetic = std::any_of(machines.begin(), machines.end(), output::is_synthetic);
  return std::string(what) + (synthetic ? " (SYNTHETIC)" : "");
}

}  // namespace skid::plots
