// Writes bytes into a FIFO while a test reads it.
#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace skid::test {

/// Opens `fifo` once a reader has, writes everything and closes it; ends early if the reader closes
/// it.
class WritingThread {
 public:
  WritingThread(const std::filesystem::path& fifo, std::string bytes)
      : thread_([fifo, bytes = std::move(bytes)] {
          std::signal(SIGPIPE, SIG_IGN);
          const int fd = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
          std::string_view left = bytes;
          while (fd >= 0 && !left.empty()) {
            const ssize_t written = ::write(fd, left.data(), left.size());
            if (written <= 0) break;
            left.remove_prefix(static_cast<std::size_t>(written));
          }
          if (fd >= 0) ::close(fd);
        }) {}
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;
  ~WritingThread() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace skid::test
