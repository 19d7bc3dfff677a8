// Counts equal branch records, so that the code of each distinct one is decoded once.
//
// A branch stack lists the branches that were taken last, the newest one first. Between two of
// them code runs straight from the target of the older one to the source of the newer one:
//
//   entry   from     to          in the order of time:
//     0    0x1058  0x1020
//     1    0x1030  0x1050        0x2010 => 0x1028 ---> 0x1030 => 0x1050 ---> 0x1058 => 0x1020
//     2    0x2010  0x1028          entry 2     8 bytes   entry 1     8 bytes   entry 0
//
// Entry 0 is counted as a CountedBranch from 0x1058 to 0x1020 with `before` 0x1050 and `run` 8.
// The run is not compared (Run::none) if not all branches were recorded; that of the oldest entry
// is not known.
//
// Addresses are located in the files that are mapped when the sample is taken. Records from before
// an exec are of another program, which may have been mapped at the same addresses:
//
//   entry 0   user -> user     new program
//   entry 1   kernel -> user   a return to user mode, perhaps from an exec
//   entry 2   user -> user     perhaps the old program: not judged (BranchUnjudged::resumed)
//
// In the kernel recording is switched off and on: by the interrupt of a counter, which stops it
// (intel_pmu_handle_irq() and amd_pmu_v2_handle_irq() in arch/x86/events start it again), where
// events are scheduled, and around a guest. The branches between are missing. What is recorded
// between two such gaps has at least the return from the function that switches it on and the call
// of the next that switches it off. So of two backward runs that follow each other one is no gap:
//
//   entry 0   backward   taken for a gap
//   entry 1   backward   impossible
//   entry 2   forward
//
// In user mode alone the record of the return may be missing: CPUs filter by where a branch ends,
// but since 2026 kernels drop records that begin in the kernel, also those of stable releases
// (intel_pmu_lbr_filter(), amd_pmu_lbr_filter() and amd_brs_match_plm() in arch/x86/events), and
// before that those of instructions that they do not decode (ERETU). So records are not compared
// before the first such return. Until then, and where branches are missing otherwise,
// may_precede_exec() decides about the whole stack: it is not judged if it is the first one of the
// process since its code was mapped.
#include "src/audit/branch_counter.h"

#include "src/audit/branch_filter.h"
#include "src/audit/branch_records.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/symbols/address_space.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using perfdata::BranchEntry;
using perfdata::CpuMode;

/// The most distinct records that are counted. They take about 130 MB.
constexpr std::size_t kMostDistinct = std::size_t{1} << 20;

/// The upper half of the address space is the kernel's on x86-64 and aarch64.
bool is_kernel(std::uint64_t address) {
  return static_cast<std::int64_t>(address) < 0;
}

bool is_user(std::uint64_t address) {
  return address != 0 && !is_kernel(address);
}

CpuMode mode_of(std::uint64_t address) {
  return is_kernel(address) ? CpuMode::kernel : CpuMode::user;
}

/// Whether `address` is one on CPUs with the widest addresses, which have 57 bits (five-level
/// paging).
bool is_canonical(std::uint64_t address) {
  const std::int64_t above = static_cast<std::int64_t>(address) >> 56;
  return above == 0 || above == -1;
}

bool is_retired(const BranchEntry& entry) {
  return !entry.aborted && entry.speculation != PERF_BR_SPEC_WRONG_PATH;
}

CountedBranch::Crossing crossing_of(const BranchEntry& entry) {
  using enum CountedBranch::Crossing;
  const bool is_whole = entry.from != 0 && entry.to != 0;
  if (!is_whole || is_kernel(entry.from) == is_kernel(entry.to) || !is_retired(entry)) return none;
  return is_kernel(entry.to) ? enters_kernel : leaves_kernel;
}

bool returns_from_kernel(const BranchEntry& entry) {
  return crossing_of(entry) == CountedBranch::Crossing::leaves_kernel;
}

