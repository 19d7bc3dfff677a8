// Measurements grouped by machine, event and precise level, and the origin of samples, which every
// output states unless it was a CPU.
#pragma once

#include "analysis/measurement.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::output {

struct Page;

enum class SampleOrigin {
  cpu,
  emulator,  ///< QEMU, by the CPU's name
  model,     ///< of skidscan synth
};
inline constexpr std::array kOtherOrigins{SampleOrigin::emulator, SampleOrigin::model};

inline SampleOrigin origin_of(bool synthetic, const analysis::Cpu& cpu) {
  if (synthetic) return SampleOrigin::model;
  return cpu.emulated() ? SampleOrigin::emulator : SampleOrigin::cpu;
}

/// The same of a measurement, an audit, a correction or a side of a comparison.
SampleOrigin origin_of(const auto& of) {
  return origin_of(of.synthetic, of.cpu);
}

/// Whether any of `things` is from `origin`.
bool any_of_origin(SampleOrigin origin, const auto& things) {
  for (const auto& thing : things) {
    if (origin_of(thing) == origin) return true;
  }
  return false;
}

/// " (SYNTHETIC)" or the like, for a title; empty if a CPU took the samples of all `things`.
std::string title_mark(const auto& things) {
  std::string mark;
  if (any_of_origin(SampleOrigin::emulator, things)) mark += " (EMULATED)";
  if (any_of_origin(SampleOrigin::model, things)) mark += " (SYNTHETIC)";
  return mark;
}

/// ", synthetic" or the like, for the end of a list; empty for a CPU.
inline std::string_view origin_word(SampleOrigin origin) {
  if (origin == SampleOrigin::cpu) return "";
  return origin == SampleOrigin::emulator ? ", emulated" : ", synthetic";
}

/// "SYNTHETIC", and what that means, as a field of a text; empty for a CPU. `of`: which samples;
/// may be empty.
std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of = {});

/// The fields of all origins that `things` have.
std::string origin_fields(const Page& page, const auto& things) {
  std::string text;
  for (const SampleOrigin origin : kOtherOrigins) {
    if (any_of_origin(origin, things)) text += origin_field(page, origin);
  }
  return text;
}

/// One measurement as a column of a table or a panel of a figure. The measurement is not owned.
struct Column {
  const analysis::Measurement* measurement = nullptr;
  int level = 0;      ///< as requested; as recorded if no level was requested
  std::string label;  ///< "pp", "pp b" with several sources, "pp #2" with repeats
};

struct EventGroup {
  std::string event;            ///< label of the event, not escaped
  std::vector<Column> columns;  ///< by level, then source, then repeat
};

/// A run directory or a bare recording.
struct Source {
  std::string letter;  ///< "a", "b", …
  std::string name;    ///< as given, not escaped
  bool is_run = false;
};

struct MachineGroup {
  analysis::Cpu cpu;
  std::string kernel;
  bool synthetic = false;          ///< any of its measurements
  std::vector<Source> sources;     ///< in order of first appearance
  std::vector<EventGroup> events;  ///< in order of first appearance
  /// Of group_sampled(): measurements without a sample. They have no row and no panel; what is said
  /// of them names them.
  std::vector<EventGroup> unsampled = {};
};

/// The result points into `measurements`, which must outlive it.
std::vector<MachineGroup> group(const std::vector<analysis::Measurement>& measurements);

/// Like group(), but measurements without a sample are in MachineGroup::unsampled.
std::vector<MachineGroup> group_sampled(const std::vector<analysis::Measurement>& measurements);

/// The name of a source or side by its number: a … z, then aa, ab, …
std::string letter_of(std::size_t index);

using machine::level_name;

/// "Intel(R) Xeon(R) …", or the best that is known: "Arm Neoverse N1", the vendor, "unknown CPU".
/// Escaped.
std::string cpu_name(const analysis::Cpu& cpu);

/// "Intel(R) Xeon(R) … (6-55-4), microcode 0x1, under KVM, Linux 6.1". Escaped.
std::string machine_text(const analysis::Cpu& cpu, std::string_view kernel);
/// The same of a group, an audit or a side of a comparison.
std::string machine_text(const auto& of) {
  return machine_text(of.cpu, of.kernel);
}

}  // namespace skid::output
