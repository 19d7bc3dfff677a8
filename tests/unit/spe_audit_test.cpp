// SPE records of samples against the instructions of aarch64 that they are at.
#include "src/audit/audit.h"
#include "src/audit/contradictions.h"
#include "src/audit/tagged_records.h"
#include "src/listing/reader.h"
#include "src/locate/module_store.h"
#include "src/output/audit/audit.h"
#include "src/output/page.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/support/losses.h"
#include "tests/support/assembled_program.h"
#include "tests/support/prelude.h"
#include "tests/support/spe_to_build.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::audit {
namespace {

using test::SpePackets;
using test::SpeRecording;

/// Each instruction with what tests call it.
constexpr const char* kOperations = R"(
  .arch armv8.4-a+sve
  function operations
  ldr x0, [x1]                     // load
  mul x0, x0, x2                   // lone computing
  nop                              // NOP
  str x0, [x1]                     // store
  add x3, x3, #8                   // address of load
  ldp x4, x5, [x3]                 // pair
  ldadd x4, x5, [x3]               // atomic
  ldr x6, 1f                       // literal
  prfm pldl1keep, [x1]             // prefetch
  mrs x7, tpidr_el0                // system
  cmp x4, x5                       // compare
  b.eq 2f                          // conditional
  cbz x4, 2f                       // compare and branch
  b 2f                             // jump
1:
  .quad 0
2:
  nop                              // target
  blr x6                           // indirect call
  bl callee                        // call
  add z0.d, z0.d, z1.d             // SVE
  ret                              // return
  end operations

  function callee
  ret                              // callee
  end callee
)";

constexpr std::uint64_t kRetired = 2, kNotTaken = 1 << 6;
constexpr std::uint64_t kBias = 0x5555'0000'0000;
constexpr std::uint8_t kConditional = 1, kIndirect = 2;

/// Recordings of a process that mapped the program at another address than that of its link.
class SpeRecordsOfSamples : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
    if (program_) return;
    built_.emplace();
    program_.emplace(*built_ / "program", kOperations, Arch::aarch64,
                     std::vector<std::string>{"-nostdlib", "-static", "-Wl,-e,operations"});
  }

  static std::uint64_t ip_of(const std::string& place) { return program_->at(place) + kBias; }
  /// A sample at a place; the packets are those of its operation.
  void sample(const std::string& place, const SpePackets& operation) {
    packets_.pc(ip_of(place)).raw(operation.bytes()).context(1).timestamp(++time_);
  }
  void load(const std::string& place) { sample(place, SpePackets().load().events(kRetired)); }
  void store(const std::string& place) { sample(place, SpePackets().store().events(kRetired)); }
  void branch(const std::string& place, std::uint8_t bits, std::uint64_t events = kRetired,
              std::uint64_t target = 0) {
    SpePackets operation = SpePackets().branch(bits).events(events);
    if (target != 0) operation.target(target);
    sample(place, operation);
  }

  test::RecordingBuilder recording() {
    SpeRecording built;
    built.comm(1, 1, 1).map_program(*built_ / "program", kBias);
    return built.trace(packets_).finished();
  }
  Audit audited() {
    recording().write(directory_ / "perf.data");
    return audit(measure::Source{directory_ / "perf.data", {}, nullptr, nullptr}, {});
  }
  void expect(std::uint64_t contradicted, std::uint64_t judged, std::uint64_t samples) {
    const Audit found = audited();
    EXPECT_FALSE(found.events.at(0).ibs_record);
    const auto& finding = found.events.at(0).spe_record;
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->share.count, contradicted);
    EXPECT_EQ(finding->share.total, judged);
    EXPECT_EQ(finding->samples, samples);
  }

  test::TemporaryDirectory directory_;
  SpePackets packets_;
  std::uint64_t time_ = 100;
  // The program is built once for all tests.
  static inline std::optional<test::TemporaryDirectory> built_;
  static inline std::optional<test::AssembledProgram> program_;
};

TEST_F(SpeRecordsOfSamples, AgreeWithInstructionsThatAccessMemory) {
  load("load");
  store("store");
  load("pair");
  load("atomic");
  store("atomic");
  sample("literal", SpePackets().load().data(ip_of("target") - 8).events(kRetired));
  expect(0, 6, 6);
}

TEST_F(SpeRecordsOfSamples, AreContradictedByAnInstructionOneLater) {
  load("lone computing");
  load("NOP");
  store("address of load");
  store("pair");
  load("store");
  load("jump");
  load("return");
  sample("literal", SpePackets().load().data(program_->at("target") - 8).events(kRetired));
  expect(8, 8, 8);
}

