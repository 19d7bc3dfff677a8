#include "src/audit/branch_records.h"
#include "src/locate/region_cache.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/support/hash.h"
#include "src/symbols/address_space.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using perfdata::BranchEntry;
using perfdata::CpuMode;

/// Distinct records, which take about 130 MB.
constexpr std::size_t kMostDistinct = std::size_t{1} << 20;

/// The upper half of the address space is the kernel's on x86-64 and aarch64.
bool is_kernel(std::uint64_t address) {
  return static_cast<std::int64_t>(address) < 0;
}

bool is_user(std::uint64_t address) {
  return address != 0 && !is_kernel(address);
}

BranchUnjudged reason_of_entry(const BranchEntry& entry) {
  if (!is_user(entry.from) || !is_user(entry.to)) return BranchUnjudged::kernel;
  const bool is_retired = !entry.aborted && entry.speculation != PERF_BR_SPEC_WRONG_PATH;
  return is_retired ? BranchUnjudged::none : BranchUnjudged::not_retired;
}

/// Whether the CPU may return to user mode by ERETU (FRED), which decode_branch_type() in
/// arch/x86/events/utils.c does not know, so that the kernel drops the record where it filters.
/// CPUs before Panther Lake, and AMD's before Zen 6, do not have FRED.
bool may_have_fred(const machine::CpuIdentity& cpu) {
  if (!cpu.family || !cpu.model) return true;
  constexpr int kPantherLake = 0xcc, kEmeraldRapids = 0xcf, kZen6 = 0x50;
  if (cpu.vendor == "GenuineIntel") {
    return *cpu.family != 6 || (*cpu.model >= kPantherLake && *cpu.model != kEmeraldRapids);
  }
  if (!machine::is_amd(cpu)) return true;
  return *cpu.family > 0x1a || (*cpu.family == 0x1a && *cpu.model >= kZen6);
}

}  // namespace

bool is_run(const BranchEntry& older, const BranchEntry& newer) {
  // Transfers of any kind end at `to`; what was not retired does not.
  return reason_of_entry(newer) == BranchUnjudged::none && is_user(older.to) &&
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
  add(std::uint64_t{branch.type} << 16 | (branch.both_outcomes ? 256u : 0u) |
      static_cast<std::uint64_t>(branch.run_kind));
  return hash;
}

BranchFilter branch_filter(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu,
                           std::optional<Arch> arch) {
  using namespace perfdata;
  constexpr std::uint64_t kModes =
      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
  constexpr std::uint64_t kOfTransactions =
      PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX;
  const std::uint64_t type = attribute.branch_sample_type;
  BranchFilter filter;
  // Without a mode in the filter the kernel takes the modes of the event: perf_copy_attr() in
  // kernel/events/core.c.
  filter.records_kernel =
      (type & kModes) == 0 ? !attribute.exclude_kernel : (type & PERF_SAMPLE_BRANCH_KERNEL) != 0;
  const bool is_call_stack = (type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
  const bool has_all =
      (type & PERF_SAMPLE_BRANCH_ANY) != 0 && (type & kOfTransactions) == 0 && !is_call_stack;
  // LBR and BRS filter by the mode in which a branch ends; BRBE drops ERET of user mode alone.
  const bool has_returns =
      has_all && (filter.records_kernel || (arch == Arch::x86_64 && !may_have_fred(cpu)));
  // An exec takes more of these branches in the kernel than any CPU keeps.
  constexpr std::uint64_t kFrequent = PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN |
                                      PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL;
  filter.forgets_exec =
      has_returns || (filter.records_kernel && (type & kFrequent) != 0 && !is_call_stack);
  if (!arch) {
    filter.no_contiguity = NoContiguity::machine;
  } else if (is_call_stack) {
    filter.no_contiguity = NoContiguity::call_stack;
  } else if (!has_all) {
    filter.no_contiguity = NoContiguity::filter;
  } else if (!has_returns) {
    filter.no_contiguity = NoContiguity::mode;
  }
  return filter;
}

BranchUnjudged BranchCounter::reason_of(const BranchEntry& entry,
                                        const perfdata::Sample& sample) const {
  if (sample.mode != CpuMode::user && sample.mode != CpuMode::kernel) return BranchUnjudged::guest;
  return arch_ ? reason_of_entry(entry) : BranchUnjudged::machine;
}

CountedBranch BranchCounter::located(const BranchEntry& entry, const perfdata::Sample& sample,
                                     std::uint64_t time) {
  const auto place_of = [&](std::uint64_t address) {
    perfdata::Sample there = sample;
    there.mode = is_kernel(address) ? CpuMode::kernel : CpuMode::user;
    there.ip = address;
    return regions_.locate(there, time)
        .value_or(symbols::FileLocation{symbols::Region::kNoFile, address});
  };
  return {.attribute = sample.attribute,
          .type = static_cast<std::uint8_t>(entry.type),
          .both_outcomes = entry.predicted && entry.mispredicted,
          .from = place_of(entry.from),
          .to = place_of(entry.to),
          .distance = entry.to - entry.from};
}

void BranchCounter::add_run(const BranchEntry& entry, const BranchEntry& older,
                            const perfdata::Sample& sample, std::uint64_t time,
                            CountedBranch& branch) {
  if (!is_run(older, entry)) return;
  const locate::AddressSpace space(CpuMode::user, sample.pid);
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

void BranchCounter::count(const perfdata::Sample& sample, const BranchFilter& filter,
                          std::span<const std::byte> stack, perfdata::ByteOrder order,
                          std::uint64_t time, BranchRecords& counts) {
  const auto count_unjudged = [&](BranchUnjudged reason) {
    ++counts.not_judged[static_cast<std::size_t>(reason)];
  };
  entries_.clear();
  for (std::size_t i = 0; i < stack.size() / perfdata::kBranchEntry; ++i) {
    entries_.push_back(branch_entry(stack, i, order));
  }
  const auto is_empty = [](const BranchEntry& entry) { return entry.from == 0 && entry.to == 0; };
  ++counts.stacks;
  if (std::ranges::all_of(entries_, is_empty)) ++counts.empty_stacks;
  // Records of user mode from before an exec are of other code. Those of its code in the kernel
  // replace them, or the return from it follows them; in a stack of calls they stay.
  bool is_resumed = may_precede_exec(sample, filter, time);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const BranchEntry& entry = entries_[i];
    if (is_empty(entry)) {
      ++counts.empty;
      continue;
    }
    ++counts.records;
    BranchUnjudged reason = reason_of(entry, sample);
    const bool is_known = reason != BranchUnjudged::guest && reason != BranchUnjudged::machine;
    const bool contradicts = is_known && entry.predicted && entry.mispredicted;
    if (reason == BranchUnjudged::none && is_resumed) reason = BranchUnjudged::resumed;
    is_resumed |= is_user(entry.to) && !is_user(entry.from);
    if (reason != BranchUnjudged::none && !contradicts) {
      count_unjudged(reason);
      continue;
    }
    CountedBranch branch = located(entry, sample, time);
    const bool is_compared =
        filter.no_contiguity == NoContiguity::none && reason == BranchUnjudged::none;
    if (is_compared && i + 1 < entries_.size()) {
      add_run(entry, entries_[i + 1], sample, time, branch);
    }
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
