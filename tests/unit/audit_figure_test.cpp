#include "plots/kinds.h"
#include "tests/support/prelude.h"

namespace skid::plots {
namespace {

/// An audit of one event with blocks of these counts.
audit::Audit audit_of(const std::vector<std::vector<std::uint64_t>>& counts) {
  std::vector<audit::BlockFinding> blocks;
  std::uint64_t address = 0x1000;
  for (const auto& of_block : counts) {
    audit::BlockFinding& block = blocks.emplace_back();
    block.function = "work";
    block.samples.range = {address, address + 0x100};
    for (const std::uint64_t samples : of_block) {
      block.samples.places.push_back({address += 8, samples});
    }
  }
  audit::Audit audit;
  audit.cpu.model_name = "a CPU";
  audit::EventAudit& event = audit.events.emplace_back();
  event.event = "all_loads";
  event.level = 2;
  event.bias = audit::judge_blocks(std::move(blocks), {{}}, 100);
  return audit;
}

TEST(AuditFigure, ShowsTheSamplesOfABlockAgainstTheEvenCount) {
  const Figure figure = audit_figure({audit_of({{51, 1614, 3341, 1, 0, 0, 0}, {100, 100}})}, {});
  ASSERT_THAT(figure.panels, SizeIs(2));
  const Panel& panel = figure.panels[0];
  EXPECT_THAT(panel.title, AllOf(HasSubstr("all_loads, pp\nwork at 0x1000"), HasSubstr("biased")));
  EXPECT_THAT(figure.panels[1].title, StartsWith("work")) << "of the same event";
  EXPECT_THAT(panel.series.at(0).rows,
              IsSupersetOf(Rows{{1, 51}, {2, 1614}, {3, 3341}, {4, 1}, {5, 0}}));
  EXPECT_THAT(panel.marks.at(0), HasSubstr("first 715.2857143 to"));
  EXPECT_THAT(panel.commands, Contains(HasSubstr("'0x1008' 1")));
}

TEST(AuditFigure, IsRefusedWithoutJudgedBlocks) {
  EXPECT_THROW(audit_figure({audit_of({})}, {}), Error);
}

}  // namespace
}  // namespace skid::plots
