// The branch records of an event (PERF_SAMPLE_BRANCH_STACK) that cannot be what was executed.
#pragma once

#include "analysis/share.h"
#include "src/audit/branch_filter.h"
#include "src/support/names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace skid::audit {

/// Why a record is impossible.
enum class BranchFault : std::uint8_t {
  none,
  not_a_branch,   ///< the instruction at `from` is not a branch
  wrong_target,   ///< the direct branch at `from` leads elsewhere
  wrong_type,     ///< the recorded type is not that of the instruction
  both_outcomes,  ///< marked as predicted and as mispredicted
  not_canonical,  ///< x86-64: an address beyond the 57 bits of the widest address space
  wrong_entry,    ///< from user mode into the kernel elsewhere than at an entry
  // The code between the target of the preceding record and `from`:
  backward,            ///< `from` is before that target
  leaves,              ///< an unconditional branch is between them, and was not recorded
  inside_instruction,  ///< decoded from that target on, no instruction begins at `from`
};
SKID_WORDS(BranchFault, {"none", "possible"}, {"not_a_branch", "the instruction is not a branch"},
           {"wrong_target", "the branch leads to another address"},
           {"wrong_type", "the recorded type is not that of the branch"},
           {"both_outcomes", "marked as predicted and as mispredicted"},
           {"not_canonical", "an address that no address space of x86-64 has"},
           {"wrong_entry", "enters the kernel where it has no entry"},
           {"backward", "before the target of the preceding record"},
           {"leaves", "code from the preceding target branches elsewhere before"},
           {"inside_instruction", "inside an instruction, decoded from the preceding target"})
inline constexpr std::size_t kBranchFaults = words_of(BranchFault{}).size();

/// Why a record is not judged.
enum class BranchUnjudged : std::uint8_t {
  none,
  kernel,       ///< the branch enters or leaves the kernel, and the code does not decide; or
                ///< an address was not recorded
  guest,        ///< the sample is of a guest, a hypervisor or an unknown mode
  not_retired,  ///< the abort of a transaction, or a branch on a wrongly speculated path
  resumed,      ///< from before the last return to user mode, which may be that of an exec
  machine,      ///< the code is of neither x86-64 nor aarch64, or not of the recorded machine
  unmapped,     ///< no file is known to be mapped at the address
  no_file,      ///< the file is missing, has another build-id, or has no code there
  unverified,   ///< the recording has no build-id of the file
  patched,      ///< the kernel may have patched the code, or no file states where it does
  undecided,    ///< the code does not show where it leads; or there are too many distinct records
};
SKID_WORDS(BranchUnjudged, {"none", "judged"},
           {"kernel", "enters or leaves the kernel, which may be at any instruction"},
           {"guest", "of a guest, a hypervisor or an unknown mode"},
           {"not_retired", "aborted or speculative: not part of what was executed"},
           {"resumed", "before the last return from the kernel, perhaps of another program"},
           {"machine", "of a machine other than x86-64 and aarch64, or an unknown one"},
           {"unmapped", "no file is known to be mapped there"},
           {"no_file", "the file is missing, of another build, or has no code there"},
           {"unverified", "the recording has no build-id of the file"},
           {"patched", "in code that the kernel patches, or without a vmlinux that states where"},
           {"undecided", "the code does not decide where the instruction leads"})
inline constexpr std::size_t kBranchUnjudged = words_of(BranchUnjudged{}).size();

/// Impossible records with equal addresses and one fault.
struct ImpossibleBranch {
  BranchFault fault = BranchFault::none;
  std::string module, function;  ///< where `from` is, as recorded; empty: none
  std::uint64_t offset = 0;      ///< bytes from the function to `from`; equal to `from` without one
  /// Link-time addresses; offsets in the file if its code cannot be used; as recorded without a
  /// file.
  std::uint64_t from = 0, to = 0;
  /// The target of the preceding record, if the fault is in the code from there to `from`.
  std::optional<std::uint64_t> preceding_to;
  std::string text;  ///< disassembly of the instruction at `from`
  std::uint64_t records = 0;
};

/// The branch records of one event. judged + the sum of not_judged = records.
struct BranchRecords {
  std::uint64_t stacks = 0, empty_stacks = 0;
  std::uint64_t damaged_stacks = 0;  ///< stacks whose size contradicts that of their sample
  std::uint64_t records = 0;
  std::uint64_t empty = 0;  ///< entries without any address, which do not count as records
  std::uint64_t judged = 0;
  /// Judged records of which only the addresses were compared, by the reason why not the code.
  std::array<std::uint64_t, kBranchUnjudged> by_addresses = {};
  analysis::Share impossible;  ///< share of the judged records
  NoContiguity no_contiguity = NoContiguity::none;
  std::array<std::uint64_t, kBranchFaults> faults = {};
  std::array<std::uint64_t, kBranchUnjudged> not_judged = {};
  std::vector<ImpossibleBranch> worst;  ///< most records first
  std::size_t impossible_places = 0;    ///< number of all, listed in `worst` or not
};

/// Returns the number of all records of which only the addresses were compared.
inline std::uint64_t by_addresses_alone(const BranchRecords& records) {
  const auto& by = records.by_addresses;
  return std::accumulate(by.begin() + 1, by.end(), std::uint64_t{0});
}

}  // namespace skid::audit
