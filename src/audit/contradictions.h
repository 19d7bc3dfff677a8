// What else a sample records, compared with the instruction that it is at.
#pragma once

#include "analysis/statistics.h"
#include "src/audit/file_judge.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
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

/// Calls `judge(FileJudge&, const symbols::Module&, entry)` for each entry of `places` in a file of
/// x86-64 code, one file after the other, and within a file one function after the other, so that
/// each is decoded once: functions can overlap. `Places`: a map whose keys have `file` and
/// `offset`, by file. `arch`: as recorded; nullopt: not recorded.
template <typename Places, typename Judge>
void judge_by_function(Places& places, const locate::Digest& digest, locate::ModuleStore& modules,
                       std::optional<Arch> arch, const Judge& judge) {
  for (auto begin = places.begin(); begin != places.end();) {
    const symbols::FileIndex file = begin->first.file;
    const auto end = std::find_if(begin, places.end(),
                                  [&](const auto& place) { return place.first.file != file; });
    const symbols::Module* module = modules.find(digest.spaces.file(file)).module;
    if (module != nullptr && module->arch() == Arch::x86_64) {
      FileJudge in_file(*module, arch, std::nullopt);
      std::vector<std::pair<std::uint64_t, typename Places::value_type*>> by_function;
      for (auto place = begin; place != end; ++place) {
        by_function.emplace_back(in_file.begin_of_function(place->first.offset), &*place);
      }
      std::stable_sort(by_function.begin(), by_function.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [function, entry] : by_function) judge(in_file, *module, *entry);
    }
    begin = end;
  }
}

}  // namespace skid::audit
