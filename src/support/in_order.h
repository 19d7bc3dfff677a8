// Work of several threads whose results come out as if one thread had done it.
#pragma once

#include "src/support/cores.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace skid {

/// Runs each job on a thread and handles the results in the order of the jobs.
/// `Job` has a member `bool alone`: such a job is done while no other is, as a pipe must be that
/// another job may read too.
template <typename Job, typename Result>
class InOrder {
 public:
  /// The next job, or nullopt at the end. Called by one thread at a time, and only as far ahead as
  /// there are threads to do what comes; must not throw.
  using Next = std::function<std::optional<Job>()>;
  /// Called by several threads at once.
  using Do = std::function<Result(const Job&)>;
  /// Called by the thread that called `run`, in the order of the jobs.
  using Take = std::function<void(const Job&, Result)>;

  /// `cores`: how many threads there may be; the calling one is the first of them.
  InOrder(Cores& cores, Next next, Do work, Take take)
      : cores_(cores), next_(std::move(next)), do_(std::move(work)), take_(std::move(take)) {}
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  InOrder(InOrder&&) = delete;
  InOrder& operator=(InOrder&&) = delete;
  ~InOrder() { stop(); }

  /// Returns when all results were taken. Throws the exception of a job when its turn to be taken
  /// has come, or that of taking. Jobs that have begun are finished then, and no other begins.
  void run() {
    std::unique_lock lock(mutex_);
    upcoming_ = next_();
    for (;;) {
      if (!begun_.empty() && begun_.front().is_done) {
        Begun first = std::move(begun_.front());
        begun_.pop_front();
        changed_.notify_all();
        lock.unlock();
        if (first.failure) std::rethrow_exception(first.failure);
        take_(first.job, std::move(*first.result));
        lock.lock();
      } else if (may_begin() || (upcoming_ && begun_.empty())) {
        do_one(lock);
      } else if (begun_.empty()) {
        return;
      } else {
        changed_.wait(lock);
      }
    }
  }

 private:
  struct Begun {
    explicit Begun(Job what) : job(std::move(what)) {}
    Job job;
    std::optional<Result> result;
    std::exception_ptr failure;
    bool is_done = false;
  };

  /// Results that wait for the one before them take memory.
  static constexpr std::size_t kMostAhead = 16;  // for each thread

  bool may_begin() const {
    return upcoming_ && !upcoming_->alone && !is_alone_ && !is_stopped_ &&
           begun_.size() < kMostAhead * (helpers_.size() + 1);
  }

  /// Does the upcoming job; `lock` is not held meanwhile.
  void do_one(std::unique_lock<std::mutex>& lock) {
    Begun& mine = begun_.emplace_back(std::move(*upcoming_));  // a deque leaves it where it is
    is_alone_ = mine.job.alone;
    upcoming_ = next_();
    if (may_begin()) add_helper();
    lock.unlock();
    std::optional<Result> result;
    std::exception_ptr failure;
    try {
      result.emplace(do_(mine.job));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    mine.result = std::move(result);
    mine.failure = std::move(failure);
    mine.is_done = true;
    if (mine.job.alone) is_alone_ = false;
    changed_.notify_all();
  }

  /// Adds none where no core or no thread is available.
  void add_helper() {
    auto core = cores_.try_take();
    if (!core) return;
    try {
      helpers_.emplace_back([this, lease = std::move(core)] { help(); });
    } catch (const std::system_error&) {
      return;
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (upcoming_ && !is_stopped_) {
      if (may_begin()) {
        do_one(lock);
      } else {
        changed_.wait(lock);
      }
    }
  }

  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  Cores& cores_;
  Next next_;
  Do do_;
  Take take_;

  std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::optional<Job> upcoming_;
  std::deque<Begun> begun_;  ///< and not taken, in order
  bool is_alone_ = false;    ///< a job that is to be done alone is being done
  bool is_stopped_ = false;
  std::list<std::thread> helpers_;
};

}  // namespace skid
