#include "src/perfdata/spe_record.h"

#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

using Type = SpePacket::Type;

constexpr std::uint64_t kTopByte = std::uint64_t{0xff} << 56;

/// Indices of address packets.
constexpr std::uint8_t kPc = 0, kTarget = 1, kData = 2, kPhysical = 3;
/// Indices of counter packets.
constexpr std::uint8_t kTotal = 0, kIssue = 1, kTranslation = 2;

/// Returns the type of a packet by its first byte; nullopt for the extended header.
std::optional<Type> type_of(std::uint8_t header) {
  if (header == 0x00) return Type::padding;
  if (header == 0x01) return Type::end;
  if (header == 0x71) return Type::timestamp;
  if ((header & 0xcfu) == 0x42) return Type::events;
  if ((header & 0xcfu) == 0x43) return Type::data_source;
  if ((header & 0xfcu) == 0x64) return Type::context;
  if ((header & 0xfcu) == 0x48) return Type::operation;
  if ((header & 0xf8u) == 0xb0) return Type::address;
  if ((header & 0xf8u) == 0x98) return Type::counter;
  if ((header & 0xf0u) == 0x20) return std::nullopt;
  return Type::malformed;
}

/// Returns the index that the last byte of a header has; for the class of an operation and the
/// exception level of a context in fewer bits.
std::uint8_t index_of(Type type, std::uint8_t header) {
  if (type == Type::address || type == Type::counter) return header & 7u;
  return type == Type::operation || type == Type::context ? header & 3u : 0;
}

/// Returns the address of an instruction: bit 63 of the payload is NS, bits 62 and 61 are EL, and
/// addresses of EL1 and EL2 are those of the kernel's half (arm_spe_calc_ip()).
std::uint64_t code_address(std::uint64_t payload) {
  const bool is_non_secure = payload >> 63 != 0;
  const unsigned level = payload >> 61 & 3;
  const std::uint64_t address = payload & ~kTopByte;
  return is_non_secure && (level == 1 || level == 2) ? address | kTopByte : address;
}

/// Returns the address of data without its tag, which is the top byte.
std::uint64_t untagged(std::uint64_t payload) {
  const bool is_of_kernel = (payload >> 52 & 0xf) == 0xf;
  return is_of_kernel ? payload | kTopByte : payload & ~kTopByte;
}

/// Appends a word after a space if there are words before it.
void add_word(std::string_view word, std::string& words) {
  if (!words.empty()) words += ' ';
  words += word;
}

/// Appends the length of an SVE vector, in bits, and what else its operations state.
void add_vector(std::uint8_t bits, std::string_view last, unsigned last_bit, std::string& words) {
  add_word(fmt::format("EVLEN {}", 32u << (bits >> 4 & 7u)), words);
  if (last_bit == 1 && (bits & 0x02u) != 0) add_word(last, words);
  if ((bits & 0x04u) != 0) add_word("PRED", words);
  if (last_bit == 7 && (bits & 0x80u) != 0) add_word(last, words);
}

void add_load_or_store(const SpeOperation& operation, std::string& words) {
  const std::uint8_t bits = operation.bits;
  words = operation.stores() ? "ST" : "LD";
  if (operation.is_extended()) {
    if ((bits & 0x04u) != 0) add_word("AT", words);
    if ((bits & 0x08u) != 0) add_word("EXCL", words);
    if ((bits & 0x10u) != 0) add_word("AR", words);
  }
  constexpr std::array<std::pair<std::uint8_t, std::string_view>, 7> kSubclasses{
      {{0x00, "GP-REG"},
       {0x04, "SIMD-FP"},
       {0x10, "UNSPEC-REG"},
       {0x14, "MTE-TAG"},
       {0x20, "MEMCPY"},
       {0x24, "MEMSET"},
       {0x30, "NV-SYSREG"}}};
  for (const auto& [subclass, word] : kSubclasses) {
    if ((bits & 0xfeu) == subclass) add_word(word, words);
  }
  if ((bits & 0x0au) == 0x08) add_vector(bits, "SG", 7, words);
}

/// Fields of perf_mem_data_src (include/uapi/linux/perf_event.h), first mem_op.
constexpr std::uint64_t kLoad = 2, kStore = 4;
/// mem_lvl, from bit 5 on.
constexpr std::uint64_t level(std::uint64_t bits) {
  return bits << 5;
}
constexpr std::uint64_t kLevelUnknown = level(0x01), kHit = level(0x02), kMiss = level(0x04),
                        kL1 = level(0x08), kL2 = level(0x20), kL3 = level(0x40),
                        kLocalRam = level(0x80);
