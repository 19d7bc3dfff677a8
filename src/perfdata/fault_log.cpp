#include "src/perfdata/fault_log.h"

#include <algorithm>
#include <utility>

namespace skid::perfdata {

void FaultLog::add(InputFault fault) {
  any_ = true;
  if (is_full()) return;
  // Identified by offset and finding: the file may have changed since.
  const auto is_known = [&fault](const InputFault& known) {
    return known.offset == fault.offset && known.found == fault.found && known.file == fault.file;
  };
  if (is_again_ && std::any_of(faults_.begin(), faults_.end(), is_known)) return;
  faults_.push_back(std::move(fault));
}

void FaultLog::add(const std::filesystem::path& file, std::uint64_t offset, std::string found,
                   std::string allowed, std::string remedy) {
  add({file.string(), offset, std::move(found), std::move(allowed), std::move(remedy)});
}

}  // namespace skid::perfdata
