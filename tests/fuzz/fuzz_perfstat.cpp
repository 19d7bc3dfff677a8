// Output of perf stat, from its text to a report on rates.
#include "analysis/rates.h"
#include "src/output/rates/rates.h"
#include "src/perfstat/counts.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace skid;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void report(std::string_view text) {
  const auto reading = perfstat::read_counts(text, "input");
  const auto selection = perfstat::select_counts(reading);
  const bool guesses = text.size() % 2 == 0;  // one of both: more executions
  const auto shares = guesses ? analysis::LfbShares{.l2 = 0.25, .l3 = 0.75} : analysis::LfbShares{};
  const auto rates = analysis::compute_rates(selection.counts, shares);
  for (const auto* group : {&rates.loads, &rates.lines, &rates.l2, &rates.backend}) {
    for (const auto& rate : *group) {
      require(!rate.value || rate.value->low <= rate.value->high);
    }
  }
  const output::RatesReport all{reading, selection, shares, rates};
  const std::string page = output::rates_text(all, {});
  require(
      std::none_of(page.begin(), page.end(), [](char c) { return is_control(c) && c != '\n'; }));
  const std::string json = output::rates_json(all);
  require(std::all_of(json.begin(), json.end(),
                      [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    report({reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {  // an expected refusal
  }
  return 0;
}