/// mem_snoop, mem_dtlb, mem_lvl_num, mem_remote, mem_snoopx.
constexpr std::uint64_t kSnoopUnknown = std::uint64_t{0x01} << 19,
                        kSnoopNone = std::uint64_t{0x02} << 19,
                        kSnoopHit = std::uint64_t{0x04} << 19;
constexpr std::uint64_t kTlbHit = std::uint64_t{0x02} << 26, kTlbMiss = std::uint64_t{0x04} << 26,
                        kTlbWalker = std::uint64_t{0x20} << 26;
constexpr std::uint64_t number(std::uint64_t value) {
  return value << 33;
}
constexpr std::uint64_t kNumberUnknown = number(0xf), kNumberRam = number(0xd);
constexpr std::uint64_t kRemote = std::uint64_t{1} << 37, kPeer = std::uint64_t{2} << 38;

/// Whether a CPU's data sources have the common encoding: common_ds_encoding_cpus in
/// tools/perf/util/arm-spe.c (Linux 6.14). Parts of Arm: Neoverse N1, V1, N2 and V2, Cortex-X1C,
/// X3, A720, X925 and A725. Emulated ones have the implementer 0.
bool has_common_sources(std::uint64_t midr) {
  constexpr std::array<std::uint64_t, 9> kParts{0xd0c, 0xd40, 0xd49, 0xd4f, 0xd4c,
                                                0xd4e, 0xd81, 0xd85, 0xd87};
  constexpr std::uint64_t kArm = 0x41, kEmulated = 0;
  const std::uint64_t implementer = midr >> 24 & 0xff;
  return (implementer == kArm || implementer == kEmulated) && contains(kParts, midr >> 4 & 0xfff);
}

/// Returns the levels of a data source in the common encoding; 0 for an unknown one.
std::uint64_t common_source(std::uint16_t source) {
  switch (source) {
    case 0x0:  // L1 data cache
      return kL1 | kHit | number(1) | kSnoopNone;
    case 0x8:  // L2 cache
      return kL2 | kHit | number(2) | kSnoopNone;
    case 0x9:  // peer core
      return kL2 | kHit | number(2) | kPeer;
    case 0xa:  // local cluster
    case 0xc:  // peer cluster
      return kL3 | kHit | number(3) | kPeer;
    case 0xb:  // system cache
      return kL3 | kHit | number(3) | kSnoopHit;
    case 0xd:  // remote
      return kLevelUnknown | kNumberUnknown | kRemote | kPeer;
    case 0xe:  // DRAM
      return kLocalRam | kHit | kNumberRam | kSnoopNone;
    default:
      return 0;
  }
}

/// Returns the levels by the events alone.
std::uint64_t source_of_events(const SpeRecord& record) {
  std::uint64_t source = 0;
  if (record.has(SpeEvent::llc_access) || record.has(SpeEvent::llc_miss)) {
    source = kL3 | (record.has(SpeEvent::llc_miss) ? kMiss : kHit);
  } else if (record.has(SpeEvent::l1d_access) || record.has(SpeEvent::l1d_refill)) {
    source = kL1 | (record.has(SpeEvent::l1d_refill) ? kMiss : kHit);
  }
  return record.has(SpeEvent::remote_access) ? source | kRemote : source;
}

}  // namespace

SpePacket parse_spe_packet(std::span<const std::byte> bytes, std::uint64_t offset) {
  const auto byte_at = [&](std::size_t index) {
    return std::to_integer<std::uint8_t>(bytes[index]);
  };
  const std::uint8_t first = byte_at(0);
  const auto short_type = type_of(first);
  Type type = short_type.value_or(Type::malformed);
  std::size_t header = 1;
  std::uint8_t index = index_of(type, first);
  if (!short_type) {
    if (bytes.size() == 1) return {.type = Type::truncated};
    const std::uint8_t second = byte_at(1);
    if (second == 0) {
      const std::uint64_t alignment = std::uint64_t{2} << (first & 0xfu);
      const std::uint64_t rest = alignment - (offset & (alignment - 1));
      return {.type = Type::padding,
              .size = static_cast<std::size_t>(std::min<std::uint64_t>(rest, bytes.size()))};
    }
    header = 2;
    type = type_of(second).value_or(Type::malformed);
    const bool is_known = type == Type::address || type == Type::counter;
    if (!is_known || (first & 0xfcu) != 0x20) return {};
    index = static_cast<std::uint8_t>((first & 3u) << 3 | (second & 7u));
  }
  if (type == Type::malformed) return {};
  if (type == Type::padding || type == Type::end) return {.type = type};
  // perf knows no operation of the class 3.
  if (type == Type::operation && index > 2) return {};
  const std::size_t size = std::size_t{1} << (byte_at(header - 1) >> 4 & 3u);
  if (bytes.size() - header < size) return {.type = Type::truncated, .size = bytes.size()};
  SpePacket packet{.type = type, .index = index, .size = header + size};
  for (std::size_t i = 0; i < size; ++i) {
    packet.payload |= std::uint64_t{byte_at(header + i)} << (8 * i);
  }
  return packet;
}

