// Data addresses from `record` to `report`.
#include "runway/target.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

class DataAddresses : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = test::why_perf_cannot_record(here_.path());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  Completed record(const std::string& event, std::vector<std::string> environment = {}) const {
    environment.insert(environment.begin(), "env");
    environment.insert(environment.end(), {test::skidscan_program(), "record", "-e", event, "-p",
                                           "pp", "--samples", "4000", "-o", "a.run"});
    return run_program(environment, here_.path());
  }
  json reported() const {
    const Completed done = test::skidscan({"report", "a.run", "--format", "json"}, here_.path());
    EXPECT_EQ(done.code.status, 0) << done.err;
    return json::parse(done.out).at("measurements").at(0);
  }
  /// Moves the datum in the target's note, so that it declares data elsewhere.
  void declare_elsewhere() const {
    const fs::path file = here_ / "a.run/target.fault";
    std::string bytes = read_file(file, std::uint64_t{64} << 20);
    const std::size_t descriptor = bytes.find(std::string("skidscan\0\0\0\0", 12)) + 12;
    const std::size_t datum = descriptor + 8 + 8 * 6;
    std::uint64_t address = 0;
    std::memcpy(&address, bytes.data() + datum, sizeof address);
    ASSERT_EQ(address, runway::require_target(file).description.layout.datum);
    address += 4096;
    std::memcpy(bytes.data() + datum, &address, sizeof address);
    write_file_atomically(file, bytes);
  }

  test::TemporaryDirectory here_;
};

TEST_F(DataAddresses, OfPageFaultsAreTheTriggersUnlessItDeclaresOthers) {
  const Completed done = record("faults");
  ASSERT_EQ(done.code.status, 0) << done.err;
  json m = reported();
  EXPECT_EQ(m.at("address").at("source"), "page fault");
  EXPECT_EQ(m.at("address").at("cause"), "confirmed");
  EXPECT_EQ(m.at("address").at("contradicted").at("count"), 0);
  EXPECT_EQ(m.at("address").at("samples").at("trigger").at("trigger"), m.at("judged_samples"));
  EXPECT_EQ(m.at("contract").at("verdict"), "kept");

  declare_elsewhere();
  m = reported();
  EXPECT_EQ(m.at("address").at("cause"), "contradicted");
  EXPECT_EQ(m.at("address").at("samples").at("trigger").at("other"), m.at("judged_samples"));
  EXPECT_EQ(m.at("contract").at("verdict"), "undecided");
  EXPECT_THAT(m.at("warnings"), Contains(HasSubstr("something else caused them")));
}

TEST_F(DataAddresses, OfDataBreakpointsRepeatTheRequest) {
  const Completed done = record("access");
  ASSERT_EQ(done.code.status, 0) << done.err;
  const json address = reported().at("address");
  EXPECT_EQ(address.at("source"), "request");
  EXPECT_EQ(address.at("cause"), "not judged");
  EXPECT_THAT(address.at("remark").get<std::string>(), HasSubstr("repeats the request"));
}

TEST_F(DataAddresses, ThatAreRefusedAreLeftOutWithAMessage) {
  fs::create_directory(here_ / "bin");
  std::ofstream(here_ / "bin/perf")
      << "#!/bin/sh\ncase \" $* \" in *' -d '*) printf 'Error:\\nno data here\\n' >&2; exit 255 ;; "
         "esac\nexec "
      << find_program("perf")->string() << " \"$@\"\n";
  fs::permissions(here_ / "bin/perf", fs::perms{0755});
  const Completed done =
      record("access", {fmt::format("PATH={}:{}", (here_ / "bin").string(), std::getenv("PATH"))});
  ASSERT_EQ(done.code.status, 0) << done.err;
  EXPECT_THAT(done.err,
              HasSubstr("data addresses are refused here: recorded without them (no data here)"));
  const run::Run run = run::read_run(here_ / "a.run");
  EXPECT_FALSE(run.measurements.at(0).data_addresses);
  EXPECT_THAT(run.measurements.at(0).messages, Contains(HasSubstr("refused here")));
  const json m = reported();
  EXPECT_TRUE(m.at("address").is_null());
  EXPECT_GE(m.at("samples").at("read"), 4000);
}

}  // namespace
}  // namespace skid
