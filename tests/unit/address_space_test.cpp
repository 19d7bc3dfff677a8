#include "src/symbols/address_space.h"

#include "src/events/event.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::symbols {
namespace {

/// A location by path, which tests can state.
struct Place {
  std::string path;
  std::uint64_t offset = 0;

  friend bool operator==(const Place&, const Place&) = default;
  friend void PrintTo(const Place& place, std::ostream* out) {
    *out << place.path << '+' << place.offset;
  }
};

std::optional<Place> place(const AddressSpaces& spaces, std::int32_t pid, std::uint64_t address,
                           std::uint64_t time) {
  const auto location = spaces.find(pid, address, time).location_of(address);
  if (!location) return std::nullopt;
  return Place{spaces.file(location->file).path, location->offset};
}

std::optional<Place> at(std::string path, std::uint64_t offset) {
  return Place{std::move(path), offset};
}

TEST(AddressSpaces, IgnoreEmptyAndInvertedRanges) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.map(2, 1, {0x1000, 0x1000}, 0, {"empty", ""});
  spaces.map(2, 1, {0x2000, 0x1000}, 0, {"inverted", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 3), at("a", 0));
  EXPECT_EQ(spaces.file_count(), 1U);
}

TEST(AddressSpaces, SeparateFilesOfOnePathByTheirInodes) {
  AddressSpaces spaces;
  const auto map = [&](std::uint64_t at, std::uint64_t inode, std::uint64_t generation) {
    spaces.map(1, 1, {at, at + 0x1000}, at,
               {.path = "a", .identity = {8, inode, generation}, .executable = {at, at + 0x1000}});
  };
  map(0x1000, 1, 0);
  map(0x3000, 1, 7);  // perf has no generation of mappings that it read from /proc
  map(0x5000, 2, 7);
  map(0x6000, 2, 8);
  spaces.set_build_id("a", "12");
  spaces.seal();
  ASSERT_EQ(spaces.file_count(), 2U);
  EXPECT_EQ(
      spaces.file(0),
      (MappedFile{
          .path = "a", .build_id = "12", .identity = {8, 1, 7}, .executable = {0x1000, 0x4000}}));
  EXPECT_EQ(spaces.file(1).identity.generation, UINT64_MAX) << "two files in turn";
  EXPECT_EQ(spaces.file(1).build_id, "12");
}

TEST(AddressSpaces, JoinInodesOfAPathWithOneBuildIdAndTheSameCode) {
  for (const bool has_build_id : {false, true}) {
    AddressSpaces spaces;
    const auto map = [&](std::uint64_t at, std::uint64_t inode, AddressRange code) {
      spaces.map(1, 1, {at, at + 0x1000}, code.begin,
                 {.path = "a", .identity = {8, inode, 0}, .executable = code});
    };
    map(0x1000, 1, {0x2000, 0x3000});
    map(0x4000, 2, {0x2000, 0x3000});
    map(0x6000, 3, {0x1000, 0x2000});  // of another build, which was replaced
    if (has_build_id) spaces.set_build_id("a", "12");
    spaces.seal();
    const auto file_at = [&](std::uint64_t address) { return spaces.find(1, address, 2).file; };
    EXPECT_EQ(file_at(0x1000) == file_at(0x4000), has_build_id);
    EXPECT_NE(file_at(0x1000), file_at(0x6000));
  }
}

TEST(AddressSpaces, DoNotChooseBetweenTwoBuildIdsOfAPath) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  for (const char* id : {"12", "12", "34", "12"}) spaces.set_build_id("a", id);
  spaces.map(2, 2, {0x1000, 0x2000}, 0, {"a", "34"});
  spaces.seal();
  EXPECT_EQ(spaces.file(0).build_id, "");
  EXPECT_EQ(spaces.file(1).build_id, "34");
}

TEST(AddressSpaces, ReachTheLastAddress) {
  AddressSpaces spaces;
  spaces.map(1, AddressSpaces::kKernel, {0xffffffff81000000, UINT64_MAX}, 0xffffffff81000000,
             {"[kernel.kallsyms]_text", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, AddressSpaces::kKernel, UINT64_MAX - 1, 1),
            at("[kernel.kallsyms]_text", UINT64_MAX - 1));
}

TEST(AddressSpaces, AreInheritedThroughChains) {
  AddressSpaces spaces;
  spaces.map(1, 100, {0x1000, 0x2000}, 0, {"grandparent", ""});
  for (std::int32_t pid = 101; pid <= 200; ++pid) {
    spaces.fork(static_cast<std::uint64_t>(pid), pid - 1, pid);
  }
  spaces.seal();
  EXPECT_EQ(place(spaces, 200, 0x1000, 200), at("grandparent", 0));
}

