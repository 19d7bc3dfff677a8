// One line of `samples`: its columns and their values.
#pragma once

#include "src/locate/symbolizer.h"
#include "src/perfdata/features.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/tracepoint.h"

#include <array>
#include <cstddef>
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

/// A sample and what its columns are made from. Places and payloads are looked up only for columns
/// that need them; what was not looked up, or is not known, is empty.
struct SampleLine {
  const perfdata::Sample* sample = nullptr;
  std::string_view event = {};
  locate::Symbol symbol = {};
  std::string_view dso = {};
  std::string trace = {};  ///< as it is printed
};

/// What a column needs besides the sample.
enum class Needs { nothing, file, symbol, payload };

struct Column {
  /// Room for the longest number.
  using Digits = std::array<char, 24>;

  std::string_view name;
  bool is_bare;  ///< printed as it is, in TSV and JSON: numbers, and what is escaped already
  Needs needs;
  /// The value, without escaping; numbers are in `digits`.
  std::string_view (*value)(const SampleLine& line, Digits& digits);
};

/// The columns of these names. Throws UsageError for a name that is none.
std::vector<Column> chosen_columns(const std::vector<std::string>& names);

/// Whether any column does.
bool needs(const std::vector<Column>& columns, Needs what);

/// Appends tab-separated values of at least one column, escaped.
void write_tsv(const SampleLine& line, const std::vector<Column>& columns, std::string& text);

/// Appends a JSON object.
void write_json_line(const SampleLine& line, const std::vector<Column>& columns, std::string& text);

}  // namespace skid::commands
