// Output of perf stat, from its text to a report on rates.
#include "analysis/rates.h"
#include "src/output/page.h"
#include "src/output/rates/rates.h"
#include "src/perfstat/reading.h"
#include "src/perfstat/selection.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  const auto reading = perfstat::read_counts(text_of(input), "input");
  const auto selection = perfstat::select_counts(reading);
  const bool guesses = input.size() % 2 == 0;  // one of both: more executions
  const auto shares = guesses ? analysis::LfbShares{.l2 = 0.25, .l3 = 0.75} : analysis::LfbShares{};
  std::vector<analysis::Rates> rates;
  for (const auto& of : selection.cores) {
    const auto& all = rates.emplace_back(analysis::compute_rates(of.counts, shares));
    for (const auto* group : {&all.general, &all.loads, &all.lines, &all.l2, &all.backend}) {
      for (const auto& rate : *group) {
        require(!rate.value || rate.value->low <= rate.value->high);
      }
    }
  }
  const output::RatesReport all{reading, selection, shares, rates};
  require_no_control_characters(output::rates_text(all, {}));
  const std::string json = output::rates_json(all);
  require(std::all_of(json.begin(), json.end(),
                      [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
}
