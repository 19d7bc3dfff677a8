#include "src/audit/contradictions.h"

#include "src/audit/file_judge.h"
#include "src/audit/rule.h"
#include "src/code/by_function.h"
#include "src/events/causes.h"
#include "src/instructions/counted.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/data_source.h"
#include "src/measure/profile.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using measure::Operation;

struct AccessPlace : symbols::FileLocation {
  std::uint32_t attribute = 0;
  Operation operation = Operation::load;

  friend auto operator<=>(const AccessPlace&, const AccessPlace&) = default;
};

using AccessPlaces = std::map<AccessPlace, std::uint64_t>;  ///< samples by place

/// The samples with data sources that were read so far.
struct SourcesRead {
  Findings findings;
  AccessPlaces places;
};

/// Judges the data sources by the code at their places.
Findings judge_sources(const measure::Profile& profile, SourcesRead& read,
                       code::CodeBudget& budget) {
  Findings& findings = read.findings;
  code::for_each_file(read.places, [&](symbols::FileIndex file, auto begin, auto end) {
    const symbols::Module* module = profile.modules.find(profile.digest.spaces.file(file)).module;
    if (module == nullptr || module->arch() != Arch::x86_64) return;
    FileJudge judge(*module, profile.arch(), std::nullopt, budget);
    code::visit_by_function(judge.file(), begin, end, [&](const auto& entry, std::uint64_t) {
      const auto& [place, samples] = entry;
      const Judgement judgement =
          judge.judge(measure::causes_of(place.operation), Rule::sampled, place.offset);
      if (judgement.verdict == events::Verdict::unknown) return;
      Contradictions& finding = findings[place.attribute];
      finding.share.total += samples;
      if (judgement.verdict != events::Verdict::never) return;
      finding.share.count += samples;
      finding.places[place].contradicted += samples;
    });
  });
  return std::move(findings);
}

}  // namespace

locate::RecordCheck<Findings> check_data_sources(const measure::Profile& profile,
                                                 code::CodeBudget& budget) {
  const bool has_sources = std::ranges::any_of(
      profile.events, [](const auto& event) { return event.attribute.has(PERF_SAMPLE_DATA_SRC); });
  const auto read = std::make_shared<SourcesRead>();
  const auto visit = [&profile, read](const locate::VisitedRecord& visited) {
    const auto operation = measure::operation_of(profile, visited);
    if (!operation) return;
    const std::uint32_t attribute = visited.sample->attribute;
    ++read->findings[attribute].samples;
    if (visited.location) ++read->places[{*visited.location, attribute, *operation}];
  };
  return {has_sources ? visit : locate::Visitor(),
          [&profile, &budget, read] { return judge_sources(profile, *read, budget); }};
}

}  // namespace skid::audit
