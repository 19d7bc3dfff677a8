#include "src/output/csv.h"

#include "src/output/escape.h"

namespace skid::output {

std::string csv_field(std::string_view text) {
  std::string escaped = escape_for_terminal(text);
  if (escaped.find_first_of(",\"") == std::string::npos) return escaped;
  std::string quoted = "\"";
  for (const char character : escaped) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::string identity_fields(const analysis::Measurement& m) {
  return csv_fields(m.run, m.file, m.cpu.model_name, m.kernel, m.event.label,
                    m.event.requested.value_or(""), m.event.recorded, m.precise.requested,
                    m.precise.recorded, m.repeat, m.synthetic, m.cpu.emulated());
}

}  // namespace skid::output
