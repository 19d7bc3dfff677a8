// What else a sample records, compared with the instruction that it is at.
#pragma once

#include "analysis/statistics.h"
#include "src/audit/file_judge.h"
#include "src/measure/profile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace skid::audit {

/// Samples of one event that record something which their instruction can contradict.
struct Contradictions {
  std::uint64_t samples = 0;  ///< in user mode
  analysis::Share share;      ///< of those judged: contradicted by the instruction

  std::uint64_t undecided() const noexcept { return samples - share.total; }
};

/// By attribute, samples with EXACT_IP in user mode whose data source (PERF_SAMPLE_DATA_SRC) is a
/// load, a store or a prefetch, where there are any. An instruction contradicts what cannot cause a
/// retired load or store by name (events::causes_by_name); code of aarch64 is not judged. Reads the
/// recording once more, unless no event recorded data sources.
std::map<std::uint32_t, Contradictions> check_data_sources(const measure::Profile& profile,
                                                           CodeBudget& budget);

/// By attribute, samples in user mode with the data address of an access, where there are any: of
/// page faults, and with EXACT_IP of PEBS and IBS. An instruction contradicts an address outside of
/// its one memory operand, where its constants, or its constants and the registers that the sample
/// recorded, give that operand; docs/audit.md has the rules. Reads the recording once more, unless
/// no event recorded such addresses.
std::map<std::uint32_t, Contradictions> check_data_addresses(const measure::Profile& profile,
                                                             CodeBudget& budget);

/// Calls `judge(FileJudge&, const symbols::Module&, entry)` for each entry of `places` in a file of
/// x86-64 code, one file after the other, and within a file one function after the other, so that
/// each is decoded once: functions can overlap. `Places`: a map whose keys have `file` and
/// `offset`, by file.
template <typename Places, typename Judge>
void judge_by_function(Places& places, const measure::Profile& profile, CodeBudget& budget,
                       const Judge& judge) {
  for (auto begin = places.begin(); begin != places.end();) {
    const symbols::FileIndex file = begin->first.file;
    const auto end = std::find_if(begin, places.end(),
                                  [&](const auto& place) { return place.first.file != file; });
    const symbols::Module* module = profile.modules.find(profile.digest.spaces.file(file)).module;
    if (module != nullptr && module->arch() == Arch::x86_64) {
      FileJudge in_file(*module, profile.arch(), std::nullopt, budget);
      std::vector<std::pair<std::uint64_t, typename Places::value_type*>> by_function;
      for (auto place = begin; place != end; ++place) {
        by_function.emplace_back(in_file.begin_of_function(place->first.offset), &*place);
      }
      std::ranges::stable_sort(by_function, {}, [](const auto& one) { return one.first; });
      for (const auto& [function, entry] : by_function) judge(in_file, *module, *entry);
    }
    begin = end;
  }
}

}  // namespace skid::audit
