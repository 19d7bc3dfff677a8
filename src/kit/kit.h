// A kit: what is to be recorded on a machine that has perf and a shell and nothing else.
#pragma once

#include "runway/target.h"
#include "src/run/run.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::kit {

/// The directory that everything in a tar of a kit is in.
inline constexpr const char* kTopDirectory = "skidscan-kit";
inline constexpr const char* kScriptName = "run.sh";

struct Kit {
  Arch arch = Arch::x86_64;
  run::Run plan;                        ///< every measurement pending, the machine unknown
  std::vector<runway::Target> targets;  ///< the built targets of the plan
  std::optional<int> cpu;               ///< to pin to; nullopt: chosen by run.sh
  std::vector<std::string> pmus;        ///< named by events; the CPU must belong to all of them
};

struct File {
  std::string name;
  std::string content;
  bool executable = false;
};

/// The files of a kit: plan, script, targets, README and, with `slurm`, submit.sh. Throws
/// UsageError for events with control characters, InputError when a target cannot be read.
std::vector<File> files_of(const Kit& kit, bool slurm = false);

/// The PMUs that events name, "cpu_core" of "cpu_core/cycles/u", each once.
std::vector<std::string> named_pmus(const run::Run& plan);

}  // namespace skid::kit
