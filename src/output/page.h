// How the parts of a text report lay out their lines.
#pragma once

#include "src/output/report/grouping.h"
#include "src/output/table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skid::output {

inline constexpr std::size_t kIndent = 2;
inline constexpr const char* kUnknown = "-";  ///< a number that nothing tells

/// The terminal that a report is written for. All texts that it takes are escaped already.
struct Page {
  bool color = false;
  bool unicode = true;
  std::size_t width = 80;

  std::string paint(std::string_view text, Ink ink) const;
  /// An empty line and a bold one.
  std::string title(std::string_view text) const;
  /// `text` wrapped behind `lead`, further lines indented to `lead_width` columns.
  std::string hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                      Ink ink = Ink::plain) const;
  /// A name and what it stands for, as in the head of a report.
  std::string field(std::string_view name, std::string_view text, Ink ink = Ink::plain) const;
  /// An empty line, and a line across the page that begins with `name`, which is not escaped yet.
  std::string rule(std::string_view name) const;
};

/// A number in a table: whole ones without decimals, small ones with two digits that count.
std::string number_text(double value);

/// What a machine is, and the runs and files that are of it.
std::string machine_header(const Page& page, const MachineGroup& machine);

/// The rows of numbers that an event's columns are compared by: settings, hit ratio, distances and
/// the classes of the ledger. Lines that only say something are broken at `width`.
Table event_numbers(const EventGroup& event, bool unicode, std::size_t width);
std::string event_table(const Page& page, const EventGroup& event);

/// What the repetitions of a level have in common, over runs; nothing where nothing was repeated
/// or no run tells anything.
std::optional<Table> repeats_numbers(const EventGroup& event, bool unicode);
std::string repeats_table(const Page& page, const EventGroup& event);

/// Of a verdict in a text or a page.
Ink ink_of(analysis::Verdict verdict);

/// "load at 0x401000 (skid_trigger)". Escaped.
std::string trigger_text(const analysis::Measurement& measurement);

/// "Intel(R) Xeon(R) … (GenuineIntel, family 6, …)". Escaped.
std::string cpu_details(const analysis::Cpu& cpu);

/// A histogram of offsets for each column that has any.
std::string event_histograms(const Page& page, const EventGroup& event);

}  // namespace skid::output
