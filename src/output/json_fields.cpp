#include "src/output/json_fields.h"

#include "src/support/json_text.h"

#include <fmt/format.h>

namespace skid::output {

Json text_or_null(std::string_view text) {
  return text.empty() ? Json() : Json(text);
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

Json cpu_json(const analysis::Cpu& cpu) {
  return {{"vendor", text_or_null(cpu.vendor)},
          {"model_name", text_or_null(cpu.model_name)},
          {"family", cpu.family},
          {"model", cpu.model},
          {"stepping", cpu.stepping},
          {"microcode", text_or_null(cpu.microcode)},
          {"arch", text_or_null(cpu.arch)},
          {"hypervisor", cpu.hypervisor},
          {"emulated", cpu.emulated()}};
}

std::string document_text(const Json& document) {
  return json_text(document, 2) + '\n';
}

}  // namespace skid::output
