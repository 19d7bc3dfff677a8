// Samples are numbered by the last change of what is mapped at their address.
#include "src/locate/address_space_epochs.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::locate {
namespace {

using Times = std::pair<std::uint64_t, std::uint64_t>;

class AddressSpaceEpochsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLow = 0x1000, kHigh = 0x8000;  // addresses

  void map(std::uint64_t time, std::int32_t address_space, std::uint64_t address) {
    spaces_.map(time, address_space, {address, address + 0x1000}, 0, {"file", ""});
    spaces_.seal();
    epochs_.changed(address_space, time);
  }
  void exec(std::uint64_t time, std::int32_t address_space) {
    spaces_.exec(time, address_space);
    spaces_.seal();
    epochs_.changed(address_space, time);
  }

  symbols::AddressSpaces spaces_;
  AddressSpaceEpochs epochs_{spaces_};
};

TEST_F(AddressSpaceEpochsTest, KeepOneNumberWithoutChanges) {
  const auto number = epochs_.number(7, kLow, 100);
  EXPECT_EQ(epochs_.number(7, kHigh, 0), number);
  EXPECT_EQ(epochs_.number(7, kLow, UINT64_MAX), number);
  ASSERT_EQ(epochs_.numbered().size(), 1u);
  EXPECT_EQ(epochs_.numbered()[0].address_space, 7);
}

TEST_F(AddressSpaceEpochsTest, DistinguishAddressSpaces) {
  const auto process = epochs_.number(7, kLow, 100), kernel = epochs_.number(-1, kLow, 100);
  EXPECT_NE(process, kernel);
  map(50, 7, kLow);
  EXPECT_EQ(epochs_.number(-1, kLow, 60), kernel) << "only the other one changed";
  EXPECT_EQ(epochs_.numbered()[static_cast<std::size_t>(kernel)].address_space, -1);
}

TEST_F(AddressSpaceEpochsTest, BeginAtTheTimeOfTheChange) {
  const auto before = epochs_.number(7, kLow, 10);
  map(20, 7, kLow);
  EXPECT_EQ(epochs_.number(7, kLow, 19), before);
  const auto after = epochs_.number(7, kLow, 20);
  EXPECT_NE(after, before);
  EXPECT_EQ(epochs_.number(7, kLow, 21), after);
}

TEST_F(AddressSpaceEpochsTest, DependOnTheAddress) {
  const auto number = epochs_.number(7, kLow, 10);
  map(20, 7, kHigh);
  EXPECT_EQ(epochs_.number(7, kLow, 30), number) << "something else was mapped";
  EXPECT_NE(epochs_.number(7, kHigh, 30), number);
  exec(40, 7);
  EXPECT_NE(epochs_.number(7, kLow, 50), number);
  EXPECT_EQ(epochs_.number(7, kLow, 50), epochs_.number(7, kHigh, 50));
}

/// CPU 0 brings the mapping, CPU 1 a sample from before it.
TEST_F(AddressSpaceEpochsTest, IncludeChangesBeforeTheFirstSample) {
  map(20, 7, kLow);
  EXPECT_NE(epochs_.number(7, kLow, 10), epochs_.number(7, kLow, 30));
}

TEST_F(AddressSpaceEpochsTest, DoNotDependOnTheOrderOfChanges) {
  for (const std::uint64_t time : {30u, 10u, 20u, 20u}) map(time, 7, kLow);
  std::vector<std::int32_t> numbers;
  for (const std::uint64_t time : {5u, 10u, 20u, 30u}) {
    numbers.push_back(epochs_.number(7, kLow, time));
  }
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(epochs_.number(7, kLow, 9), 0);
  EXPECT_EQ(epochs_.number(7, kLow, 29), 2);
}

TEST_F(AddressSpaceEpochsTest, SpendNoNumberOnChangesWithoutSamples) {
  for (std::uint64_t time = 1; time < 100; ++time) map(time, 7, kLow);
  epochs_.number(7, kLow, 50);
  EXPECT_EQ(epochs_.numbered().size(), 1u);
}

TEST_F(AddressSpaceEpochsTest, RecordTheTimeRangeOfTheirSamples) {
  map(10, 7, kLow);
  for (const std::uint64_t time : {15u, 12u, 18u}) epochs_.number(7, kLow, time);
  EXPECT_EQ(epochs_.times_of(0, kLow), (Times{12, 18}));
}

/// Both addresses have one number, and samples of the other come behind the change of this one.
TEST_F(AddressSpaceEpochsTest, EndBeforeTheNextChange) {
  const auto number = epochs_.number(7, kLow, 10);
  map(20, 7, kLow);
  EXPECT_EQ(epochs_.number(7, kHigh, 30), number);
  EXPECT_EQ(epochs_.times_of(number, kHigh), (Times{10, 30}));
  EXPECT_EQ(epochs_.times_of(number, kLow), (Times{10, 19}));
}

/// The samples counted before the change came may have been on either side of it.
TEST_F(AddressSpaceEpochsTest, ContinueAfterLateChanges) {
  const auto early = epochs_.number(7, kLow, 10);
  EXPECT_EQ(epochs_.number(7, kLow, 30), early);
  map(20, 7, kLow);
  EXPECT_EQ(epochs_.number(7, kLow, 15), early);
  EXPECT_NE(epochs_.number(7, kLow, 30), early);
  EXPECT_EQ(epochs_.times_of(early, kLow), (Times{10, 30}));
  map(30, 7, kLow);
  EXPECT_EQ(epochs_.times_of(early, kLow), (Times{10, 30}))
      << "of that very time: too late as well";
  map(31, 7, kLow);
  EXPECT_NE(epochs_.number(7, kLow, 31), early);
  EXPECT_EQ(epochs_.times_of(early, kLow), (Times{10, 30}));
}

TEST_F(AddressSpaceEpochsTest, UseCachedNumbersOnlyWhileTheyAreValid) {
  map(10, 7, kLow);
  const auto second = epochs_.number(7, kLow, 20);
  EXPECT_EQ(epochs_.number(7, kLow, 20), second);
  EXPECT_NE(epochs_.number(7, kLow, 5), second) << "before the change";
  EXPECT_NE(epochs_.number(8, kLow, 20), second) << "another address space";
  map(30, 7, kLow);
  EXPECT_EQ(epochs_.number(7, kLow, 20), second);
  EXPECT_NE(epochs_.number(7, kLow, 30), second);
}

}  // namespace
}  // namespace skid::locate