TEST(AddressSpaces, EndLookupsInCyclesOfParents) {
  AddressSpaces spaces;
  for (int i = 0; i < 1000; ++i) {
    spaces.fork(5, 1, 2);
    spaces.fork(5, 2, 1);
  }
  spaces.map(5, 2, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.fork(5, 2, 1);
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 9), at("a", 0));
  EXPECT_EQ(place(spaces, 1, 0x5000, 9), std::nullopt);
}

TEST(BuildIds, ApplyToMappingsWithoutOne) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"early", ""});
  spaces.map(1, 1, {0x2000, 0x3000}, 0, {"own", "0102"});
  spaces.set_build_id("early", "aa");
  spaces.set_build_id("late", "bb");
  spaces.set_build_id("own", "cc");
  spaces.map(1, 1, {0x3000, 0x4000}, 0, {"late", ""});
  spaces.seal();
  const auto build_id_at = [&](std::uint64_t address) {
    return spaces.file(spaces.find(1, address, 1).file).build_id;
  };
  EXPECT_EQ(build_id_at(0x1000), "aa");
  EXPECT_EQ(build_id_at(0x2000), "0102");
  EXPECT_EQ(build_id_at(0x3000), "bb");
}

TEST(BuildIds, DistinguishFilesOfOnePath) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", "01"});
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {"a", "02"});
  spaces.map(3, 1, {0x1000, 0x2000}, 0, {"a", "01"});
  spaces.seal();
  EXPECT_EQ(spaces.file_count(), 2U);
  EXPECT_NE(spaces.find(1, 0x1000, 1).file, spaces.find(1, 0x1000, 2).file);
  EXPECT_EQ(spaces.find(1, 0x1000, 1).file, spaces.find(1, 0x1000, 3).file);
}

/// A region's times and addresses.
using Extent = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
Extent extent(const AddressSpaces& spaces, std::int32_t pid, std::uint64_t address,
              std::uint64_t time) {
  const Region region = spaces.find(pid, address, time);
  return {region.since, region.until, region.addresses.begin, region.addresses.end};
}

TEST(Regions, EndWhereTheMappingOfTheirAddressesChanges) {
  constexpr std::uint64_t kEver = UINT64_MAX;
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.map(5, 1, {0x2000, 0x3000}, 0, {"elsewhere", ""});
  spaces.map(8, 1, {0x1800, 0x2000}, 0, {"b", ""});
  spaces.seal();
  EXPECT_EQ(extent(spaces, 1, 0x1000, 1), Extent(1, kEver, 0x1000, 0x1800));
  EXPECT_EQ(extent(spaces, 1, 0x1800, 7), Extent(1, 8, 0x1000, 0x2000));
  EXPECT_EQ(extent(spaces, 1, 0x1800, 8), Extent(8, kEver, 0x1800, 0x2000));
  EXPECT_EQ(extent(spaces, 1, 0x1000, 0), Extent(0, 1, 0, kEver)) << "nothing is mapped yet";
  EXPECT_EQ(extent(spaces, 1, 0x9000, 0), Extent(0, kEver, 0x3000, kEver)) << "never mapped";
  EXPECT_EQ(extent(spaces, 2, 0x1000, 0), Extent(0, kEver, 0, kEver)) << "no such process";
}

TEST(Regions, EndWithTheirProcess) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.fork(2, 1, 2);
  spaces.map(3, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.exec(9, 2);
  spaces.fork(12, 1, 2);
  spaces.seal();
  EXPECT_EQ(extent(spaces, 2, 0x1000, 1), Extent(0, 2, 0, UINT64_MAX)) << "before its birth";
  EXPECT_EQ(extent(spaces, 2, 0x1000, 5), Extent(2, 9, 0x1000, 0x2000))
      << "whatever its parent maps later";
  EXPECT_EQ(extent(spaces, 2, 0x1000, 9), Extent(9, 12, 0, UINT64_MAX));
}

/// The same questions answered by replaying all events up to a time into one array per process.
class Replay {
 public:
  static constexpr std::uint64_t kPages = 12;
  static constexpr int kProcesses = 4;

  struct Event {
    enum class Kind { map, fork, exec } kind;
    std::uint64_t time;
    std::int32_t pid;
    std::int32_t child = 0;
    std::uint64_t begin = 0, end = 0, offset = 0;
    std::string path;
  };

