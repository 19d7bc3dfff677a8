// Whether the branch records of a recording (PERF_SAMPLE_BRANCH_STACK) can be what was executed.
// Each distinct one is counted once.
#pragma once

#include "analysis/statistics.h"
#include "src/locate/region_cache.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/support/hash.h"
#include "src/support/names.h"
#include "src/symbols/address_space.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::audit {

/// Why a record is impossible.
enum class BranchFault : std::uint8_t {
  none,
  not_a_branch,   ///< the instruction at `from` is none
  wrong_target,   ///< a direct branch leads elsewhere
  wrong_type,     ///< the recorded type is not that of the instruction
  both_outcomes,  ///< predicted and mispredicted
  // Between the target of the preceding record and `from`.
  backward,            ///< `from` is before that target
  leaves,              ///< an unconditional branch is between them, and was not recorded
  inside_instruction,  ///< decoded from that target on, no instruction begins at `from`
};
SKID_WORDS(BranchFault, {"none", "possible"}, {"not_a_branch", "the instruction is not a branch"},
           {"wrong_target", "the branch leads to another address"},
           {"wrong_type", "the recorded type is not that of the branch"},
           {"both_outcomes", "marked as predicted and as mispredicted"},
           {"backward", "before the target of the preceding record"},
           {"leaves", "code from the preceding target branches elsewhere before"},
           {"inside_instruction", "inside an instruction, decoded from the preceding target"})
inline constexpr std::size_t kBranchFaults = words_of(BranchFault{}).size();

/// Why a record is not judged.
enum class BranchUnjudged : std::uint8_t {
  none,
  kernel,       ///< from or to the kernel; or one of the addresses was not recorded
  guest,        ///< the sample is of a guest, a hypervisor or an unknown mode
  not_retired,  ///< the abort of a transaction, or speculative
  resumed,      ///< before the last return to user mode, perhaps before an exec
  machine,      ///< code of neither x86-64 nor aarch64, or not of the recorded machine
  unmapped,     ///< no file is known to be mapped at the address
  no_file,      ///< the file is missing, has another build-id, or has no code there
  unverified,   ///< the recording has no build-id of the file
  undecided,    ///< the code does not show where it leads; or there are too many distinct records
};
SKID_WORDS(BranchUnjudged, {"none", "judged"},
           {"kernel", "from or to the kernel, which patches its code"},
           {"guest", "of a guest, a hypervisor or an unknown mode"},
           {"not_retired", "aborted or speculative: not part of what was executed"},
           {"resumed", "before the last return from the kernel, perhaps of another program"},
           {"machine", "of a machine other than x86-64 and aarch64, or an unknown one"},
           {"unmapped", "no file is known to be mapped there"},
           {"no_file", "the file is missing, of another build, or has no code there"},
           {"unverified", "the recording has no build-id of the file"},
           {"undecided", "the code does not decide where the instruction leads"})
inline constexpr std::size_t kBranchUnjudged = words_of(BranchUnjudged{}).size();

/// Why consecutive records are not compared.
enum class NoContiguity : std::uint8_t {
  none,        ///< they are
  filter,      ///< not all branches were recorded
  call_stack,  ///< calls that returned were removed
  mode,        ///< user mode alone, where returns from the kernel may be without a record
  machine,     ///< of neither x86-64 nor aarch64, or not recorded
};
SKID_WORDS(NoContiguity, {"none", ""}, {"filter", "not all branches were recorded"},
           {"call_stack", "calls that returned were removed (call-stack mode)"},
           {"mode", "user mode alone; returns from the kernel may be without a record on this CPU"},
           {"machine", "the machine is neither x86-64 nor aarch64, or unknown"})

/// Impossible records that are alike.
struct ImpossibleBranch {
  BranchFault fault = BranchFault::none;
  std::string module, function;  ///< of `from`; as recorded; empty: none
  std::uint64_t offset = 0;      ///< of `from` in its function; of the module without one
  /// Link-time; as recorded where there is no file.
  std::uint64_t from = 0, to = 0;
  std::optional<std::uint64_t> preceding_to;  ///< of the preceding record, where it is the reason
  std::string text;                           ///< disassembly of the instruction at `from`
  std::uint64_t records = 0;
};

/// The branch records of one event. judged + the sum of not_judged = records.
struct BranchRecords {
  std::uint64_t stacks = 0, empty_stacks = 0;
  std::uint64_t damaged_stacks = 0;  ///< whose sizes contradict the size of their sample
  std::uint64_t records = 0;
  std::uint64_t empty = 0;  ///< entries without any address, which are no records
  std::uint64_t judged = 0;
  /// Judged records of which only the addresses were compared, because the binary is missing.
  std::uint64_t by_addresses = 0;
  analysis::Share impossible;  ///< of the judged
  NoContiguity no_contiguity = NoContiguity::none;
  std::array<std::uint64_t, kBranchFaults> faults = {};
  std::array<std::uint64_t, kBranchUnjudged> not_judged = {};
  std::vector<ImpossibleBranch> worst;  ///< most records first
  std::size_t impossible_places = 0;    ///< listed or not
};

