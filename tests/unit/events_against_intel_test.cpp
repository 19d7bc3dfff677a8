// Compares the catalogue with Intel's published event files for every core event of Ivy
// Bridge to Sapphire Rapids. The table of those is not part of this project: it is searched where
// the environment's SKIDSCAN_REFERENCE names, or beside the checkout.
#include "src/events/catalogue.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::events {
namespace {

struct Row {
  std::string cpu, name;
  std::uint64_t config = 0;
  bool precise = false;
};

std::vector<Row> rows_of_intel() {
  const char* directory = std::getenv("SKIDSCAN_REFERENCE");
  std::ifstream file(std::string(directory != nullptr ? directory : SKIDSCAN_REFERENCE_DIRECTORY) +
                     "/precise-flags.tsv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    Row row;
    std::string config, precise;
    if (!(columns >> row.cpu >> row.name >> config >> precise)) continue;
    row.config = std::stoull(config, nullptr, 16);
    row.precise = precise == "1";
    rows.push_back(row);
  }
  return rows;
}

/// Rows of Intel that the catalogue answers differently; docs/events.md has the reasons.
const std::set<std::pair<std::string, std::string>> kDifferentCode{
    {"hsw", "L2_RQSTS.L2_PF_HIT"},          {"hsw", "L2_RQSTS.L2_PF_MISS"},
    {"bdw", "L2_RQSTS.L2_PF_HIT"},          {"bdw", "L2_RQSTS.L2_PF_MISS"},
    {"hsw", "UOPS_RETIRED.TOTAL_CYCLES"},   {"bdw", "UOPS_RETIRED.TOTAL_CYCLES"},
    {"skl", "UOPS_RETIRED.TOTAL_CYCLES"},   {"spr", "INST_RETIRED.ANY"},
    {"icl", "TOPDOWN.BACKEND_BOUND_SLOTS"}, {"spr", "TOPDOWN.BACKEND_BOUND_SLOTS"},
    {"spr", "TOPDOWN.BAD_SPEC_SLOTS"},      {"spr", "TOPDOWN.BR_MISPREDICT_SLOTS"},
    {"spr", "TOPDOWN.MEMORY_BOUND_SLOTS"}};
const std::set<std::pair<std::string, std::string>> kDifferentFlag{{"skl", "BR_INST_RETIRED.COND"}};

/// By name; where libpfm4 does not have the name, by code. Empty when it has neither.
std::vector<Event> find(const Catalogue& catalogue, const Row& row) {
  for (const std::string& spelling : {row.name, "cpu/config=" + std::to_string(row.config) + "/"}) {
    try {
      return catalogue.find(spelling);
    } catch (const UsageError&) {
      continue;
    }
  }
  return {};
}

class EventsAgainstIntel : public ::testing::TestWithParam<const char*> {};

TEST_P(EventsAgainstIntel, DifferOnlyWhereKnown) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "libpfm4 has the tables of its own architecture";
#endif
  const auto rows = rows_of_intel();
  if (rows.empty()) GTEST_SKIP() << "no table of Intel's event files";
  const std::string cpu = GetParam();
  const Catalogue catalogue = open_catalogue({.cpu = cpu, .perfmon = {}}, machine::Machine());
  std::set<std::pair<std::string, std::string>> other_code, other_flag;
  std::size_t flags = 0;
  for (const Row& row : rows) {
    if (row.cpu != cpu) continue;
    for (const Event& event : find(catalogue, row)) {
      if (event.config != row.config) {
        other_code.emplace(cpu, row.name);
      } else if (event.precise && *event.precise != row.precise) {
        other_flag.emplace(cpu, row.name);
      }
      flags += event.precise.has_value() ? 1 : 0;
      if (row.precise) {
        EXPECT_EQ(event.precise, true) << row.name;
      }
    }
  }
  EXPECT_GT(flags, 200U) << "most of the table has an answer";
  const auto of_cpu = [&cpu](const auto& all) {
    std::set<std::pair<std::string, std::string>> some;
    std::copy_if(all.begin(), all.end(), std::inserter(some, some.end()),
                 [&cpu](const auto& entry) { return entry.first == cpu; });
    return some;
  };
  EXPECT_EQ(other_code, of_cpu(kDifferentCode));
  EXPECT_EQ(other_flag, of_cpu(kDifferentFlag));
}

INSTANTIATE_TEST_SUITE_P(Cpus, EventsAgainstIntel,
                         ::testing::Values("ivb", "hsw", "bdw", "skl", "icl", "spr"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace skid::events
