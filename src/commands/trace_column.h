// The column `trace` of `samples`: payloads of tracepoints.
#pragma once

#include "src/perfdata/features.h"
#include "src/perfdata/tracepoint.h"

#include <cstddef>
#include <span>
#include <string>

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::commands {

class TraceColumn {
 public:
  TraceColumn() = default;
  explicit TraceColumn(const perfdata::Features& features)
      : tracepoints_(perfdata::Tracepoints::parse(features.tracing_data, problem_)) {}

  /// Returns why the recording's formats cannot be read; empty: they can.
  const std::string& problem() const noexcept { return problem_; }

  /// Returns "field=value field=value", unescaped; empty for an event that is no tracepoint.
  std::string text(const perfdata::Attribute& attribute, std::span<const std::byte> raw) const;

  /// Returns an object of the payload's fields, a string with the reason why there are none, or
  /// null for an event that is no tracepoint. Numbers beyond 2^53, which many readers of JSON
  /// round, are strings.
  std::string json(const perfdata::Attribute& attribute, std::span<const std::byte> raw) const;

 private:
  std::string problem_;  // declared before tracepoints_, whose initializer sets it
  perfdata::Tracepoints tracepoints_;
};

}  // namespace skid::commands