/// All of a recording.
struct BranchAudit {
  std::map<std::uint32_t, BranchRecords> events;  ///< by attribute; only those with branch stacks
  /// Records that were not judged by code, by the file whose code is missing.
  std::map<symbols::FileIndex, std::uint64_t> missing;
};

/// Reads the branch stacks of all events and judges them, each distinct record once. docs/audit.md
/// has the rules. `top`: places listed for an event. Memory grows with distinct pairs of
/// consecutive records, up to a limit, never with samples.
BranchAudit audit_branch_records(const measure::Profile& profile, std::size_t top);

/// A record as it is judged: with the target of the preceding one.
struct CountedBranch {
  /// How `from` follows the target of the preceding record.
  enum class Run : std::uint8_t {
    none,      ///< not known, or not comparable
    backward,  ///< at a lower address
    mapped,    ///< `run` bytes further, in the same mapping
    apart,     ///< `run` bytes further, in another mapping or in none
  };

  std::uint32_t attribute = 0;
  std::uint8_t type = 0;  ///< PERF_BR_*
  bool both_outcomes = false;
  Run run_kind = Run::none;
  /// Without a file (kNoFile) the offset is an address. `before`: the target of the preceding
  /// record.
  symbols::FileLocation from = {}, to = {}, before = {symbols::Region::kNoFile, 0};
  std::uint64_t distance = 0;  ///< from `from` to `to`, modulo 2^64
  std::uint64_t run = 0;       ///< bytes
  std::uint64_t records = 0;

  friend bool operator==(const CountedBranch&, const CountedBranch&) = default;
};

/// Of all but the number of records. Seeded, so that a recording cannot be made to collide.
class BranchHash {
 public:
  std::size_t operator()(const CountedBranch& branch) const;

 private:
  std::uint64_t seed_ = random_seed();
};

/// What an event records.
struct BranchFilter {
  bool records_kernel = false;  ///< branches that end in the kernel
  /// Whether records from before an exec are gone, or followed by that of the return from it.
  bool forgets_exec = false;
  NoContiguity no_contiguity = NoContiguity::none;
};

/// `cpu`, `arch`: as recorded.
BranchFilter branch_filter(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu,
                           std::optional<Arch> arch);

/// Whether the code from the target of `older` to the source of `newer` was executed without
/// another branch, if all branches were recorded (NoContiguity::none) and both are records of user
/// mode, neighbours in a stack.
bool is_run(const perfdata::BranchEntry& older, const perfdata::BranchEntry& newer);

class BranchCounter {
 public:
  /// `spaces`: of the recording, must outlive the counter. `arch`: as recorded.
  BranchCounter(const symbols::AddressSpaces& spaces, std::optional<Arch> arch)
      : spaces_(spaces), regions_(spaces), arch_(arch) {}

  /// Counts the records of one sample. `stack`: SampleDetails::branch_stack; `time`: as
  /// SampleDecoder::time_of.
  void count(const perfdata::Sample& sample, const BranchFilter& filter,
             std::span<const std::byte> stack, perfdata::ByteOrder order, std::uint64_t time,
             BranchRecords& counts);

  /// The distinct records, in no order.
  std::vector<CountedBranch> take() const;

 private:
  BranchUnjudged reason_of(const perfdata::BranchEntry& entry,
                           const perfdata::Sample& sample) const;
  /// Whether some of `entries_` may be of the program before an exec, which no return to user mode
  /// among them shows.
  bool may_precede_exec(const perfdata::Sample& sample, const BranchFilter& filter,
                        std::uint64_t time);
  CountedBranch located(const perfdata::BranchEntry& entry, const perfdata::Sample& sample,
                        std::uint64_t time);
  void add_run(const perfdata::BranchEntry& entry, const perfdata::BranchEntry& older,
               const perfdata::Sample& sample, std::uint64_t time, CountedBranch& branch);

  const symbols::AddressSpaces& spaces_;
  locate::RegionCache regions_;
  std::optional<Arch> arch_;
  /// The number of each record, whose own is 0.
  std::unordered_map<CountedBranch, std::uint64_t, BranchHash> table_;
  std::vector<perfdata::BranchEntry> entries_;  ///< of the current sample
  /// When processes were last sampled, where a sample may have records from before an exec.
  std::unordered_map<std::int32_t, std::uint64_t> sampled_;
};

}  // namespace skid::audit
