// Tables of offsets as comma-separated values (RFC 4180, but a quoted field ends with its line).
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/synth/offsets.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::synth {
namespace {

constexpr std::uint64_t kLargestTable = std::uint64_t{64} << 20;
/// Samples of a table, so that sums of several cannot overflow.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 48;
constexpr std::size_t kMostRows = std::size_t{1} << 20;
constexpr std::size_t kShown = 40;  // characters of a field in a message

[[noreturn]] void throw_refusal(const std::string& file, std::string found, std::string expected) {
  throw InputError({.file = file, .found = std::move(found), .expected = std::move(expected)});
}

/// A line of the table, for messages about it.
struct Place {
  const std::string& file;
  std::size_t line;

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw_refusal(file, fmt::format("{} in line {}", found, line), expected);
  }
};

std::vector<std::string> fields_of(std::string_view line, const Place& place) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  char previous = 0;
  for (const char c : line) {
    if (c == '"') {
      if (!quoted && previous == '"') fields.back() += '"';  // a doubled one
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
    previous = c;
  }
  if (quoted) place.refuse("a quotation mark that is not closed", "closed ones");
  return fields;
}

template <typename Integer>
Integer number(const std::string& field, std::string_view column, const Place& place, Integer least,
               Integer most) {
  const auto value = whole_number<Integer>(field);
  if (!value || *value < least || *value > most) {
    place.refuse(fmt::format("'{}' as {}", field.substr(0, kShown), column),
                 fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

/// The meaning of the columns of a table.
struct Columns {
  std::size_t fields = 0;
  std::size_t count = 0;
  std::optional<std::size_t> offset;
  std::size_t bin_lo = 0, bin_hi = 0;  ///< where there is no offset
  std::vector<std::pair<std::size_t, std::string>> wanted;
};

Columns columns_of(const std::vector<std::string>& header,
                   const std::map<std::string, std::string>& where, const Place& place) {
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
  };
  const auto need = [&](std::string_view name) {
    const auto found = find(name);
    if (!found) {
      place.refuse(fmt::format("no column '{}'", name),
                   "a header with the columns count and either offset or bin_lo and bin_hi");
    }
    return *found;
  };
  Columns columns;
  columns.fields = header.size();
  columns.count = need("count");
  columns.offset = find("offset");
  if (!columns.offset) {
    columns.bin_lo = need("bin_lo");
    columns.bin_hi = need("bin_hi");
  }
  for (const auto& [name, value] : where) {
    const auto found = find(name);
    if (!found) {
      place.refuse(fmt::format("no column '{}', which \"where\" names", name), "one of the header");
    }
    columns.wanted.emplace_back(*found, value);
  }
  return columns;
}

Empirical::Row row_of(const std::vector<std::string>& fields, const Columns& columns,
                      const Place& place) {
  constexpr std::int64_t kLeast = -kFurthestOffset, kMost = kFurthestOffset;
  Empirical::Row row;
  row.count = number<std::uint64_t>(fields[columns.count], "count", place, 0, kMostCounted);
  if (columns.offset) {
    row.lowest = number<std::int64_t>(fields[*columns.offset], "offset", place, kLeast, kMost);
    row.highest = row.lowest;
    return row;
  }
  row.lowest = number<std::int64_t>(fields[columns.bin_lo], "bin_lo", place, kLeast, kMost);
  row.highest =
      number<std::int64_t>(fields[columns.bin_hi], "bin_hi", place, row.lowest + 1, kMost + 1) - 1;
  return row;
}

}  // namespace

Empirical parse_offset_table(std::string_view text, const std::string& name,
                             const std::map<std::string, std::string>& where) {
  Empirical table;
  std::optional<Columns> columns;
  std::uint64_t total = 0;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = take_until('\n', text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const Place place{name, line_number};
    const std::vector<std::string> fields = fields_of(line, place);
    if (!columns) {
      columns = columns_of(fields, where, place);
      continue;
    }
    if (fields.size() != columns->fields) {
      place.refuse(fmt::format("{} fields", fields.size()),
                   fmt::format("{}, as in the header", columns->fields));
    }
    const bool wanted =
        std::all_of(columns->wanted.begin(), columns->wanted.end(),
                    [&](const auto& entry) { return fields[entry.first] == entry.second; });
    if (!wanted) continue;
    const Empirical::Row row = row_of(fields, *columns, place);
    total += row.count;
    if (total > kMostCounted) {
      place.refuse("more samples in all", fmt::format("at most {}", kMostCounted));
    }
    if (row.count > 0) table.rows.push_back(row);
    if (table.rows.size() > kMostRows) {
      place.refuse("more rows", fmt::format("at most {}", kMostRows));
    }
  }
  if (table.span() > kWidestTable) {
    throw_refusal(name, fmt::format("bins of {} offsets in all", table.span()),
                  fmt::format("at most {}", kWidestTable));
  }
  if (total == 0) {
    throw_refusal(name, columns ? "no row that counts any sample" : "no header line",
                  "a table of at least one sample");
  }
  return table;
}

Empirical read_offset_table(const std::filesystem::path& path,
                            const std::map<std::string, std::string>& where) {
  return parse_offset_table(read_file(path, kLargestTable), path.string(), where);
}

}  // namespace skid::synth
