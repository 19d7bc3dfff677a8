// The column `trace` of `samples`: payloads of tracepoints.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/tracepoint.h"

#include <cstddef>
#include <span>
#include <string>

namespace skid::commands {

class TraceColumn {
 public:
  TraceColumn() = default;
  explicit TraceColumn(const perfdata::Features& features)
      : tracepoints_(perfdata::Tracepoints::parse(features.tracing_data, problem_)) {}

  /// What is wrong with the recording's formats; empty when nothing is.
  const std::string& problem() const noexcept { return problem_; }

  /// As perf script -F trace prints it, unescaped; empty for what is no tracepoint.
  std::string text(const perfdata::Attribute& attribute, std::span<const std::byte> raw);

  /// An object of the payload's fields, a string that says why there are none, or null for what is
  /// no tracepoint. Numbers beyond 2^53, which many readers of JSON round, are strings.
  std::string json(const perfdata::Attribute& attribute, std::span<const std::byte> raw) const;

 private:
  std::string problem_;  // before what fills it
  perfdata::Tracepoints tracepoints_;
};

}  // namespace skid::commands
