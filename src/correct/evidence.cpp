#include "src/correct/evidence.h"

#include "analysis/addresses.h"
#include "src/audit/branch_counter.h"
#include "src/audit/branch_filter.h"
#include "src/locate/visit_records.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/branch_entry.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::correct {
namespace {

constexpr std::uint64_t kLongestRun = std::uint64_t{1}
                                      << 20;  // bytes; longer ones are not within a function
constexpr double kMostOutOfStep = 0.01;

/// Whether all branches of an event were recorded.
bool records_all_branches(const measure::RecordedEvent& event) {
  if (!event.attribute.has(PERF_SAMPLE_BRANCH_STACK)) return false;
  const auto filter = audit::branch_filter(event.attribute, Arch::x86_64);
  return filter.awaits_return || filter.no_contiguity == audit::NoContiguity::none;
}

/// Returns those candidates which may have accessed the data of a sample.
CandidateSet agreeing(const Candidates& candidates, const witness::Record& record) {
  CandidateSet agreeing = candidates.unknown ? kUnknownCandidate : 0;
  for (std::size_t i = 0; i < candidates.known.size(); ++i) {
    const auto judgement = witness::judge(candidates.known[i].accesses, record);
    if (judgement.verdict != witness::Verdict::contradicted) agreeing |= CandidateSet{1} << i;
  }
  return agreeing;
}

}  // namespace

Evidence::Evidence(const measure::Profile& profile) : profile_(profile) {
  for (const measure::RecordedEvent& recorded : profile.events) {
    Event event{.addresses = measure::address_event(recorded),
                .has_branches = records_all_branches(recorded)};
    // The address of a breakpoint is known without its samples; their registers are not.
    const perfdata::Attribute& attribute = recorded.attribute;
    const bool has_registers =
        attribute.has(PERF_SAMPLE_REGS_INTR) || attribute.has(PERF_SAMPLE_REGS_USER);
    const bool is_usable = event.addresses &&
                           event.addresses->moment == witness::Moment::successor &&
                           (has_registers || attribute.type != PERF_TYPE_BREAKPOINT);
    if (!is_usable) event.addresses.reset();
    if (event.addresses || event.has_branches) events_.emplace(recorded.index, event);
  }
}

Agreement Evidence::agreement(const locate::VisitedRecord& visited, const Candidates& candidates,
                              std::uint64_t address) {
  const perfdata::Sample& sample = *visited.sample;
  Agreement agreement{all_of(candidates), all_of(candidates)};
  const auto found = events_.find(sample.attribute);
  if (found == events_.end()) return agreement;
  Event& event = found->second;
  if (event.addresses && event.addresses->takes({sample.mode, sample.exact})) {
    const auto record =
        measure::address_record(profile_.recording, visited.record, sample, *event.addresses);
    if (analysis::is_of_kernel(record.address)) {
      // The kernel's last instruction before the program went on, if the kernel was counted.
      agreement.by_address = kUnknownCandidate;
    } else if (analysis::is_data_address(record.address)) {
      agreement.by_address = agreeing(candidates, record);
    }
  }
  if (event.has_branches) {
    agreement.by_branch = agreeing_with_branch(event, visited, candidates, address);
  }
  return agreement;
}

CandidateSet Evidence::agreeing_with_branch(Event& event, const locate::VisitedRecord& visited,
                                            const Candidates& candidates,
                                            std::uint64_t address) const {
  const CandidateSet all = all_of(candidates);
  const std::uint64_t ip = visited.sample->ip;
  const auto& decoder = profile_.recording.decoder();
  const auto details = decoder.details(visited.record, *visited.sample);
  if (!details || details->branch_stack.size() < perfdata::kBranchEntry) return all;
  const auto newest = perfdata::branch_entry(details->branch_stack, 0, decoder.order());
  if (!audit::is_run(newest, {.from = ip, .to = ip})) return all;
  const bool is_in_step = newest.to <= ip && ip - newest.to <= kLongestRun;
  ++(is_in_step ? event.in_step : event.out_of_step);
  if (!is_in_step) return all;
  CandidateSet known = 0;
  for (std::size_t i = 0; i < candidates.known.size(); ++i) {
    const Candidate& candidate = candidates.known[i];
    const auto leads_here = [&](std::uint64_t from) {
      return newest.from - newest.to == from - address;
    };
    const bool agrees = newest.to == ip ? std::ranges::any_of(candidate.branches, leads_here)
                                        : candidate.falls_through;
    // Branch records do not show how often a sampled instruction was repeated.
    if (agrees || candidate.address == address) known |= CandidateSet{1} << i;
  }
  if (known != 0) return known;
  return candidates.unknown ? kUnknownCandidate : all;
}

void Evidence::conclude() {
  for (const auto& [attribute, event] : events_) {
    const auto all = static_cast<double>(event.in_step + event.out_of_step);
    const bool are_in_step = static_cast<double>(event.out_of_step) <= kMostOutOfStep * all;
    if (event.has_branches && are_in_step) trusted_.insert(attribute);
  }
}

}  // namespace skid::correct
