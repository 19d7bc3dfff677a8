#include "src/commands/terminal.h"

#include "src/output/page.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/process.h"
#include "src/support/standard_error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr unsigned kNarrowest = 40;
constexpr unsigned kWidest = 200;  // wider tables are harder to read, not easier
constexpr unsigned kUnknown = 100;

/// Messages while a pager has the terminal.
std::optional<std::string> held_messages;

}  // namespace

bool standard_output_is_file() {
  struct stat status {};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

unsigned standard_output_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const auto width = whole_number<unsigned>(columns);
    if (width) return std::clamp(*width, kNarrowest, kWidest);
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<unsigned>(size.ws_col, kNarrowest, kWidest);
  }
  return kUnknown;
}

bool StandardOutput::flush_if_full() {
  return text_.size() >= kBufferBytes ? flush() : !closed_;
}

bool StandardOutput::flush() {
  if (!text_.empty() && std::exchange(paged_, false)) start_pager();
  const int file = pager_ ? ::fileno(pager_.get()) : STDOUT_FILENO;
  std::string_view left = text_;
  while (!left.empty() && !closed_) {
    const ssize_t written = ::write(file, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      throw Error("standard output: {}", describe_errno(errno));
    }
  }
  text_.clear();
  return !closed_;
}

void StandardOutput::start_pager() {
  if (::isatty(STDOUT_FILENO) != 1 || is_dumb_terminal()) return;
  const char* const own = std::getenv("PAGER");
  const std::string pager = own == nullptr ? "less" : own;
  const std::string program = pager.substr(0, pager.find(' '));
  if (program.empty() || pager == "cat") return;
  // Look only for the name of a program; with other characters it is a command for the shell.
  const bool is_name = program.find_first_of("=$`'\"\\~(){}|&;<>") == std::string::npos;
  if (is_name && !find_program(program)) return;
  ::setenv("LESS", "FRX", /*overwrite=*/0);  // end if one screen is enough; colours; no clearing
  // popen() passes the environment to the shell that starts the pager.
  ::setenv("PATH", fmt::format("{}", fmt::join(program_directories(), ":")).c_str(), 1);
  // The pager gets the default action of SIGPIPE, so that it ends with its reader. It reacts to
  // Ctrl-C, which this program ignores until the pager ends.
  const auto on_broken_pipe = std::signal(SIGPIPE, SIG_DFL);
  std::FILE* const started = ::popen(pager.c_str(), "we");
  std::signal(SIGPIPE, on_broken_pipe);
  if (started == nullptr) return;
  pager_ = {started, EndPager{std::signal(SIGINT, SIG_IGN)}};
  held_messages.emplace();
}

void StandardOutput::EndPager::operator()(std::FILE* pager) const noexcept {
  ::pclose(pager);
  std::signal(SIGINT, on_interrupt);
  if (const auto held = std::exchange(held_messages, std::nullopt)) print_to_standard_error(*held);
}

void print(std::string_view text, bool paged) {
  StandardOutput out(paged);
  out.text() = text;
  out.finish();
}

void print_error(std::string_view message) {
  std::string text = "skidscan: " + escape_for_terminal(message);
  text = ::isatty(STDERR_FILENO) == 1
             ? output::Page{.width = std::max(standard_error_width(), kNarrowest)}.hanging(
                   "", output::kIndent, text)
             : text + '\n';
  if (held_messages) {
    *held_messages += text;
  } else {
    print_to_standard_error(text);
  }
}

}  // namespace skid::commands
