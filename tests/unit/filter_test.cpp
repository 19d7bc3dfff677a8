// Filters of samples: their syntax, the names of threads, and what the reading side leaves out.
#include "src/locate/filter.h"

#include "src/locate/digest.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

namespace skid::locate {
namespace {

TEST(FilterSyntax, ReadsNumbersAndRanges) {
  EXPECT_THAT(parse_numbers("--cpu", "7,0-2"), ElementsAre("7", "0", "1", "2"));
  for (const std::string wrong : {"", "x", "1,,2", "2-1", "2-", "-1", "0-9999", "4294967296"}) {
    EXPECT_THROW(parse_numbers("--cpu", wrong), UsageError) << wrong;
  }
}

TEST(FilterSyntax, ReadsTimesAsPerfDoes) {
  const auto seconds = parse_times("1.5,2.000000001 ,3 4,");
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_EQ(seconds[0].begin, 1'500'000'000u);
  EXPECT_EQ(seconds[0].end, 2'000'000'001u);
  EXPECT_EQ(seconds[1].begin, 0u);
  EXPECT_EQ(seconds[2].end, UINT64_MAX);
  const auto shares = parse_times("10%/2,30%-45.5%");
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_DOUBLE_EQ(shares[0].shares->first, 0.1);
  EXPECT_DOUBLE_EQ(shares[0].shares->second, 0.2);
  EXPECT_DOUBLE_EQ(shares[1].shares->second, 0.455);
  for (const std::string wrong : {"x", "2,1", "1.0000000001", "10%/11", "10%/0", "20%-10%", "101%",
                                  "10%-20", "99999999999999999999"}) {
    EXPECT_THROW(parse_times(wrong), UsageError) << wrong;
  }
}

TEST(ThreadNames, FollowForksAndRenamesWhateverTheirOrder) {
  symbols::ThreadNames names;
  names.fork(50, 10, 11);
  names.rename(70, 11, "execed");
  names.rename(40, 10, "renamed");
  names.rename(0, 10, "parent");
  names.fork(90, 99, 10);  // the number is used again, by a child of an unknown thread
  names.fork(20, 10, 12);
  names.seal();
  EXPECT_EQ(names.at(10, 39), "parent");
  EXPECT_EQ(names.at(10, 40), "renamed");
  EXPECT_EQ(names.at(10, 95), ":10");
  EXPECT_EQ(names.at(11, 49), ":11");
  EXPECT_EQ(names.at(11, 69), "renamed") << "of its parent at the fork";
  EXPECT_EQ(names.at(11, 70), "execed");
  EXPECT_EQ(names.at(12, 99), "parent") << "later names of the parent are not inherited";
  EXPECT_EQ(names.at(0, 5), "swapper");
}

TEST(ThreadNames, AreCutSoThatForksCannotMultiplyALongOne) {
  symbols::ThreadNames names;
  names.rename(0, 10, std::string(60'000, 'x'));
  names.fork(1, 10, 11);
  names.fork(2, 11, 11);
  names.seal();
  EXPECT_EQ(names.at(11, 1), std::string(64, 'x'));
  EXPECT_EQ(names.at(11, 2), ":11") << "a fork of itself has no parent";
}

class FilteredDigest : public test::RecordingTest {
 protected:
  void SetUp() override {
    test::RecordingBuilder builder;
    builder.event({}).mmap(1, 0x1000, 0x1000, 0, "/bin/first", 1);
    builder.sample(0x1010, 1, 30).sample(0x1010, 2, 35).sample(0x9000, 1, 10);
    builder.mmap(2, 0x1000, 0x1000, 0, "/lib/modules/6.1/x/snd-hda.ko.xz", 2);
    builder.comm(1, "late", 20);  // after the samples of its time
    builder.comm(1, "early", 5).comm(2, "early", 5);
    bytes_ = builder.bytes();
  }
  /// The times of the samples that are visited; as many were counted.
  std::vector<std::uint64_t> selected(const Filter& filter) {
    auto recording = open(bytes_);
    const Digest digested = digest(recording, {.filter = &filter});
    std::vector<std::uint64_t> times;
    std::size_t left_out = 0;
    visit_records(recording, digested, [&](const VisitedRecord& visited) {
      if (visited.sample != nullptr) times.push_back(visited.sample->time);
      if (visited.left_out != nullptr) ++left_out;
    });
    EXPECT_EQ(digested.totals.at(0).samples, times.size());
    EXPECT_EQ(digested.filtered.selected, times.size());
    EXPECT_EQ(digested.filtered.all, times.size() + left_out);
    EXPECT_EQ(digested.filtered.all, 3u);
    messages_ = digested.filtered.unmatched(filter);
    return times;
  }
  static Filter by(Filter::Kind kind, std::vector<std::string> values) {
    Filter filter;
    filter.lists[kind] = std::move(values);
    return filter;
  }

  std::string bytes_;
  std::vector<std::string> messages_;
};

TEST_F(FilteredDigest, HasOnlySelectedSamples) {
  EXPECT_THAT(selected({}), ElementsAre(30, 35, 10));
  EXPECT_THAT(selected(by(Filter::comm, {"early"})), ElementsAre(35, 10));
  EXPECT_THAT(selected(by(Filter::comm, {"late", "early"})), ElementsAre(30, 35, 10));
  EXPECT_THAT(selected(by(Filter::pid, {"2"})), ElementsAre(35));
  EXPECT_THAT(selected(by(Filter::dso, {"first"})), ElementsAre(30));
  EXPECT_THAT(selected(by(Filter::dso, {"[snd_hda]"})), ElementsAre(35));
  EXPECT_THAT(selected({.times = {{10, 30}}}), ElementsAre(30, 10));
  Filter both = by(Filter::comm, {"early"});
  both.lists[Filter::tid] = {"1"};
  EXPECT_THAT(selected(both), ElementsAre(10));
}

TEST_F(FilteredDigest, ListsWhatWouldHaveMatched) {
  selected(by(Filter::comm, {"erly", "late"}));
  EXPECT_THAT(messages_, ElementsAre("--comm erly: no sample matches; sampled: early"));
  selected(by(Filter::pid, {"77"}));
  EXPECT_THAT(messages_, ElementsAre("--pid 77: no sample matches; sampled: 1, 2"));
  selected({.times = {{100, 200}}});
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("from 0.000000010 to 0.000000035")));
}

TEST_F(FilteredDigest, NeedsTheFieldInTheSamples) {
  const auto refused = [&](const Filter& filter) {
    return test::message_of<InputError>([&] { selected(filter); });
  };
  EXPECT_THAT(refused(by(Filter::cpu, {"0"})), HasSubstr("perf record --sample-cpu"));
  EXPECT_THAT(refused({.times = parse_times("10%")}), HasSubstr("give START,STOP in seconds"));
}

}  // namespace
}  // namespace skid::locate