void SpeRecord::add(const SpePacket& packet) {
  const std::uint64_t payload = packet.payload;
  switch (packet.type) {
    case Type::address:
      if (packet.index == kPc) {
        pc = code_address(payload);
        exception_level = payload >> 61 & 3u;
      } else if (packet.index == kTarget) {
        target = code_address(payload);
      } else if (packet.index == kData) {
        data_address = untagged(payload);
      } else if (packet.index == kPhysical) {
        physical_address = payload & ~kTopByte;
      }
      break;
    case Type::counter:
      if (packet.index <= kTranslation) {
        (packet.index == kTotal   ? total_latency
         : packet.index == kIssue ? issue_latency
                                  : translation_latency) = static_cast<std::uint16_t>(payload);
      }
      break;
    case Type::operation:
      operation = {static_cast<SpeOperation::Class>(packet.index),
                   static_cast<std::uint8_t>(payload)};
      break;
    case Type::events:
      events |= payload;
      break;
    case Type::data_source:
      data_source = static_cast<std::uint16_t>(payload);
      break;
    case Type::context:
      context = static_cast<std::uint32_t>(payload);
      break;
    case Type::timestamp:
      timestamp = payload;
      break;
    default:
      break;
  }
}

std::optional<SpeRecord> parse_spe_record(std::span<const std::byte> packets) {
  SpeRecord record;
  while (!packets.empty()) {
    const SpePacket packet = parse_spe_packet(packets, 0);
    if (packet.type == Type::malformed || packet.type == Type::truncated) return std::nullopt;
    record.add(packet);
    packets = packets.subspan(packet.size);
  }
  return record.pc ? std::optional(record) : std::nullopt;
}

std::string operation_text(const SpeRecord& record) {
  std::string words;
  if (!record.operation) return words;
  const SpeOperation& operation = *record.operation;
  if (operation.kind == SpeOperation::Class::load_store) {
    add_load_or_store(operation, words);
  } else if (operation.branches()) {
    words = "B";
    if (operation.is_conditional()) add_word("COND", words);
    if (operation.is_indirect()) add_word("IND", words);
  } else if ((operation.bits & 0x89u) == 0x08) {
    words = "SVE-OTHER";
    add_vector(operation.bits, "FP", 1, words);
  } else {
    words = (operation.bits & 1u) != 0 ? "OTHER COND-SELECT" : "OTHER INSN-OTHER";
  }
  return words;
}

std::string events_text(const SpeRecord& record) {
  constexpr std::array<std::string_view, 19> kWords{"EXCEPTION-GEN",
                                                    "RETIRED",
                                                    "L1D-ACCESS",
                                                    "L1D-REFILL",
                                                    "TLB-ACCESS",
                                                    "TLB-REFILL",
                                                    "NOT-TAKEN",
                                                    "MISPRED",
                                                    "LLC-ACCESS",
                                                    "LLC-REFILL",
                                                    "REMOTE-ACCESS",
                                                    "ALIGNMENT",
                                                    {},
                                                    {},
                                                    {},
                                                    {},
                                                    {},
                                                    "SVE-PARTIAL-PRED",
                                                    "SVE-EMPTY-PRED"};
  std::string words;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((record.events >> bit & 1u) == 0) continue;
    if (!words.empty()) words += '|';
    const bool is_known = bit < kWords.size() && !kWords[bit].empty();
    words += is_known ? std::string(kWords[bit]) : fmt::format("bit{}", bit);
  }
  return words;
}

std::uint64_t data_source_of(const SpeRecord& record, std::uint64_t midr) {
  if (!record.operation || record.operation->kind != SpeOperation::Class::load_store) return 0;
  const bool stores = record.operation->stores();
  std::uint64_t source = stores ? kStore : kLoad;
  if (!has_common_sources(midr)) {
    source |= source_of_events(record);
  } else if (stores) {  // the CPUs give none for stores
    source |= kLevelUnknown | kNumberUnknown | kSnoopUnknown;
  } else {
    source |= common_source(record.data_source.value_or(0));
  }
  if (record.has(SpeEvent::tlb_access) || record.has(SpeEvent::tlb_walk)) {
    source |= kTlbWalker | (record.has(SpeEvent::tlb_walk) ? kTlbMiss : kTlbHit);
  }
  return source;
}

}  // namespace skid::perfdata
