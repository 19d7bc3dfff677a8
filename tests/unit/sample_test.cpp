// Every field of a sample is found where the kernel puts it.
#include "src/perfdata/sample.h"

#include "src/machine/diagnosis.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::perfdata {
namespace {

using test::as_bytes;
using test::ByteWriter;

Record sample_record(const std::string& body) {
  return {.type = PERF_RECORD_SAMPLE, .misc = 2, .body = as_bytes(body)};
}

Attribute attribute_with(std::uint64_t sample_type) {
  return {.sample_type = sample_type};
}

TEST(Sample, HasItsFixedFieldsInTheOrderOfTheAbi) {
  const auto attribute =
      attribute_with(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                     PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
  ByteWriter body;
  body.u64(0x401000).i32(11).i32(12).u64(13).u64(14).u64(15).u64(16).u32(17).u32(0).u64(18);
  const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
  const auto decoded = decoder.decode(sample_record(body.bytes()));
  ASSERT_EQ(decoded.problem, SampleDecoder::Problem::none);
  const auto& sample = decoded.sample;
  EXPECT_EQ(sample.ip, 0x401000u);
  EXPECT_EQ(sample.pid, 11);
  EXPECT_EQ(sample.tid, 12);
  EXPECT_EQ(sample.time, 13u);
  EXPECT_EQ(sample.addr, 14u);
  EXPECT_EQ(sample.id, 15u);
  EXPECT_EQ(sample.cpu, 17u);
  EXPECT_EQ(sample.period, 18u);
}

TEST(Sample, HasThePeriodOfItsEventWhereItHasNone) {
  auto attribute = attribute_with(PERF_SAMPLE_IP);
  attribute.period_or_frequency = 200'000;
  for (const bool frequency : {false, true}) {
    attribute.frequency = frequency;
    const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
    EXPECT_EQ(decoder.decode(sample_record(std::string(8, 'x'))).sample.period,
              frequency ? 0u : 200'000u);
  }
}

TEST(Sample, CutInsideItsFixedFieldsIsTooShort) {
  const SampleDecoder decoder(std::array{attribute_with(PERF_SAMPLE_IP | PERF_SAMPLE_TIME)},
                              ByteOrder::little);
  EXPECT_EQ(decoder.decode(sample_record(std::string(15, 'x'))).problem,
            SampleDecoder::Problem::too_short);
  EXPECT_EQ(decoder.decode(sample_record(std::string(16, 'x'))).problem,
            SampleDecoder::Problem::none);
}

/// A sample with every variable field, each of a length other than the default one.
class FullSample : public ::testing::Test {
 protected:
  FullSample() {
    attribute_.sample_type = (std::uint64_t{1} << 25) - 1;         // all up to WEIGHT_STRUCT …
    attribute_.sample_type &= ~std::uint64_t{PERF_SAMPLE_WEIGHT};  // … which excludes WEIGHT
    attribute_.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
                             PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attribute_.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS;
    attribute_.sample_regs_user = 0b1011;
    attribute_.sample_regs_intr = 0b11;
    ByteWriter body;
    body.u64(1).u64(0x401000).i32(2).i32(3).u64(4).u64(5).u64(1).u64(7).u32(8).u32(0).u64(9);
    body.u64(2).u64(100).u64(101);                            // read: 2 values, both times
    body.u64(3).u64(4).u64(0).u64(0x71).u64(1).u64(0x72);     // value, id, lost, twice
    body.u64(3).u64(0x10).u64(0x20).u64(0x30);                // callchain
    body.u32(12).raw("tracepoint!!");                         // raw, 4 + 12 bytes
    body.u64(1).u64(77).u64(0xa).u64(0xb).u64(0xc).u64(0xd);  // 1 branch, hw_idx, counters
    body.u64(2).u64(0x1).u64(0x2).u64(0x3);                   // user registers
    body.u64(16).raw(std::string(16, 's')).u64(9);            // stack, of which 9 bytes are used
    body.u64(0x0003'0002'0000'0001);                          // weight struct
    body.u64(0x2222).u64(0x3333);                             // data source, transaction
    body.u64(2).u64(0x4).u64(0x5);                            // interrupt registers
    body.u64(0x6666).u64(0x7777).u64(4096).u64(2048 * 1024);  // phys, cgroup, page sizes
    body.u64(8).raw("auxdata.");
    body_ = body.bytes();
    attribute_.ids = {1};
  }

  Attribute attribute_;
  std::string body_;
};

TEST_F(FullSample, HasEveryFieldWhereItBelongs) {
  const SampleDecoder decoder(std::array{attribute_}, ByteOrder::little);
  const auto record = sample_record(body_);
  const auto decoded = decoder.decode(record);
  ASSERT_EQ(decoded.problem, SampleDecoder::Problem::none);
  EXPECT_EQ(decoded.sample.ip, 0x401000u);
  const auto details = decoder.details(record, decoded.sample);
  ASSERT_TRUE(details);
  ASSERT_TRUE(details->counter);
  EXPECT_EQ(details->counter->id, 1u);
  EXPECT_EQ(details->counter->value, 0x71u);
  EXPECT_EQ(details->counter->time_enabled, 100u);
  EXPECT_EQ(details->counter->time_running, 101u);
  EXPECT_EQ(details->counter->lost, 0x72u);
  EXPECT_EQ(details->callchain.size(), 24u);
  EXPECT_EQ(details->raw.size(), 12u);
  EXPECT_EQ(details->branch_stack.size(), 24u);
  EXPECT_EQ(details->user_registers.size(), 24u);
  EXPECT_EQ(details->data_source, 0x2222u);
  EXPECT_EQ(details->interrupt_registers.size(), 16u);
  EXPECT_EQ(details->interrupt_registers.front(), std::byte{4});
}

TEST_F(FullSample, CutAnywhereHasNoDetails) {
  const SampleDecoder decoder(std::array{attribute_}, ByteOrder::little);
  const Sample sample = decoder.decode(sample_record(body_)).sample;
  for (std::size_t size = 80; size < body_.size(); ++size) {
    EXPECT_FALSE(decoder.details(sample_record(body_.substr(0, size)), sample)) << size;
  }
}

/// The counter of a sample whose id is 7.
std::optional<CounterValue> counter_of(std::uint64_t read_format, const std::string& read) {
  Attribute attribute = attribute_with(PERF_SAMPLE_ID | PERF_SAMPLE_READ);
  attribute.read_format = read_format;
  attribute.ids = {7};
  const auto body = ByteWriter().u64(7).raw(read).bytes();
  const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
  const auto record = sample_record(body);
  const auto details = decoder.details(record, decoder.decode(record).sample);
  return details ? details->counter : std::nullopt;
}

TEST(SampleCounter, OfASingleEventIsItsOwn) {
  const auto bare = counter_of(0, ByteWriter().u64(1234).bytes());
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->value, 1234u);
  EXPECT_EQ(bare->id, 7u);
  const auto full = counter_of(PERF_FORMAT_ID | PERF_FORMAT_LOST | PERF_FORMAT_TOTAL_TIME_RUNNING,
                               ByteWriter().u64(1234).u64(55).u64(7).u64(3).bytes());
  ASSERT_TRUE(full);
  EXPECT_EQ(full->value, 1234u);
  EXPECT_EQ(full->time_running, 55u);
  EXPECT_EQ(full->lost, 3u);
}

TEST(SampleCounter, OfAGroupWithoutTheSamplesIdIsUnknown) {
  EXPECT_FALSE(
      counter_of(PERF_FORMAT_GROUP | PERF_FORMAT_ID, ByteWriter().u64(1).u64(1234).u64(8).bytes()));
  EXPECT_FALSE(counter_of(PERF_FORMAT_GROUP, ByteWriter().u64(1).u64(1234).bytes()));
  EXPECT_FALSE(counter_of(PERF_FORMAT_GROUP | PERF_FORMAT_ID, ByteWriter().u64(0).bytes()));
}

TEST(SampleDetails, WithACountPastTheEndAreRefused) {
  const auto attribute = attribute_with(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
  const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
  for (const std::uint64_t count : {2ULL, 0x2000'0000'0000'0001ULL, ~0ULL}) {
    const auto body = ByteWriter().u64(1).u64(count).u64(0x10).bytes();
    const auto record = sample_record(body);
    EXPECT_FALSE(decoder.details(record, decoder.decode(record).sample)) << count;
  }
}

TEST(SampleDetails, WithoutRegistersHaveNone) {
  auto attribute = attribute_with(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_DATA_SRC);
  attribute.sample_regs_user = 0xff;
  const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
  const auto body = ByteWriter().u64(0).u64(42).bytes();  // PERF_SAMPLE_REGS_ABI_NONE, data source
  const auto record = sample_record(body);
  const auto details = decoder.details(record, decoder.decode(record).sample);
  ASSERT_TRUE(details);
  EXPECT_TRUE(details->user_registers.empty());
  EXPECT_EQ(details->data_source, 42u);
}

TEST(SampleDetails, WithRegistersOfAnUnknownKindAreRefused) {
  auto attribute = attribute_with(PERF_SAMPLE_REGS_INTR);
  attribute.sample_regs_intr = 0x1;
  const SampleDecoder decoder(std::array{attribute}, ByteOrder::little);
  for (const auto& [abi, is_known] :
       {std::pair(1U, true), std::pair(2U, true), std::pair(6U, false)}) {
    const auto body = ByteWriter().u64(abi).u64(42).bytes();
    const auto record = sample_record(body);
    EXPECT_EQ(decoder.details(record, decoder.decode(record).sample).has_value(), is_known) << abi;
  }
}

TEST(SampleIdTrailer, IsReadFromTheEndOfARecord) {
  auto attribute = attribute_with(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
  attribute.sample_id_all = true;
  const auto body = ByteWriter().u64(0xdead).i32(1).i32(2).u64(33).u32(4).u32(0).u64(55).bytes();
  Record record{.body = as_bytes(body)};
  const auto id = parse_sample_id(record, attribute, ByteOrder::little);
  EXPECT_EQ(id.time, 33u);
  EXPECT_EQ(id.id, 55u);
  attribute.sample_id_all = false;
  EXPECT_FALSE(parse_sample_id(record, attribute, ByteOrder::little).time);
}

TEST(DescribeEvent, HasTheModifiersThatAreNotDefaults) {
  // The modes that are not counted, as modifiers: hypervisor, host and guest are h, H and G.
  for (const auto& [excluded, level, name] :
       std::vector<std::tuple<std::string, unsigned, const char*>>{{"G", 0, "cycles"},
                                                                   {"", 0, "cycles:HG"},
                                                                   {"kh", 0, "cycles:u"},
                                                                   {"uh", 0, "cycles:k"},
                                                                   {"uhH", 0, "cycles:kG"},
                                                                   {"G", 2, "cycles:ppH"},
                                                                   {"", 2, "cycles:pp"},
                                                                   {"k", 2, "cycles:uhpp"}}) {
    const auto without = [&, modes = excluded](char mode) {
      return modes.find(mode) != std::string::npos;
    };
    EXPECT_EQ(describe_event({.type = PERF_TYPE_HARDWARE,
                              .precise_ip = level,
                              .exclude_user = without('u'),
                              .exclude_kernel = without('k'),
                              .exclude_hypervisor = without('h'),
                              .exclude_host = without('H'),
                              .exclude_guest = without('G')}),
              name);
  }
}

}  // namespace
}  // namespace skid::perfdata
