// Jobs done by several threads, whose results are handled in the order of the jobs.
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
/// `Job` has a member `bool alone`: a job for which it is set is done while no other is. A pipe
/// needs this if another job may read it, too.
template <typename Job, typename Result>
class InOrder {
 public:
  /// Returns the next job, or nullopt at the end. Called by one thread at a time, and not further
  /// ahead than there are threads for the jobs. Must not throw.
  using Next = std::function<std::optional<Job>()>;
  /// Does a job. Called by several threads at once.
  using Do = std::function<Result(const Job&)>;
  /// Handles a result. Called by the thread that called `run`, in the order of the jobs.
  using Take = std::function<void(const Job&, Result)>;

  /// `cores`: limits the number of threads, of which the calling one is the first.
  InOrder(Cores& cores, Next next, Do work, Take take)
      : cores_(cores), next_(std::move(next)), do_(std::move(work)), take_(std::move(take)) {}
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  InOrder(InOrder&&) = delete;
  InOrder& operator=(InOrder&&) = delete;
  ~InOrder() { stop(); }

  /// Does all jobs; returns when all results were handled. Rethrows the exception of a job when its
  /// result is to be handled, and that of handling a result. Jobs that have begun are then
  /// finished, and no other begins.
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

  /// The most jobs for each thread that have begun and whose results are not handled: results that
  /// wait for an earlier one take memory.
  static constexpr std::size_t kMostAhead = 16;

  /// Whether a thread may begin the upcoming job.
  bool may_begin() const {
    return upcoming_ && !upcoming_->alone && !is_alone_ && !is_stopped_ &&
           begun_.size() < kMostAhead * (helpers_.size() + 1);
  }

  /// Does the upcoming job; `lock` is not held meanwhile.
  void do_one(std::unique_lock<std::mutex>& lock) {
    Begun& mine = begun_.emplace_back(std::move(*upcoming_));  // a deque does not move its elements
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

  /// Starts another thread, if a core and a thread are available.
  void add_helper() {
    auto core = cores_.try_take();
    if (!core) return;
    try {
      helpers_.emplace_back([this, lease = std::move(core)] { help(); });
    } catch (const std::system_error&) {
      return;
    }
  }

  /// Does jobs until the end, in another thread.
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

  /// Ends the other threads after the jobs that they have begun.
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

  std::mutex mutex_;  ///< guards all following members
  std::condition_variable changed_;
  std::optional<Job> upcoming_;
  std::deque<Begun> begun_;  ///< jobs whose results were not handled, in order
  bool is_alone_ = false;    ///< a job with `alone` is being done
  bool is_stopped_ = false;
  std::list<std::thread> helpers_;
};

}  // namespace skid