TEST_F(SpeRecordsOfSamples, OfBranchesAgreeWithTheirTargets) {
  branch("conditional", kConditional, kRetired, ip_of("target"));
  branch("conditional", kConditional, kRetired | kNotTaken, ip_of("compare and branch"));
  branch("compare and branch", kConditional, kRetired, ip_of("target"));
  branch("jump", 0, kRetired, ip_of("target"));
  branch("call", 0, kRetired, ip_of("callee"));
  branch("indirect call", kIndirect, kRetired, 0x1234);
  branch("return", kIndirect, kRetired, 0x1234);
  branch("jump", 0, 0, 0x1234);  // did not retire
  expect(0, 8, 8);
}

TEST_F(SpeRecordsOfSamples, OfBranchesAreContradictedByOtherInstructions) {
  branch("target", 0, kRetired, ip_of("target"));  // a NOP, one late
  branch("load", 0);
  branch("jump", 0, kRetired, ip_of("target") + 4);
  branch("jump", 0, kRetired | kNotTaken);
  branch("return", kIndirect, kRetired | kNotTaken);
  branch("jump", kConditional);
  branch("conditional", 0);
  branch("call", kIndirect);
  branch("indirect call", 0);
  branch("call", 0, kRetired, program_->at("callee"));
  expect(10, 10, 10);
}

TEST_F(SpeRecordsOfSamples, OfPairsThatMayBeFusedAreOfBothInstructions) {
  load("address of load");
  branch("compare", kConditional, kRetired, ip_of("target"));
  branch("compare", kConditional, kRetired, ip_of("target") + 4);
  load("compare");
  expect(2, 4, 4);
}

TEST_F(SpeRecordsOfSamples, WithoutEvidenceAreUndecided) {
  sample("load", SpePackets().other().events(kRetired));  // an operation of the load in parts
  sample("load", SpePackets().events(kRetired));
  load("prefetch");
  load("system");
  branch("system", 0);
  load("SVE");
  packets_.pc(0x1234).load().context(1).timestamp(99);
  expect(0, 0, 7);
}

