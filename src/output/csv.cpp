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
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", csv_field(m.run), csv_field(m.file),
                     csv_field(m.cpu.model_name), csv_field(m.kernel), csv_field(m.event.label),
                     csv_field(m.event.requested.value_or("")), csv_field(m.event.recorded),
                     csv_field(m.precise.requested), m.precise.recorded, m.repeat, m.synthetic);
}

}  // namespace skid::output
