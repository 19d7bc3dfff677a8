// `skidscan correct` on programs compiled by the test.
#pragma once

#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::test {

class CorrectTest : public ::testing::Test {
 protected:
  using json = nlohmann::json;

  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "compiles x86-64 code";
#endif
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
  }
  std::string in_directory(const std::string& name) const {
    return (directory_ / name).string();
  }
  Completed run(std::vector<std::string> arguments) const {
    return skidscan(std::move(arguments), directory_.path());
  }
  std::string done(const std::vector<std::string>& command) const {
    const auto completed = run_program(command, directory_.path());
    if (!completed.code.success()) throw std::runtime_error(command.front() + completed.err);
    return completed.out;
  }

  /// The events of one recording, all of whose sums were checked.
  json corrected(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "correct");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto completed = run(arguments);
    EXPECT_EQ(completed.code.status, kDone) << completed.err;
    if (!completed.code.success()) throw std::runtime_error(completed.err);
    json events = json::parse(completed.out)["recordings"][0]["events"];
    for (const json& event : events) expect_sums(event);
    return events;
  }
  static void expect_sums(const json& event) {
    if (event["verdict"] == "refused") {
      EXPECT_EQ(event["places"].size(), 0u);
      EXPECT_FALSE(event["reason"].is_null());
      return;
    }
    std::uint64_t outcomes = 0, recorded = 0, places = 0;
    for (const std::string key : {"moved", "in_place", "split", "unexplained", "unknown"}) {
      outcomes += event[key].get<std::uint64_t>();
    }
    for (const auto& [reason, samples] : event["not_placed"].items()) {
      outcomes += samples.get<std::uint64_t>();
    }
    for (const json& place : event["places"]) {
      recorded += place["recorded"].get<std::uint64_t>();
      places += place["corrected"].get<std::uint64_t>();
      EXPECT_LE(place["low"], place["corrected"]);
      EXPECT_LE(place["corrected"], place["high"]);
    }
    EXPECT_EQ(outcomes, event["samples"]);
    EXPECT_EQ(recorded, event["samples"]);
    EXPECT_EQ(places, event["samples"]);
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name) << content;
  }
  void compile(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"cc", "-O1"});
    done(arguments);
  }

  static std::map<std::string, json> by_place(const json& event) {
    std::map<std::string, json> places;
    for (const json& place : event["places"]) {
      const std::string symbol = place["symbol"].is_null() ? "" : place["symbol"];
      places[fmt::format("{}+{}", symbol, place["offset"].get<std::uint64_t>())] = place;
    }
    return places;
  }

  TemporaryDirectory directory_;
};

}  // namespace skid::test
