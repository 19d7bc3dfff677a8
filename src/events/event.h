// An event, with what is known of it: what it counts, which instructions and triggers of targets
// cause it, what it counts other than documented, and how people, perf and perf_event_attr write
// it.
#pragma once

#include "runway/specification.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/machine/machine.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

/// Cores in the tables of this layer. Skylake includes Kaby Lake and Coffee Lake, Ice Lake its
/// servers, Tiger Lake and Rocket Lake.
enum class Core {
  other,
  core_2,
  bonnell,
  nehalem,
  westmere,
  sandy_bridge,
  ivy_bridge,
  haswell,
  broadwell,
  skylake,
  skylake_server,
  icelake,
  sapphire_rapids,
  silvermont,
  goldmont,
  knights_landing
};

/// The fields of an event in perf_event_attr.config (/sys/bus/event_source/devices/PMU/format).
enum class ConfigLayout { intel, amd, arm };

struct Cpu {
  std::string name = {};  ///< of Intel's event file ("skylake"), of its directory, of libpfm4
  std::string description = {};  ///< "AMD64 Fam19h Zen4"; may be empty
  std::string source = {};       ///< "Intel's event file skylake V59", "libpfm4", "perfmon V1.24"
  ConfigLayout layout = ConfigLayout::intel;
  Core core = Core::other;
  bool at_hand = false;       ///< found by looking at this machine, not named
  std::string pfm_name = {};  ///< the PMU of libpfm4 that has further spellings; empty: none

  /// The source with the name: "Intel's event file skylake V59", "libpfm4, core".
  std::string catalogue() const;
};

/// Names of a CPU or of one of its core types.
struct CpuNames {
  std::string_view
      intel;  ///< event file, first part of the files of a hybrid CPU, or "6-BE"; may be empty
  std::string_view pfm;  ///< PMU of libpfm4; may be empty
  Core core;
  std::string_view others;  ///< microarchitectures, products, directories, a space between two
};

/// By any of its names, in any case, with '-' or '_'. Null: none has this name.
const CpuNames* find_cpu(std::string_view name);

/// A name of each CPU and core type.
std::vector<std::string> cpu_names();

/// Whether `name` is another name of `cpu`, or of one of its core types.
bool is_called(std::string_view cpu, std::string_view name);

/// The name that libpfm4 has for a PMU which the user calls `name`, in any case: "zen4" is
/// "amd64_fam19h_zen4"; a name without an entry comes back in lower case.
std::string pfm_name_of(std::string_view name);

/// The PMU in libpfm4 with the events of a CPU that is not in Intel's table, by vendor, family and
/// model (on Arm implementer and part). It is found for any CPU, while libpfm4 itself only finds
/// that of the CPU it runs on. Empty for CPUs that libpfm4 does not have.
std::string pfm_name_of(const machine::CpuIdentity& cpu);

/// The core of a CPU by any of its names; `other` for a hybrid one.
Core core_of(std::string_view name);
Core core_of(const machine::CpuIdentity& cpu);

/// Whether it is one of Arm's architecture, of 32 bits too.
bool is_arm(const machine::CpuIdentity& cpu);
/// Intel's layout for CPUs of unknown vendors.
ConfigLayout layout_of(const machine::CpuIdentity& cpu);

struct Event {
  std::string name = {};                  ///< "LONGEST_LAT_CACHE.MISS"; from a file: not escaped
  std::string description = {};           ///< may be empty; from a file: not escaped
  std::string pmu = "cpu";                ///< as perf and sysfs name it
  std::uint64_t config = 0, config1 = 0;  ///< of perf_event_attr
  std::string source = {};                ///< "Intel's event file skylake V59", "libpfm4, skl"
  std::optional<bool> precise = {};       ///< nullopt: unknown
  std::string precise_source = {};   ///< "intel", "libpfm4", "perfmon", "kernel"; empty: unknown
  std::optional<bool> data_la = {};  ///< a precise record has the data address; nullopt: unknown
  /// Counters with precise distribution, 32 for fixed counter 0; nullopt: not stated.
  std::optional<std::vector<int>> pdist = {};
  std::vector<std::string> aliases = {};  ///< other names of the same event
  std::vector<std::string> errata = {};   ///< ids that an event file has; not escaped
  bool deprecated = false;
};

using instructions::Counted;

/// By the event's name or one of its aliases; a code with modifiers (cmask, inv) that no name has
/// is `other`.
Counted counted_by(const Cpu& cpu, const Event& event);

/// The instructions of which each causes one such event whenever it retires: `instructions`,
/// `loads`, `stores`, `branches`, `conditional_branches` (taken or not), or `taken_branches`, of
/// which only jumps that are always taken are certain. Calls and returns alone are not among them:
/// no two are in one block of code without another call.
///
/// By the name of an event of Intel's, or one of its aliases: those that the vendor defines as
/// counts of retired instructions, and not of uops, hits, misses, mispredictions, latencies or
/// outcomes. nullopt for all others, for other vendors, and for a code with modifiers (cmask, inv,
/// edge), which no name has.
std::optional<Counted> caused_once_by(const Cpu& cpu, const Event& event);

