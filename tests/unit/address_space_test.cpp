#include "src/symbols/address_space.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <utility>

#include <gtest/gtest.h>

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
  const auto location = spaces.resolve(pid, address, time);
  if (!location) return std::nullopt;
  return Place{spaces.file(location->file).path, location->offset};
}

std::optional<Place> at(std::string path, std::uint64_t offset) {
  return Place{std::move(path), offset};
}

TEST(AddressSpaces, ReturnTheOffsetInTheMappedFile) {
  AddressSpaces spaces;
  spaces.map(10, 1, {0x1000, 0x3000}, 0x400, {"a", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 10), at("a", 0x400));
  EXPECT_EQ(place(spaces, 1, 0x2fff, 10), at("a", 0x23ff));
  EXPECT_EQ(place(spaces, 1, 0x0fff, 10), std::nullopt);
  EXPECT_EQ(place(spaces, 1, 0x3000, 10), std::nullopt);
}

TEST(AddressSpaces, ContainAMappingOnlyAfterItsTimeAndInItsProcess) {
  AddressSpaces spaces;
  spaces.map(10, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 9), std::nullopt);
  EXPECT_EQ(place(spaces, 2, 0x1000, 10), std::nullopt);
}

TEST(AddressSpaces, LetANewerMappingHideOnlyWhatItCovers) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x4000}, 0, {"old", ""});
  spaces.map(2, 1, {0x2000, 0x3000}, 0x100, {"new", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1fff, 5), at("old", 0xfff));
  EXPECT_EQ(place(spaces, 1, 0x2000, 5), at("new", 0x100));
  EXPECT_EQ(place(spaces, 1, 0x3000, 5), at("old", 0x2000));
  EXPECT_EQ(place(spaces, 1, 0x2000, 1), at("old", 0x1000)) << "the time before the newer one";
}

TEST(AddressSpaces, TakeEventsInAnyOrder) {
  AddressSpaces spaces;
  spaces.map(3, 1, {0x1000, 0x2000}, 0, {"third", ""});
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"first", ""});
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {"second", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 1), at("first", 0));
  EXPECT_EQ(place(spaces, 1, 0x1000, 2), at("second", 0));
  EXPECT_EQ(place(spaces, 1, 0x1000, 3), at("third", 0));
}

TEST(AddressSpaces, KeepTheOrderOfEventsOfEqualTime) {
  AddressSpaces spaces;
  spaces.map(0, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.exec(0, 1);
  spaces.map(0, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.map(0, 2, {0x1000, 0x2000}, 0, {"c", ""});
  spaces.exec(0, 2);
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 0), at("b", 0));
  EXPECT_EQ(place(spaces, 2, 0x1000, 0), std::nullopt);
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

TEST(AddressSpaces, ReachTheLastAddress) {
  AddressSpaces spaces;
  spaces.map(1, AddressSpaces::kKernel, {0xffffffff81000000, UINT64_MAX}, 0xffffffff81000000,
             {"[kernel.kallsyms]_text", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, AddressSpaces::kKernel, UINT64_MAX - 1, 1),
            at("[kernel.kallsyms]_text", UINT64_MAX - 1));
}

TEST(AddressSpaces, AreEmptiedByExec) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x3000}, 0, {"shell", ""});
  spaces.exec(5, 1);
  spaces.map(6, 1, {0x2000, 0x3000}, 0, {"tool", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 4), at("shell", 0));
  EXPECT_EQ(place(spaces, 1, 0x1000, 6), std::nullopt);
  EXPECT_EQ(place(spaces, 1, 0x2000, 6), at("tool", 0));
}

TEST(AddressSpaces, InheritTheMappingsOfTheParentAtTheFork) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"early", ""});
  spaces.fork(5, 1, 2);
  spaces.map(6, 1, {0x1000, 0x2000}, 0, {"late", ""});
  spaces.map(6, 1, {0x5000, 0x6000}, 0, {"late", ""});
  spaces.exec(7, 1);
  spaces.seal();
  EXPECT_EQ(place(spaces, 2, 0x1000, 4), std::nullopt) << "not born yet";
  EXPECT_EQ(place(spaces, 2, 0x1000, 100), at("early", 0));
  EXPECT_EQ(place(spaces, 2, 0x5000, 100), std::nullopt);
}

TEST(AddressSpaces, PreferTheChildsOwnMappingsAndLoseAllByExec) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x3000}, 0, {"parent", ""});
  spaces.fork(2, 1, 2);
  spaces.map(3, 2, {0x1000, 0x2000}, 0, {"child", ""});
  spaces.exec(9, 2);
  spaces.seal();
  EXPECT_EQ(place(spaces, 2, 0x1000, 3), at("child", 0));
  EXPECT_EQ(place(spaces, 2, 0x2000, 3), at("parent", 0x1000));
  EXPECT_EQ(place(spaces, 2, 0x1000, 9), std::nullopt);
  EXPECT_EQ(place(spaces, 2, 0x2000, 9), std::nullopt);
  EXPECT_EQ(place(spaces, 1, 0x2000, 9), at("parent", 0x1000));
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

