#include "src/audit/sampled_file.h"

#include "runway/target.h"
#include "src/locate/mapping_name.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <string>
#include <string_view>

namespace skid::audit {

using analysis::NotJudged;

std::optional<AddressRange> loop_of(const std::filesystem::path& file) {
  try {
    const auto target = runway::read_target(file);
    return target ? std::optional(target->description.layout.loop) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;  // "[vdso]"
  }
}

NotJudged reason_of_file(const symbols::MappedFile& file, const locate::ModuleStore::Found& found) {
  if (found.module != nullptr) {
    return found.module->has_code() ? NotJudged::none : NotJudged::no_code;
  }
  if (found.problem == locate::ModuleStore::Problem::refused) return NotJudged::refused;
  const bool has_none = locate::is_pseudo_file(file.path) && file.build_id.empty();
  return has_none && file.path != locate::kVdsoName ? NotJudged::anonymous : NotJudged::no_file;
}

}  // namespace skid::audit
