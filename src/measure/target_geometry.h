// The addresses of trigger and runway in a recording: from a target's own note, or from function
// names.
#pragma once

#include "analysis/target_map.h"
#include "src/locate/digest.h"
#include "src/measure/measure.h"
#include "src/symbols/module.h"

namespace skid::measure {

struct TargetGeometry {
  std::vector<bool> is_target;  ///< by symbols::FileIndex: mappings of the target's file
  const symbols::Module* module = nullptr;  ///< owned by the ModuleStore
  analysis::TargetMap map;
  analysis::Trigger trigger;
  std::optional<runway::TargetDescription> description;  ///< nullopt for functions
  LoopCategories categories = {};

  /// Where samples are in the target, as the breakdown has it; nullopt: elsewhere. `location`: of
  /// user mode. `level`: precise_ip.
  std::optional<analysis::Classified> classify(const std::optional<symbols::FileLocation>& location,
                                               int level) const;
};

/// The data that the triggers of a target access, by its note and, for a pointer chase, its report.
/// `report`: of the run, null where unknown. Empty where that is not known or there is none.
std::vector<analysis::DeclaredData> declared_data(const runway::TargetDescription& target,
                                                  const runway::TargetReport* report);

/// Uses the targets in the run directory of `source` in place of the mapped ones.
void add_targets(const Source& source, locate::ModuleStore& modules);

/// The generated target among the sampled files, identified by its note. Where no file has a sample
/// in user mode, it is the one that the run names: then it is known what was to be expected, though
/// no sample came. nullopt when there is none, or the run's cannot be opened or has another
/// build-id. A note that cannot be read is added to `remarks`.
std::optional<TargetGeometry> find_recorded_target(const Source& source,
                                                   const locate::Digest& digest,
                                                   locate::ModuleStore& modules,
                                                   std::vector<std::string>& remarks);

/// The sampled file that has both functions. Throws Error if none or several have, or if a name is
/// ambiguous; the message lists the searched files.
TargetGeometry find_functions(const locate::Digest& digest, locate::ModuleStore& modules,
                              const std::string& hit, const std::string& runway);

}  // namespace skid::measure
