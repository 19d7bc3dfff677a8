#include "src/support/error.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace skid::runway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string repeated(const std::string& bytes, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += bytes;
  return text;
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
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

TEST_P(Building, TheSameSpecificationTwiceGivesTheSameBytes) {
  const Specification specification = specification_of(TriggerKind::store, GetParam());
  const Directory elsewhere;
  const Target first = build(directory_, specification);
  const WorkingDirectory working(elsewhere.path());
  const Target second = build_target(specification, "another-name");
  EXPECT_EQ(bytes_of(first.path), bytes_of(second.path));
  EXPECT_EQ(first.build_id, second.build_id);
  EXPECT_EQ(first.build_id.size(), 40U);
}

TEST_P(Building, AnotherSpecificationGivesAnotherBuildId) {
  Specification specification = specification_of(TriggerKind::load, GetParam());
  const std::string one = build(directory_, specification).build_id;
  specification.length = std::uint64_t{999};
  EXPECT_NE(one, build(directory_, specification).build_id);
}

TEST_P(Building, WhatIsBuiltIsWhatIsReadBack) {
  for (const TriggerKind kind : trigger_kinds_of(GetParam())) {
    Specification specification = specification_of(kind, GetParam());
    specification.nops = 321;
    specification.lead_in_nops = 12;
    specification.length = std::chrono::nanoseconds{1'500'000};
    const Target built = build(directory_, specification);
    const std::optional<Target> read = read_target(built.path);
    ASSERT_TRUE(read) << name_of(kind);
    EXPECT_EQ(read->description.specification, specification) << name_of(kind);
    EXPECT_EQ(read->description.layout, built.description.layout) << name_of(kind);
    EXPECT_EQ(read->description.expectations, built.description.expectations) << name_of(kind);
    EXPECT_EQ(read->description.tool_version, SKIDSCAN_VERSION);
    EXPECT_EQ(read->build_id, built.build_id);
  }
}

TEST_P(Building, ThePartsOfTheLoopLieOneBehindTheOther) {
  for (const TriggerKind kind : trigger_kinds_of(GetParam())) {
    const Specification specification = specification_of(kind, GetParam());
    const Layout layout = build(directory_, specification).description.layout;
    EXPECT_LT(layout.loop.begin, layout.lead_in.begin) << name_of(kind);
    EXPECT_EQ(layout.lead_in.size(), 200U * specification.nop_bytes) << name_of(kind);
    EXPECT_EQ(layout.lead_in.end, layout.trigger.begin) << name_of(kind);
    EXPECT_EQ(layout.trigger.end, layout.runway.begin) << name_of(kind);
    EXPECT_EQ(layout.runway.size(), 5000U * specification.nop_bytes) << name_of(kind);
    EXPECT_LT(layout.runway.end, layout.loop.end) << name_of(kind);
    EXPECT_EQ(layout.datum % 65536, 0U) << name_of(kind);
  }
}

TEST_P(Building, ALeadInOfNoNopsIsEmpty) {
  Specification specification = specification_of(TriggerKind::load, GetParam());
  specification.lead_in_nops = 0;
  const Layout layout = build(directory_, specification).description.layout;
  EXPECT_TRUE(layout.lead_in.empty());
  EXPECT_EQ(layout.lead_in.begin, layout.trigger.begin);
}

TEST_P(Building, TheLongestLoopStillReachesItsBeginning) {
  Specification specification = specification_of(TriggerKind::branch_taken, GetParam());
  specification.nops = 1'000'000;
  specification.lead_in_nops = 1'000'000;
  const Layout layout = build(directory_, specification).description.layout;
  ASSERT_EQ(layout.other_triggers.size(), 1U);
  EXPECT_EQ(layout.other_triggers[0].begin, layout.runway.end);
  EXPECT_EQ(layout.other_triggers[0].end, layout.loop.end);
}

TEST_P(Building, BranchAndFaultDeclareTheirOtherTriggersAndTheOthersHaveNone) {
  const auto layout_of = [&](TriggerKind kind) {
    return build(directory_, specification_of(kind, GetParam())).description.layout;
  };
  EXPECT_TRUE(layout_of(TriggerKind::load).other_triggers.empty());
  EXPECT_TRUE(layout_of(TriggerKind::store).other_triggers.empty());
  EXPECT_TRUE(layout_of(TriggerKind::none).other_triggers.empty());

  const Layout branch = layout_of(TriggerKind::branch_taken);
  ASSERT_EQ(branch.other_triggers.size(), 1U);
  EXPECT_EQ(branch.other_triggers[0], (AddressRange{branch.runway.end, branch.loop.end}));

  // The system call and the instruction that it returns to, up to the lead-in.
  const Layout fault = layout_of(TriggerKind::fault);
  ASSERT_EQ(fault.other_triggers.size(), 1U);
  EXPECT_GT(fault.other_triggers[0].begin, fault.loop.begin);
  EXPECT_EQ(fault.other_triggers[0].end, fault.lead_in.begin);
}

