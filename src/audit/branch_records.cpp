#include "src/audit/branch_records.h"

#include "src/audit/branch_counter.h"
#include "src/audit/branch_judge.h"
#include "src/locate/visit.h"
#include "src/perfdata/format.h"
#include "src/symbols/disassembler.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace skid::audit {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array<Words, kBranchFaults> kFaultWords{{
    {"none", "possible"},
    {"not_a_branch", "the instruction is not a branch"},
    {"wrong_target", "the branch leads to another address"},
    {"wrong_type", "the recorded type is not that of the branch"},
    {"both_outcomes", "marked as predicted and as mispredicted"},
    {"backward", "before the target of the preceding record"},
    {"leaves", "code from the preceding target branches elsewhere before"},
    {"inside_instruction", "inside an instruction, decoded from the preceding target"},
}};

constexpr std::array<Words, kBranchUnjudged> kUnjudgedWords{{
    {"none", "judged"},
    {"kernel", "from or to the kernel, which patches its code"},
    {"guest", "of a guest, a hypervisor or an unknown mode"},
    {"not_retired", "aborted or speculative: not part of what was executed"},
    {"resumed", "before the last return from the kernel, perhaps of another program"},
    {"machine", "of a machine other than x86-64 and aarch64, or an unknown one"},
    {"unmapped", "no file is known to be mapped there"},
    {"no_file", "the file is missing, of another build, or has no code there"},
    {"unverified", "the recording has no build-id of the file"},
    {"undecided", "the code does not decide where the instruction leads"},
}};

constexpr std::array<Words, 5> kContiguityWords{{
    {"none", ""},
    {"filter", "not all branches were recorded"},
    {"call_stack", "calls that returned were removed (call-stack mode)"},
    {"mode", "user mode alone; returns from the kernel may be without a record on this CPU"},
    {"machine", "the machine is neither x86-64 nor aarch64, or unknown"},
}};

template <typename Value>
std::size_t index_of(Value value) {
  return static_cast<std::size_t>(value);
}

/// The worst places of an event.
class Places {
 public:
  void add(const CountedBranch& branch, BranchFault fault) {
    const bool by_run = fault == BranchFault::backward || fault == BranchFault::leaves ||
                        fault == BranchFault::inside_instruction;
    const BranchPlace before = by_run ? branch.before : BranchPlace{};
    auto& [like, records] = found_[{fault, branch.from.file, branch.from.offset, branch.to.file,
                                    branch.to.offset, before.file, before.offset}];
    like = branch;
    records += branch.records;
  }

  std::size_t size() const { return found_.size(); }

  std::vector<ImpossibleBranch> worst(BranchJudge& judge, const locate::Digest& digest,
                                      std::size_t top) const {
    std::vector<const Found*> order;
    for (const Found& found : found_) order.push_back(&found);
    std::ranges::stable_sort(
        order, [](const Found* a, const Found* b) { return a->second.second > b->second.second; });
    if (order.size() > top) order.resize(top);
    std::vector<ImpossibleBranch> described;
    described.reserve(order.size());
    for (const Found* found : order) described.push_back(describe(*found, judge, digest));
    return described;
  }

 private:
  using Key = std::tuple<BranchFault, symbols::FileIndex, std::uint64_t, symbols::FileIndex,
                         std::uint64_t, symbols::FileIndex, std::uint64_t>;
  using Found = std::pair<const Key, std::pair<CountedBranch, std::uint64_t>>;

  static ImpossibleBranch describe(const Found& found, BranchJudge& judge,
                                   const locate::Digest& digest) {
    const auto& [branch, records] = found.second;
    const auto address_of = [&](const BranchPlace& place) {
      const auto code = judge.code_at(place);
      return code.module == nullptr ? place.offset : code.address;
    };
    ImpossibleBranch one;
    one.fault = std::get<0>(found.first);
    one.records = records;
    one.from = address_of(branch.from);
    one.to = address_of(branch.to);
    const bool has_before =
        std::get<5>(found.first) != symbols::Region::kNoFile || one.fault == BranchFault::backward;
    if (has_before) one.preceding_to = address_of(branch.before);
    one.offset = one.from;
    if (branch.from.file != symbols::Region::kNoFile) {
      one.module = digest.spaces.file(branch.from.file).path;
    }
    const auto code = judge.code_at(branch.from);
    if (code.module == nullptr) return one;
    if (auto function = code.module->function_at(code.address)) {
      one.function = std::move(function->name);
      one.offset = code.address - function->range.begin;
    }
    const auto bytes =
        code.module->code({code.address, code.address + instructions::kLongestInstruction});
    for (const auto& line :
         symbols::Disassembler(*code.module->arch()).decode(bytes, code.address, 1)) {
      one.text = line.text;
    }
    return one;
  }

