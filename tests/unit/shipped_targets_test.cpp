// Targets that come with packages, and chases whose working set is set afterwards.
#include "runway/shipped.h"
#include "runway/target.h"
#include "tests/support/prelude.h"
#include "tests/support/trigger_kinds.h"
#include "tests/support/zstd_compressor.h"
#include "tests/unit/runway_fixture.h"

namespace skid::runway {
namespace {

Specification of_kind(TriggerKind kind, std::uint32_t nops) {
  Specification specification = default_specification(Arch::x86_64, kind);
  specification.nops = nops;
  return specification;
}

std::string file_of(const std::vector<std::pair<Specification, std::string>>& targets) {
  std::string text;
  for (const auto& [specification, bytes] : targets) {
    text += shipped_header(specification, bytes.size()) + bytes;
  }
  return test::ZstdCompressor().compress(text, /*end_frame=*/true);
}

TEST(ShippedTargets, AreFoundByTheirWholeSpecification) {
  const test::TemporaryDirectory directory;
  const std::string lines(9'000, '\n');
  const auto file =
      directory.write("targets.zst", file_of({{of_kind("load"_trigger, 20), "20\nNOPs"},
                                              {of_kind("load"_trigger, 5000), lines},
                                              {of_kind("store"_trigger, 20), ""}}));
  EXPECT_THAT(shipped_target(of_kind("load"_trigger, 20), file), Optional(std::string("20\nNOPs")));
  EXPECT_THAT(shipped_target(of_kind("load"_trigger, 5000), file), Optional(lines));
  EXPECT_THAT(shipped_target(of_kind("store"_trigger, 20), file), Optional(std::string()));
  EXPECT_EQ(shipped_target(of_kind("load"_trigger, 21), file), std::nullopt);
  EXPECT_EQ(shipped_target(of_kind("store"_trigger, 20), directory / "none"), std::nullopt);
}

TEST(ShippedTargets, RefuseADamagedFile) {
  const test::TemporaryDirectory directory;
  const Specification specification = of_kind("load"_trigger, 20);
  const std::string whole = file_of({{specification, std::string(99, 'x')}});
  const std::string too_short = test::ZstdCompressor().compress(
      shipped_header(specification, 100) + std::string(99, 'x'), /*end_frame=*/true);
  for (const std::string& content :
       {std::string("no zstd"), std::string(), whole.substr(0, whole.size() - 1), too_short}) {
    const auto file = directory.write("targets.zst", content);
    EXPECT_THAT(test::message_of([&] { (void)shipped_target(specification, file); }),
                HasSubstr("targets.zst: is damaged; install skidscan again"));
  }
}

TEST(WorkingSet, IsSetInABuiltTarget) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no pointer chase";
  SKIP_WITHOUT_COMPILER(kHost);
  const test::TemporaryDirectory directory;
  Specification specification = default_specification(kHost, "load-l2"_trigger);
  const std::uint64_t usual = specification.working_set_bytes;
  const Target built = build_target(specification, directory / "usual");
  write_file_atomically(directory / "small", with_working_set(built, 4096), kProgramMode);
  const Target small = require_target(directory / "small");
  specification.working_set_bytes = 4096;
  EXPECT_EQ(small.description.specification, specification);
  EXPECT_NE(small.build_id, built.build_id);
  EXPECT_EQ(small.description.layout, built.description.layout);
  // The target itself goes through as much.
  const Completed run = run_program({small.path.string(), "--iterations", "1000"});
  const auto report = parse_target_report(run.out);
  ASSERT_TRUE(report && report->chase) << run.out << run.err;
  const std::uint64_t stride = chase_stride(specification.trigger);
  EXPECT_EQ(report->chase->size(), 4096 - stride) << "without the datum";
  EXPECT_EQ(with_working_set(small, usual), read_file(built.path, kLargestTarget));
  EXPECT_THROW(with_working_set(built, 1), UsageError);
}

TEST(WorkingSet, LeavesRoomForTheLongestNumbers) {
  if (kHost != Arch::x86_64) GTEST_SKIP() << "aarch64 has no pointer chase";
  SKIP_WITHOUT_COMPILER(kHost);
  const test::TemporaryDirectory directory;
  for (const TriggerKind kind : {"load-l2"_trigger, "load-l3"_trigger, "load-dram"_trigger}) {
    Specification specification = default_specification(kHost, kind);
    specification.gaps = {20, 40};
    for (const std::uint64_t bytes : {std::uint64_t{1} << 40, (std::uint64_t{1} << 40) - 12'288}) {
      specification.working_set_bytes = bytes;
      EXPECT_EQ(build_target(specification, directory / "target").description.specification,
                specification);
    }
  }
}

}  // namespace
}  // namespace skid::runway
