#include "plots/audit_figure.h"

#include "plots/layout.h"
#include "src/support/error.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::plots {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

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
  event.bias = audit::judge_blocks(std::move(blocks), {{}}, {}, audit::NotJudged::none, {}, 100);
  return audit;
}

TEST(AuditFigure, ShowsTheSamplesOfABlockAgainstTheEvenCount) {
  const Figure figure =
      audit_figure({audit_of({{51, 1614, 3341, 1, 0, 0, 0}, {100, 100}})}, AuditKind::blocks);
  ASSERT_THAT(figure.blocks, SizeIs(2));
  EXPECT_EQ(figure.blocks[0].name, "all_loads, pp");
  EXPECT_EQ(figure.blocks[1].name, "") << "of the same event";
  const Panel& panel = figure.blocks[0].panels[0];
  std::vector<std::pair<double, double>> bars;
  for (const Box& box : panel.boxes.at(0).boxes) bars.emplace_back(box.left + 0.4, box.top);
  EXPECT_THAT(bars, ElementsAre(Pair(1, 51), Pair(2, 1614), Pair(3, 3341), Pair(4, 1)));
  EXPECT_NEAR(panel.rules.at(0).y1, 5007.0 / 7, 1e-9);
  EXPECT_THAT(panel.captions.at(0).text, HasSubstr("work at 0x1000"));
  EXPECT_THAT(panel.captions.at(0).text, HasSubstr("biased"));
  EXPECT_EQ(panel.x.tics.at(0).label, "0x1008");
}

TEST(AuditFigure, CountsInstructionsByTheirShareOfTheEvenCount) {
  const Figure figure =
      audit_figure({audit_of({{50, 150, 100, 100}, {1000, 0, 0, 0, 0}})}, AuditKind::ratios);
  const Panel& panel = figure.blocks.at(0).panels.at(0);
  std::vector<std::pair<double, double>> bars;
  for (const Box& box : panel.boxes.at(0).boxes) bars.emplace_back(box.left, box.top);
  EXPECT_THAT(bars, ElementsAre(Pair(0, 4), Pair(0.5, 1), Pair(1, 2), Pair(1.5, 1), Pair(4, 1)));
  EXPECT_EQ(panel.rules.at(0).x1, 1);
}

TEST(AuditFigure, IsRefusedWithoutJudgedBlocks) {
  EXPECT_THROW(audit_figure({audit_of({})}, AuditKind::blocks), Error);
}

}  // namespace
}  // namespace skid::plots
