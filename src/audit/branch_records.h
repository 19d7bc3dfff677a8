// Whether the branch records of a recording (PERF_SAMPLE_BRANCH_STACK) can be what was executed.
#pragma once

#include "analysis/statistics.h"
#include "src/measure/profile.h"
#include "src/support/names.h"
#include "src/symbols/address_space.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace skid::audit
