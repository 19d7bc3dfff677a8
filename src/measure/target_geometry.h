// Where trigger and runway lie in a recording: from a target's own note, or from function names.
#pragma once

#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/measure/measure.h"
#include "src/symbols/module.h"

#include <optional>
#include <string>
#include <vector>

namespace skid::measure {

struct TargetGeometry {
  std::vector<bool> is_target;  ///< by symbols::FileIndex: mappings of the target's file
  const symbols::Module* module = nullptr;  ///< owned by the ModuleStore
  analysis::TargetMap map;
  analysis::Trigger trigger;
  std::optional<runway::TargetDescription> description;  ///< nullopt for functions
};

/// Lets the targets in the run directory of `source` stand in for those that were mapped.
void add_targets(const Source& source, locate::ModuleStore& modules);

/// The generated target among the sampled files, told by its note. Where no file has a sample in
/// user mode, the one that the recording ran by the word of its run: what was to be expected is
/// known then, though nothing of it came. nullopt when there is none, or the run's cannot be opened
/// or has another build-id; a note that cannot be read is added to `remarks`.
std::optional<TargetGeometry> find_recorded_target(const Source& source,
                                                   const locate::Digest& digest,
                                                   locate::ModuleStore& modules,
                                                   std::vector<std::string>& remarks);

/// The sampled file that has both functions. Throws Error when none or several have, or a name
/// stands for several functions there; the message says where they were looked for.
TargetGeometry find_functions(const locate::Digest& digest, locate::ModuleStore& modules,
                              const std::string& hit, const std::string& runway);

}  // namespace skid::measure
