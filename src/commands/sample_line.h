// One line of `samples`: its columns and their values.
#pragma once

#include "src/commands/trace_column.h"
#include "src/locate/symbolizer.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commands {

enum class Column {
  time,
  pid,
  tid,
  cpu,
  attr,
  event,
  period,
  addr,
  mode,
  exact,
  ip,
  sym,
  symoff,
  dso,
  trace
};

struct ColumnName {
  Column column;
  std::string_view name;
  bool is_bare;  ///< as it is in JSON lines; 64-bit addresses are strings there
};
/// The columns of these names. Throws UsageError for a name that is none.
std::vector<ColumnName> chosen_columns(const std::vector<std::string>& names);

bool needs(const std::vector<ColumnName>& columns, Column wanted);
/// Whether a column needs the location of the sample in a file.
bool needs_places(const std::vector<ColumnName>& columns);

/// Everything a line is made from, gathered lazily: a place is looked up only for its columns.
class SampleLine {
 public:
  SampleLine(const perfdata::Recording& recording, locate::Symbolizer& symbolizer,
             const symbols::AddressSpaces& spaces, TraceColumn& trace)
      : recording_(recording), symbolizer_(symbolizer), spaces_(spaces), trace_(trace) {}

  void begin(const perfdata::Sample& sample, std::optional<symbols::FileLocation> location,
             std::span<const std::byte> raw) {
    sample_ = &sample;
    location_ = location;
    raw_ = raw;
  }

  /// The payload of a tracepoint as a JSON value.
  std::string trace_json() const {
    return trace_.json(recording_.attributes()[sample_->attribute], raw_);
  }

  /// Appends the value of a column, without escaping.
  void append(Column column, std::string& text) const;

 private:
  const locate::Symbol& symbol() const;
  std::string dso() const;

  const perfdata::Recording& recording_;
  locate::Symbolizer& symbolizer_;
  const symbols::AddressSpaces& spaces_;
  TraceColumn& trace_;
  const perfdata::Sample* sample_ = nullptr;
  std::optional<symbols::FileLocation> location_;
  std::span<const std::byte> raw_;
};

/// Tab-separated values, escaped.
void write_tsv(const SampleLine& line, const std::vector<ColumnName>& columns, std::string& text);

/// A JSON object.
void write_json_line(const SampleLine& line, const std::vector<ColumnName>& columns,
                     std::string& text);

}  // namespace skid::commands