TEST(AddressSpaces, OfAReusedPidBelongToTheNewProcess) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"parent", ""});
  spaces.map(2, 7, {0x1000, 0x2000}, 0, {"first", ""});
  spaces.map(2, 7, {0x8000, 0x9000}, 0, {"first", ""});
  spaces.fork(5, 1, 7);
  spaces.seal();
  EXPECT_EQ(place(spaces, 7, 0x1000, 4), at("first", 0));
  EXPECT_EQ(place(spaces, 7, 0x1000, 5), at("parent", 0));
  EXPECT_EQ(place(spaces, 7, 0x8000, 5), std::nullopt);
}

TEST(AddressSpaces, AreKeptWhenAThreadStarts) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.fork(2, 1, 1);
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 3), at("a", 0));
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

TEST(AddressSpaces, CanBeAddedToAndSealedAgain) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.seal();
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.seal();
  EXPECT_EQ(place(spaces, 1, 0x1000, 1), at("a", 0));
  EXPECT_EQ(place(spaces, 1, 0x1000, 2), at("b", 0));
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
    return spaces.file(spaces.resolve(1, address, 1)->file).build_id;
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
  EXPECT_NE(spaces.resolve(1, 0x1000, 1)->file, spaces.resolve(1, 0x1000, 2)->file);
  EXPECT_EQ(spaces.resolve(1, 0x1000, 1)->file, spaces.resolve(1, 0x1000, 3)->file);
}

TEST(ConstantBetween, IsBrokenOnlyByMappingsOfThatAddress) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.map(5, 1, {0x2000, 0x3000}, 0, {"elsewhere", ""});
  spaces.map(8, 1, {0x1800, 0x2000}, 0, {"b", ""});
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(1, 0x1000, 1, 100));
  EXPECT_TRUE(spaces.constant_between(1, 0x1800, 1, 7));
  EXPECT_FALSE(spaces.constant_between(1, 0x1800, 1, 8)) << "the last moment counts";
  EXPECT_TRUE(spaces.constant_between(1, 0x1800, 8, 9)) << "what happened at the first does not";
  EXPECT_FALSE(spaces.constant_between(1, 0x1000, 0, 1)) << "from unmapped to mapped";
  EXPECT_TRUE(spaces.constant_between(1, 0x9000, 0, 100)) << "never mapped";
  EXPECT_TRUE(spaces.constant_between(2, 0x1000, 0, 100)) << "no such process";
}

TEST(ConstantBetween, HoldsIfTheSameFileIsMappedAgain) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x3000}, 0, {"a", ""});
  spaces.map(2, 1, {0x2000, 0x3000}, 0x1000, {"a", ""});
  spaces.map(3, 1, {0x2000, 0x3000}, 0x5000, {"a", ""});
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(1, 0x2000, 1, 2));
  EXPECT_FALSE(spaces.constant_between(1, 0x2000, 1, 3));
}

TEST(ConstantBetween, FailsIfTheMappingChangesAndChangesBack) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.map(3, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.seal();
  EXPECT_FALSE(spaces.constant_between(1, 0x1000, 1, 3));
}

TEST(ConstantBetween, IncludesExecAndMappingsAtTheEndTime) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.exec(5, 1);
  spaces.map(5, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.exec(9, 1);
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(1, 0x1000, 1, 8));
  EXPECT_FALSE(spaces.constant_between(1, 0x1000, 1, 9));
}

TEST(ConstantBetween, OfAChildDoesNotDependOnLaterEventsOfItsParent) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.fork(2, 1, 2);
  spaces.map(3, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.exec(9, 2);
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(2, 0x1000, 2, 8));
  EXPECT_FALSE(spaces.constant_between(2, 0x1000, 1, 8)) << "before and after its birth";
  EXPECT_FALSE(spaces.constant_between(2, 0x1000, 2, 9));
}

TEST(ConstantBetween, HoldsIfAPidIsReusedWithTheSameMapping) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.fork(2, 1, 2);
  spaces.fork(5, 1, 2);
  spaces.map(6, 1, {0x1000, 0x2000}, 0, {"b", ""});
  spaces.fork(7, 1, 2);
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(2, 0x1000, 2, 6));
  EXPECT_FALSE(spaces.constant_between(2, 0x1000, 2, 7));
}

