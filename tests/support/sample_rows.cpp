#include "tests/support/sample_rows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::test {
namespace {

/// Removes the characters up to and including `end` from the start of `text`; nullopt without
/// `end`.
std::optional<std::string> take_until(std::string_view& text, std::string_view end) {
  const auto position = text.find(end);
  if (position == std::string_view::npos) return std::nullopt;
  std::string taken(text.substr(0, position));
  text.remove_prefix(position + end.size());
  return taken;
}

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

std::string known(std::string text) {
  return text == "[unknown]" ? std::string() : text;
}

/// "  5767/5768    778.942997974: cpu-clock:    1b24837 function+0xc7 (/usr/bin/x)", without the
/// time if the event does not record it.
std::optional<SampleRow> parse_perf_line(std::string_view line) {
  SampleRow row;
  skip_spaces(line);
  auto pid = take_until(line, "/");
  auto tid = take_until(line, " ");
  skip_spaces(line);
  auto seconds = take_until(line, ".");
  auto nanoseconds = take_until(line, ": ");
  skip_spaces(line);
  auto event = take_until(line, ": ");
  if (!pid || !tid || !seconds || !nanoseconds || !event) return std::nullopt;
  row.pid = *pid;
  row.tid = *tid;
  row.time = *seconds + *nanoseconds;
  row.time.erase(0, std::min(row.time.find_first_not_of('0'), row.time.size() - 1));
  row.event = *event;
  skip_spaces(line);
  const auto ip_end = std::min(line.find(' '), line.size());
  row.ip = line.substr(0, ip_end);
  line.remove_prefix(ip_end);
  skip_spaces(line);
  if (line.empty()) return row;

  // Demangled names contain spaces and parentheses, but no offset.
  const auto offset = std::min(line.rfind("+0x"), line.size());
  const auto symbol_end = line.find(" (", offset == line.size() ? 0 : offset);
  if (symbol_end == std::string_view::npos) return std::nullopt;
  row.sym = known(std::string(line.substr(0, symbol_end)));
  line.remove_prefix(symbol_end + 2);
  if (line.empty() || line.back() != ')') return std::nullopt;
  if (const auto plus = row.sym.rfind("+0x"); plus != std::string::npos) {
    row.symoff = row.sym.substr(plus + 1);
    row.sym.erase(plus);
  }
  row.dso = known(std::string(line.substr(0, line.size() - 1)));
  return row;
}

std::optional<SampleRow> parse_skidscan_line(std::string_view line) {
  std::vector<std::string> fields;
  while (auto field = take_until(line, "\t")) fields.push_back(std::move(*field));
  fields.emplace_back(line);
  constexpr std::size_t kWithoutPlaces = 5;
  constexpr std::size_t kWithPlaces = 8;
  if (fields.size() != kWithoutPlaces && fields.size() != kWithPlaces) return std::nullopt;
  fields.resize(kWithPlaces);
  return SampleRow{fields[0], fields[1], fields[2], fields[3],
                   fields[4], fields[5], fields[6], fields[7]};
}

template <typename Parse>
SampleRows parse_lines(std::string_view printed, std::vector<std::string>& strange, Parse parse) {
  SampleRows rows;
  while (!printed.empty()) {
    const auto end = std::min(printed.find('\n'), printed.size());
    const auto line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    if (auto row = parse(line)) {
      ++rows[std::move(*row)];
    } else {
      strange.emplace_back(line);
    }
  }
  return rows;
}

}  // namespace

SampleRows rows_of_perf(std::string_view printed, std::vector<std::string>& strange) {
  return parse_lines(printed, strange, parse_perf_line);
}

SampleRows rows_of_skidscan(std::string_view printed, std::vector<std::string>& strange) {
  if (!take_until(printed, "\n")) strange.emplace_back("no header line");
  return parse_lines(printed, strange, parse_skidscan_line);
}

SampleRows without(const SampleRows& a, const SampleRows& b) {
  SampleRows rest;
  for (const auto& [row, count] : a) {
    const auto other = b.find(row);
    const int left = other == b.end() ? count : count - other->second;
    if (left > 0) rest.emplace(row, left);
  }
  return rest;
}

int samples_in(const SampleRows& rows) {
  int samples = 0;
  for (const auto& [row, count] : rows) samples += count;
  return samples;
}

std::string describe(const SampleRows& rows) {
  constexpr int kMost = 6;
  std::string text = fmt::format("{} samples\n", samples_in(rows));
  int shown = 0;
  for (const auto& [row, count] : rows) {
    if (++shown > kMost) break;
    text += fmt::format("  {} x {} {}/{} {} {} '{}' '{}' '{}'\n", count, row.time, row.pid, row.tid,
                        row.event, row.ip, row.sym, row.symoff, row.dso);
  }
  return text;
}

}  // namespace skid::test
