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
inline constexpr const char* kReadmeName = "README.txt";

struct Kit {
  Arch arch = Arch::x86_64;
  run::Run plan;                        ///< all of it pending, on no machine yet
  std::vector<runway::Target> targets;  ///< those of the plan, built
  std::optional<int> cpu;               ///< to pin to; nullopt: chosen where it runs
  std::vector<std::string> pmus;        ///< that events name, whose CPUs it has to be one of
};

struct File {
  std::string name;
  std::string content;
  bool executable = false;
};

/// Everything that a kit consists of: plan, script, targets, a text for people. Throws UsageError
/// for a plan that no script can carry out, InputError when a target cannot be read.
std::vector<File> files_of(const Kit& kit);

/// The PMUs that events name, "cpu_core" of "cpu_core/cycles/u", each once.
std::vector<std::string> named_pmus(const run::Run& plan);

}  // namespace skid::kit
