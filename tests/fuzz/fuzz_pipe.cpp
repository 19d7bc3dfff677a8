// A recording from a pipe (perf record -o -), from its header to its digest.
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/fuzz/read_recording.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

/// A pipe that contains some bytes, with its write end closed.
class FilledPipe {
 public:
  FilledPipe(const std::uint8_t* data, std::size_t size) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    reading_ = skid::FileDescriptor(ends[0]);
    const skid::FileDescriptor writing(ends[1]);
    if (::fcntl(writing.get(), F_SETPIPE_SZ, kRoom) < 0) std::abort();
    if (size > kRoom) size = kRoom;
    if (::write(writing.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }

  skid::perfdata::Recording open() const {
    return skid::perfdata::Recording::open("/proc/self/fd/" + std::to_string(reading_.get()));
  }

 private:
  static constexpr int kRoom = 1 << 20;
  skid::FileDescriptor reading_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    auto recording = FilledPipe(data, size).open();
    skid::fuzz::read_records(recording);
    auto again = FilledPipe(data, size).open();
    skid::fuzz::read_digest(again);
  } catch (const skid::InputError&) {  // an expected refusal
  }
  return 0;
}
