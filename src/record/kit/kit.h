// A kit: everything to record on a machine that has only perf and a shell.
#pragma once

#include "runway/target.h"
#include "src/run/run.h"
#include "src/support/address.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::kit {

/// The directory that holds all files in the tar of a kit.
inline constexpr const char* kTopDirectory = "skidscan-kit";
inline constexpr const char* kScriptName = "run.sh";

/// The content of a kit.
struct Kit {
  Arch arch = Arch::x86_64;
  run::Run plan;                        ///< every measurement pending, the machine unknown
  std::vector<runway::Target> targets;  ///< the built targets of the plan
  std::optional<int> cpu;               ///< CPU to pin to; nullopt: chosen by run.sh
  std::vector<std::string> pmus;        ///< PMUs that events name; the CPU must belong to all
};

/// A file of a kit.
struct File {
  std::string name;
  std::string content;
  bool executable = false;
};

/// Lists the files of a kit: plan, script, targets, README and, with `slurm`, submit.sh. Throws
/// UsageError for events with control characters, InputError when a target cannot be read.
std::vector<File> files_of(const Kit& kit, bool slurm = false);

/// Lists the PMUs that events name, "cpu_core" of "cpu_core/cycles/u", each once.
std::vector<std::string> named_pmus(const run::Run& plan);

/// Writes the files in one directory `top`, as a tar (ustar of POSIX.1-1988, which every tar
/// reads). The same files give the same bytes: owner 0, modification time 0. Throws Error for a
/// name of more than 100 bytes.
std::string tar_of(const std::vector<File>& files, std::string_view top);

/// Whether `path` is a directory with a kit that has recorded nothing there.
bool is_kit(const std::filesystem::path& path);

/// Creates the directory with the files in it. An existing one is an error; with `force` a kit that
/// has recorded nothing or an empty directory is replaced. Throws Error.
void write_directory(const std::vector<File>& files, const std::filesystem::path& path, bool force);

/// Returns the text of src/record/kit/run.sh.
std::string_view run_template();
/// Returns the text of src/record/kit/submit.sh.
std::string_view submit_script();

/// Writes the script of a kit. Throws UsageError when the name of an event has a control character.
std::string script_of(const Kit& kit);

/// Writes the line of one measurement, `name` for progress messages. `target` is the file name of
/// its target.
std::string measurement_line(const run::PlannedMeasurement& measurement, std::string_view name,
                             const std::string& target);

}  // namespace skid::kit
