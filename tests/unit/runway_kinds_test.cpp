// Every kind of trigger against its description: the code of its targets, their runs, and what perf
// samples of events whose skid is known by construction. A new kind needs no line here.

#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/process.h"
#include "src/symbols/disassembler.h"
#include "tests/support/facts.h"
#include "tests/unit/runway_under_perf.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::runway {
namespace {

struct Case {
  Arch arch;
  TriggerKind kind;
};

std::vector<Case> cases_of(const std::vector<Arch>& architectures) {
  std::vector<Case> all;
  for (const Arch arch : architectures) {
    for (const TriggerKind kind : trigger_kinds_of(arch)) all.push_back({arch, kind});
  }
  return all;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name(name_of(info.param.kind));
  std::replace(name.begin(), name.end(), '-', '_');
  return fmt::format("{}_{}", name_of(info.param.arch), name);
}

/// Three triggers in an iteration, close together, and runways that are quick to build.
Specification short_specification(Arch arch, TriggerKind kind) {
  Specification specification = default_specification(arch, kind);
  specification.lead_in_nops = 20;
  specification.gaps = {1, 0};
  specification.nops = 100;
  return specification;
}

std::string mnemonic_of(const std::string& text) {
  const std::size_t prefix =
      text.starts_with("rep ") || text.starts_with("lock ") ? text.find(' ') + 1 : 0;
  return text.substr(0, text.find(' ', prefix));
}

bool accesses_memory(const std::string& text) {
  return text.find('[') != std::string::npos && !text.starts_with("nop");
}

bool branches(const std::string& text, Arch arch) {
  const std::string mnemonic = mnemonic_of(text);
  if (arch == Arch::x86_64) {
    return mnemonic.front() == 'j' || mnemonic == "call" || mnemonic == "ret" ||
           mnemonic == "syscall";
  }
  return mnemonic == "b" || mnemonic.starts_with("b.") || mnemonic == "svc";
}

class TriggerKindCode : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(GetParam().arch);
    specification_ = short_specification(GetParam().arch, GetParam().kind);
    target_ = build_target(specification_, directory_ / "target");
  }

  std::vector<symbols::Instruction> decode(AddressRange range) const {
    const std::string code = code_of(target_, range);
    return symbols::Disassembler(GetParam().arch)
        .decode(std::as_bytes(std::span(code)), range.begin, code.size());
  }

  void expect_layout() const {
    const Layout& layout = target_.description.layout;
    const unsigned nop = specification_.nop_bytes;
    EXPECT_LT(layout.loop.begin, layout.lead_in.begin);
    EXPECT_EQ(layout.lead_in.size(), 20U * nop);
    EXPECT_EQ(layout.lead_in.end, layout.trigger.begin);
    EXPECT_LT(layout.runway.end, layout.loop.end);
    EXPECT_EQ(layout.datum % kDatumPageBytes, 0U);
    const std::vector<TriggerBlock> blocks = layout.trigger_blocks();
    ASSERT_EQ(blocks.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(blocks[i].trigger.end, blocks[i].runway.begin);
      EXPECT_EQ(blocks[i].runway.size(), (std::vector{1U, 0U, 100U}[i]) * nop);
    }
    // A head for each trigger, or for the first alone.
    const std::size_t head = blocks[1].trigger.begin - blocks[0].runway.end;
    EXPECT_EQ(blocks[2].trigger.begin - blocks[1].runway.end, head);
    EXPECT_EQ(head != 0, kind_of(GetParam().kind).code(GetParam().arch)->uses_up_head);
  }

  /// Nothing else in the loop is of the kind of the trigger but what the target declares.
  void expect_no_undeclared_trigger(const std::string& trigger) const {
    const Arch arch = GetParam().arch;
    std::vector<AddressRange> declared = target_.description.layout.other_triggers;
    for (const TriggerBlock& block : target_.description.layout.trigger_blocks()) {
      declared.push_back(block.trigger);
    }
    for (const symbols::Instruction& instruction : decode(target_.description.layout.loop)) {
      if (std::any_of(declared.begin(), declared.end(), [&](const AddressRange& range) {
            return range.contains(instruction.address);
          })) {
        continue;
      }
      const std::string& text = instruction.text;
      EXPECT_FALSE(branches(trigger, arch) && branches(text, arch)) << text;
      EXPECT_FALSE(accesses_memory(trigger) && accesses_memory(text)) << text;
      if (accesses_memory(trigger) || trigger == "nop") continue;
      EXPECT_NE(mnemonic_of(text), mnemonic_of(trigger)) << text;
    }
  }

  void expect_declared_triggers() const {
    const Instructions code = instructions_of(specification_);
    std::size_t declared = code.back_edge_is_other_trigger ? 1 : 0;
    for (const TriggerCode& trigger : code.triggers) {
      for (const HeadPiece& piece : trigger.head) declared += piece.other_trigger ? 1 : 0;
    }
    const Layout& layout = target_.description.layout;
    ASSERT_EQ(layout.other_triggers.size(), declared);
    for (const AddressRange& other : layout.other_triggers) {
      const std::vector<symbols::Instruction> decoded = decode(other);
      EXPECT_TRUE(std::any_of(decoded.begin(), decoded.end(), [](const auto& instruction) {
        return branches(instruction.text, GetParam().arch);
      }));
    }
    if (code.back_edge_is_other_trigger) {
      EXPECT_EQ(layout.other_triggers.back(),
                (AddressRange{layout.trigger_blocks().back().runway.end, layout.loop.end}));
    }
  }

  Directory directory_;
  Specification specification_;
  Target target_;
};

