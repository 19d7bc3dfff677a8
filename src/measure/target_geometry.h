// Where trigger and runway are in a recorded target: by its own note, or by names of functions.
#pragma once

#include "analysis/classified.h"
#include "analysis/description.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/measure/event_knowledge.h"
#include "src/symbols/file_location.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

struct DeclaredData;
}  // namespace skid::analysis

namespace skid::runway {
struct TargetReport;
}  // namespace skid::runway

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::measure {

struct Profile;

/// The trigger and runway of a target, by address, and the file that contains them.
struct TargetGeometry {
  /// Indices of the mappings of the target's file, ascending; may be empty.
  std::vector<symbols::FileIndex> mappings;
  const symbols::Module* module = nullptr;  ///< owned by the ModuleStore
  analysis::TargetMap map;
  analysis::Trigger trigger;
  std::optional<runway::TargetDescription> description;  ///< nullopt for functions
  LoopCategories categories = {};

  bool is_mapped_by(symbols::FileIndex file) const {
    return std::ranges::binary_search(mappings, file);
  }
  /// Classifies a sample of the target as the sample breakdown does; nullopt: elsewhere.
  /// `location` is in user mode.
  std::optional<analysis::Classified> classify(const std::optional<symbols::FileLocation>& location,
                                               analysis::Landing landing) const;
};

/// Lists the data that the triggers of a target access, by its note and, for a pointer chase, the
/// report of its run; `report` is null if unknown. Empty if the data are unknown or none exist.
std::vector<analysis::DeclaredData> declared_data(const runway::TargetDescription& target,
                                                  const runway::TargetReport* report);

/// Finds the generated target among the sampled files by its note. If no file has a sample in user
/// mode, the run names the target, so that the expected samples are known without any. Returns
/// nullopt if there is no target, or the run's cannot be opened or has another build-id. A note
/// that cannot be read is added to `remarks`.
std::optional<TargetGeometry> find_recorded_target(const Profile& profile,
                                                   std::vector<std::string>& remarks);

/// Finds the sampled file that has both functions. Throws Error if none or several have, or if a
/// name is ambiguous; the message lists the searched files.
TargetGeometry find_functions(const Profile& profile, const std::string& hit,
                              const std::string& runway);

}  // namespace skid::measure
