// The branch records of a recording, each distinct one counted once.
#pragma once

#include "src/audit/branch_records.h"
#include "src/locate/region_cache.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/sample.h"
#include "src/support/hash.h"

#include <span>
#include <unordered_map>

namespace skid::audit {

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
