// The registers of IBS in the raw data of a sample.
#include "src/perfdata/ibs_record.h"

#include "src/perfdata/bytes.h"
#include "tests/support/ibs_to_build.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace skid::perfdata {
namespace {

using test::IbsToBuild;
namespace ibs = test::ibs;

constexpr std::uint32_t kTargets = 1 << 5, kChecksRip = 1 << 7, kData4 = 1 << 10;

std::optional<IbsRecord> parsed(const std::string& raw) {
  return parse_ibs_record(std::as_bytes(std::span(raw)), ByteOrder::little);
}

TEST(IbsRecord, OfALoadHasItsWidthAndAddress) {
  const IbsToBuild built{.rip = 0x401000,
                         .data3 = ibs::kLoad | ibs::kAddressValid | ibs::width(8),
                         .linear = 0x7ffe'1230};
  EXPECT_EQ(parsed(built.bytes()),
            (IbsRecord{.rip = 0x401000, .load = true, .width = 8, .data_address = 0x7ffe'1230}));
}

TEST(IbsRecord, OfALockedUpdateIsLoadAndStore) {
  const IbsToBuild built{.rip = 1, .data3 = ibs::kLoad | ibs::kStore | ibs::kLocked, .linear = 9};
  EXPECT_EQ(parsed(built.bytes()),
            (IbsRecord{.rip = 1, .load = true, .store = true, .locked = true}))
      << "the address is not valid";
}

TEST(IbsRecord, HasEachWidthInBytes) {
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
    EXPECT_EQ(parsed(IbsToBuild{.data3 = ibs::width(bytes)}.bytes())->width, bytes);
  }
  EXPECT_EQ(parsed(IbsToBuild{.data3 = ibs::width(128)}.bytes())->width, 0U) << "reserved";
}

TEST(IbsRecord, OfABranchHasItsTarget) {
  const IbsToBuild built{.rip = 5,
                         .data = ibs::kBranch | ibs::kTaken | ibs::kMispredicted | ibs::kReturn,
                         .target = 0x402000};
  const IbsBranch branch{.returns = true, .taken = true, .mispredicted = true, .target = 0x402000};
  EXPECT_EQ(parsed(built.bytes()), (IbsRecord{.rip = 5, .branch = branch}));
}

TEST(IbsRecord, HasNoBranchBeforeItRetires) {
  const IbsToBuild built{.data = ibs::kTaken | ibs::kReturn, .target = 0x402000};
  EXPECT_FALSE(parsed(built.bytes())->branch);
}

TEST(IbsRecord, OfPrefetchesAndMicrocodeIsMarked) {
  const auto record = parsed(IbsToBuild{.data = ibs::kMicrocode, .data3 = ibs::kPrefetch}.bytes());
  EXPECT_TRUE(record->prefetch);
  EXPECT_TRUE(record->microcode);
}

TEST(IbsRecord, HasNoRipWhereTheHardwareSaysSo) {
  IbsToBuild built{.rip = 0x401000, .data = ibs::kRipInvalid};
  EXPECT_FALSE(parsed(built.bytes())->rip);
  built.capabilities &= ~kChecksRip;
  EXPECT_EQ(parsed(built.bytes())->rip, 0x401000U) << "such a CPU has no such bit";
}

TEST(IbsRecord, HasTheRegistersThatTheCapabilitiesName) {
  for (const std::uint32_t capabilities : {1U, 1 | kTargets, 1 | kData4, 1 | kTargets | kData4}) {
    IbsToBuild built{.data = ibs::kBranch, .target = 0x402000};
    built.capabilities = capabilities;
    const auto record = parsed(built.bytes());
    ASSERT_TRUE(record) << capabilities;
    EXPECT_EQ(record->branch->target.has_value(), (capabilities & kTargets) != 0) << capabilities;
  }
}

TEST(IbsRecord, OfAKernelThatDoesNotReadTheLastRegistersIsRead) {
  IbsToBuild built{.rip = 7, .data = ibs::kBranch, .target = 0x402000};
  built.capabilities |= kData4;
  const std::string raw = built.bytes();
  EXPECT_EQ(parsed(raw.substr(0, raw.size() - 8))->branch->target, 0x402000U);
  EXPECT_EQ(parsed(raw.substr(0, raw.size() - 16))->branch->target, std::nullopt);
}

TEST(IbsRecord, IsNotReadFromOtherSizes) {
  const std::string raw = IbsToBuild{.rip = 7}.bytes();
  for (std::size_t size = 0; size < raw.size(); ++size) {
    EXPECT_EQ(parsed(raw.substr(0, size)).has_value(), size == raw.size() - 8) << size;
  }
  EXPECT_FALSE(parsed(raw + "1234"));
  EXPECT_FALSE(parsed(raw + "12345678")) << "more registers than the capabilities name";
}

TEST(IbsRecord, NeedsCapabilitiesAndAValidSample) {
  IbsToBuild built;
  built.capabilities = 0x3fe;
  EXPECT_FALSE(parsed(built.bytes()));
  built = {};
  built.control = 1 << 17;
  EXPECT_FALSE(parsed(built.bytes()));
}

TEST(IbsRecord, IsNotReadFromAFetch) {
  // IbsFetchCtl, IbsFetchLinAd, IbsFetchPhysAd, IbsFetchCtlExtd.
  ByteWriter raw(ByteOrder::little);
  raw.u32(0x3ff).u64(1ULL << 49 | 1ULL << 48).u64(0x401000).u64(0x7000).u64(0);
  EXPECT_FALSE(parsed(raw.bytes()));
}

}  // namespace
}  // namespace skid::perfdata
