// Which instructions can cause which event.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace skid::events {

using instructions::Categories;
using instructions::Category;
using instructions::name_of;
using instructions::Verdict;

struct Cause {
  Category category;
  Verdict verdict;
  std::string_view note;  ///< "at most 1 event"; may be empty
};

/// A verdict for each category of x86-64 instructions, in their order: what was measured
/// (measured_causes), and for what was not, what the event's names define (causes_by_name). Of
/// several names of one code the first of the verdicts holds, so that `never` takes all of them.
std::vector<Cause> causes_of(const Cpu& cpu, const Event& event);

/// The measured part of it. `config`: perf_event_attr.config in Intel's layout, with event and
/// umask alone. Load events on Ivy Bridge to Coffee Lake are from Hadi Brais, "An introduction to
/// the cache hit and miss performance monitoring events". Its list "is not necessarily complete":
/// what it does not mention is `unknown`. It leaves out accesses that cross a cache line.
std::vector<Cause> measured_causes(Core core, std::uint64_t config);

/// A verdict for each category of x86-64 instructions, in the order of instructions::kCategories;
/// all of them `unknown` where `name` belongs to no family. docs/events.md lists the families.
/// `name`: as Intel's event files and libpfm4 write it, in any case.
///
/// The names and their meaning are from the descriptions in Intel's event files, Nehalem to Nova
/// Lake. `never` is said only where the definition leaves no other reading: what the descriptions
/// of one core count and those of another leave open (software prefetches) is `maybe`.
std::vector<Cause> causes_by_name(std::string_view name);

/// The verdict over an instruction that is in all of `categories`: the first of can, conditional,
/// maybe, unknown and never that one of them has, so that `never` takes all of them. `causes`: what
/// causes_of() gives. `unknown` for no category, and where nothing is known of the core or event.
Verdict verdict_on(std::span<const Cause> causes, const Categories& categories);

/// What a load event counts: "uops" on Ivy Bridge to Broadwell, "instructions" on Skylake to Coffee
/// Lake; empty for other events and cores.
std::string_view counting_unit(Core core, std::uint64_t config);

}  // namespace skid::events
