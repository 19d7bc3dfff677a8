#include "src/output/json_fields.h"

#include <cmath>

#include <fmt/format.h>

namespace skid::output {

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json finite_or_null(const std::optional<double>& value) {
  return value ? finite_or_null(*value) : Json();
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

Json cpu_json(const analysis::Cpu& cpu) {
  return {{"vendor", text_or_null(cpu.vendor)},      {"model_name", text_or_null(cpu.model_name)},
          {"family", value_or_null(cpu.family)},     {"model", value_or_null(cpu.model)},
          {"stepping", value_or_null(cpu.stepping)}, {"microcode", text_or_null(cpu.microcode)},
          {"arch", text_or_null(cpu.arch)},          {"hypervisor", value_or_null(cpu.hypervisor)}};
}

}  // namespace skid::output
