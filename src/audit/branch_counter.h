// Counts equal branch records, so that each distinct one is judged once.
#pragma once

#include "src/locate/region_cache.h"
#include "src/perfdata/branch_entry.h"
#include "src/perfdata/bytes.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/hash.h"
#include "src/symbols/file_location.h"
#include "src/symbols/region.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace skid::perfdata {
struct Sample;
}  // namespace skid::perfdata

namespace skid::symbols {
class AddressSpaces;
}  // namespace skid::symbols

namespace skid::audit {

enum class BranchFault : std::uint8_t;
enum class BranchUnjudged : std::uint8_t;
struct BranchFilter;
struct BranchRecords;

/// A record as it is judged: with the target of the preceding (older) one.
struct CountedBranch {
  /// How `from` follows the target of the preceding record.
  enum class Run : std::uint8_t {
    none,      ///< not known, or not comparable
    backward,  ///< `from` is at a lower address
    mapped,    ///< `from` is `run` bytes further, in the same mapping
    apart,     ///< `from` is `run` bytes further, in another mapping or in none
  };

  /// Between user mode and the kernel.
  enum class Crossing : std::uint8_t { none, enters_kernel, leaves_kernel };

  std::uint32_t attribute = 0;
  std::uint8_t type = 0;   ///< PERF_BR_*
  BranchFault fault = {};  ///< what is wrong with it alone, without any code; zero: nothing
  Run run_kind = Run::none;
  Crossing crossing = Crossing::none;
  /// Without a file (kNoFile), and in the kernel itself, the offset is an address. `before`: the
  /// target of the preceding record.
  symbols::FileLocation from = {}, to = {}, before = {symbols::Region::kNoFile, 0};
  std::uint64_t distance = 0;  ///< bytes from `from` to `to`, modulo 2^64
  std::uint64_t run = 0;       ///< bytes from `before` to `from`, modulo 2^64
  std::uint64_t records = 0;   ///< number of equal records

  friend bool operator==(const CountedBranch&, const CountedBranch&) = default;
};

/// A hash of all but the number of records. It is seeded, so that a recording cannot be made to
/// collide.
class BranchHash {
 public:
  std::size_t operator()(const CountedBranch& branch) const;

 private:
  std::uint64_t seed_ = random_seed();
};

/// Whether the code from the target of `older` to the source of `newer` was executed without
/// another branch, if all branches were recorded (NoContiguity::none) and both are records of user
/// mode, or both of the kernel, neighbours in a stack.
bool is_run(const perfdata::BranchEntry& older, const perfdata::BranchEntry& newer);

class BranchCounter {
 public:
  /// `spaces`: the mappings of the recording, must outlive the counter. `arch`: as recorded.
  BranchCounter(const symbols::AddressSpaces& spaces, std::optional<Arch> arch)
      : spaces_(spaces), regions_(spaces), arch_(arch) {}

  /// Counts the records of one sample. `stack`: SampleDetails::branch_stack; `time`: from
  /// SampleDecoder::time_of(). Adds to `counts` the numbers of stacks and records, and of those
  /// that are not judged for reasons that need no code. Changes `filter` at the first return that
  /// it awaits.
  void count(const perfdata::Sample& sample, BranchFilter& filter, std::span<const std::byte> stack,
             perfdata::ByteOrder order, std::uint64_t time, BranchRecords& counts);

  /// Returns the distinct records with their numbers, in no order.
  std::vector<CountedBranch> take() const;

 private:
  BranchUnjudged reason_of(const perfdata::BranchEntry& entry,
                           const perfdata::Sample& sample) const;
  /// What is wrong with a record by itself, which is not judged for `reason`.
  BranchFault fault_of(const perfdata::BranchEntry& entry, BranchUnjudged reason) const;
  /// Whether some of `entries_` may be from before an exec, of the program that it replaced,
  /// without a return to user mode among them that would show it.
  bool may_precede_exec(const perfdata::Sample& sample, const BranchFilter& filter,
                        std::uint64_t time);
  CountedBranch located(const perfdata::BranchEntry& entry, const perfdata::Sample& sample,
                        std::uint64_t time);
  void add_run(const perfdata::BranchEntry& entry, const perfdata::BranchEntry& older,
               const perfdata::Sample& sample, std::uint64_t time, CountedBranch& branch);

  /// Makes a record one whose preceding record is not known.
  static void leave_out_run(CountedBranch& branch);

  const symbols::AddressSpaces& spaces_;
  locate::RegionCache regions_;
  std::optional<Arch> arch_;
  /// The number of each distinct record. CountedBranch::records of the keys is 0.
  std::unordered_map<CountedBranch, std::uint64_t, BranchHash> table_;
  std::vector<perfdata::BranchEntry> entries_;  ///< stack of the current sample, newest first
  /// The time of each process's last sample, where a sample may have records from before an exec.
  std::unordered_map<std::int32_t, std::uint64_t> sampled_;
};

}  // namespace skid::audit
