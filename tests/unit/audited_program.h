// Tests of audits: a program of assembly, recordings with samples placed in it, verdicts.
#pragma once

#include "src/audit/audit.h"
#include "src/support/process.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/module.h"
#include "tests/support/event_tables.h"
#include "tests/support/placement.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::audit {

class AuditedProgram : public ::testing::Test {
 protected:
  /// Assembles and links `program_`. `command`: the compiler and its arguments.
  void build(const std::string& assembly, std::vector<std::string> command) const {
    const std::string source = (directory_ / "functions.s").string();
    std::ofstream(source) << assembly;
    command.insert(command.end(), {"-Wl,--build-id=sha1", "-o", program_.string(), source});
    const auto built = run_program(command);
    ASSERT_TRUE(built.code.success()) << built.err;
  }

  /// The instructions of the only function of that name.
  std::vector<symbols::Instruction> instructions_of(const std::string& function) const {
    const auto module = symbols::Module::open(program_);
    const auto found = module.functions_named(function);
    EXPECT_EQ(found.size(), 1U) << function;
    if (found.empty()) return {};
    const auto& range = found.front().range;
    return symbols::Disassembler(*module.arch()).decode(module.code(range), range.begin, 1000);
  }

  /// Writes `recording_` as a placement describes it.
  std::vector<test::PlacedTruth> write(const nlohmann::json& placement) const {
    FileDescriptor file(::open(recording_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
    return test::write_placement(test::parse_placement(placement.dump(), {}), std::move(file),
                                 recording_, {});
  }
  Audit audit_recording(const Choices& choices = {}) const {
    return audit(measure::Source{recording_, {}, nullptr, nullptr}, choices);
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path program_ = directory_ / "program", recording_ = directory_ / "perf.data";
};

/// The same for code of x86-64, judged by Intel's tables.
class AuditedX86Program : public AuditedProgram {
 protected:
  static constexpr const char* kSkylake =
      R"({"vendor":"GenuineIntel","model_name":"a Skylake","family":6,"model":94,"stepping":3})";

  void SetUp() override {
    SKIP_WITHOUT_X86_TABLES();
#if !defined(__x86_64__)
    GTEST_SKIP() << "compiles x86-64 code for this machine";
#endif
    if (!find_program("cc")) GTEST_SKIP() << "no C compiler (cc)";
  }
};

/// How many samples tests put at a place.
inline constexpr std::uint64_t kSamplesAtAPlace = 7;

/// The verdict on all of them, "never", "conditional", … or the reason not to judge.
inline std::string answer_of(const EventAudit& event) {
  EXPECT_EQ(event.samples, kSamplesAtAPlace);
  for (std::size_t i = 0; i < analysis::kNotJudged; ++i) {
    if (event.not_judged.at(i) == kSamplesAtAPlace) {
      return std::string(name_of(static_cast<NotJudged>(i)));
    }
  }
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    if (event.verdicts.at(i) == kSamplesAtAPlace) {
      return std::string(events::name_of(static_cast<events::Verdict>(i)));
    }
  }
  return "several";
}

}  // namespace skid::audit
