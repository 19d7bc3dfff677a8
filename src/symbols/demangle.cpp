#include "src/symbols/demangle.h"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>

#define HAVE_DECL_BASENAME 1  // keeps libiberty.h from declaring basename()
#include <optional>
#include <string>
#include <vector>

#include <libiberty/demangle.h>
#include <unistd.h>

namespace skid::symbols {
namespace {

constexpr std::size_t kMostBytes = 65536;
constexpr long kMostNanoseconds = 100'000'000;
constexpr long kNanosecondsEach = 10'000;  // five times as long as most names take

/// Maximum length of a symbol, longer than compilers write. libiberty allocates memory to decode
/// identifiers that are not ASCII. A jump out of it leaks that memory: at most four times this
/// length.
constexpr std::size_t kLongestSymbol = 16384;

// A jump over its C frames is the only way to leave libiberty early.
thread_local sigjmp_buf give_up;
thread_local volatile std::sig_atomic_t is_limited = 0;

int limit_signal() {
  return SIGRTMIN;
}

void end_of_time(int /*signal*/) {
  if (is_limited != 0) siglongjmp(give_up, 1);
}

/// Sends limit_signal() to its thread when the thread has used a given CPU time.
class TimeLimit {
 public:
  TimeLimit() {
    static const bool is_handled = [] {
      struct sigaction action = {};
      action.sa_handler = end_of_time;
      action.sa_flags = SA_NODEFER | SA_RESTART;  // the jump leaves the handler
      return sigaction(limit_signal(), &action, nullptr) == 0;
    }();
    // A signal that the parent process blocked is blocked here, too.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, limit_signal());
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = limit_signal();
    event._sigev_un._tid = gettid();
    has_timer_ = is_handled && timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  TimeLimit(TimeLimit&&) = delete;
  TimeLimit& operator=(TimeLimit&&) = delete;
  ~TimeLimit() {
    if (has_timer_) timer_delete(timer_);
  }

  /// Sets a limit of `nanoseconds`, below 1 s, from now on. False if that is not possible.
  bool begin(long nanoseconds) {
    const itimerspec limit{.it_interval = {}, .it_value = {0, nanoseconds}};
    return has_timer_ && timer_settime(timer_, 0, &limit, nullptr) == 0;
  }

  /// Removes the limit. Returns the nanoseconds that were left.
  long end() {
    const itimerspec none{};
    itimerspec left{};
    timer_settime(timer_, 0, &none, &left);
    return left.it_value.tv_nsec;
  }

 private:
  timer_t timer_ = {};
  bool has_timer_ = false;
};

thread_local TimeLimit time_limit;

struct Output {
  char* text;
  std::size_t size = 0;
};

void append(const char* text, std::size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  if (size > kMostBytes - output.size) siglongjmp(give_up, 1);
  std::memcpy(output.text + output.size, text, size);
  output.size += size;
}

enum class Outcome { demangled, not_mangled, given_up };

/// Demangles like libiberty's cplus_demangle: first as Rust, because legacy names of Rust are also
/// names of C++.
Outcome demangle(const char* symbol, int options, Output& output) {
  if (sigsetjmp(give_up, 0) != 0) {
    is_limited = 0;
    return Outcome::given_up;
  }
  is_limited = 1;
  bool done = rust_demangle_callback(symbol, options, append, &output) != 0;
  if (!done) {
    output.size = 0;
    done = cplus_demangle_v3_callback(symbol, options, append, &output) != 0;
  }
  is_limited = 0;
  return done ? Outcome::demangled : Outcome::not_mangled;
}

}  // namespace

std::optional<std::string> Demangler::name_of(const std::string& symbol, bool parameters) {
  const bool is_candidate =
      symbol.starts_with("_Z") || symbol.starts_with("_R") || symbol.starts_with("_GLOBAL_");
  if (!is_candidate || symbol.size() > kLongestSymbol || nanoseconds_left_ <= 0) {
    return std::nullopt;
  }
  output_.resize(kMostBytes);
  Output output{output_.data()};
  if (!time_limit.begin(kMostNanoseconds)) return std::nullopt;
  const Outcome outcome =
      demangle(symbol.c_str(), parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS, output);
  nanoseconds_left_ += kNanosecondsEach - (kMostNanoseconds - time_limit.end());
  if (outcome != Outcome::demangled) return std::nullopt;
  return std::string(output.text, output.size);
}

}  // namespace skid::symbols
