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

std::string document_text(std::string_view schema, const Json& keys) {
  Json document{{"schema", schema}, {"tool_version", SKIDSCAN_VERSION}};
  document.update(keys);
  return json_text(document, 2) + '\n';
}

Json json_of_delay(const std::optional<analysis::Delay>& delay,
                   const analysis::SamplePairs& pairs) {
  if (!delay) return nullptr;
  return {{"low", delay->low},
          {"high", delay->high},
          {"p5", delay->p5},
          {"p50", delay->p50},
          {"p95", delay->p95},
          {"predicted", delay->predicted},
          {"independent", delay->independent},
          {"pairs", pairs.pairs()},
          {"left_out", pairs.left_out}};
}

}  // namespace skid::output