  std::map<Key, std::pair<CountedBranch, std::uint64_t>> found_;
};

/// Counts the records of all events that have branch stacks.
std::vector<CountedBranch> count_branches(const measure::Profile& profile, BranchAudit& audit) {
  std::map<std::uint32_t, BranchFilter> filters;
  for (const auto& event : profile.events) {
    if (!event.attribute.has(PERF_SAMPLE_BRANCH_STACK)) continue;
    const auto filter = branch_filter(event.attribute, event.machine.cpu, profile.arch());
    filters[event.index] = filter;
    audit.events[event.index].no_contiguity = filter.no_contiguity;
  }
  if (filters.empty()) return {};
  const perfdata::Recording& recording = profile.recording;
  BranchCounter counter(profile.digest.spaces, profile.arch());
  locate::visit_records(
      profile.recording, profile.digest, [&](const locate::VisitedRecord& visited) {
        if (visited.sample == nullptr) return;
        const auto event = audit.events.find(visited.sample->attribute);
        if (event == audit.events.end()) return;
        const auto& decoder = recording.decoder();
        const auto details = decoder.details(visited.record, *visited.sample);
        if (!details) {
          ++event->second.damaged_stacks;
          return;
        }
        counter.count(*visited.sample, filters.at(event->first), details->branch_stack,
                      decoder.order(), decoder.time_of(visited.record, *visited.sample),
                      event->second);
      });
  return counter.take();
}

}  // namespace

std::string_view name_of(BranchFault fault) {
  return kFaultWords.at(index_of(fault)).first;
}

std::string_view name_of(BranchUnjudged reason) {
  return kUnjudgedWords.at(index_of(reason)).first;
}

std::string_view name_of(NoContiguity reason) {
  return kContiguityWords.at(index_of(reason)).first;
}

std::string_view describe(BranchFault fault) {
  return kFaultWords.at(index_of(fault)).second;
}

std::string_view describe(BranchUnjudged reason) {
  return kUnjudgedWords.at(index_of(reason)).second;
}

std::string_view describe(NoContiguity reason) {
  return kContiguityWords.at(index_of(reason)).second;
}

BranchAudit audit_branch_records(const measure::Profile& profile, std::size_t top) {
  BranchAudit audit;
  auto branches = count_branches(profile, audit);
  // By file and offset, so that the code is read from front to back.
  std::ranges::sort(branches, [](const CountedBranch& a, const CountedBranch& b) {
    return std::tie(a.from.file, a.from.offset) < std::tie(b.from.file, b.from.offset);
  });
  const auto arch = profile.arch();
  const bool may_fuse = arch == Arch::x86_64 && profile.machine().cpu.vendor != "GenuineIntel";
  BranchJudge judge(profile.digest.spaces, profile.modules, arch, may_fuse);
  std::map<std::uint32_t, Places> places;
  for (const CountedBranch& branch : branches) {
    BranchRecords& event = audit.events.at(branch.attribute);
    const BranchVerdict verdict = judge.judge(branch);
    if (verdict.missing != symbols::Region::kNoFile)
      audit.missing[verdict.missing] += branch.records;
    if (verdict.unjudged != BranchUnjudged::none) {
      event.not_judged[index_of(verdict.unjudged)] += branch.records;
      continue;
    }
    event.judged += branch.records;
    if (verdict.by_addresses) event.by_addresses += branch.records;
    event.faults[index_of(verdict.fault)] += branch.records;
    if (verdict.fault != BranchFault::none) places[branch.attribute].add(branch, verdict.fault);
  }
  for (auto& [attribute, event] : audit.events) {
    std::uint64_t impossible = 0;
    for (std::size_t i = 1; i < kBranchFaults; ++i) impossible += event.faults[i];
    event.impossible = analysis::wilson_interval(impossible, event.judged);
    event.impossible_places = places[attribute].size();
    event.worst = places[attribute].worst(judge, profile.digest, top);
  }
  return audit;
}

}  // namespace skid::audit
