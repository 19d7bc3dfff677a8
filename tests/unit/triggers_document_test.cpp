// The table of docs/triggers.md against the descriptions of the kinds.

#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/note.h"
#include "tests/support/prelude.h"

namespace skid::runway {
namespace {

std::string instruction_cell(TriggerKind kind, Arch arch) {
  if (refusal(kind, arch)) return "-";
  const Instructions code = instructions_of(default_specification(arch, kind));
  const std::string& instruction = code.triggers[0].instruction;
  return fmt::format("`{}`", instruction == code.nop ? "nop" : instruction);
}

std::string access_cell(TriggerKind kind) {
  const Specification specification = default_specification(Arch::x86_64, kind);
  const Expectation access = expectations_for(specification).front();
  if (!access.offset) return "none";
  const std::string offset = *access.offset == 0 ? "0" : fmt::format("{:+}", *access.offset);
  if (elements_of(specification) != 0) return offset + ", once a round";
  if (kind_of(kind).repeats) return offset + ", 8 / width";
  return fmt::format("{}, {}", offset, access.events_per_iteration);
}

std::string others_cell(TriggerKind kind) {
  const Instructions code = instructions_of(default_specification(Arch::x86_64, kind));
  std::vector<std::string> others;
  for (const HeadPiece& piece : code.triggers[0].head) {
    if (piece.other_trigger) others.push_back(fmt::format("`{}`", piece.lines.front()));
  }
  if (code.back_edge_is_other_trigger) others.emplace_back("back-edge");
  return others.empty() ? "-" : fmt::format("{}", fmt::join(others, ", "));
}

std::string effects_cell(TriggerKind kind) {
  const Specification specification = default_specification(Arch::x86_64, kind);
  std::vector<std::string> cells;
  for (const auto& [name, counted] : std::initializer_list<std::pair<std::string_view, Counted>>{
           {"loads", Counted::loads},
           {"L1 misses", Counted::l1_misses},
           {"L2 misses", Counted::l2_misses},
           {"L3 misses", Counted::l3_misses},
           {"locked loads", Counted::locked_loads},
           {"stores", Counted::stores},
           {"branches", Counted::branches},
           {"conditional", Counted::conditional_branches},
           {"taken", Counted::taken_branches},
           {"calls", Counted::calls},
           {"returns", Counted::returns},
           {"mispredicted", Counted::mispredicted},
           {"divisions", Counted::divisions},
       }) {
    const std::optional<double> count = events_per_iteration(specification, counted);
    if (!count) cells.push_back(fmt::format("? {}", name));
    if (count && *count != 0) cells.push_back(fmt::format("{} {}", *count, name));
  }
  if (kind_of(kind).gives_back_page) cells.emplace_back("1 page faults");
  return fmt::format("{}", fmt::join(cells, ", "));
}

std::string table() {
  std::string text =
      "| kind | x86-64 | aarch64 | CPU flag | `access` | other triggers | each iteration |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const TriggerKind kind : all_trigger_kinds()) {
    const std::string_view flag = kind_of(kind).cpu_flag;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name_of(kind),
                        instruction_cell(kind, Arch::x86_64), instruction_cell(kind, Arch::aarch64),
                        flag.empty() ? "-" : fmt::format("`{}`", flag), access_cell(kind),
                        others_cell(kind), effects_cell(kind));
  }
  return text;
}

/// With SKIDSCAN_REFRESH_DOCS set, replaces the table instead of checking it.
TEST(TriggersDocument, ContainsTheTableOfAllKinds) {
  const std::string path = std::string(SKIDSCAN_TEST_DATA) + "/../docs/triggers.md";
  std::string document = read_file(path, 1 << 20);
  const std::size_t begin = document.find("| kind |");
  const std::size_t end = document.find("\n\n", begin) + 1;
  ASSERT_LT(begin, end);
  if (std::getenv("SKIDSCAN_REFRESH_DOCS") != nullptr) {
    write_file_atomically(path, document.replace(begin, end - begin, table()));
    return;
  }
  EXPECT_EQ(document.substr(begin, end - begin), table())
      << "run SKIDSCAN_REFRESH_DOCS=1 unit_tests --gtest_filter=TriggersDocument.*";
}

}  // namespace
}  // namespace skid::runway
