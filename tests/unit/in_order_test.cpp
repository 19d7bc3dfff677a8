// Work done by several threads whose results come out as if one had done it.
#include "src/support/in_order.h"

#include "src/support/cores.h"
#include "tests/support/prelude.h"

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sched.h>

namespace skid {
namespace {

struct Job {
  int number = 0;
  bool alone = false;
};

/// Jobs 0 to `count` - 1, every `alone_every`-th of which is alone (0: none).
auto jobs(int count, int alone_every = 0) {
  return [count, alone_every, next = 0]() mutable -> std::optional<Job> {
    if (next == count) return std::nullopt;
    const int number = next++;
    return Job{number, alone_every != 0 && number % alone_every == alone_every - 1};
  };
}

TEST(InOrder, ReturnsResultsInTheOrderOfTheJobs) {
  for (const std::size_t count : {1U, 2U, 3U, 8U}) {
    Cores cores(count);
    std::vector<int> taken;
    InOrder<Job, int>(
        cores, jobs(200),
        [](const Job& job) {
          for (int i = 0; i < job.number % 7; ++i) std::this_thread::yield();
          return job.number * 2;
        },
        [&](const Job& job, int result) {
          EXPECT_EQ(result, job.number * 2);
          taken.push_back(job.number);
        })
        .run();
    ASSERT_THAT(taken, SizeIs(200));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(taken.at(static_cast<std::size_t>(i)), i);
  }
}

TEST(InOrder, RunsAtMostOneJobPerCore) {
  Cores cores(3);
  std::atomic<int> at_once = 0, most = 0;
  std::atomic<bool> met = false;
  InOrder<Job, int>(
      cores, jobs(50),
      [&](const Job& job) {
        const int now = ++at_once;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        // The first two wait for each other: they are done at once or never.
        if (now == 2) met = true;
        while (job.number < 2 && !met) std::this_thread::yield();
        --at_once;
        return 0;
      },
      [](const Job&, int) {})
      .run();
  EXPECT_GE(most, 2);
  EXPECT_LE(most, 3);
  EXPECT_TRUE(cores.try_take()) << "all cores are given back";
}

TEST(InOrder, RunsExclusiveJobsAlone) {
  Cores cores(4);
  std::atomic<int> at_once = 0;
  std::atomic<int> last_taken = -1;
  InOrder<Job, int>(
      cores, jobs(100, 5),
      [&](const Job& job) {
        const int others = at_once++;
        if (job.alone) {
          EXPECT_EQ(others, 0);
          EXPECT_EQ(last_taken, job.number - 1) << "what comes before it is finished";
        }
        std::this_thread::yield();
        EXPECT_TRUE(!job.alone || at_once == 1);
        --at_once;
        return 0;
      },
      [&](const Job& job, int) { last_taken = job.number; })
      .run();
  EXPECT_EQ(last_taken, 99);
}

TEST(InOrder, RethrowsAJobsExceptionInItsTurnAndStartsNoMoreJobs) {
  Cores cores(2);
  std::vector<int> taken;
  std::atomic<int> done = 0;
  InOrder<Job, int> work(
      cores, jobs(1000),
      [&](const Job& job) {
        ++done;
        if (job.number == 3) throw std::runtime_error("third");
        return 0;
      },
      [&](const Job& job, int) { taken.push_back(job.number); });
  EXPECT_THROW(work.run(), std::runtime_error);
  EXPECT_THAT(taken, ElementsAre(0, 1, 2));
  EXPECT_LT(done, 100);
}

TEST(InOrder, RethrowsExceptionsOfTheConsumer) {
  Cores cores(4);
  InOrder<Job, int> work(
      cores, jobs(1000), [](const Job&) { return 0; },
      [](const Job& job, int) {
        if (job.number == 5) throw std::runtime_error("fifth");
      });
  EXPECT_THROW(work.run(), std::runtime_error);
}

TEST(InOrder, ReturnsAtOnceWithoutJobs) {
  Cores cores(2);
  std::vector<int> taken;
  InOrder<Job, int>(
      cores, jobs(0), [](const Job&) { return 0; },
      [&](const Job& job, int) { taken.push_back(job.number); })
      .run();
  EXPECT_THAT(taken, IsEmpty());
}

TEST(Cores, AreAssignedOnceEach) {
  Cores cores(3);
  auto first = cores.try_take();
  {
    const auto second = cores.try_take();
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(cores.try_take());
  }
  EXPECT_TRUE(cores.try_take());
  Cores one(1);
  EXPECT_FALSE(one.try_take());
}

TEST(Cores, AreThoseThatTheProcessMayRunOn) {
  const std::size_t before = Cores::usable();
  EXPECT_GE(before, 1U);
  std::thread([before] {
    cpu_set_t all, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);  // this thread's alone
    EXPECT_EQ(Cores::usable(), 1U) << "of " << before;
  }).join();
  EXPECT_EQ(Cores::usable(), before);
}

}  // namespace
}  // namespace skid
