// Runs a target under perf and returns its samples.
#pragma once

#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/target_run.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace skid::runway {

class UnderPerf : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(kHost);
    SKIP_WITHOUT("samples");
    ASSERT_EQ(::mkfifo((directory_ / "control").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((directory_ / "ack").c_str(), 0600), 0);
  }

  using Samples = std::map<std::uint64_t, std::uint64_t>;  ///< number of samples by IP

  /// The samples of each event, in the order of `events`.
  std::vector<Samples> sample(const Target& target, const std::vector<std::string>& events,
                              std::uint64_t period, RunLength length,
                              const std::vector<std::string>& options = {}) {
    const std::string control = (directory_ / "control").string();
    const std::string ack = (directory_ / "ack").string();
    std::vector<std::string> command{"perf", "record", "--no-bpf-event", "-q", "-o", data()};
    command.insert(command.end(), {"-c", std::to_string(period), "-D", "-1"});
    command.insert(command.end(), {"--control", fmt::format("fifo:{},{}", control, ack)});
    for (const std::string& event : events) command.insert(command.end(), {"-e", event});
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    TargetRun run{.length = length, .control = control, .acknowledge = ack};
    for (const std::string& word : command_line(target, run)) command.push_back(word);
    const Completed recorded = run_program(command);
    EXPECT_TRUE(recorded.code.success()) << recorded.err;
    EXPECT_TRUE(parse_target_report(recorded.out)) << recorded.out;
    std::vector<Samples> samples(events.size());
    std::istringstream lines = script("event,ip");
    for (std::string event, ip; lines >> event >> ip;) {
      event.pop_back();  // the colon
      // perf names a data breakpoint by its address alone.
      const auto found = std::ranges::find_if(
          events, [&](const std::string& asked) { return asked.starts_with(event); });
      EXPECT_NE(found, events.end()) << event;
      if (found == events.end()) break;
      ++samples[static_cast<std::size_t>(found - events.begin())][std::stoull(ip, nullptr, 16)];
    }
    return samples;
  }

  std::string data() const { return (directory_ / "perf.data").string(); }

  /// What perf script prints of the last recording.
  std::istringstream script(const std::string& fields) const {
    return std::istringstream(run_program({"perf", "script", "-i", data(), "-F", fields}).out);
  }

  static std::string breakpoint(std::uint64_t address, unsigned bytes, std::string_view access) {
    return fmt::format("mem:{:#x}/{}:{}:u", address, bytes, access);
  }
  /// Without a length: perf accepts none, and the kernel expects that of a machine word.
  static std::string execute_breakpoint(std::uint64_t address) {
    return fmt::format("mem:{:#x}:x:u", address);
  }

  Directory directory_;
};

}  // namespace skid::runway