TEST_P(TriggerKindCode, MatchesItsDescriptionAndRuns) {
  const KindCode& code = *kind_of(GetParam().kind).code(GetParam().arch);
  expect_layout();
  std::string text;
  for (const auto& [trigger, runway] : target_.description.layout.trigger_blocks()) {
    const std::vector<symbols::Instruction> decoded = decode(trigger);
    ASSERT_EQ(decoded.size(), 1U);
    text = fmt::format(fmt::runtime(code.disassembly), fmt::format("{:#x}", runway.begin));
    EXPECT_EQ(decoded[0].text, text);
  }
  expect_no_undeclared_trigger(text);
  expect_declared_triggers();

  std::size_t executed = decode(target_.description.layout.loop).size();
  for (const TriggerCode& trigger : instructions_of(specification_).triggers) {
    for (const HeadPiece& piece : trigger.head) executed -= piece.skipped;
  }
  EXPECT_EQ(events_per_iteration(specification_, Counted::instructions),
            static_cast<double>(executed));

  const std::optional<Target> read = read_target(target_.path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->description.specification, specification_);
  EXPECT_EQ(read->description.layout, target_.description.layout);
  EXPECT_EQ(read->description.expectations, target_.description.expectations);
  EXPECT_EQ(read->description.tool_version, SKIDSCAN_VERSION);
  EXPECT_EQ(read->build_id, target_.build_id);

  if (const auto reason = refusal(GetParam().kind, GetParam().arch, machine::inspect().cpu_flags)) {
    GTEST_SKIP() << *reason;
  }
  std::vector<std::string> command{target_.path.string(), "--iterations", "1234"};
  if (GetParam().arch != kHost) {
    const std::string emulator = fmt::format("qemu-{}-static", name_of(GetParam().arch));
    SKIP_WITHOUT(emulator);
    command.insert(command.begin(), emulator);
  }
  const Completed completed = run_program(command);
  ASSERT_TRUE(completed.code.success()) << describe(completed.code) << completed.err;
  const auto report = parse_target_report(completed.out);
  ASSERT_TRUE(report) << completed.out;
  EXPECT_EQ(report->iterations, 1234U);
  EXPECT_GT(report->elapsed_seconds, 0.0);
  EXPECT_GT(report->ticks_per_second, 1e6);
  EXPECT_EQ(completed.err, "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, TriggerKindCode,
                         ::testing::ValuesIn(cases_of({Arch::x86_64, Arch::aarch64})), case_name);

class TriggerKindSamples : public UnderPerf, public ::testing::WithParamInterface<Case> {
 protected:
  static constexpr std::uint64_t kIterations = 140;
  static constexpr std::uint64_t kElements = 20;

  void SetUp() override {
    const auto reason = refusal(GetParam().kind, kHost, machine::inspect().cpu_flags);
    if (reason) GTEST_SKIP() << *reason;
    SKIP_WITHOUT("breakpoints");
    UnderPerf::SetUp();
  }

  /// The samples that the target declares for an event, one for each.
  static Samples declared(const Target& target, const std::string& event) {
    const Expectation* expectation = target.description.expectation_of(event);
    Samples samples;
    if (!expectation->offset) return samples;
    std::vector<TriggerBlock> blocks = target.description.layout.trigger_blocks();
    if (event == "execute") blocks.resize(1);
    const double events = expectation->events_per_iteration * static_cast<double>(kIterations) /
                          static_cast<double>(blocks.size());
    for (const auto& [trigger, runway] : blocks) {
      samples[*expectation->offset == 0 ? trigger.begin : runway.begin] =
          static_cast<std::uint64_t>(std::llround(events));
    }
    return samples;
  }
};

TEST_P(TriggerKindSamples, AreExactlyThoseDeclared) {
  Specification specification = short_specification(kHost, GetParam().kind);
  // So few elements that the chase comes round several times, and to each trigger equally often.
  if (is_chase(GetParam().kind)) {
    specification.working_set_bytes = kElements * chase_stride(GetParam().kind);
  }
  const Target target = build_target(specification, directory_ / "target");
  const Layout& layout = target.description.layout;
  // A hypervisor executes CPUID itself and may continue with RFLAGS.RF set, with which the next
  // instruction does not stop at a breakpoint (KVM on AMD's CPUs); the one after it does.
  const bool intercepted = kind_of(GetParam().kind).category == Category::cpuid;
  const std::uint64_t runway =
      layout.runway.begin + (intercepted ? specification.nop_bytes : std::uint64_t{0});
  // The page that the kernel has to map is touched in user mode; other kinds fault in neither mode.
  const bool faults = kind_of(GetParam().kind).gives_back_page;
  const auto samples = sample(target,
                              {breakpoint(layout.datum, watched_bytes(specification), "rw"),
                               execute_breakpoint(layout.trigger.begin), execute_breakpoint(runway),
                               faults ? "page-faults" : "page-faults:u"},
                              1, kIterations);
  EXPECT_EQ(samples[0], declared(target, "access"));
  EXPECT_EQ(samples[1], declared(target, "execute"));
  EXPECT_EQ(samples[1], (Samples{{layout.trigger.begin, kIterations}}));
  EXPECT_EQ(samples[2], (Samples{{runway, kIterations}})) << "after the first trigger";
  EXPECT_EQ(samples[3], declared(target, "faults"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TriggerKindSamples, ::testing::ValuesIn(cases_of({kHost})),
                         case_name);

constexpr std::uint64_t kIterations = 1400;
constexpr std::uint64_t kPeriod = 7;

class TargetUnderPerf : public UnderPerf {
 protected:
  Target build(TriggerKind kind) const {
    return build_target(specification_of(kind), directory_ / "target");
  }
};

/// A kind whose trigger no data breakpoint sees.
TEST_F(TargetUnderPerf, SpendsItsTimeInTheLoop) {
  const Target target = build("div"_trigger);
  const auto samples = sample(target, {"cpu-clock:u"}, 100'000, std::chrono::milliseconds{100});
  std::uint64_t in_loop = 0, all = 0;
  for (const auto& [ip, count] : samples.front()) {
    all += count;
    if (target.description.layout.loop.contains(ip)) in_loop += count;
  }
  EXPECT_GT(all, 0U);
  // The rest are the call of the loop and reading the clock between batches.
  EXPECT_GE(in_loop * 100, all * 95) << in_loop << " of " << all;
}

TEST_F(TargetUnderPerf, SamplesAStringLoadOncePerRepetition) {
  SKIP_WITHOUT("x86-64", "breakpoints");
  for (const unsigned width : {1U, 2U, 4U}) {
    Specification specification = specification_of("string-load"_trigger);
    specification.access_bytes = width;
    const Target target = build_target(specification, directory_ / "target");
    const Layout& layout = target.description.layout;
    const auto samples = sample(target, {breakpoint(layout.datum, 8, "rw")}, kPeriod, kIterations);
    EXPECT_EQ(samples.front(),
              (Samples{{layout.trigger.begin, kIterations * 8 / width / kPeriod}}));
  }
}

TEST_F(TargetUnderPerf, TakesTheMispredictedBranchAtRandom) {
  SKIP_WITHOUT("x86-64", "breakpoints");
  const Target target = build("branch-mispredict"_trigger);
  (void)sample(target, {execute_breakpoint(target.description.layout.trigger.begin)}, 1,
               kIterations, {"--intr-regs=flags"});
  std::istringstream words = script("iregs");
  std::vector<bool> taken;
  for (std::string word; words >> word;) {
    constexpr std::string_view kFlags = "FLAGS:0x";
    if (!word.starts_with(kFlags)) continue;
    taken.push_back((std::stoull(word.substr(kFlags.size()), nullptr, 16) & 1U) != 0);  // carry
  }
  ASSERT_EQ(taken.size(), kIterations);
  // Five standard deviations, of how often it is taken and of how often it repeats what it did some
  // passes before: neither a direction nor a period is preferred.
  const double tolerance = 2.5 * std::sqrt(static_cast<double>(kIterations));
  const auto count = static_cast<double>(std::count(taken.begin(), taken.end(), true));
  EXPECT_NEAR(count, static_cast<double>(kIterations) / 2, tolerance);
  for (std::size_t lag = 1; lag <= 300; ++lag) {
    double same = 0;
    for (std::size_t i = lag; i < taken.size(); ++i) same += taken[i] == taken[i - lag] ? 1 : 0;
    EXPECT_NEAR(same, static_cast<double>(taken.size() - lag) / 2, tolerance) << "lag " << lag;
  }
}

}  // namespace
}  // namespace skid::runway