TEST_F(SpeRecordsOfSamples, OfTheKernelAreLeftOut) {
  packets_.pc(0xffff'8000'0000'0000, 1).load().context(1).timestamp(99);
  EXPECT_FALSE(audited().events.at(0).spe_record);
}

TEST_F(SpeRecordsOfSamples, AreShownInEachFormat) {
  for (int i = 0; i < 3; ++i) load("load");
  load("NOP");
  load("system");
  const std::vector<Audit> audits{audited()};
  EXPECT_THAT(output::audit_json(audits), HasSubstr(R"("spe_record": {
            "samples": 5,
            "without": 0,
            "judged": 4,
            "undecided": 1,
            "contradicted": 1,)"));
  EXPECT_THAT(output::audit_csv(audits), HasSubstr(",spe_record,,,,,,,,,,,5,4,1,0.04"));
  EXPECT_THAT(
      output::audit_text(audits, {.width = 200, .details = false}),
      StartsWith("1 of 4 judged samples (25.00%) is at an instruction that cannot be that of "
                 "its SPE record; no sample is judged by its event"));
  EXPECT_THAT(output::audit_text(audits, {.width = 200, .details = true}),
              HasSubstr("SPE        1 of 4 judged samples (25.00%, 4.56–69.94%) is at "
                        "an instruction that cannot be that of its SPE record; 1 undecided"));
}

TEST_F(SpeRecordsOfSamples, AreCountedInListings) {
  for (int i = 0; i < 3; ++i) load("load");
  recording().write(directory_ / "perf.data");
  locate::ModuleStore modules;
  listing::Reader reader({}, modules);
  reader.add({.file = directory_ / "perf.data"});
  EXPECT_THAT(reader.remarks(), IsEmpty());
}

/// The first line of the audit of a recording, and its faults.
class SpeAnswers : public ::testing::Test {
 protected:
  std::string answer(const test::RecordingBuilder& recording) {
    return answer_of(recording.bytes());
  }
  std::string answer_of(const std::string& bytes) {
    const auto path = directory_ / "perf.data";
    std::ofstream(path, std::ios::binary) << bytes;
    const std::string text =
        output::audit_text({audit({path, {}, nullptr, nullptr}, {})}, {.width = 300});
    auto recording = perfdata::Recording::open(path);
    std::string faults;
    perfdata::Record record;
    Losses losses;
    while (recording.next(record)) recording.add_losses(record, losses);
    for (const auto& fault : recording.faults()) faults += "; " + fault.found;
    return text.substr(0, text.find('\n')) + faults;
  }
  /// A recording whose AUX data follow a record of this body.
  static test::RecordingBuilder with_trace(const std::string& body, std::string_view data) {
    SpeRecording built;
    built.builder().record(perfdata::PERF_RECORD_AUXTRACE, 0, body).raw(data);
    return built.finished();
  }

  test::TemporaryDirectory directory_;
  const std::string record_ = SpePackets().pc(0x1000).load().timestamp(5).bytes();
};

TEST_F(SpeAnswers, SayWhatIsMalformed) {
  SpeRecording built;
  const auto of = [&](const SpePackets& packets) {
    return answer(SpeRecording().trace(packets).finished());
  };
  EXPECT_THAT(of(SpePackets()), StartsWith("no samples: the AUX data of SPE, 0 bytes, have no "));
  EXPECT_THAT(of(SpePackets().padding(64)),
              StartsWith("no samples: the AUX data of SPE, 64 bytes"));
  EXPECT_THAT(of(SpePackets().load().timestamp(5)),
              StartsWith("no samples: the AUX data of SPE, 16 bytes"))
      << "without an address";
  EXPECT_THAT(of(SpePackets().raw(std::string(40, '\xee'))),
              AllOf(StartsWith("no samples were read: the recording is damaged"),
                    EndsWith("; malformed packets of SPE, 40")));
  EXPECT_THAT(of(SpePackets().raw(record_).pc(0x2000).raw("\x4b").end()),
              AllOf(StartsWith("read in part"), EndsWith("; malformed packets of SPE, 1")));
  EXPECT_THAT(answer(with_trace(built.writer().u64(1000).bytes(), record_)),
              HasSubstr("; an AUX trace of 1000 bytes"));
  EXPECT_THAT(answer(with_trace("", record_)), HasSubstr("; an AUX trace of 0 bytes"));
  // Without the rest of the record its CPU is not known.
  EXPECT_THAT(answer(with_trace(built.writer().u64(record_.size()).bytes(), record_)),
              StartsWith("no samples: the AUX data of SPE, "));
  SpeRecording flags;
  flags.builder().record(PERF_RECORD_AUX, 0, flags.writer().u64(0).u64(0).bytes());
  EXPECT_THAT(answer(flags.trace(SpePackets().raw(record_)).finished()),
              HasSubstr("; a PERF_RECORD_AUX of 24 bytes that ends inside its fields"));
  const std::string whole = SpeRecording().trace(SpePackets().raw(record_)).finished().pipe_bytes();
  EXPECT_THAT(answer_of(whole.substr(0, whole.size() - 9)), HasSubstr("an AUX trace of 24 bytes"));
}

TEST_F(SpeAnswers, SayWhichTracesAreNotDecoded) {
  for (const auto& [type, name, next] :
       {std::tuple(1U, "intel_pt", "; 'perf script' does"),
        std::tuple(3U, "cs_etm", "; a 'perf script' with OpenCSD does, and 'simpleperf inject'"),
        std::tuple(99U, "of type 99", "; 'perf script' does")}) {
    test::RecordingBuilder other;
    other.event({.type = 11, .ids = {21}});
    other.record(perfdata::PERF_RECORD_AUXTRACE_INFO, 0,
                 other.writer().u32(type).u32(0).u64(11).u64(1).bytes());
    const auto body = other.writer().u64(5000).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0);
    other.record(perfdata::PERF_RECORD_AUXTRACE, 0, body.bytes()).raw(std::string(5000, 't'));
    EXPECT_THAT(answer(other),
                StartsWith(fmt::format("no samples were recorded, but a hardware trace ({}) of "
                                       "5,000 bytes, which skidscan does not decode{}",
                                       name, next)));
  }
  // Of SPE, but of another PMU, or too short to name it.
  for (const std::uint64_t pmu : {12u, 0u}) {
    test::RecordingBuilder other;
    other.event({.type = 11, .ids = {21}});
    auto info = other.writer().u32(4).u32(0);
    if (pmu != 0) info.u64(pmu).u64(1);
    other.record(perfdata::PERF_RECORD_AUXTRACE_INFO, 0, info.bytes());
    other.record(perfdata::PERF_RECORD_AUXTRACE, 0,
                 other.writer().u64(16).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0).bytes());
    EXPECT_THAT(answer(other.raw(std::string(16, '\0'))), HasSubstr("a hardware trace (arm_spe)"));
  }
}

}  // namespace
}  // namespace skid::audit
