#include "src/measure/run_comparison.h"

#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/recording_path.h"
#include "src/machine/configuration.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace skid::measure {
namespace {

using analysis::Measurement;
using Match = Compared::Match;

constexpr const char* kRecordingPath = "recording path";

Compared compare(std::string what, std::string profile, std::string run) {
  Match match = profile == run ? Match::same : Match::differs;
  if (profile.empty() || run.empty()) match = Match::unknown;
  return {std::move(what), std::move(profile), std::move(run), match};
}

std::string modes_of(const analysis::EventIdentity& event) {
  const auto excludes = [&](std::string_view mode) {
    return std::ranges::find(event.excluded, mode) != event.excluded.end();
  };
  if (excludes("kernel") == excludes("user")) return "user and kernel";
  return excludes("kernel") ? "user" : "kernel";
}

/// Frequencies, whatever they are, take one path.
Compared compare_paths(const RecordedEvent& event, const Measurement& run) {
  const auto path = recording_path(event);
  Compared compared =
      compare(kRecordingPath, describe(path), run.path ? describe(*run.path) : std::string());
  const auto kind = [](const analysis::RecordingPath& one) {
    return std::tuple(one.frequency.has_value(), one.call_graph, one.branch_stack, one.batched);
  };
  if (run.path && kind(path) == kind(*run.path)) compared.match = Match::same;
  return compared;
}

}  // namespace

bool measures(const Measurement& run, const perfdata::Attribute& attribute) {
  const auto& identity = run.event;
  return identity.type == attribute.type && identity.config == attribute.config &&
         identity.config1 == attribute.config1 && identity.config2 == attribute.config2 &&
         run.precise.recorded == static_cast<int>(attribute.precise_ip);
}

std::vector<Compared> compare_with_run(const RecordedEvent& event, const Measurement& run) {
  const machine::CpuIdentity& cpu = event.machine.cpu;
  const auto made = [](bool synthetic, bool emulated) {
    return synthetic ? "synthetic" : emulated ? "emulated" : "recorded";
  };
  std::vector<Compared> all{compare("samples", made(event.synthetic, cpu.emulated()),
                                    made(run.synthetic, run.cpu.emulated()))};
  const auto of_profile = machine::configuration_of(cpu, event.machine.kernel, event.of_run);
  const auto of_run = machine::configuration_of(run.cpu, run.kernel, !run.run.empty());
  for (std::size_t i = 0; i < of_run.size(); ++i) {
    all.push_back(compare(of_profile[i].name, of_profile[i].value, of_run[i].value));
  }
  all.push_back(compare(kCountedModes, modes_of(event.identity), modes_of(run.event)));
  all.push_back(compare_paths(event, run));
  return all;
}

std::vector<std::string> differing_from_run(std::span<const Compared> compared) {
  std::vector<std::string> differing;
  for (const Compared& one : compared) {
    if (one.what == kRecordingPath) continue;
    const bool may_be_unknown = one.what == "microcode" || one.what == "hypervisor";
    if (one.match == Match::differs || (one.match == Match::unknown && !may_be_unknown)) {
      differing.push_back(one.what);
    }
  }
  return differing;
}

}  // namespace skid::measure