BranchUnjudged reason_of_entry(const BranchEntry& entry) {
  const bool is_whole = entry.from != 0 && entry.to != 0;
  if (!is_whole || is_kernel(entry.from) != is_kernel(entry.to)) return BranchUnjudged::kernel;
  return is_retired(entry) ? BranchUnjudged::none : BranchUnjudged::not_retired;
}

}  // namespace

bool is_run(const BranchEntry& older, const BranchEntry& newer) {
  // A transfer of any kind ends at `to`, unless it was not retired.
  return reason_of_entry(newer) == BranchUnjudged::none && older.to != 0 &&
         is_kernel(older.to) == is_kernel(newer.from) &&
         older.speculation != PERF_BR_SPEC_WRONG_PATH;
}

std::size_t BranchHash::operator()(const CountedBranch& branch) const {
  std::uint64_t hash = seed_;
  const auto add = [&](std::uint64_t word) { hash = hashed(word, hash); };
  add(branch.from.offset);
  add(branch.to.offset);
  add(branch.before.offset);
  add(std::uint64_t{branch.from.file} << 32 | branch.to.file);
  add(std::uint64_t{branch.before.file} << 32 | branch.attribute);
  add(branch.distance);
  add(branch.run);
  add(std::uint64_t{branch.type} << 32 | static_cast<std::uint64_t>(branch.fault) << 16 |
      static_cast<std::uint64_t>(branch.crossing) << 8 |
      static_cast<std::uint64_t>(branch.run_kind));
  return hash;
}

BranchUnjudged BranchCounter::reason_of(const BranchEntry& entry,
                                        const perfdata::Sample& sample) const {
  if (sample.mode != CpuMode::user && sample.mode != CpuMode::kernel) return BranchUnjudged::guest;
  return arch_ ? reason_of_entry(entry) : BranchUnjudged::machine;
}

BranchFault BranchCounter::fault_of(const BranchEntry& entry, BranchUnjudged reason) const {
  if (reason == BranchUnjudged::guest || reason == BranchUnjudged::machine)
    return BranchFault::none;
  if (entry.predicted && entry.mispredicted) return BranchFault::both_outcomes;
  const bool is_wrong = arch_ == Arch::x86_64 && is_retired(entry) &&
                        !(is_canonical(entry.from) && is_canonical(entry.to));
  return is_wrong ? BranchFault::not_canonical : BranchFault::none;
}

CountedBranch BranchCounter::located(const BranchEntry& entry, const perfdata::Sample& sample,
                                     std::uint64_t time) {
  const auto place_of = [&](std::uint64_t address) {
    perfdata::Sample there = sample;
    there.mode = mode_of(address);
    there.ip = address;
    return regions_.locate(there, time)
        .value_or(symbols::FileLocation{symbols::Region::kNoFile, address});
  };
  return {.attribute = sample.attribute,
          .type = static_cast<std::uint8_t>(entry.type),
          .crossing = crossing_of(entry),
          .from = place_of(entry.from),
          .to = place_of(entry.to),
          .distance = entry.to - entry.from};
}

void BranchCounter::add_run(const BranchEntry& entry, const BranchEntry& older,
                            const perfdata::Sample& sample, std::uint64_t time,
                            CountedBranch& branch) {
  if (!is_run(older, entry)) return;
  const locate::AddressSpace space(mode_of(entry.from), sample.pid);
  const locate::RegionCache::Place before = regions_.find(space, older.to, time);
  // Where the kernel filters, it drops records from code that it cannot read: branch_type() in
  // arch/x86/events/utils.c.
  const bool has_file = before.file != symbols::Region::kNoFile;
  if (has_file && spaces_.file(before.file).is_execute_only) return;
  const locate::RegionCache::Place after = regions_.find(space, entry.from, time);
  branch.before = {before.file, has_file ? older.to + before.distance : older.to};
  const bool is_one = has_file && before.file == after.file && before.distance == after.distance;
  branch.run = entry.from - older.to;
  branch.run_kind = entry.from < older.to ? CountedBranch::Run::backward
                    : is_one              ? CountedBranch::Run::mapped
                                          : CountedBranch::Run::apart;
}

void BranchCounter::leave_out_run(CountedBranch& branch) {
  const CountedBranch alone;
  branch.before = alone.before;
  branch.run = alone.run;
  branch.run_kind = alone.run_kind;
}

