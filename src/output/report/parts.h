// Parts of the texts and pages of measurements.
#pragma once

#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "analysis/statistics.h"
#include "src/output/page.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

struct EventGroup;
struct MachineGroup;

/// The machine, and the runs and files that were recorded on it.
std::string machine_header(const Page& page, const MachineGroup& machine);

/// The rows of numbers that an event's columns are compared by: settings, hit ratio, distances and
/// the classes of the breakdown. Lines without cells are broken at the page's width.
Table event_numbers(const EventGroup& event, const Page& page);

/// The statistics over runs of a level's repetitions; nothing where nothing was repeated or no run
/// has a statistic.
std::optional<Table> repeats_numbers(const EventGroup& event, const Page& page);

/// The samples of each column by offset: a row for each bin of the measurement, or a line of bars
/// over all of many bins.
std::string event_histograms(const Page& page, const EventGroup& event);

/// Range of offsets in instructions.
struct OffsetRange {
  std::int64_t low = 0, high = 0;
};
/// The range of the samples of some runs; nullopt without any.
std::optional<OffsetRange> offset_range(const std::vector<const analysis::Measurement*>& runs);
/// The offsets of `runs` as one line of at most `bars` bars over a range that holds them: "▂▇█▇".
std::string offset_line(const Page& page, const std::vector<const analysis::Measurement*>& runs,
                        OffsetRange range, std::size_t bars);

/// Collects events with their levels: "access p, pp; faults none". If there are many, the text
/// names the first ones.
class EventLevels {
 public:
  void add(const std::string& event, const std::string& level);
  /// `most`: events to be named.
  std::string text(std::size_t most = 6) const;
  /// "access, faults": without levels.
  std::string names(std::size_t most = 6) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> events_;
};

/// The answer of all machines' measurements, the worst first: "the skid constraint of precise_ip is
/// not met by 3 of 9 judged measurements: r81d0 p, pp, ppp".
std::string report_answer(const Page& page, const std::vector<MachineGroup>& machines);

/// The tables and histograms of an event of that machine, and on a page its figures.
std::string event_details(const Page& page, const MachineGroup& machine, const EventGroup& event);

/// "pp", and of further ones with this label "pp (2)".
inline std::string numbered(std::string label, int occurrence) {
  return occurrence > 1 ? fmt::format("{} ({})", label, occurrence) : std::move(label);
}

inline Ink ink_of(analysis::Verdict verdict) {
  if (verdict == analysis::Verdict::kept) return Ink::green;
  if (verdict == analysis::Verdict::broken) return Ink::red;
  return verdict == analysis::Verdict::undecided ? Ink::yellow : Ink::dim;
}

/// "2 broken, 1 kept", or "kept" where all are: counts by Verdict. The worst comes first, and its
/// colour is the cell's.
Cell verdict_counts(const std::array<std::size_t, 4>& counts);

/// For machines that sample no event of a PMU.
inline constexpr const char* kSeeExample =
    "skidscan report --example shows all precise levels, on an emulated Skylake with PEBS";

/// ">=4948", "3"; "-" without a distance.
inline Cell distance_cell(const std::optional<analysis::Distance>& distance,
                          double analysis::Distance::*value, bool analysis::Distance::*at_least) {
  if (!distance) return unknown_cell();
  return {((*distance).*at_least ? ">=" : "") + number_text((*distance).*value)};
}

/// "2", "3 -> 2 !" where the recorded level is not the requested one.
inline Cell level_cell(const analysis::Measurement& m) {
  const int recorded = m.precise.recorded;
  if (!m.precise.requested) return {fmt::format("? -> {}", recorded)};
  if (*m.precise.requested == recorded) return {fmt::format("{}", recorded)};
  return {fmt::format("{} -> {} !", *m.precise.requested, recorded), Ink::yellow};
}

/// "load at 0x401000 (skid_trigger)". Escaped.
std::string trigger_text(const analysis::Measurement& measurement);

/// "Intel(R) Xeon(R) … (GenuineIntel, family 6, …)". Escaped. `number_of_core`: Arm's MIDR; may be
/// empty.
std::string cpu_details(const analysis::Cpu& cpu, const std::string& name,
                        const std::string& number_of_core = {});

}  // namespace skid::output
