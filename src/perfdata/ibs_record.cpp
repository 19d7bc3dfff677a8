#include "src/perfdata/ibs_record.h"

#include "src/support/byte_reader.h"

namespace skid::perfdata {
namespace {

constexpr std::size_t kAlwaysRead = 7;  ///< MSR_AMD64_IBSOP_REG_COUNT

constexpr bool has_bit(std::uint64_t word, unsigned bit) {
  return (word >> bit & 1) != 0;
}

/// IbsOpMemWidth: 1 is one byte, each further number twice as many. No access is wider than 64
/// bytes.
unsigned width_of(std::uint64_t data3) {
  constexpr unsigned kLargest = 7;
  const unsigned width = data3 >> 22 & 0xf;
  return width == 0 || width > kLargest ? 0 : 1U << (width - 1);
}

}  // namespace

std::optional<IbsRecord> parse_ibs_record(std::span<const std::byte> raw, ByteOrder order) {
  // IBS_CAPS_AVAIL, _BRNTRGT, _RIPINVALIDCHK and _OPDATA4.
  constexpr unsigned kAvailable = 0, kHasTarget = 5, kChecksRip = 7, kHasData4 = 10;
  constexpr unsigned kValid = 18;  // IbsOpVal
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  ByteReader reader(raw, order);
  const std::uint32_t capabilities = reader.u32();
  const std::size_t words = reader.remaining() / kWord;
  const bool has_target = has_bit(capabilities, kHasTarget);
  const std::size_t most =
      kAlwaysRead + (has_target ? 1 : 0) + (has_bit(capabilities, kHasData4) ? 1 : 0);
  if (!has_bit(capabilities, kAvailable) || reader.remaining() % kWord != 0 ||
      words < kAlwaysRead || words > most) {
    return std::nullopt;
  }
  const std::uint64_t control = reader.u64(), rip = reader.u64(), data = reader.u64();
  reader.skip(kWord);  // IbsOpData2, where the data came from
  const std::uint64_t data3 = reader.u64(), linear = reader.u64();
  reader.skip(kWord);  // IbsDcPhysAd
  const std::uint64_t target = has_target && words > kAlwaysRead ? reader.u64() : 0;
  if (!has_bit(control, kValid)) return std::nullopt;

  IbsRecord record;
  if (!has_bit(capabilities, kChecksRip) || !has_bit(data, 38)) record.rip = rip;
  record.load = has_bit(data3, 0);
  record.store = has_bit(data3, 1);
  record.locked = has_bit(data3, 15);
  record.prefetch = has_bit(data3, 21);
  record.microcode = has_bit(data, 40);
  record.width = width_of(data3);
  if (has_bit(data3, 17)) record.data_address = linear;
  if (has_bit(data, 37)) {
    IbsBranch& branch = record.branch.emplace();
    branch.returns = has_bit(data, 34);
    branch.taken = has_bit(data, 35);
    branch.mispredicted = has_bit(data, 36);
    if (target != 0) branch.target = target;
  }
  return record;
}

}  // namespace skid::perfdata