  explicit Replay(std::vector<Event> events) : events_(std::move(events)) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
  }

  std::optional<Place> resolve(std::int32_t pid, std::uint64_t address, std::uint64_t time) const {
    std::vector<std::vector<std::optional<Place>>> pages(kProcesses,
                                                         std::vector<std::optional<Place>>(kPages));
    for (const Event& event : events_) {
      if (event.time > time) break;
      auto& own = pages[static_cast<std::size_t>(event.pid)];
      if (event.kind == Event::Kind::exec) own.assign(kPages, std::nullopt);
      if (event.kind == Event::Kind::fork) pages[static_cast<std::size_t>(event.child)] = own;
      if (event.kind == Event::Kind::map) {
        for (std::uint64_t page = event.begin; page < event.end; ++page) {
          own[page] = Place{event.path, event.offset + page - event.begin};
        }
      }
    }
    return pages[static_cast<std::size_t>(pid)][address];
  }

 private:
  std::vector<Event> events_;
};

TEST(AddressSpaces, AgreeWithAPlainReplayOfRandomEvents) {
  std::mt19937 random(7);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 100; ++round) {
    AddressSpaces spaces;
    std::vector<Replay::Event> events;
    constexpr std::uint64_t kTimes = 12;  // fewer than events: some fall on the same time
    // Few mappings of a process are looked at one by one, more through an index.
    const int occurrences = round % 4 == 0 ? 250 : 30;
    for (int i = 0; i < occurrences; ++i) {
      Replay::Event event{};
      event.time = below(kTimes);
      event.pid = static_cast<std::int32_t>(below(Replay::kProcesses));
      event.child = static_cast<std::int32_t>(below(Replay::kProcesses));
      event.begin = below(Replay::kPages);
      event.end = event.begin + 1 + below(Replay::kPages - event.begin);
      event.offset = below(2);
      event.path = std::string(1, static_cast<char>('a' + below(2)));
      const std::uint64_t dice = below(10);
      event.kind = dice < 6   ? Replay::Event::Kind::map
                   : dice < 9 ? Replay::Event::Kind::fork
                              : Replay::Event::Kind::exec;
      if (event.kind == Replay::Event::Kind::map) {
        spaces.map(event.time, event.pid, {event.begin, event.end}, event.offset, {event.path, ""});
      } else if (event.kind == Replay::Event::Kind::fork) {
        spaces.fork(event.time, event.pid, event.child);
      } else {
        spaces.exec(event.time, event.pid);
      }
      events.push_back(event);
    }
    spaces.seal();
    const Replay replay(events);
    using Question = std::tuple<std::int32_t, std::uint64_t, std::uint64_t>;
    std::map<Question, std::optional<Place>> answers;
    for (std::int32_t pid = 0; pid < Replay::kProcesses; ++pid) {
      for (std::uint64_t address = 0; address < Replay::kPages; ++address) {
        for (std::uint64_t time = 0; time < kTimes; ++time) {
          answers[{pid, address, time}] = replay.resolve(pid, address, time);
          ASSERT_EQ(place(spaces, pid, address, time), (answers[{pid, address, time}]))
              << "round " << round << " pid " << pid << " address " << address << " time " << time;
        }
      }
    }
    // And all of a region is what it says.
    for (const auto& [of, answer] : answers) {
      const auto [pid, address, time] = of;
      const Region region = spaces.find(pid, address, time);
      ASSERT_TRUE(region.addresses.contains(address));
      ASSERT_TRUE(region.since <= time && time < region.until);
      for (auto at = region.since; at < std::min(region.until, kTimes); ++at) {
        const auto end = std::min(region.addresses.end, Replay::kPages);
        for (auto other = region.addresses.begin; other < end; ++other) {
          auto expected = answer;
          if (expected) expected->offset += other - address;
          ASSERT_EQ((answers[{pid, other, at}]), expected)
              << "round " << round << " pid " << pid << " address " << address << " time " << time
              << ": " << other << " at " << at;
        }
      }
    }
  }
}

TEST(AddressSpaces, LookUpManyMappingsOfAProcessQuickly) {
  // A JIT maps page after page and uses some of them again. A walk over all mappings for each
  // question would take minutes.
  constexpr std::uint64_t kMappings = 200000;
  constexpr std::uint64_t kPage = 4096;
  AddressSpaces spaces;
  for (std::uint64_t i = 0; i < kMappings; ++i) {
    const std::uint64_t page = i % (kMappings / 2);
    spaces.map(i, 1, {page * kPage, (page + 1) * kPage}, i, {"//anon", ""});
  }
  spaces.seal();
  for (std::uint64_t i = 0; i < kMappings; ++i) {
    const std::uint64_t page = i % (kMappings / 2);
    const Region region = spaces.find(1, page * kPage + 5, i);
    ASSERT_EQ(region.location_of(page * kPage + 5).value().offset, i + 5);
    const bool mapped_once_more = i < kMappings / 2;
    ASSERT_EQ(region.until, mapped_once_more ? i + kMappings / 2 : UINT64_MAX);
  }
}

