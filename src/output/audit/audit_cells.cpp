#include "src/output/audit/audit_cells.h"

#include "src/output/shown_names.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace skid::output {

std::string code_place(const std::string& function, std::uint64_t offset, std::uint64_t address,
                       const std::string& module) {
  const std::string place = function.empty()
                                ? fmt::format("{:#x}", address)
                                : fmt::format("{}+{:#x}", function_name(function), offset);
  return module.empty() ? place : fmt::format("{} ({})", place, file_name(module));
}

}  // namespace skid::output