TEST_P(Building, TheFileCanBeExecutedAndNothingIsLeftBesideIt) {
  const Target target = build(directory_, specification_of(TriggerKind::load, GetParam()));
  struct stat status {};
  ASSERT_EQ(::stat(target.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()), 1);
}

TEST_P(Building, SymbolsTileTheLoop) {
  const std::string nm =
      GetParam() == kHost ? "nm" : std::string(name_of(GetParam())) + "-linux-gnu-nm";
  if (!find_program(nm)) GTEST_SKIP() << "no " << nm << " in PATH";
  const Target target = build(directory_, specification_of(TriggerKind::load, GetParam()));
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

TEST(X86Code, RunwaysAreMadeOfTheRecommendedNopOfEachLength) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const std::vector<std::string> nops{
      bytes({0x90}),
      bytes({0x66, 0x90}),
      bytes({0x0f, 0x1f, 0x00}),
      bytes({0x0f, 0x1f, 0x40, 0x00}),
      bytes({0x0f, 0x1f, 0x44, 0x00, 0x00}),
      bytes({0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}),
      bytes({0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}),
      bytes({0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}),
      bytes({0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}),
  };
  const Directory directory;
  for (const std::string& nop : nops) {
    Specification specification = specification_of(TriggerKind::none, Arch::x86_64);
    specification.nop_bytes = static_cast<unsigned>(nop.size());
    specification.nops = 25;
    specification.lead_in_nops = 3;
    const Target target = build(directory, specification);
    const Layout& layout = target.description.layout;
    EXPECT_EQ(code_of(target, layout.runway), repeated(nop, 25)) << nop.size();
    EXPECT_EQ(code_of(target, layout.lead_in), repeated(nop, 3)) << nop.size();
    EXPECT_EQ(code_of(target, layout.trigger), nop) << "the control's trigger is a NOP";
  }
}

TEST(X86Code, EveryNopDecodesAsOneInstruction) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  if (!find_program("objdump")) GTEST_SKIP() << "no objdump in PATH";
  const Directory directory;
  for (unsigned length = 1; length <= 9; ++length) {
    Specification specification = specification_of(TriggerKind::load, Arch::x86_64);
    specification.nop_bytes = length;
    specification.nops = 50;
    const Target target = build(directory, specification);
    const Completed listing = run_program(
        {"objdump", "-d", "--no-show-raw-insn", "--disassemble=skid_runway", target.path.string()});
    const auto is_instruction = [](const std::string& line) {
      return line.find(":\t") != std::string::npos;
    };
    std::istringstream lines(listing.out);
    int instructions = 0;
    for (std::string line; std::getline(lines, line);) {
      if (is_instruction(line)) ++instructions;
    }
    EXPECT_EQ(instructions, 50) << "NOPs of " << length << " bytes";
  }
}

TEST(X86Code, TriggersAreTheInstructionOfTheirKindAndWidth) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const Directory directory;
  const auto trigger = [&](TriggerKind kind, unsigned access_bytes) {
    Specification specification = specification_of(kind, Arch::x86_64);
    specification.access_bytes = access_bytes;
    const Target target = build(directory, specification);
    return code_of(target, target.description.layout.trigger);
  };
  EXPECT_EQ(trigger(TriggerKind::load, 1), bytes({0x0f, 0xb6, 0x07}));   // movzx eax, byte [rdi]
  EXPECT_EQ(trigger(TriggerKind::load, 2), bytes({0x0f, 0xb7, 0x07}));   // movzx eax, word [rdi]
  EXPECT_EQ(trigger(TriggerKind::load, 4), bytes({0x8b, 0x07}));         // mov eax, [rdi]
  EXPECT_EQ(trigger(TriggerKind::load, 8), bytes({0x48, 0x8b, 0x07}));   // mov rax, [rdi]
  EXPECT_EQ(trigger(TriggerKind::store, 1), bytes({0x88, 0x07}));        // mov [rdi], al
  EXPECT_EQ(trigger(TriggerKind::store, 2), bytes({0x66, 0x89, 0x07}));  // mov [rdi], ax
  EXPECT_EQ(trigger(TriggerKind::store, 4), bytes({0x89, 0x07}));        // mov [rdi], eax
  EXPECT_EQ(trigger(TriggerKind::store, 8), bytes({0x48, 0x89, 0x07}));  // mov [rdi], rax
  EXPECT_EQ(trigger(TriggerKind::fault, 8), bytes({0x48, 0x8b, 0x07}));
  EXPECT_EQ(trigger(TriggerKind::branch_taken, 8),
            bytes({0xeb, 0x00}));  // jmp to the next instruction
}