/// What a generic event of perf counts on any CPU, by the name that perf gives it.
Counted counted_by_generic(std::string_view name);

/// How directly an event represents what it counts, best first: of two events that count the same,
/// the one with the lower number is the one to take.
int preference(const Cpu& cpu, const Event& event);

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

struct TriggerCause {
  runway::TriggerKind kind{};
  /// can: each iteration; conditional: where the access goes that way; maybe: on some CPUs.
  Verdict verdict = Verdict::can;
  /// Of the whole loop of a target as it is built by default; nullopt: it depends.
  std::optional<double> events_per_iteration;
};

/// The kinds of trigger that cause an event, best suited first; empty where no kind does or nothing
/// is known of the event.
std::vector<TriggerCause> triggers_of(const Cpu& cpu, const Event& event);

/// The kinds of an architecture that cause what an event counts, on one CPU or another, best suited
/// first.
std::vector<runway::TriggerKind> kinds_causing(Counted counted, Arch arch);

/// The kind to record an event with: the first of triggers_of() that targets for the CPU's
/// architecture can be built with.
std::optional<runway::TriggerKind> best_trigger(const Cpu& cpu, const Event& event);

/// How many of these events an iteration of a target should cause, its trigger and the rest of the
/// loop together; nullopt: it depends, or nothing is known of the event.
std::optional<double> expected_events(const Cpu& cpu, const Event& event,
                                      const runway::Specification& specification);

/// The level of the caches that a load must miss to be counted; nullopt: it does not depend on
/// that.
std::optional<int> missed_level(Counted counted);

/// The architecture that a CPU's targets are built for.
Arch arch_of(const Cpu& cpu);

struct Erratum {
  std::string ids;           ///< "SKL128, SKW118"; from a file: not escaped
  std::string_view effect;   ///< a sentence without full stop; empty: the source has the id alone
  bool of_one_mode = false;  ///< only while user mode or kernel mode alone is counted
  bool of_smt = false;       ///< only while the other thread of the core is online
};

/// The errata of an event: those that its event file has, with their effect where one is known
/// here, and those of the specification updates that no event file has. An empty answer does not
/// mean that there is none. Effects: Hadi Brais, "An introduction to the cache hit and miss
/// performance monitoring events".
std::vector<Erratum> errata_of(Core core, const Event& event);

/// The event counts the completed requests to the L2 whose origin and whose result are both in the
/// umask. Observed on Skylake by Travis Downs ("perf stat recipes"), whose text is the source here.
struct L2Requests {
  std::uint8_t umask = 0;
  std::vector<std::string_view> origins, results;
  /// Without an origin or without a result no request can match.
  bool always_zero() const noexcept { return origins.empty() || results.empty(); }
};

/// What an umask of event 0x24 counts; nullopt on cores other than Haswell to Coffee Lake, where
/// the bits mean something else or is not documented, and for other events.
/// `config`: perf_event_attr.config in Intel's layout.
std::optional<L2Requests> l2_requests(Core core, std::uint64_t config);

/// The umask that counts what the manual documents for `umask`, where the manual is wrong: its
/// *_HIT at 41, 42, 44 leave out modified lines (C1, C2, C4), its REFERENCES at EF the L2
/// prefetcher (FF). nullopt for the others.
std::optional<std::uint8_t> corrected_umask(std::uint8_t umask);

/// A sentence on that; empty where the manual is right.
std::string manual_error(const L2Requests& requests);

/// "skl::MEM_LOAD_RETIRED:L3_MISS", "mem_load_retired.l3_miss:pp", "cpu/event=0xd1,umask=0x20/pp",
/// "r20d1", "0x20d1": the rest after CPU, PMU and perf's modifiers are removed.
struct Spelling {
  std::string cpu;                      ///< before "::"; may be empty
  std::string name;                     ///< as written, without perf's modifiers
  std::string full;                     ///< as written, with what may be modifiers or an umask
  std::optional<std::uint64_t> config;  ///< a raw code
  std::uint64_t config1 = 0;            ///< only with a raw code, and of mem-loads; 0: not given
};

/// Throws UsageError for a term between slashes that cannot be read.
Spelling take_apart(std::string_view spelling, ConfigLayout layout);

/// Upper case, with '.' for ':': names that are equal but for their spelling compare equal.
std::string normalized(std::string_view name);

/// The code that the kernel takes for a generic hardware event of perf ("cycles", "cache-misses"):
/// arch/x86/events/intel/core.c, arch/x86/events/amd/core.c (Zen 2 and later) and
/// drivers/perf/arm_pmuv3.c. nullopt for other names.
std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name);

/// Bits of `config` that choose the event, without umask, edge, inv, cmask.
std::uint64_t event_select(ConfigLayout layout, std::uint64_t config);
/// With UMaskExt in bits 15:8. 0 where a layout has no umask (Arm).
std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config);
/// Event and umask alone.
std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config);

/// "cpu/event=0x2e,umask=0x41/"; a bit of `config` that no field holds gives "cpu/config=0x…/".
std::string perf_encoding(ConfigLayout layout, const Event& event);
/// "r412e"; empty where config1 is needed, which r cannot express.
std::string raw_encoding(const Event& event);

}  // namespace skid::events
