// The name of a thread at a time: comm and fork records replayed in time order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skid::symbols {

/// The names (comm) of the threads of one recording. They may be added in any order; `seal`, after
/// all of them, puts them in time order (those of equal time keep the order in which they were
/// added). Times as in AddressSpaces.
class ThreadNames {
 public:
  /// PERF_RECORD_COMM: `tid` has this name from `time` on.
  void rename(std::uint64_t time, std::int32_t tid, std::string comm);
  /// PERF_RECORD_FORK: thread `child` begins, with the name that `parent` has at that time.
  void fork(std::uint64_t time, std::int32_t parent, std::int32_t child);

  /// Approximate memory of what was added in bytes.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Ends adding, and makes the names available to `at`. Once.
  void seal();

  /// As perf names threads: without a record ":1234", and the idle thread, 0, "swapper".
  std::string at(std::int32_t tid, std::uint64_t time) const;

 private:
  struct Event {
    std::uint64_t since;
    std::int32_t tid;
    std::int32_t parent;  ///< of a fork; else `tid`
    std::string name;     ///< of a fork since `seal`; empty: unknown
  };

  std::vector<Event> events_;  ///< as added; since `seal` by thread and time
  std::uint64_t bytes_ = 0;
};

}  // namespace skid::symbols
