// The kernel restricts events to counters by tables, and level 3 by code:
//
//   level 2   the first row of the core's PEBS table that the event matches, else of its event
//   table level 3   the counters of level 2, reduced to those that have precise distribution
//   (PDist) or a
//             reduced skid; INST_RETIRED.ANY (0x00c0) by a rule of its own
//
// An example is Golden Cove, with precise distribution on general counter 0 and on fixed counter 0:
//
//   event                              level 2              level 3
//   0x20d1 MEM_LOAD_RETIRED.L3_MISS    0-7                  0
//   0x00c0 INST_RETIRED.ANY            1-7                  fixed counter 0
//   0x02c0 INST_RETIRED.NOP            1-7                  none: refused
//   0x02cd MEM_TRANS_RETIRED.STORE…    0                    0: the same as level 2
//   0x01cd MEM_TRANS_RETIRED.LOAD…     1-7                  none: refused
//
// The source is Linux 7.2: the tables intel_*_pebs_event_constraints in arch/x86/events/intel/ds.c,
// intel_*_event_constraints and *_get_event_constraints() in arch/x86/events/intel/core.c. The
// tables below have the rows that change the answer at one of the levels. Rows are left out which
// allow counter 0 and others (of E-cores: 0, 1 and others), because their events get the same
// answer as events without a row.

#include "src/events/counters.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace skid::events {
namespace {

constexpr Counters kGeneral = 0xff, kFixed0 = Counters{1} << 32, kFixed3 = Counters{1} << 35;
constexpr std::uint64_t kInstructions = 0x00c0;

/// The bits of config that a row compares.
constexpr std::uint64_t kOfEvent = 0xff, kOfEventAndUmask = 0xffff;
/// Edge, pc, any, inv, cmask, in_tx and in_tx_cp (X86_ALL_EVENT_FLAGS in
/// arch/x86/events/perf_event.h).
constexpr std::uint64_t kOfFlags = 0x3'ffac'0000;

struct Row {
  std::uint64_t code, compared;
  Counters counters;
};

/// Rows of PEBS tables compare flags as well.
constexpr Row pebs(std::uint64_t code, Counters counters) {
  return {code, kOfEventAndUmask | kOfFlags, counters};
}
constexpr Row umask(std::uint64_t code, Counters counters) {
  return {code, kOfEventAndUmask, counters};
}

constexpr std::array kGoldenCove{
    pebs(0x0100, kFixed0), pebs(0x0400, kFixed3),   Row{kInstructions, kOfEvent | kOfFlags, 0xfe},
    pebs(0x01cd, 0xfe),    pebs(0x02cd, 0x1),       umask(0x04a4, 0x1),
    umask(0x08a4, 0x1),    Row{0xce, kOfEvent, 0x1}};
constexpr std::array kLionCove{pebs(0x0100, kFixed0), pebs(0x0400, kFixed3), pebs(0x012a, 0x1),
                               pebs(0x012b, 0x1),     pebs(0x01cd, 0x3fc),   pebs(0x02cd, 0x3),
                               umask(0x0148, 0x4),    umask(0x0175, 0x4),    umask(0x08a3, 0x4),
                               umask(0x0ca3, 0x4),    umask(0x04a4, 0x1),    umask(0x08a4, 0x1),
                               umask(0x10a4, 0x8),    umask(0x01b1, 0x8)};
constexpr std::array kCoyoteCove{
    pebs(0x0100, kFixed0), pebs(0x0400, kFixed3), pebs(0x01cd, 0xfc),       pebs(0x02cd, 0x3),
    umask(0x04a4, 0x1),    umask(0x08a4, 0x1),    Row{0xce, kOfEvent, 0x1}, umask(0x01b1, 0x8)};
/// Event codes of 0 are pseudo-encodings, each of one fixed counter (the umask minus 1). Level 3
/// does not allow any of them, so one row with one of these counters covers all.
constexpr Row kPseudoEncoding{0x00, kOfEvent, kFixed3};
/// From Gracemont to Skymont.
constexpr std::array kGracemont{pebs(0x05d0, 0x3), kPseudoEncoding};
constexpr std::array kDarkmont{kPseudoEncoding};
constexpr std::array kArcticWolf{kPseudoEncoding,    umask(0x01b7, 0x1), umask(0x02b7, 0x2),
                                 umask(0x04b7, 0x4), umask(0x08b7, 0x8), umask(0x0175, 0x1),
                                 umask(0x0275, 0x2), umask(0x21d3, 0x1), umask(0x22d3, 0x1)};
/// Level 3 is level 2 there, except that INST_RETIRED.ANY is on fixed counter 0 alone.
constexpr std::array kIceLake{pebs(0x01c0, kFixed0), pebs(0x0100, kFixed0), pebs(0x0400, kFixed3)};

/// What level 3 does with the counters of level 2.
enum class Reduction {
  none,          ///< icl_get_event_constraints()
  to_counter_0,  ///< glc_get_event_constraints()
  to_0_and_1,    ///< cmt_get_event_constraints()
  is_counter_0,  ///< glp_…, tnt_get_event_constraints(): whatever they are
};

struct CoreTable {
  Core first, last;
  std::span<const Row> rows;
  Reduction reduction;
  Counters instructions;  ///< counters of INST_RETIRED.ANY at level 3
};

const std::array<CoreTable, 9> kTables{{
    {Core::icelake, Core::icelake, kIceLake, Reduction::none, kFixed0},
    {Core::golden_cove, Core::redwood_cove, kGoldenCove, Reduction::to_counter_0, kFixed0},
    {Core::lion_cove, Core::lion_cove, kLionCove, Reduction::to_counter_0, kFixed0},
    {Core::coyote_cove, Core::coyote_cove, kCoyoteCove, Reduction::to_counter_0, kFixed0},
    {Core::goldmont_plus, Core::goldmont_plus, {}, Reduction::is_counter_0, 0x1},
    {Core::tremont, Core::gracemont, kGracemont, Reduction::is_counter_0, kFixed0 | 0x1},
    {Core::crestmont, Core::skymont, kGracemont, Reduction::to_0_and_1, kFixed0 | 0x3},
    {Core::darkmont, Core::darkmont, kDarkmont, Reduction::to_0_and_1, kFixed0 | 0x3},
    {Core::arctic_wolf, Core::arctic_wolf, kArcticWolf, Reduction::to_0_and_1, kFixed0 | 0x3},
}};

}  // namespace

std::optional<Counters> counters_of(Core core, std::uint64_t config, int level) {
  const auto* const table = std::ranges::find_if(kTables, [core](const CoreTable& candidate) {
    return candidate.first <= core && core <= candidate.last;
  });
  if (table == kTables.end()) return std::nullopt;
  if (level == 3 && config == kInstructions) return table->instructions;
  const auto row = std::ranges::find_if(table->rows, [config](const Row& candidate) {
    return (config & candidate.compared) == candidate.code;
  });
  // The kernel adds the general counters to a fixed one, but for pseudo-encodings.
  const Counters general = config == kInstructions ? kGeneral | kFixed0 : kGeneral;
  const Counters counters = row != table->rows.end() ? row->counters : general;
  if (level < 3) return counters;
  switch (table->reduction) {
    case Reduction::none:
      return counters;
    case Reduction::to_counter_0:
      return counters & 0x1;
    case Reduction::to_0_and_1:
      return counters & 0x3;
    case Reduction::is_counter_0:
      return 0x1;
  }
  return std::nullopt;
}

}  // namespace skid::events
