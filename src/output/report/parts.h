// Parts of the text of a report, and of its page.
#pragma once

#include "src/output/cell.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::output {

struct EventGroup;
struct MachineGroup;
struct Page;
struct Table;

/// Returns the first sentence of a report: the answer of all machines' measurements, the worst
/// first. "the skid constraint of precise_ip is not met by 3 of 9 judged measurements: r81d0 p, pp,
/// ppp". Escaped.
std::pair<std::string, Ink> report_answer(const std::vector<MachineGroup>& machines);

/// Returns the machine, and the runs and files that were recorded on it.
std::string machine_header(const Page& page, const MachineGroup& machine);

/// Returns the tables and histograms of an event on a machine; in HTML also its figures. `of`
/// follows the name of the event in its heading.
std::string event_details(const Page& page, const MachineGroup& machine, const EventGroup& event,
                          const std::string& of);

/// Returns the rows of numbers by which an event's columns are compared: settings, hit ratio,
/// distances and the classes of the breakdown. Rows without cells are broken at the page's width.
Table event_numbers(const EventGroup& event, const Page& page);

/// Returns the statistics over runs of a level's repetitions; nullopt if nothing was repeated or no
/// run has a statistic.
std::optional<Table> repeats_numbers(const EventGroup& event, const Page& page);

/// Returns the samples of each column by offset: a row for each bin of the measurement; if there
/// are many bins, one line of bars over all.
std::string event_histograms(const Page& page, const EventGroup& event);

}  // namespace skid::output
