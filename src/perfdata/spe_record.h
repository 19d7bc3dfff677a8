// Records of Arm's Statistical Profiling Extension (SPE), decoded from their packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace skid::perfdata {

/// One packet of an SPE trace.
///
/// The format is that of the Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling
/// Extension Sample Record Specification", as tools/perf/util/arm-spe-decoder/arm-spe-pkt-decoder.c
/// reads it: a header of one byte, or of two for an index of more than three bits, and a
/// little-endian payload whose size in bytes is 1 << header[5:4].
struct SpePacket {
  enum class Type : std::uint8_t {
    malformed,  ///< no header that is known
    truncated,  ///< the bytes end before the packet
    padding,    ///< also up to an alignment
    end,        ///< ends a record without a timestamp
    timestamp,  ///< ends a record
    address,
    counter,
    context,
    operation,
    events,
    data_source,
  };

  Type type = Type::malformed;
  std::uint8_t index = 0;     ///< of address, counter, context (EL - 1); class of an operation
  std::uint64_t payload = 0;  ///< zero-extended
  std::size_t size = 1;       ///< bytes of the packet, or those to step over
};

/// Number of bytes that the largest packet other than an alignment has.
inline constexpr std::size_t kLargestSpePacket = 10;

/// Reads the packet at the start of `bytes`, which are not empty. `offset`: that of its first byte
/// in the AUX area, by which alignments count.
SpePacket parse_spe_packet(std::span<const std::byte> bytes, std::uint64_t offset);

/// Bits of the events packet.
enum class SpeEvent : std::uint8_t {
  exception = 0,
  retired = 1,
  l1d_access = 2,
  l1d_refill = 3,
  tlb_access = 4,
  tlb_walk = 5,
  not_taken = 6,  ///< a conditional instruction that failed its condition
  mispredicted = 7,
  llc_access = 8,
  llc_miss = 9,
  remote_access = 10,
  misaligned = 11,
  partial_predicate = 17,
  empty_predicate = 18,
};

/// The operation packet of a record.
struct SpeOperation {
  enum class Class : std::uint8_t { other = 0, load_store = 1, branch = 2 };

  Class kind = Class::other;
  std::uint8_t bits = 0;  ///< the payload: the subclass

  bool stores() const noexcept { return kind == Class::load_store && (bits & 1u) != 0; }
  bool loads() const noexcept { return kind == Class::load_store && (bits & 1u) == 0; }
  bool branches() const noexcept { return kind == Class::branch; }
  /// Whether bits 2 to 4 say atomic, exclusive, and acquire or release.
  bool is_extended() const noexcept { return kind == Class::load_store && (bits & 0xe2u) == 0x02u; }
  bool is_conditional() const noexcept { return branches() && (bits & 1u) != 0; }
  bool is_indirect() const noexcept { return branches() && (bits & 0xfeu) == 0x02u; }

  friend bool operator==(const SpeOperation&, const SpeOperation&) = default;
};

/// What the hardware recorded of one sampled operation. Fields whose packet is missing are nullopt,
/// and `events` 0.
struct SpeRecord {
  std::optional<std::uint64_t> pc = {};  ///< virtual address of the instruction
  std::uint8_t exception_level = 0;      ///< of `pc`
  std::optional<SpeOperation> operation = {};
  std::uint64_t events = 0;                        ///< bits are values of SpeEvent
  std::optional<std::uint64_t> target = {};        ///< where the branch went
  std::optional<std::uint64_t> data_address = {};  ///< virtual, without its tag
  std::optional<std::uint64_t> physical_address = {};
  std::optional<std::uint16_t> data_source = {};  ///< implementation defined
  /// Cycles from dispatch to completion, to issue, and of the translation of the address.
  std::optional<std::uint16_t> total_latency = {}, issue_latency = {}, translation_latency = {};
  std::optional<std::uint64_t> timestamp = {};  ///< of the system counter
  std::optional<std::uint32_t> context = {};    ///< CONTEXTIDR: the thread, if the kernel sets it

  bool has(SpeEvent event) const noexcept {
    return (events >> static_cast<unsigned>(event) & 1u) != 0;
  }
  /// Adds what a packet states. Packets of unknown indices are ignored, as perf does.
  void add(const SpePacket& packet);

  friend bool operator==(const SpeRecord&, const SpeRecord&) = default;
};

/// Reads the packets of one record, as they are the raw data of a sample. nullopt if one of them is
/// malformed, or none is the address of the instruction.
std::optional<SpeRecord> parse_spe_record(std::span<const std::byte> packets);

/// Returns the operation with perf's words (arm_spe_pkt_desc_op_type()): "LD GP-REG", "B COND";
/// empty without one.
std::string operation_text(const SpeRecord& record);
/// Returns the events with perf's words, '|' between them: "RETIRED|L1D-ACCESS"; empty for none.
/// Bits without a word are their number: "bit12".
std::string events_text(const SpeRecord& record);

/// Returns the record's perf_mem_data_src, as perf gives it to the samples that it makes of SPE
/// records (arm_spe__synth_data_source() in tools/perf/util/arm-spe.c). 0: neither load nor store.
/// `midr`: MIDR_EL1 of the CPU, which decides whether the data source packet is one of Arm's common
/// encoding; 0: not known.
std::uint64_t data_source_of(const SpeRecord& record, std::uint64_t midr);

}  // namespace skid::perfdata
