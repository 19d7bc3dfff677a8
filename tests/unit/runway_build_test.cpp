// Targets as they are built, and as they come with packages.
#include "runway/note.h"
#include "runway/shipped.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/machine/file_tree.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/symbols/disassembler.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/hex.h"
#include "tests/support/only_path.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zstd_compressor.h"
#include "tests/unit/runway_fixture.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace skid::runway {
namespace {

std::string repeated(const std::string& bytes, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += bytes;
  return text;
}

/// "0f b6 07" as three characters.
std::string bytes(std::string_view digits) {
  const auto all = test::hex(digits);
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

Target build(const Directory& directory, const Specification& specification) {
  return build_target(specification, directory / "target");
}

/// The working directory of this process, put back at the end.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  WorkingDirectory(WorkingDirectory&&) = delete;
  WorkingDirectory& operator=(WorkingDirectory&&) = delete;
  ~WorkingDirectory() { fs::current_path(before_); }

 private:
  fs::path before_;
};

class Building : public ::testing::TestWithParam<Arch> {
 protected:
  void SetUp() override { SKIP_WITHOUT_COMPILER(GetParam()); }
  Directory directory_;
};

TEST_P(Building, GivesTheSameBytesForTheSameSpecificationAlone) {
  Specification specification = specification_of("store"_trigger, GetParam());
  const Directory elsewhere;
  const Target first = build(directory_, specification);
  const WorkingDirectory working(elsewhere.path());
  const Target second = build_target(specification, "another-name");
  EXPECT_EQ(bytes_of(first.path), bytes_of(second.path));
  EXPECT_EQ(first.build_id, second.build_id);
  EXPECT_EQ(first.build_id.size(), 40U);

  struct stat status {};
  ASSERT_EQ(::stat(first.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
  EXPECT_THAT(test::names_in(directory_.path()), SizeIs(1)) << "files besides the target";

  specification.length = std::uint64_t{999};
  EXPECT_NE(first.build_id, build(directory_, specification).build_id);
}

TEST_P(Building, AllowsAnEmptyLeadIn) {
  Specification specification = specification_of("load"_trigger, GetParam());
  specification.lead_in_nops = 0;
  const Layout layout = build(directory_, specification).description.layout;
  EXPECT_TRUE(layout.lead_in.empty());
  EXPECT_EQ(layout.lead_in.begin, layout.trigger.begin);
}

TEST_P(Building, ReachesTheBeginningOfTheLongestLoop) {
  Specification specification = specification_of("branch-taken"_trigger, GetParam());
  specification.nops = 1'000'000;
  specification.lead_in_nops = 1'000'000;
  const Layout layout = build(directory_, specification).description.layout;
  ASSERT_EQ(layout.other_triggers.size(), 1U);
  EXPECT_EQ(layout.other_triggers[0].begin, layout.runway.end);
  EXPECT_EQ(layout.other_triggers[0].end, layout.loop.end);
}

TEST_P(Building, TilesTheLoopWithSymbols) {
  const std::string nm =
      GetParam() == kHost ? "nm" : std::string(name_of(GetParam())) + "-linux-gnu-nm";
  SKIP_WITHOUT(nm);
  const Target target = build(directory_, specification_of("load"_trigger, GetParam()));
  const Layout& layout = target.description.layout;
  const Completed listed = run_program({nm, "-S", "--defined-only", target.path.string()});
  std::map<std::string, AddressRange> symbols;
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint64_t address = 0, size = 0;
    std::string type, name;
    if (words >> std::hex >> address >> size >> type >> name) {
      symbols[name] = {address, address + size};
    }
  }
  EXPECT_EQ(symbols["skid_loop"], (AddressRange{layout.loop.begin, layout.lead_in.begin}));
  EXPECT_EQ(symbols["skid_lead_in"], layout.lead_in);
  EXPECT_EQ(symbols["skid_trigger"], layout.trigger);
  EXPECT_EQ(symbols["skid_runway"], layout.runway);
  EXPECT_EQ(symbols["skid_runway_end"], (AddressRange{layout.runway.end, layout.loop.end}));
  EXPECT_EQ(symbols["skid_loop_end"].begin, layout.loop.end);
  EXPECT_EQ(symbols["skid_datum"], (AddressRange{layout.datum, layout.datum + 8}));
}

INSTANTIATE_TEST_SUITE_P(Architectures, Building, ::testing::Values(Arch::x86_64, Arch::aarch64),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(X86Code, BuildsRunwaysOfTheRecommendedNopOfEachLength) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const std::vector<std::string> nops{
      bytes("90"),
      bytes("66 90"),
      bytes("0f 1f 00"),
      bytes("0f 1f 40 00"),
      bytes("0f 1f 44 00 00"),
      bytes("66 0f 1f 44 00 00"),
      bytes("0f 1f 80 00 00 00 00"),
      bytes("0f 1f 84 00 00 00 00 00"),
      bytes("66 0f 1f 84 00 00 00 00 00"),
  };
  const Directory directory;
  for (const std::string& nop : nops) {
    Specification specification = specification_of("none"_trigger, Arch::x86_64);
    specification.nop_bytes = static_cast<unsigned>(nop.size());
    specification.nops = 25;
    specification.lead_in_nops = 3;
    const Target target = build(directory, specification);
    const Layout& layout = target.description.layout;
    const std::string code = code_of(target, layout.runway);
    EXPECT_EQ(code, repeated(nop, 25)) << nop.size();
    EXPECT_EQ(symbols::Disassembler(Arch::x86_64)
                  .decode(std::as_bytes(std::span(code)), layout.runway.begin, code.size())
                  .size(),
              25U);
    EXPECT_EQ(code_of(target, layout.lead_in), repeated(nop, 3)) << nop.size();
    EXPECT_EQ(code_of(target, layout.trigger), nop) << "the trigger of the control";
  }
}

/// The trigger's bytes where an access is narrower than the default, which runway_kinds_test.cpp
/// checks.
std::string narrow_trigger(Arch arch, TriggerKind kind, unsigned access_bytes) {
  const Directory directory;
  Specification specification = specification_of(kind, arch);
  specification.access_bytes = access_bytes;
  const Target target = build(directory, specification);
  return code_of(target, target.description.layout.trigger);
}

TEST(NarrowTrigger, AccessesItsBytesOnX86) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const auto trigger = [](TriggerKind kind, unsigned access_bytes) {
    return narrow_trigger(Arch::x86_64, kind, access_bytes);
  };
  EXPECT_EQ(trigger("load"_trigger, 1), bytes("0f b6 07"));   // movzx eax, byte [rdi]
  EXPECT_EQ(trigger("load"_trigger, 2), bytes("0f b7 07"));   // movzx eax, word [rdi]
  EXPECT_EQ(trigger("load"_trigger, 4), bytes("8b 07"));      // mov eax, [rdi]
  EXPECT_EQ(trigger("store"_trigger, 1), bytes("88 07"));     // mov [rdi], al
  EXPECT_EQ(trigger("store"_trigger, 2), bytes("66 89 07"));  // mov [rdi], ax
  EXPECT_EQ(trigger("store"_trigger, 4), bytes("89 07"));     // mov [rdi], eax
}

TEST(NarrowTrigger, AccessesItsBytesOnAarch64) {
  SKIP_WITHOUT_COMPILER(Arch::aarch64);
  const auto trigger = [](unsigned access_bytes) {
    return narrow_trigger(Arch::aarch64, "load"_trigger, access_bytes);
  };
  EXPECT_EQ(trigger(1), bytes("41 01 40 39"));  // ldrb w1, [x10]
  EXPECT_EQ(trigger(2), bytes("41 01 40 79"));  // ldrh w1, [x10]
  EXPECT_EQ(trigger(4), bytes("41 01 40 b9"));  // ldr w1, [x10]
}

TEST(Expectations, FollowTheKindAndTheArchitecture) {
  const auto of = [](TriggerKind kind, Arch arch = Arch::x86_64) {
    return expectations_for(specification_of(kind, arch));
  };
  using Expected = std::vector<Expectation>;
  EXPECT_EQ(of("load"_trigger),
            (Expected{{"access", 1, 1.0}, {"execute", 0, 1.0}, {"faults", std::nullopt, 0.0}}));
  EXPECT_EQ(of("branch-taken"_trigger).front(), (Expectation{"access", std::nullopt, 0.0}));
  EXPECT_EQ(of("fault"_trigger).back(), (Expectation{"faults", 0, 1.0}));
  EXPECT_EQ(of("load"_trigger, Arch::aarch64).front(), (Expectation{"access", 0, 1.0}))
      << "a watchpoint stops before the access";
}

TEST(BuildFailure, LeavesNoFileForASpecificationOutOfBounds) {
  const Directory directory;
  Specification specification{.nops = 1};
  EXPECT_THROW(build_target(specification, directory / "target"), ValueError);
  EXPECT_FALSE(fs::exists(directory / "target"));
}

TEST(BuildFailure, NamesThePathThatCannotBeWritten) {
  SKIP_WITHOUT_COMPILER(kHost);
  const Directory directory;
  const auto refused = test::message_of(
      [&] { build_target(default_specification(kHost), directory / "missing/target"); });
  EXPECT_THAT(refused, HasSubstr("missing/target: cannot be written: no such file"));
  EXPECT_THROW(build_target(default_specification(kHost), directory.path()), Error);
}

/// The message that a build fails with while PATH is `path`.
std::string failure_with_path(const std::string& path, Arch arch, const fs::path& target) {
  const test::OnlyPath only(path);
  return test::message_of([&] { build_target(default_specification(arch), target); });
}

TEST(BuildFailure, NamesThePackageOfAMissingCompiler) {
  const Directory directory;
  const auto message = [&](Arch arch) {
    return failure_with_path(directory.path(), arch, directory / "target");
  };
  EXPECT_THAT(message(kHost), HasSubstr("install the package gcc"));
  const bool x86 = kHost == Arch::x86_64;
  EXPECT_THAT(message(x86 ? Arch::aarch64 : Arch::x86_64),
              HasSubstr(x86 ? "gcc-aarch64-linux-gnu" : "gcc-x86-64-linux-gnu"));
}

TEST(BuildFailure, QuotesTheFirstErrorOfTheCompiler) {
  const Directory directory;
  const fs::path compiler = directory / "cc";
  write_file_atomically(compiler,
                        "#!/bin/sh\necho remark >&2\necho 'x.c:1: error: odd' >&2\nexit 3\n");
  fs::permissions(compiler, fs::perms{0755});
  EXPECT_THAT(failure_with_path(directory.path(), kHost, directory / "target"),
              HasSubstr("exit status 3: x.c:1: error: odd"));
  EXPECT_FALSE(fs::exists(directory / "target"));
}

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
  const auto load = of_kind("load"_trigger, 20), long_load = of_kind("load"_trigger, 5000),
             store = of_kind("store"_trigger, 20);
  const auto file = directory.write("targets.zst",
                                    file_of({{load, "20\nNOPs"}, {long_load, lines}, {store, ""}}));
  EXPECT_THAT(shipped_target(load, file), Optional(std::string("20\nNOPs")));
  EXPECT_THAT(shipped_target(long_load, file), Optional(lines));
  EXPECT_THAT(shipped_target(store, file), Optional(std::string()));
  EXPECT_EQ(shipped_target(of_kind("load"_trigger, 21), file), std::nullopt);
  EXPECT_EQ(shipped_target(store, directory / "none"), std::nullopt);
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
  SKIP_WITHOUT("x86-64");
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
  EXPECT_THROW(with_working_set(built, 1), ValueError);
}

TEST(WorkingSet, LeavesRoomForTheLongestNumbers) {
  SKIP_WITHOUT("x86-64");
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
