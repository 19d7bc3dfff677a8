// `skidscan correct --skid` on synthetic samples of level 1, whose truth is placed.
#include "tests/end_to_end/correct_fixture.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Two loads of a Skylake, and code that cannot load.
constexpr const char* kLoadCode = R"(
  .text
  .globl loads
  .type loads, @function
loads:
  movq (%rdi), %rax
  addq %rbx, %rax
  movq 8(%rdi), %rcx
  subq %rbx, %rcx
  imulq %rbx, %rcx
  ret
  .size loads, . - loads
  .section .note.GNU-stack,"",@progbits
)";

class MeasuredSkid : public test::CorrectTest {
 protected:
  void SetUp() override {
    CorrectTest::SetUp();
    if (IsSkipped()) return;
    write("loads.s", kLoadCode);
    compile({"-shared", "-Wl,--build-id=sha1", "-o", "loads.so", "loads.s"});
    const auto made = run({"synth", "--like", "pebs-sound", "--all-levels", "-o", "sound.run"});
    if (!made.code.success()) GTEST_SKIP() << made.err;
  }
  /// Samples of loads at the offsets of their successors, at a level.
  void place(int level, bool exact, int stepping = 3, const std::string& config = "0x81d0",
             std::uint64_t wrong = 0) const {
    write("places.json", fmt::format(R"({{
      "binary": "loads.so",
      "machine": {{"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": {}}},
      "events": [{{"event": "r81d0", "config": "{}", "period": 10007, "levels": [
        {{"level": {}, "places": [
          {{"symbol": "loads", "offset": 3, "samples": 3000, "exact": {}}},
          {{"symbol": "loads", "offset": 10, "samples": 1000, "exact": {}}},
          {{"symbol": "loads", "offset": 6, "samples": {}, "exact": {}}}]}}]}}]}})",
                                     stepping, config, level, exact, exact, wrong + 1, exact));
    done({SKIDSCAN_PLACE_SAMPLES, "places.json", "placed.data"});
  }
  json with_run() const { return corrected({"placed.data", "--skid", "sound.run"})[0]; }
};

TEST_F(MeasuredSkid, IsTakenOut) {
  place(1, false);
  const json event = with_run();
  EXPECT_EQ(event["verdict"], "corrected") << event["reason"];
  EXPECT_EQ(event["skid"]["source"], "measured");
  const auto places = by_place(event);
  EXPECT_EQ(places.at("loads+0")["corrected"], 3000);
  EXPECT_EQ(places.at("loads+6")["corrected"], 1001) << "with one sample that nothing explains";
  EXPECT_EQ(event["unexplained"], 1);
  EXPECT_THAT(run({"correct", "placed.data", "--skid", "sound.run"}).out,
              HasSubstr("CPU model same"));
}

TEST_F(MeasuredSkid, HasToBeOfTheSameMachineAndEvent) {
  place(1, false);
  EXPECT_EQ(corrected({"placed.data"})[0]["verdict"], "refused") << "without --skid";
  place(1, false, 4);
  const json other = with_run();
  EXPECT_EQ(other["verdict"], "refused");
  EXPECT_THAT(other["reason"].get<std::string>(), HasSubstr("CPU stepping"));
  place(1, false, 3, "0x20d1");
  EXPECT_THAT(with_run()["reason"].get<std::string>(), HasSubstr("no measurement of this event"));
}

TEST_F(MeasuredSkid, IsNotTakenOutOfExactSamples) {
  place(2, true);
  EXPECT_THAT(with_run()["reason"].get<std::string>(), HasSubstr("EXACT_IP"));
}

TEST_F(MeasuredSkid, IsRefusedWhereItDoesNotFit) {
  place(1, false, 3, "0x81d0", 5000);
  EXPECT_THAT(with_run()["reason"].get<std::string>(),
              HasSubstr("the sampled instructions explain the event better"));
}

}  // namespace
}  // namespace skid