TEST(ConstantBetween, TreatsAFileAsEqualWithAndWithoutItsBuildId) {
  AddressSpaces spaces;
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {"a", ""});
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {"a", "01"});
  spaces.set_build_id("a", "01");
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(1, 0x1000, 1, 3));
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

  std::optional<std::uint64_t> last_change(std::int32_t pid, std::uint64_t address,
                                           std::uint64_t time) const {
    std::optional<std::uint64_t> last;
    for (const Event& event : events_) {
      if (event.time <= time && concerns(event, pid, address)) last = event.time;
    }
    return last;
  }
  std::optional<std::uint64_t> next_change(std::int32_t pid, std::uint64_t address,
                                           std::uint64_t time) const {
    for (const Event& event : events_) {
      if (event.time > time && concerns(event, pid, address)) return event.time;
    }
    return std::nullopt;
  }

 private:
  static bool concerns(const Event& event, std::int32_t pid, std::uint64_t address) {
    switch (event.kind) {
      case Event::Kind::map:
        return event.pid == pid && event.begin <= address && address < event.end;
      case Event::Kind::fork:
        return event.child == pid && event.pid != pid;
      case Event::Kind::exec:
        return event.pid == pid;
    }
    return false;
  }

  std::vector<Event> events_;
};

TEST(AddressSpaces, AgreeWithAPlainReplayOfRandomEvents) {
  std::mt19937 random(7);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 100; ++round) {
    AddressSpaces spaces;
    std::vector<Replay::Event> events;
    constexpr std::uint64_t kTimes = 12;  // fewer than events: some fall on the same time
    for (int i = 0; i < 30; ++i) {
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
      if (below(4) == 0) spaces.seal();
    }
    spaces.seal();
    const Replay replay(events);
    for (std::int32_t pid = 0; pid < Replay::kProcesses; ++pid) {
      for (std::uint64_t address = 0; address < Replay::kPages; ++address) {
        std::vector<std::optional<Place>> answers;
        for (std::uint64_t time = 0; time < kTimes; ++time) {
          answers.push_back(replay.resolve(pid, address, time));
          ASSERT_EQ(place(spaces, pid, address, time), answers.back())
              << "round " << round << " pid " << pid << " address " << address << " time " << time;
          ASSERT_EQ(spaces.last_change(pid, address, time),
                    replay.last_change(pid, address, time).value_or(0));
          ASSERT_EQ(spaces.next_change(pid, address, time), replay.next_change(pid, address, time));
        }
        const std::uint64_t from = below(kTimes);
        const std::uint64_t to = from + below(kTimes - from);
        const bool constant = std::all_of(
            answers.begin() + static_cast<std::ptrdiff_t>(from),
            answers.begin() + static_cast<std::ptrdiff_t>(to) + 1,
            [&](const std::optional<Place>& answer) { return answer == answers[from]; });
        ASSERT_EQ(spaces.constant_between(pid, address, from, to), constant)
            << "round " << round << " pid " << pid << " address " << address << " [" << from << ", "
            << to << "]";
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
    const auto location = spaces.resolve(1, page * kPage + 5, i);
    ASSERT_TRUE(location);
    ASSERT_EQ(location->offset, i + 5);
    const bool mapped_once_more = i < kMappings / 2;
    ASSERT_EQ(spaces.constant_between(1, page * kPage, i, kMappings), !mapped_once_more);
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

TEST(AddressSpaces, AreSealedRepeatedlyAtTheCostOfNewEvents) {
  // Sorting and indexing all of it each time would take minutes.
  constexpr std::uint64_t kRounds = 60000;
  AddressSpaces spaces;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    const std::uint64_t time = 2 * (i % 2 == 0 ? i : kRounds - i);  // from both ends
    spaces.map(time, 1, {i, i + 2}, 0, {"a", ""});
    spaces.exec(time + 1, 2);
    spaces.seal();
    ASSERT_TRUE(spaces.resolve(1, i, time));
    ASSERT_EQ(spaces.last_change(2, 0, time + 1), time + 1);
  }
}

TEST(AddressSpaces, AreSealedWithoutVisitingUnchangedProcesses) {
  constexpr std::int32_t kProcesses = 40000;
  AddressSpaces spaces;
  for (std::int32_t pid = 1; pid <= kProcesses; ++pid) {
    spaces.map(1, pid, {0x1000, 0x2000}, 0, {"a", ""});
    spaces.seal();
  }
  EXPECT_EQ(place(spaces, 1, 0x1000, 1), at("a", 0));
  EXPECT_EQ(place(spaces, kProcesses, 0x1000, 1), at("a", 0));
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
      ASSERT_TRUE(spaces.resolve(i * kBuckets, 0x1000, 1));
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
  EXPECT_EQ(last_of_chain(AddressSpaces::kMostAncestors, false), at("first", 0));
  EXPECT_EQ(last_of_chain(AddressSpaces::kMostAncestors + 1, false), std::nullopt);
}

TEST(AddressSpaces, LimitTheSearchInAnEndlessChainOfForks) {
  constexpr std::int32_t kForks = 100000;
  AddressSpaces spaces;
  spaces.map(1, 1, {0, kForks}, 0, {"first", ""});
  for (std::int32_t pid = 2; pid <= kForks; ++pid) {
    spaces.fork(static_cast<std::uint64_t>(pid), pid - 1, pid);
  }
  spaces.exec(2 * kForks, kForks);
  spaces.seal();
  for (std::uint64_t address = 0; address < kForks / 4; ++address) {
    ASSERT_EQ(spaces.resolve(kForks, address, kForks), std::nullopt);
    ASSERT_TRUE(spaces.constant_between(kForks, address, kForks, 3 * kForks));
  }
}

TEST(AddressSpaces, ReportTheirMemory) {
  AddressSpaces spaces;
  EXPECT_EQ(spaces.bytes(), 0u);
  std::uint64_t before = 0;
  const auto grown = [&] { return spaces.bytes() - std::exchange(before, spaces.bytes()); };
  spaces.map(1, 1, {0x1000, 0x2000}, 0, {std::string(5000, 'a'), ""});
  EXPECT_GE(grown(), 10000u) << "the name stands in two places";
  spaces.map(2, 1, {0x1000, 0x2000}, 0, {std::string(5000, 'a'), ""});
  const auto mapping = grown();
  EXPECT_GE(mapping, 48u);
  EXPECT_LE(mapping, 300u);
  spaces.exec(3, 1);
  const auto exec = grown();
  EXPECT_GE(exec, 24u);
  EXPECT_LE(exec, mapping);
  spaces.fork(4, 1, 2);
  EXPECT_GT(grown(), exec) << "there is another process";
}

TEST(ConstantBetween, IsFalseWithTooManyEvents) {
  AddressSpaces spaces;
  constexpr std::uint64_t kMost = AddressSpaces::kMostCompared;
  for (std::uint64_t time = 1; time <= kMost + 2; ++time) {
    spaces.map(time, 1, {0x1000, 0x2000}, 0, {"a", ""});
  }
  spaces.seal();
  EXPECT_TRUE(spaces.constant_between(1, 0x1000, 1, kMost + 1));
  EXPECT_FALSE(spaces.constant_between(1, 0x1000, 1, kMost + 2));
  EXPECT_TRUE(spaces.constant_between(1, 0x3000, 1, kMost + 2)) << "not mapped by any of them";
}

TEST(ConstantBetween, IsFastHoweverOftenTheSameIsMapped) {
  constexpr std::uint64_t kTimes = 100000;
  AddressSpaces spaces;
  for (std::uint64_t time = 1; time <= kTimes; ++time) {
    spaces.map(time, 1, {0, kTimes}, 0, {"a", ""});
    spaces.exec(time, 2);
  }
  spaces.seal();
  for (std::uint64_t address = 0; address < kTimes; ++address) {
    ASSERT_FALSE(spaces.constant_between(1, address, 1, kTimes));
    ASSERT_FALSE(spaces.constant_between(2, address, 1, kTimes));
  }
}

/// What is inherited is looked for once, not for each sample.
TEST(AddressSpaces, CacheLookupsInDistantAncestors) {
  AddressSpaces spaces;
  constexpr std::int32_t kChain = 250;
  spaces.map(1, 1, {0x1000, 0x2000}, 0x40, {"/bin/a", ""});
  spaces.map(1, 1, {0x2000, 0x3000}, 0, {"/bin/b", ""});
  for (std::int32_t pid = 1; pid < kChain; ++pid) {
    spaces.map(static_cast<std::uint64_t>(pid) * 10 + 1, pid, {0x9000, 0xa000}, 0, {"/own", ""});
    spaces.fork(static_cast<std::uint64_t>(pid) * 10 + 2, pid, pid + 1);
  }
  spaces.seal();
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    const std::uint64_t address = 0x1000 + i % 0x2000;
    const auto location = spaces.resolve(kChain, address, 10'000 + i);
    ASSERT_TRUE(location);
    found += location->offset == (address < 0x2000 ? address - 0x1000 + 0x40 : address - 0x2000);
  }
  EXPECT_EQ(found, 1'000'000u);
  EXPECT_FALSE(spaces.resolve(kChain, 0x3000, 10'000));
  // What comes later counts, once it is sealed.
  spaces.map(5, 1, {0x1000, 0x1800}, 0, {"/bin/c", ""});
  spaces.seal();
  EXPECT_EQ(spaces.file(spaces.resolve(kChain, 0x1100, 10'000)->file).path, "/bin/c");
  EXPECT_EQ(spaces.file(spaces.resolve(kChain, 0x1900, 10'000)->file).path, "/bin/a");
}

}  // namespace
}  // namespace skid::symbols
