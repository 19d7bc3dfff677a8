// Data addresses from `record` to `report`.
#include "runway/target.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/support/breakpoints.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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

  declare_elsewhere();
  m = reported();
  EXPECT_EQ(m.at("address").at("cause"), "contradicted");
  EXPECT_EQ(m.at("address").at("samples").at("trigger").at("other"), m.at("judged_samples"));
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
  SKIP_WITHOUT_BREAKPOINTS();
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

#if defined(__x86_64__)
/// A store to the first byte of each of 64 pages, and one to each of 64 others by registers.
constexpr const char* kStores = R"(
  .globl stores
  .type stores, @function
stores:
  .set page, 0
  .rept 64
  movb $1, pages + 4096 * page(%rip)
  .set page, page + 1
  .endr
  leaq others(%rip), %rdi
  movl $512 * 63, %esi
1:
  movq %rsi, (%rdi,%rsi,8)
  subq $512, %rsi
  jns 1b
  movl $60, %eax
  xorl %edi, %edi
  syscall
  .size stores, . - stores
  .bss
  .balign 4096
pages:
  .skip 4096 * 64
others:
  .skip 4096 * 64
  .section .note.GNU-stack,"",@progbits
)";

class AuditOfDataAddresses : public DataAddresses {
 protected:
  void record_stores(const std::vector<std::string>& options) const {
    write_file_atomically(here_ / "stores.s", kStores);
    const auto built = run_program({"cc", "-nostdlib", "-static", "-no-pie", "-Wl,-e,stores", "-o",
                                    here_ / "stores", here_ / "stores.s"});
    ASSERT_TRUE(built.code.success()) << built.err;
    std::vector<std::string> command{
        "perf", "record", "--no-bpf-event", "-e", "page-faults:u", "-c", "1",
        "-d",   "-o",     "perf.data"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("./stores");
    const auto recorded = run_program(command, here_.path());
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
  }
  std::uint64_t first_page() const {
    return symbols::Module::open(here_ / "stores").symbol_value("pages").value();
  }
  /// Changes the one record of `address` by `change`, of its 8 bytes.
  template <typename Change>
  void change(std::uint64_t address, Change change) const {
    std::string bytes = read_file(here_ / "perf.data", std::uint64_t{64} << 20);
    std::string recorded(sizeof address, '\0');
    std::memcpy(recorded.data(), &address, sizeof address);
    const std::size_t at = bytes.find(recorded);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(bytes.find(recorded, at + 1), std::string::npos);
    change(recorded);
    write_file_atomically(here_ / "perf.data", bytes.replace(at, recorded.size(), recorded));
  }
  json audited() const {
    const Completed done = test::skidscan({"audit", "perf.data", "--format", "json"}, here_.path());
    EXPECT_EQ(done.code.status, 0) << done.err;
    return json::parse(done.out).at("recordings").at(0).at("events").at(0).at("data_address");
  }
};

TEST_F(AuditOfDataAddresses, JudgesFaultsOfConstantOperandsAndFindsEachChangedByte) {
  record_stores({});
  const json sound = audited();
  EXPECT_EQ(sound.at("judged"), 64);
  EXPECT_EQ(sound.at("contradicted"), 0);
  const fs::path file = here_ / "perf.data";
  const std::string bytes = read_file(file, std::uint64_t{64} << 20);
  for (std::size_t byte = 0; byte < sizeof(std::uint64_t); ++byte) {
    write_file_atomically(file, bytes);
    change(first_page() + std::uint64_t{7} * 4096,
           [&](std::string& address) { address[byte] ^= 0x40; });
    const json found = audited();
    const bool is_address = byte < 7;  // the last byte makes it none
    EXPECT_EQ(found.at("contradicted"), is_address ? 1 : 0) << "byte " << byte;
    EXPECT_EQ(found.at("judged"), is_address ? 64 : 63) << "byte " << byte;
  }
}

TEST_F(AuditOfDataAddresses, FailsOnContradictedOnes) {
  record_stores({});
  const auto gate = [&] {
    return test::skidscan({"audit", "perf.data", "--fail-on", "samples"}, here_.path());
  };
  EXPECT_EQ(gate().code.status, 0);
  change(first_page() + std::uint64_t{9} * 4096, [](std::string& address) { address[1] ^= 0x40; });
  const Completed failed = gate();
  EXPECT_EQ(failed.code.status, 4);
  EXPECT_THAT(failed.err,
              HasSubstr("1 of 64 judged samples are at instructions that do not access"));
}

TEST_F(AuditOfDataAddresses, JudgesFaultsOfOperandsByRecordedRegisters) {
  for (const std::string registers : {"--intr-regs=di,si", "--user-regs=di,si"}) {
    record_stores({registers});
    EXPECT_EQ(audited().at("judged"), 128) << registers;
    EXPECT_EQ(audited().at("contradicted"), 0) << registers;
  }
  record_stores({"--intr-regs=di"});
  EXPECT_EQ(audited().at("judged"), 64) << "without the index";
}
#endif

}  // namespace
}  // namespace skid
