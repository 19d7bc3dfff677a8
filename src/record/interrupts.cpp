#include "src/record/interrupts.h"

#include "src/support/error.h"

#include <cerrno>
#include <string>

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace skid::record {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() {
  ::sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup relies on this: a blocked signal would reach us although it is ignored.
    if (!is_ignored(signal)) ::sigaddset(&watched_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &watched_, &mask_before_);
  signals_ = FileDescriptor(::signalfd(-1, &watched_, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    throw Error("signals: cannot be watched: {}", describe_errno(error));
  }
}

Interrupts::~Interrupts() {
  while (take()) {
  }
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool Interrupts::take() {
  signalfd_siginfo info{};
  for (;;) {
    if (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (first_ == 0) first_ = static_cast<int>(info.ssi_signo);
      return true;
    }
    if (errno != EINTR) return false;
  }
}

}  // namespace skid::record
