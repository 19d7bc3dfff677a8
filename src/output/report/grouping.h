// Measurements grouped by machine, event and precise level.
#pragma once

#include "analysis/measurement.h"
#include "src/machine/machine.h"
#include "src/output/sample_origin.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::output {

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
};

/// The result points into `measurements`, which must outlive it.
std::vector<MachineGroup> group(const std::vector<analysis::Measurement>& measurements);

/// The name of a source by its number: a … z, then aa, ab, …
std::string letters(std::size_t index);

using machine::level_name;

/// "Intel(R) Xeon(R) …", or the best that is known: "Arm Neoverse N1", the vendor, "unknown CPU".
/// Escaped.
std::string cpu_name(const analysis::Cpu& cpu);

/// "Intel(R) Xeon(R) … (6-85-4), microcode 0x1, under KVM, Linux 6.1". Escaped.
std::string machine_text(const analysis::Cpu& cpu, std::string_view kernel);

}  // namespace skid::output
