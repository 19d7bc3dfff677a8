// One line of `samples`: its columns and their values.
#pragma once

#include "src/locate/symbolizer.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/tracepoint.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commands {

/// The column `trace`: payloads of tracepoints.
class TraceColumn {
 public:
  TraceColumn() = default;
  explicit TraceColumn(const perfdata::Features& features)
      : tracepoints_(perfdata::Tracepoints::parse(features.tracing_data, problem_)) {}

  /// Why the recording's formats cannot be read; empty when they can.
  const std::string& problem() const noexcept { return problem_; }

  /// "field=value field=value", unescaped; empty for an event that is no tracepoint.
  std::string text(const perfdata::Attribute& attribute, std::span<const std::byte> raw) const;

  /// An object of the payload's fields, a string with the reason why there are none, or null for an
  /// event that is no tracepoint. Numbers beyond 2^53, which many readers of JSON round, are
  /// strings.
  std::string json(const perfdata::Attribute& attribute, std::span<const std::byte> raw) const;

 private:
  std::string problem_;  // before what fills it
  perfdata::Tracepoints tracepoints_;
};

/// A sample and what its columns are made from. A place is looked up only for its columns.
struct SampleLine {
  const perfdata::Recording& recording;
  locate::Symbolizer& symbolizer;
  const symbols::AddressSpaces& spaces;
  const TraceColumn& trace;
  const perfdata::Sample* sample = nullptr;
  std::optional<symbols::FileLocation> location = {};  ///< nullopt also where no column needs it
  std::span<const std::byte> raw = {};                 ///< the payload of a tracepoint

  const perfdata::Attribute& attribute() const { return recording.attributes()[sample->attribute]; }
};

/// What a column needs besides the sample: its location in a file, or its payload.
enum class Needs { nothing, place, payload };

struct Column {
  std::string_view name;
  bool is_bare;  ///< as it is in JSON lines; 64-bit addresses are strings there
  Needs needs;
  /// Appends the value, without escaping.
  void (*append)(const SampleLine& line, std::string& text);
};

/// The columns of these names. Throws UsageError for a name that is none.
std::vector<Column> chosen_columns(const std::vector<std::string>& names);

/// Whether any column does.
bool needs(const std::vector<Column>& columns, Needs what);

/// Tab-separated values, escaped.
void write_tsv(const SampleLine& line, const std::vector<Column>& columns, std::string& text);

/// A JSON object.
void write_json_line(const SampleLine& line, const std::vector<Column>& columns, std::string& text);

}  // namespace skid::commands
