// Tests of audits: a program of assembly, recordings with samples placed in it, verdicts.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/audit.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/address.h"
#include "tests/support/assembled_program.h"
#include "tests/support/event_tables.h"
#include "tests/support/facts.h"
#include "tests/support/placement.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::audit {

/// How many samples tests put at a place.
inline constexpr std::uint64_t kSamplesAtAPlace = 7;

/// A machine of a placement, by Intel's number of the model.
inline nlohmann::json intel_machine(int model) {
  return {{"vendor", "GenuineIntel"}, {"family", 6}, {"model", model}, {"stepping", 4}};
}
inline constexpr int kSkylakeModel = 94, kHaswellModel = 60, kSapphireRapidsModel = 143;

/// The verdict on all samples at a place, "never", "conditional", … or the reason not to judge.
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

class AuditedProgram : public ::testing::Test {
 protected:
  using json = nlohmann::json;

  /// Assembles and links `program_`. `options`: of the compiler.
  void build(const std::string& assembly, Arch arch, const std::vector<std::string>& options) {
    assembled_.emplace(program_, assembly, arch, options);
  }

  /// Samples at a link-time address.
  static json place(std::uint64_t address, bool exact, std::uint64_t samples = kSamplesAtAPlace) {
    return {{"address", address}, {"samples", samples}, {"exact", exact}};
  }
  /// An event of a placement. `more`: what it counts.
  static json event(int level, std::vector<json> places, json more = kMisses) {
    more["event"] = "an-event";
    more["period"] = 1009;
    more["levels"] = json::array({{{"level", level}, {"places", std::move(places)}}});
    return more;
  }
  static json breakpoint(std::uint64_t address, const std::string& access) {
    return {{"breakpoint", {{"address", address}, {"access", access}}}};
  }

  /// Writes `recording_`, of `binary` on `machine_`.
  void write(const std::vector<json>& events, const std::filesystem::path& binary) const {
    json placement{{"binary", binary.string()}, {"events", events}};
    if (!machine_.is_null()) placement["machine"] = machine_;
    test::write_placement(placement, {}, recording_, {});
  }
  /// Of `recording_`, with all of its places unless `choices` limits them.
  Audit audit_recording(Choices choices = {.top = 100'000}) const {
    const Audit all = audit(measure::Source{recording_, {}, nullptr, nullptr}, choices);
    const auto sum = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    };
    for (const EventAudit& event : all.events) {
      using enum events::Verdict;
      EXPECT_EQ(event.judged + sum(event.not_judged), event.samples);
      EXPECT_EQ(event.judged + count_of(event, unknown), sum(event.verdicts));
      EXPECT_EQ(event.impossible.count, count_of(event, never));
      EXPECT_EQ(event.impossible.total, event.judged);
    }
    return all;
  }
  /// The audit of a recording of the program with one event.
  EventAudit audit_of(const json& event) const {
    write({event}, program_);
    const Audit all = audit_recording();
    EXPECT_EQ(all.events.size(), 1U);
    return all.events.at(0);
  }
  /// The answer on samples at an address at a level, which are exact from level 2 on.
  std::string answer(int level, std::uint64_t address, json more = kMisses) const {
    return answer_of(audit_of(event(level, {place(address, level >= 2)}, std::move(more))));
  }
  /// Compares the answers with the notes beside the instructions: "2 never" is the verdict at level
  /// 2, "w never" that of a breakpoint on writes of `kDatum`, "fault never" that of page faults.
  void expect_as_noted() const {
    for (const auto& one : assembled_->noted()) {
      for (const std::string& note : one.notes) {
        const auto blank = std::min(note.find(' '), note.size());
        const std::string what = note.substr(0, blank), verdict = note.substr(blank + 1);
        const bool is_level = what == "1" || what == "2";
        const json more = is_level          ? kMisses
                          : what == "fault" ? json{{"config", 2}, {"type", 1}}
                                            : breakpoint(kDatum, what);
        EXPECT_EQ(answer(is_level ? std::stoi(what) : 0, one.address, more), verdict) << one.line;
      }
    }
  }

  static std::uint64_t count_of(const EventAudit& event, events::Verdict verdict) {
    return event.verdicts[static_cast<std::size_t>(verdict)];
  }
  static std::uint64_t count_of(const EventAudit& event, NotJudged reason) {
    return event.not_judged[static_cast<std::size_t>(reason)];
  }

  static inline const json kMisses{{"config", "0x20d1"}};  // MEM_LOAD_RETIRED.L3_MISS
  static constexpr std::uint64_t kDatum = 0x404040;
  test::TemporaryDirectory directory_;
  std::filesystem::path program_ = directory_ / "program", recording_ = directory_ / "perf.data";
  std::optional<test::AssembledProgram> assembled_;
  json machine_;  ///< as in a placement; null: that of the code
};

/// The same for code of x86-64, judged by Intel's tables.
class AuditedX86Program : public AuditedProgram {
 protected:
  void SetUp() override {
    SKIP_WITHOUT("x86-64");
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    machine_ = intel_machine(kSkylakeModel);
  }
};

}  // namespace skid::audit
