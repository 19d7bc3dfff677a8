// Names of threads by time: the records of names replayed in time order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skid::symbols {

/// The names (comm) of the threads of one recording. They may be added in any order; `seal`, called
/// after all of them, puts them in time order (names of equal time keep the order in which they
/// were added). Times are those of AddressSpaces.
class ThreadNames {
 public:
  /// Adds a PERF_RECORD_COMM: `tid` has this name from `time` on.
  void rename(std::uint64_t time, std::int32_t tid, std::string comm);
  /// Adds a PERF_RECORD_FORK: `child` begins with the name that `parent` has at that time.
  void fork(std::uint64_t time, std::int32_t parent, std::int32_t child);

  /// Returns the approximate memory of the added names in bytes.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Ends adding, and makes the names available to `at`. To be called once.
  void seal();

  /// Returns the name of a thread at `time`. As in perf, the name is ":1234" if there is no record;
  /// that of the idle thread, 0, is "swapper".
  std::string at(std::int32_t tid, std::uint64_t time) const;

 private:
  struct Event {
    std::uint64_t since;
    std::int32_t tid;
    std::int32_t parent;  ///< for a fork; else `tid`
    std::string name;     ///< for a fork set by `seal`; empty: unknown
  };

  std::vector<Event> events_;  ///< as added; after `seal` sorted by thread and time
  std::uint64_t bytes_ = 0;
};

}  // namespace skid::symbols
