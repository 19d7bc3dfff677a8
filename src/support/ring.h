// A ring of slots between two threads: one fills them, the other empties them, in order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skid {

/// Hands `Size` slots round and round between exactly one filling and one emptying thread. Each
/// waits for the other where it has to.
template <typename Slot, std::size_t Size>
class Ring {
 public:
  /// For the filling thread: a slot that nobody uses. Null once the other side has closed the ring.
  Slot* wait_for_free() noexcept {
    std::uint32_t emptied = emptied_.load(std::memory_order_acquire);
    while (!is_closed_ && filling_ - emptied >= Size) {
      emptied_.wait(emptied, std::memory_order_acquire);
      emptied = emptied_.load(std::memory_order_acquire);
    }
    return is_closed_ ? nullptr : &slots_[filling_ % Size];
  }
  /// For the filling thread: the slot it got is filled.
  void fill() noexcept {
    ++filling_;
    filled_.store(filling_, std::memory_order_release);
    filled_.notify_one();
  }
  /// For the emptying thread: the next filled slot.
  Slot& wait_for_filled() noexcept {
    std::uint32_t filled = filled_.load(std::memory_order_acquire);
    while (filled == emptying_) {
      filled_.wait(filled, std::memory_order_acquire);
      filled = filled_.load(std::memory_order_acquire);
    }
    return slots_[emptying_++ % Size];
  }
  /// For the emptying thread: the oldest slot that it got and did not give back is empty.
  void empty() noexcept {
    emptied_.fetch_add(1, std::memory_order_release);
    emptied_.notify_one();
  }
  /// For the emptying thread: no slot will be emptied any more.
  void close() noexcept {
    is_closed_ = true;
    empty();
  }

 private:
  // The counters run around; only differences matter.
  std::atomic<std::uint32_t> filled_ = 0;
  std::uint32_t filling_ = 0;  ///< of the filling thread: the slot that it fills
  std::atomic<std::uint32_t> emptied_ = 0;
  std::uint32_t emptying_ = 0;  ///< of the emptying thread: the slot that it gets next
  std::atomic<bool> is_closed_ = false;
  std::array<Slot, Size> slots_;
};

}  // namespace skid
