// Recordings of one program whose samples contradict the instructions that they are at.
#pragma once

#include "src/audit/audit.h"
#include "src/measure/measure.h"
#include "src/support/address.h"
#include "tests/support/assembled_program.h"
#include "tests/support/prelude.h"
#include "tests/support/recorded_program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::test {

/// Each instruction with what tests call it.
inline constexpr const char* kPlacesThatContradict = R"(
  function places
  movq %rax, datum(%rip)           # relative
  movq %rax, 0x12345678            # absolute
  movl (%rdi,%rsi,4), %eax         # by registers
  movq 8(%rdi), %rdi               # writes its base
  pushq datum(%rip)                # push
  rep stosb                        # repeated
  movq %fs:0x28, %rax              # segment
  btsq %rax, datum(%rip)           # bit test
  prefetcht0 datum(%rip)           # prefetch
  callq *datum(%rip)               # call
  movq (%rdi), %rax                # load
  movq %rax, (%rdi)                # store
  addq %rax, (%rdi)                # load and store
  addq %rbx, %rax                  # no operand
  rdtsc                            # unknown
  ret                              # return
  end places

  function runway
  nop                              # NOP
  ret
  end runway

  .bss
  .balign 0x1000
  .skip 0x10000
  .globl datum
datum:
  .skip 0x10000
)";

/// Recordings of a process that mapped the program at another address than that of its link.
class Contradicting : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLoadLatency = 0x1cd, kAllLoads = 0x81d0, kRetired = 0x00c0;
  static constexpr std::uint64_t kRdi = 1 << 5, kRsi = 1 << 4, kRbx = 1 << 1;  // PERF_REG_X86_*
  static constexpr std::uint16_t kUser = PERF_RECORD_MISC_USER, kExact = PERF_RECORD_MISC_EXACT_IP;

  static EventToBuild raw(std::uint64_t config, unsigned level = 2) {
    return {.type = PERF_TYPE_RAW, .config = config, .precise_ip = level};
  }

  void SetUp() override {
    SKIP_WITHOUT_ASSEMBLER(Arch::x86_64);
    if (!program_) {
      built_.emplace();
      program_.emplace(*built_ / "program", kPlacesThatContradict, Arch::x86_64,
                       std::vector<std::string>{"-nostdlib", "-static", "-Wl,-e,places"});
    }
    datum_ = program_->value_of("datum") + kBias;
  }

  /// Begins a recording of an event with a field of its samples.
  void record(EventToBuild event, std::uint64_t field) {
    builder_ = RecordingBuilder();
    event_ = std::move(event);
    event_.sample_type |= field;
    builder_.event(event_);
    map_program(
        program_->module(),
        {.bias = kBias, .file = (*built_ / "program").string(), .has_build_id = has_build_id_},
        builder_);
  }

  std::uint64_t ip_of(const std::string& place) const { return program_->at(place) + kBias; }
  void sample(const std::string& place, SampleToBuild sample) {
    sample.ip = ip_of(place);
    add_sample(sample, event_, builder_);
  }

  audit::Audit audited() {
    auto recording = builder_;
    recording.feature(perfdata::HEADER_OSRELEASE, recording.writer().counted_text(kernel_).bytes());
    name_machine("x86_64", cpuid_, recording);
    recording.write(directory_ / "perf.data");
    return audit::audit(measure::Source{directory_ / "perf.data", {}, nullptr, nullptr}, {});
  }
  /// Of the samples that have a finding, how many are judged and how many contradicted.
  void expect(std::uint64_t contradicted, std::uint64_t judged, std::uint64_t samples) {
    const auto finding = found();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->share.count, contradicted);
    EXPECT_EQ(finding->share.total, judged);
    EXPECT_EQ(finding->samples, samples);
    EXPECT_EQ(finding->undecided(), samples - judged);
  }
  /// Of the recording that audited() wrote.
  measure::Measured measured() const {
    return measure::measure({directory_ / "perf.data", {}, nullptr, nullptr},
                            {.hit_function = "places", .runway_function = "runway"});
  }
  virtual std::optional<audit::Contradictions> found() = 0;

  static constexpr std::uint64_t kBias = 0x5555'0000'0000;
  TemporaryDirectory directory_;
  RecordingBuilder builder_;
  EventToBuild event_;
  std::uint64_t datum_ = 0;
  bool has_build_id_ = true;
  std::string cpuid_ = "GenuineIntel,6,94,3";
  std::string kernel_ = "6.1.0";
  // The program is built once for all tests.
  static inline std::optional<TemporaryDirectory> built_;
  static inline std::optional<AssembledProgram> program_;
};

}  // namespace skid::test
