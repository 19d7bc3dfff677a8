// Packets of Arm's Statistical Profiling Extension, and the records that they form.
#include "src/perfdata/spe_record.h"

#include "tests/support/prelude.h"
#include "tests/support/spe_to_build.h"
#include "tests/support/text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::perfdata {
namespace {

using test::as_bytes;
using test::SpePackets;
using Type = SpePacket::Type;
using Class = SpeOperation::Class;

SpePacket packet_of(const std::string& bytes, std::uint64_t offset = 0) {
  return parse_spe_packet(as_bytes(bytes), offset);
}
std::optional<SpeRecord> record_of(const SpePackets& packets) {
  return parse_spe_record(as_bytes(packets.bytes()));
}
/// The operation of a record, as text.
std::string operation(const SpePackets& packets) {
  SpePackets all = packets;
  return operation_text(record_of(all.pc(4)).value());
}
std::string events(std::uint64_t bits) {
  return events_text(record_of(SpePackets().pc(4).events(bits, 8)).value());
}

TEST(SpePacket, HasTheSizeAndPayloadOfItsHeader) {
  struct Case {
    std::string bytes;
    Type type;
    std::uint8_t index;
    std::uint64_t payload;
  };
  for (const Case& one : std::vector<Case>{
           {SpePackets().events(0xa1, 1).bytes(), Type::events, 0, 0xa1},
           {SpePackets().events(0xa1b2, 2).bytes(), Type::events, 0, 0xa1b2},
           {SpePackets().events(0xa1b2c3d4, 4).bytes(), Type::events, 0, 0xa1b2c3d4},
           {SpePackets().events(1ULL << 63, 8).bytes(), Type::events, 0, 1ULL << 63},
           {SpePackets().source(9).bytes(), Type::data_source, 0, 9},
           {SpePackets().source(0x109, 2).bytes(), Type::data_source, 0, 0x109},
           {SpePackets().context(0x12345678, 2).bytes(), Type::context, 1, 0x12345678},
           {SpePackets().branch(3).bytes(), Type::operation, 2, 3},
           {SpePackets().latency(2, 0x1234).bytes(), Type::counter, 2, 0x1234},
           {SpePackets().address(3, 0x8877665544332211).bytes(), Type::address, 3,
            0x8877665544332211},
           {SpePackets().timestamp(0x0102030405060708).bytes(), Type::timestamp, 0,
            0x0102030405060708},
           {SpePackets().end().bytes(), Type::end, 0, 0},
           {SpePackets().padding(1).bytes(), Type::padding, 0, 0}}) {
    const SpePacket packet = packet_of(one.bytes + "\xb0");
    EXPECT_EQ(packet.type, one.type);
    EXPECT_EQ(packet.index, one.index);
    EXPECT_EQ(packet.payload, one.payload);
    EXPECT_EQ(packet.size, one.bytes.size());
    for (std::size_t size = 1; size < one.bytes.size(); ++size) {
      const SpePacket cut = packet_of(one.bytes.substr(0, size));
      EXPECT_EQ(cut.type, Type::truncated) << size << " of " << one.bytes.size();
      EXPECT_EQ(cut.size, size);
    }
  }
}

TEST(SpePacket, OfAnExtendedHeaderHasAnIndexOfFiveBits) {
  const SpePacket counter = packet_of(std::string("\x22\x9b\x34\x12", 4));
  EXPECT_EQ(counter.type, Type::counter);
  EXPECT_EQ(counter.index, 2 << 3 | 3);
  EXPECT_EQ(counter.payload, 0x1234u);
  EXPECT_EQ(counter.size, 4u);
  const SpePacket address = packet_of(std::string("\x20\xb1", 2) + std::string(8, '\x11'));
  EXPECT_EQ(address.type, Type::address);
  EXPECT_EQ(address.index, 1);
  EXPECT_EQ(packet_of("\x20").type, Type::truncated);
  EXPECT_EQ(packet_of("\x20\x71").type, Type::malformed) << "a timestamp has no index";
}

TEST(SpePacket, OfAnAlignmentEndsWhereTheAreaIsAligned) {
  const std::string bytes = std::string("\x23\x00", 2) + std::string(64, '\0');
  for (const std::uint64_t offset : {0u, 1u, 15u, 16u, 31u}) {
    const SpePacket packet = packet_of(bytes, offset);
    EXPECT_EQ(packet.type, Type::padding);
    EXPECT_EQ(packet.size, 16 - offset % 16);
  }
  EXPECT_EQ(packet_of(bytes.substr(0, 3)).size, 3u) << "no further than the bytes";
}

TEST(SpePacket, OfNoKnownHeaderIsMalformedAndStepsOverOneByte) {
  unsigned known = 0;
  for (unsigned first = 0; first < 256; ++first) {
    const SpePacket packet = packet_of(static_cast<char>(first) + std::string(16, '\x7f'));
    if (packet.type == Type::malformed) {
      EXPECT_EQ(packet.size, 1u);
    } else {
      ++known;
    }
  }
  // Padding, end, timestamp; 4 sizes of events and of sources; 4 of contexts and 3 of operations, 8
  // addresses, 8 counters. Extended headers are malformed with this second byte.
  EXPECT_EQ(known, 3u + 4 + 4 + 4 + 3 + 8 + 8);
}

TEST(SpeRecord, HasEachFieldOfItsPackets) {
  const auto record = record_of(SpePackets()
                                    .pc(0x401000)
                                    .load(4)
                                    .events(0x16)
                                    .data(0xb400'7f00'1234'5678)
                                    .physical(0x80001000)
                                    .source(8)
                                    .latency(0, 40)
                                    .latency(1, 7)
                                    .latency(2, 3)
                                    .context(77)
                                    .timestamp(1234));
  EXPECT_EQ(record, (SpeRecord{.pc = 0x401000,
                               .operation = SpeOperation{Class::load_store, 4},
                               .events = 0x16,
                               .data_address = 0x7f00'1234'5678,
                               .physical_address = 0x80001000,
                               .data_source = 8,
                               .total_latency = 40,
                               .issue_latency = 7,
                               .translation_latency = 3,
                               .timestamp = 1234,
                               .context = 77}));
}

TEST(SpeRecord, OfTheKernelHasAddressesOfItsHalf) {
  const auto record = record_of(SpePackets()
                                    .pc(0xffff'8000'0801'2340, 2)
                                    .target(0xffff'8000'0801'2350, 1)
                                    .data(0x12ff'ff00'0000'1000)
                                    .end())
                          .value();
  EXPECT_EQ(record.pc, 0xffff'8000'0801'2340);
  EXPECT_EQ(record.exception_level, 2);
  EXPECT_EQ(record.target, 0xffff'8000'0801'2350);
  EXPECT_EQ(record.data_address, 0xffff'ff00'0000'1000) << "without its tag";
  // Of the secure world: EL1, without NS.
  const auto secure = record_of(SpePackets().address(0, 1ULL << 61 | 0x4000).end());
  EXPECT_EQ(secure->pc, 0x4000u);
  EXPECT_EQ(secure->exception_level, 1);
}

TEST(SpeRecord, IsNotReadWithoutAnAddressOrWithAMalformedPacket) {
  EXPECT_FALSE(record_of(SpePackets().load().events(2).end()));
  EXPECT_FALSE(record_of(SpePackets().pc(4).raw("\xff").end()));
  EXPECT_FALSE(record_of(SpePackets().pc(4).raw("\xb0")));
  EXPECT_FALSE(record_of(SpePackets()));
  EXPECT_TRUE(record_of(SpePackets().pc(4).padding(5).raw("\x22\x9f\x01\x02")))
      << "indices that are not known are stepped over";
}

TEST(SpeRecord, NamesOperationsAsPerfDoes) {
  EXPECT_EQ(operation(SpePackets()), "");
  EXPECT_EQ(operation(SpePackets().other()), "OTHER INSN-OTHER");
  EXPECT_EQ(operation(SpePackets().other(1)), "OTHER COND-SELECT");
  EXPECT_EQ(operation(SpePackets().other(0x2e)), "SVE-OTHER EVLEN 128 FP PRED");
  EXPECT_EQ(operation(SpePackets().load()), "LD GP-REG");
  EXPECT_EQ(operation(SpePackets().store(4)), "ST SIMD-FP");
  EXPECT_EQ(operation(SpePackets().load(0x1e)), "LD AT EXCL AR");
  EXPECT_EQ(operation(SpePackets().store(0x0a)), "ST EXCL");
  EXPECT_EQ(operation(SpePackets().load(0x12)), "LD AR");
  EXPECT_EQ(operation(SpePackets().load(0x10)), "LD UNSPEC-REG");
  EXPECT_EQ(operation(SpePackets().load(0x14)), "LD MTE-TAG");
  EXPECT_EQ(operation(SpePackets().store(0x20)), "ST MEMCPY");
  EXPECT_EQ(operation(SpePackets().store(0x24)), "ST MEMSET");
  EXPECT_EQ(operation(SpePackets().load(0x30)), "LD NV-SYSREG");
  EXPECT_EQ(operation(SpePackets().load(0x9c)), "LD EVLEN 64 PRED SG");
  EXPECT_EQ(operation(SpePackets().branch()), "B");
  EXPECT_EQ(operation(SpePackets().branch(1)), "B COND");
  EXPECT_EQ(operation(SpePackets().branch(2)), "B IND");
  EXPECT_EQ(operation(SpePackets().branch(3)), "B COND IND");
}

TEST(SpeRecord, NamesEventsAsPerfDoes) {
  EXPECT_EQ(events(0), "");
  EXPECT_EQ(events(0xff),
            "EXCEPTION-GEN|RETIRED|L1D-ACCESS|L1D-REFILL|TLB-ACCESS|TLB-REFILL|"
            "NOT-TAKEN|MISPRED");
  EXPECT_EQ(events(0x60f00),
            "LLC-ACCESS|LLC-REFILL|REMOTE-ACCESS|ALIGNMENT|SVE-PARTIAL-PRED|"
            "SVE-EMPTY-PRED");
  EXPECT_EQ(events(1ULL << 12 | 1ULL << 63), "bit12|bit63");
}

TEST(SpeRecord, HasADataSourceByTheCpu) {
  constexpr std::uint64_t kN1 = 0x413fd0c1, kEmulatedN1 = 0x003fd0c1, kOther = 0x481fd010;
  const auto source_of = [](const SpePackets& packets, std::uint64_t midr) {
    SpePackets all = packets;
    perf_mem_data_src source{data_source_of(record_of(all.pc(4)).value(), midr)};
    return source;
  };
  const auto dram = SpePackets().load().source(0xe).events(0x210);
  EXPECT_EQ(source_of(dram, kN1).mem_lvl, PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT);
  EXPECT_EQ(source_of(dram, kEmulatedN1).mem_lvl, PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT);
  EXPECT_EQ(source_of(dram, kN1).mem_dtlb, PERF_MEM_TLB_WK | PERF_MEM_TLB_HIT);
  EXPECT_EQ(source_of(dram, kOther).mem_lvl, PERF_MEM_LVL_L3 | PERF_MEM_LVL_MISS)
      << "by the events alone";
  EXPECT_EQ(source_of(SpePackets().load().source(0xd), kN1).mem_remote, PERF_MEM_REMOTE_REMOTE);
  EXPECT_EQ(source_of(SpePackets().store().source(8), kN1).mem_lvl, PERF_MEM_LVL_NA);
  EXPECT_EQ(source_of(SpePackets().store().events(0xc), 0).mem_lvl,
            PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS);
  EXPECT_EQ(source_of(SpePackets().branch().source(8).events(0xff), kN1).val, 0u);
}

}  // namespace
}  // namespace skid::perfdata
