// A line of `skidscan samples`: which columns it has, and how it is printed.
#pragma once

#include "src/locate/symbolizer.h"
#include "src/perfdata/spe_record.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {
struct Sample;
}  // namespace skid::perfdata

namespace skid::commands {

/// A sample and what its columns are made from. Places and payloads are looked up only for columns
/// that need them; what was not looked up, or is not known, is empty.
struct SampleLine {
  const perfdata::Sample* sample = nullptr;
  std::string_view event = {};
  std::string_view recording = {};
  locate::Symbol symbol = {};
  std::string_view dso = {};
  std::string trace = {};  ///< as it is printed
  std::uint64_t weight = 0, data_source = 0, physical_address = 0;
  perfdata::SpeRecord spe = {};
  std::string memory = {};  ///< the data source in words
  std::string spe_operation = {}, spe_events = {};
  std::string branches = {}, interrupt_registers = {}, user_registers = {};  ///< as printed
};

/// What a column needs besides the sample.
enum class Needs { nothing, file, symbol, payload, details, data_source, branches, registers, spe };

struct Column {
  /// Buffer for the longest number.
  using Digits = std::array<char, 24>;

  std::string_view name;
  bool is_bare;  ///< printed as it is, in TSV and JSON: numbers, and what is escaped already
  Needs needs;
  /// Returns the value without escaping; numbers are in `digits`.
  std::string_view (*value)(const SampleLine& line, Digits& digits);
};

/// The columns of all lines.
class SampleColumns {
 public:
  /// `names`: at least one. Throws UsageError for a name that no column has.
  explicit SampleColumns(const std::vector<std::string>& names);

  /// Whether some column needs a part of samples.
  bool need(Needs part) const { return needed_[static_cast<std::size_t>(part)]; }

  /// Appends the names of the columns, separated by tabs.
  void write_header(std::string& text) const;
  /// Appends tab-separated values, escaped.
  void write_tsv(const SampleLine& line, std::string& text) const;
  /// Appends a JSON object.
  void write_json(const SampleLine& line, std::string& text) const;

 private:
  std::vector<Column> columns_;
  std::array<bool, static_cast<std::size_t>(Needs::spe) + 1> needed_{};
};

}  // namespace skid::commands
