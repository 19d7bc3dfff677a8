// The table of docs/triggers.md against the code that it tells of.

#include "runway/instructions.h"
#include "runway/loop_events.h"
#include "runway/note.h"
#include "runway/trigger.h"
#include "src/support/file.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::runway {
namespace {

std::string instruction_cell(TriggerKind kind, Arch arch) {
  if (refusal(kind, arch)) return "-";
  if (kind == TriggerKind::none) return "`nop`";
  return fmt::format("`{}`", instructions_of(default_specification(arch, kind)).trigger);
}

std::string access_cell(TriggerKind kind) {
  const Specification specification = default_specification(Arch::x86_64, kind);
  const Expectation access = expectations_for(specification).front();
  if (!access.offset) return "none";
  const std::string offset = *access.offset == 0 ? "0" : fmt::format("{:+}", *access.offset);
  if (elements_of(specification) != 0) return offset + ", once a round";
  if (kind == TriggerKind::string_load) return offset + ", 8 / width";
  return fmt::format("{}, {}", offset, access.events_per_iteration);
}

std::string others_cell(TriggerKind kind) {
  const Instructions code = instructions_of(default_specification(Arch::x86_64, kind));
  std::vector<std::string> others;
  for (const HeadPiece& piece : code.head) {
    if (piece.other_trigger) others.push_back(fmt::format("`{}`", piece.lines.front()));
  }
  if (code.back_edge_is_other_trigger) others.emplace_back("back-edge");
  return others.empty() ? "-" : fmt::format("{}", fmt::join(others, ", "));
}

std::string causes_cell(TriggerKind kind) {
  const LoopEvents events = loop_events_of(default_specification(Arch::x86_64, kind));
  const std::vector<std::pair<std::string_view, LoopEvents::Count>> counts{
      {"loads", events.loads},
      {"L1 misses", events.l1_misses},
      {"L2 misses", events.l2_misses},
      {"L3 misses", events.l3_misses},
      {"locked loads", events.locked_loads},
      {"stores", events.stores},
      {"branches", events.branches},
      {"conditional", events.conditional_branches},
      {"taken", events.taken_branches},
      {"calls", events.calls},
      {"returns", events.returns},
      {"mispredicted", events.mispredicted_branches},
      {"divisions", events.divisions},
      {"page faults", events.page_faults},
  };
  std::vector<std::string> cells;
  for (const auto& [name, count] : counts) {
    if (!count) cells.push_back(fmt::format("? {}", name));
    if (count && *count != 0) cells.push_back(fmt::format("{} {}", *count, name));
  }
  return fmt::format("{}", fmt::join(cells, ", "));
}

std::string table() {
  std::string text =
      "| kind | x86-64 | aarch64 | CPU flag | `access` | other triggers | each iteration |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const TriggerKind kind : all_trigger_kinds()) {
    const std::string_view flag = traits_of(kind).cpu_flag;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name_of(kind),
                        instruction_cell(kind, Arch::x86_64), instruction_cell(kind, Arch::aarch64),
                        flag.empty() ? "-" : fmt::format("`{}`", flag), access_cell(kind),
                        others_cell(kind), causes_cell(kind));
  }
  return text;
}

TEST(TriggersDocument, HasTheTableThatTheCodeGives) {
  const std::string document =
      read_file(std::string(SKIDSCAN_TEST_DATA) + "/../docs/triggers.md", 1 << 20);
  EXPECT_THAT(document, ::testing::HasSubstr(table()))
      << "the table of docs/triggers.md should be:\n"
      << table();
}

}  // namespace
}  // namespace skid::runway