TEST(Aarch64Code, TriggersAreTheInstructionOfTheirKindAndWidth) {
  SKIP_WITHOUT_COMPILER(Arch::aarch64);
  const Directory directory;
  const auto trigger = [&](TriggerKind kind, unsigned access_bytes) {
    Specification specification = specification_of(kind, Arch::aarch64);
    specification.access_bytes = access_bytes;
    const Target target = build(directory, specification);
    return code_of(target, target.description.layout.trigger);
  };
  EXPECT_EQ(trigger(TriggerKind::load, 1), bytes({0x41, 0x01, 0x40, 0x39}));   // ldrb w1, [x10]
  EXPECT_EQ(trigger(TriggerKind::load, 2), bytes({0x41, 0x01, 0x40, 0x79}));   // ldrh w1, [x10]
  EXPECT_EQ(trigger(TriggerKind::load, 4), bytes({0x41, 0x01, 0x40, 0xb9}));   // ldr w1, [x10]
  EXPECT_EQ(trigger(TriggerKind::load, 8), bytes({0x41, 0x01, 0x40, 0xf9}));   // ldr x1, [x10]
  EXPECT_EQ(trigger(TriggerKind::store, 8), bytes({0x41, 0x01, 0x00, 0xf9}));  // str x1, [x10]
  EXPECT_EQ(trigger(TriggerKind::branch_taken, 8),
            bytes({0x01, 0x00, 0x00, 0x14}));                                 // b to the next
  EXPECT_EQ(trigger(TriggerKind::none, 8), bytes({0x1f, 0x20, 0x03, 0xd5}));  // nop
}

TEST(Expectations, FollowTheKindAndTheArchitecture) {
  SKIP_WITHOUT_COMPILER(Arch::x86_64);
  const Directory directory;
  const auto description = [&](TriggerKind kind) {
    return build(directory, specification_of(kind, Arch::x86_64)).description;
  };
  const TargetDescription load = description(TriggerKind::load);
  EXPECT_EQ(*load.expectation_of("access"), (Expectation{"access", 1, 1.0}));
  EXPECT_EQ(*load.expectation_of("execute"), (Expectation{"execute", 0, 1.0}));
  EXPECT_EQ(*load.expectation_of("faults"), (Expectation{"faults", std::nullopt, 0.0}));
  EXPECT_EQ(load.expectation_of("cycles"), nullptr);
  EXPECT_EQ(*description(TriggerKind::branch_taken).expectation_of("access"),
            (Expectation{"access", std::nullopt, 0.0}));
  EXPECT_EQ(*description(TriggerKind::fault).expectation_of("faults"),
            (Expectation{"faults", 0, 1.0}));
}

TEST(Expectations, OnAarch64AWatchpointStopsBeforeTheAccess) {
  SKIP_WITHOUT_COMPILER(Arch::aarch64);
  const Directory directory;
  const Target target = build(directory, specification_of(TriggerKind::load, Arch::aarch64));
  EXPECT_EQ(*target.description.expectation_of("access"), (Expectation{"access", 0, 1.0}));
}

TEST(BuildingFails, ForASpecificationOutOfBoundsBeforeTheFileIsTouched) {
  const Directory directory;
  Specification specification;
  specification.nops = 1;
  EXPECT_THROW(build_target(specification, directory / "target"), UsageError);
  EXPECT_FALSE(fs::exists(directory / "target"));
}

TEST(BuildingFails, WhereNothingCanBeWrittenAndSaysWhere) {
  SKIP_WITHOUT_COMPILER(kHost);
  const Directory directory;
  try {
    build_target(default_specification(kHost), directory / "missing/target");
    FAIL() << "wrote into a directory that is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/target: cannot be written: no such file"));
  }
  EXPECT_THROW(build_target(default_specification(kHost), directory.path()), Error);
}

TEST(BuildingFails, WithoutACompilerAndNamesThePackage) {
  const Directory directory;
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  const Arch foreign = kHost == Arch::x86_64 ? Arch::aarch64 : Arch::x86_64;
  ::setenv("PATH", directory.path().c_str(), 1);
  std::string own, other;
  try {
    build_target(default_specification(kHost), directory / "target");
  } catch (const Error& error) {
    own = error.what();
  }
  try {
    build_target(default_specification(foreign), directory / "target");
  } catch (const Error& error) {
    other = error.what();
  }
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(own, HasSubstr("install the package gcc"));
  EXPECT_THAT(other, HasSubstr(foreign == Arch::aarch64 ? "gcc-aarch64-linux-gnu"
                                                        : "gcc-x86-64-linux-gnu"));
}

TEST(BuildingFails, WithTheCompilersFirstError) {
  const Directory directory;
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  {
    const fs::path compiler = directory / "cc";
    write_file_atomically(compiler,
                          "#!/bin/sh\necho remark >&2\necho 'x.c:1: error: odd' >&2\nexit 3\n");
    fs::permissions(compiler, fs::perms{0755});
  }
  ::setenv("PATH", (directory.path().string() + ":" + before).c_str(), 1);
  std::string message;
  try {
    build_target(default_specification(kHost), directory / "target");
  } catch (const Error& error) {
    message = error.what();
  }
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(message, HasSubstr("exit status 3: x.c:1: error: odd"));
  EXPECT_FALSE(fs::exists(directory / "target"));
}

}  // namespace
}  // namespace skid::runway