TEST(AddressSpaces, LookUpOverlappingMappingsQuickly) {
  constexpr std::uint64_t kMappings = 50000;
  AddressSpaces spaces;
  for (std::uint64_t i = 0; i < kMappings; ++i) {
    spaces.map(i, 1, {i, 2 * kMappings - i}, 0, {"a", ""});
  }
  spaces.seal();
  for (std::uint64_t address = 0; address < kMappings; ++address) {
    // The newest that reaches down to the address begins there.
    ASSERT_EQ(place(spaces, 1, address, kMappings), at("a", 0));
  }
}

/// In a hash table as libstdc++ has it these numbers meet in one bucket.
TEST(AddressSpaces, LookUpPidsThatShareAHashBucketQuickly) {
  constexpr std::int32_t kBuckets = 42043;
  constexpr std::int32_t kProcesses = 41000;
  AddressSpaces spaces;
  for (std::int32_t i = 1; i <= kProcesses; ++i) {
    spaces.map(1, i * kBuckets, {0x1000, 0x2000}, 0, {"a", ""});
  }
  spaces.seal();
  for (int round = 0; round < 5; ++round) {
    for (std::int32_t i = 1; i <= kProcesses; ++i) {
      ASSERT_NE(spaces.find(i * kBuckets, 0x1000, 1).file, Region::kNoFile);
    }
  }
}

TEST(AddressSpaces, AreInheritedThroughTheMaximumNumberOfAncestors) {
  const auto last_of_chain = [](std::int32_t forks, bool mapped) {
    AddressSpaces spaces;
    spaces.map(1, 1, {0x1000, 0x2000}, 0, {"first", ""});
    for (std::int32_t pid = 2; pid <= forks + 1; ++pid) {
      const auto time = static_cast<std::uint64_t>(pid) * 2;
      spaces.fork(time, pid - 1, pid);
      if (mapped) spaces.map(time + 1, pid, {0x8000, 0x9000}, 0, {"own", ""});
    }
    spaces.seal();
    return place(spaces, forks + 1, 0x1000, 1'000'000);
  };
  EXPECT_EQ(last_of_chain(200, true), at("first", 0));
  EXPECT_EQ(last_of_chain(AddressSpaces::kMostMappedAncestors, true), at("first", 0));
  EXPECT_EQ(last_of_chain(AddressSpaces::kMostMappedAncestors + 1, true), std::nullopt);
  EXPECT_EQ(last_of_chain(10'000, false), at("first", 0)) << "those without mappings do not count";
}

TEST(AddressSpaces, LookUpInAnEndlessChainOfForksQuickly) {
  constexpr std::int32_t kForks = 100000;
  AddressSpaces spaces;
  spaces.map(1, 1, {0, kForks}, 0, {"first", ""});
  for (std::int32_t pid = 2; pid <= kForks; ++pid) {
    spaces.fork(static_cast<std::uint64_t>(pid), pid - 1, pid);
  }
  spaces.exec(2 * kForks, kForks);
  spaces.seal();
  for (std::uint64_t address = 0; address < kForks; ++address) {
    ASSERT_EQ(place(spaces, kForks, address, kForks), at("first", address));
    ASSERT_EQ(place(spaces, kForks, address, 2 * kForks), std::nullopt);
  }
}

TEST(AddressSpaces, ReportTheirMemory) {
  AddressSpaces spaces;
  EXPECT_EQ(spaces.bytes(), 0u);
  std::uint64_t before = 0;
  const auto grown = [&] { return spaces.bytes() - std::exchange(before, spaces.bytes()); };
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {std::string(5000, 'a'), ""});
  EXPECT_GE(grown(), 10000u) << "the name is stored twice";
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {std::string(5000, 'a'), ""});
  const auto mapping = grown();
  EXPECT_GE(mapping, 48u);
  EXPECT_LE(mapping, 300u);
  spaces.exec(3, 1);
  const auto exec = grown();
  EXPECT_GE(exec, 24u);
  EXPECT_LE(exec, mapping);
  spaces.fork(4, 1, 2);
  EXPECT_GE(grown(), exec) << "there is another process";
}

TEST(AddressSpaces, LookUpWhatIsMappedAgainAndAgainQuickly) {
  constexpr std::uint64_t kTimes = 100000;
  AddressSpaces spaces;
  for (std::uint64_t time = 1; time <= kTimes; ++time) {
    spaces.map(time, 1, {0, kTimes}, 0, {"a", ""});
    spaces.exec(time, 2);
  }
  spaces.seal();
  for (std::uint64_t time = 1; time < kTimes; ++time) {
    ASSERT_EQ(extent(spaces, 1, time, time), Extent(time, time + 1, 0, kTimes));
    ASSERT_EQ(extent(spaces, 2, time, time), Extent(time, time + 1, 0, UINT64_MAX));
  }
}

}  // namespace
}  // namespace skid::symbols
