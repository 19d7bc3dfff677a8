#include "src/commands/standard_output.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <cerrno>
#include <cstddef>

#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr std::size_t kFull = std::size_t{64} << 10;

}  // namespace

bool StandardOutput::flush_if_full() {
  if (text_.size() >= kFull) flush();
  return !closed_;
}

void StandardOutput::flush() {
  std::string_view left = text_;
  while (!left.empty() && !closed_) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      throw Error(fmt::format("standard output: {}", describe_errno(errno)));
    }
  }
  text_.clear();
}

void print(std::string_view text) {
  StandardOutput out;
  out.text() = text;
  out.flush();
}

}  // namespace skid::commands