bool BranchCounter::may_precede_exec(const perfdata::Sample& sample, const BranchFilter& filter,
                                     std::uint64_t time) {
  if (filter.no_contiguity == NoContiguity::call_stack) return true;
  if (!filter.records_kernel && sample.mode != CpuMode::user) return true;
  if (filter.forgets_exec) return false;
  constexpr std::size_t kMostProcesses = 65'536;
  if (sampled_.size() == kMostProcesses && !sampled_.contains(sample.pid)) sampled_.clear();
  const auto [known, is_new] = sampled_.try_emplace(sample.pid, time);
  const std::uint64_t last_sampled = std::exchange(known->second, time);
  return is_new || last_sampled >= time ||
         std::ranges::any_of(entries_, [&](const BranchEntry& entry) {
           const locate::AddressSpace space(CpuMode::user, sample.pid);
           return last_sampled < regions_.find(space, entry.from, time).since;
         });
}

void BranchCounter::count(const perfdata::Sample& sample, BranchFilter& filter,
                          std::span<const std::byte> stack, perfdata::ByteOrder order,
                          std::uint64_t time, BranchRecords& counts) {
  const auto count_unjudged = [&](BranchUnjudged reason) {
    ++counts.not_judged[static_cast<std::size_t>(reason)];
  };
  entries_.clear();
  for (std::size_t i = 0; i < stack.size() / perfdata::kBranchEntry; ++i) {
    entries_.push_back(perfdata::branch_entry(stack, i, order));
  }
  if (filter.awaits_return && std::ranges::any_of(entries_, returns_from_kernel)) {
    filter.awaits_return = false;
    filter.forgets_exec = true;
    filter.no_contiguity = NoContiguity::none;
    counts.no_contiguity = NoContiguity::none;
  }
  const auto is_empty = [](const BranchEntry& entry) { return entry.from == 0 && entry.to == 0; };
  ++counts.stacks;
  if (std::ranges::all_of(entries_, is_empty)) ++counts.empty_stacks;
  // User-mode records from before an exec are of other code. The branches of the exec in the kernel
  // replace them, or the return from it is a newer record; in a stack of calls they stay.
  bool is_resumed = may_precede_exec(sample, filter, time);
  bool is_gap = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const BranchEntry& entry = entries_[i];
    if (is_empty(entry)) {
      ++counts.empty;
      continue;
    }
    ++counts.records;
    BranchUnjudged reason = reason_of(entry, sample);
    const BranchFault fault = fault_of(entry, reason);
    const bool is_user_mode = is_user(entry.from);
    if (reason == BranchUnjudged::none && is_resumed && is_user_mode) {
      reason = BranchUnjudged::resumed;
    }
    is_resumed |= is_user(entry.to) && !is_user(entry.from);
    const bool crosses =
        reason == BranchUnjudged::kernel && crossing_of(entry) != CountedBranch::Crossing::none;
    if (reason != BranchUnjudged::none && fault == BranchFault::none && !crosses) {
      count_unjudged(reason);
      continue;
    }
    CountedBranch branch = located(entry, sample, time);
    branch.fault = fault;
    const bool is_compared =
        filter.no_contiguity == NoContiguity::none && reason == BranchUnjudged::none;
    if (is_compared && i + 1 < entries_.size()) {
      add_run(entry, entries_[i + 1], sample, time, branch);
    }
    is_gap = !is_gap && !is_user_mode && branch.run_kind == CountedBranch::Run::backward;
    if (is_gap) leave_out_run(branch);
    if (table_.size() == kMostDistinct && !table_.contains(branch)) {
      count_unjudged(BranchUnjudged::undecided);
    } else {
      ++table_[branch];
    }
  }
}

std::vector<CountedBranch> BranchCounter::take() const {
  std::vector<CountedBranch> branches;
  branches.reserve(table_.size());
  for (const auto& [branch, records] : table_) {
    branches.push_back(branch);
    branches.back().records = records;
  }
  return branches;
}

}  // namespace skid::audit
