// The length of a target's run and the report of it as JSON: in notes, reports and run.json.
#pragma once

#include "runway/specification.h"
#include "src/support/field_reader.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/json_value.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include <nlohmann/json.hpp>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::runway {
struct TargetReport;
}  // namespace skid::runway

namespace skid {

SKID_FIELDS(AddressRange, begin, end)

/// With bounds that no machine comes near, to keep nonsense out of later arithmetic.
void fields(auto& io, Of<runway::TargetReport> auto& value) {
  constexpr int kMostCpus = 8192;  // the most that Linux can be built for
  io("iterations", value.iterations);
  io("elapsed_seconds", value.elapsed_seconds, {.most = 1e10});
  io("ticks_per_nop", value.ticks_per_nop, {.most = 1e9});
  io("ticks_per_second", value.ticks_per_second, {.most = 1e12});
  io("cpu", value.cpu, {.least = -1, .most = kMostCpus - 1});  // -1: not pinned
  SKID_MEMBERS(chase, warnings)
}

inline void fields(FieldWriter& io, const runway::RunLength& length) {
  if (const auto* duration = std::get_if<std::chrono::nanoseconds>(&length)) {
    io("nanoseconds", duration->count());
  } else {
    io("iterations", std::get<std::uint64_t>(length));
  }
}

inline void fields(FieldReader& io, runway::RunLength& length) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto iterations = io.object().find("iterations");
  const auto duration = io.object().find("nanoseconds");
  if (iterations.has_value() == duration.has_value()) {
    io.object().refuse(iterations ? "both lengths" : "neither length",
                       "one of \"iterations\" and \"nanoseconds\"");
  }
  if (iterations) {
    length = iterations->unsigned_integer(kMost);
  } else {
    length = std::chrono::nanoseconds(duration->integer64(0, kMost));
  }
}

}  // namespace skid
