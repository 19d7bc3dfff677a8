// Outputs as tests read them: members of lists, lines, and records of CSV.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace skid::test {

/// The bytes of a text, which must outlive them.
inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A member of each element, or what a function makes of it.
template <typename Range, typename Projection>
auto mapped(const Range& range, Projection projection) {
  std::vector<std::decay_t<std::invoke_result_t<Projection, decltype(*std::begin(range))>>> all;
  for (const auto& element : range) all.push_back(std::invoke(projection, element));
  return all;
}

/// What white space separates.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Without ANSI colour sequences.
inline std::string without_color(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The fields of a record that is one line, written from RFC 4180.
inline std::vector<std::string> fields_of(const std::string& line, char separator = ',') {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

/// The records of a CSV file by the names of its columns. Throws std::out_of_range where a record
/// has more or fewer fields than the header.
inline std::vector<std::map<std::string, std::string>> records_of(const std::string& csv) {
  const auto lines = lines_of(csv);
  const auto names = fields_of(lines.at(0));
  std::vector<std::map<std::string, std::string>> records;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto fields = fields_of(lines[i]);
    if (fields.size() != names.size()) throw std::out_of_range("fields of: " + lines[i]);
    records.emplace_back();
    for (std::size_t k = 0; k < names.size(); ++k) records.back()[names[k]] = fields[k];
  }
  return records;
}

}  // namespace skid::test
