#include "src/commands/terminal.h"

#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/support/error.h"
#include "src/support/file.h"
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

/// Whether standard output is a terminal and NO_COLOR is not set (no-color.org).
bool standard_output_takes_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

/// Whether the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8. True if none is set, as in most
/// containers, whose terminals support UTF-8.
bool locale_takes_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = lower_case(value);
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

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
  if (text_.size() >= kBufferBytes) flush();
  return !closed_;
}

void StandardOutput::flush() {
  if (std::exchange(paged_, false) && !text_.empty()) start_pager();
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
}

void StandardOutput::start_pager() {
  if (::isatty(STDOUT_FILENO) != 1) return;
  const char* const own = std::getenv("PAGER");
  const std::string pager = own == nullptr ? "less" : own;
  const std::string program = pager.substr(0, pager.find(' '));
  if (program.empty() || pager == "cat") return;
  // A program that is missing; other characters are for the shell.
  const bool is_name = program.find_first_of("=$`'\"\\~(){}|&;<>") == std::string::npos;
  if (is_name && !find_program(program)) return;
  ::setenv("LESS", "FRX", /*overwrite=*/0);  // end if one screen is enough; colours; no clearing
  // For the shell that starts the pager.
  ::setenv("PATH", fmt::format("{}", fmt::join(program_directories(), ":")).c_str(), 1);
  // The pager shall end with its own reader, and react to Ctrl-C, which is not for us meanwhile.
  const auto on_broken_pipe = std::signal(SIGPIPE, SIG_DFL);
  std::FILE* const started = ::popen(pager.c_str(), "we");
  std::signal(SIGPIPE, on_broken_pipe);
  if (started != nullptr) pager_ = {started, EndPager{std::signal(SIGINT, SIG_IGN)}};
}

void StandardOutput::EndPager::operator()(std::FILE* pager) const noexcept {
  ::pclose(pager);
  std::signal(SIGINT, on_interrupt);
}

void print(std::string_view text, bool paged) {
  StandardOutput out(paged);
  out.text() = text;
  out.finish();
}

void print_error(std::string_view message) {
  const std::string text = "skidscan: " + output::escape_for_terminal(message);
  print_to_standard_error(
      ::isatty(STDERR_FILENO) == 1
          ? output::Page{.width = std::max(standard_error_width(), kNarrowest)}.hanging(
                "", output::kIndent, text)
          : text + '\n');
}

void OutputOptions::result(std::string_view line) const {
  if (!quiet) print(output::escape_for_terminal(line) + '\n');
}

void print_text(const OutputOptions& options,
                const std::function<std::string(const output::Page&)>& text_for) {
  constexpr unsigned kNarrowestText = 60;
  constexpr std::string_view kEllipsis = "…";
  const bool takes_color =
      options.color == "auto" ? standard_output_takes_color() : options.color == "always";
  const output::Page page{.color = takes_color,
                          .width = std::max(standard_output_width(), kNarrowestText),
                          .unicode = !options.ascii && locale_takes_unicode(),
                          .details = options.details};
  std::string text = text_for(page);
  if (!page.unicode) {
    // As wide as the ellipsis of shortened names.
    for (std::size_t at = 0; (at = text.find(kEllipsis, at)) != std::string::npos;) {
      text.replace(at, kEllipsis.size(), "~");
    }
  }
  print(text, !options.no_pager);
}

ProgressLine::ProgressLine(bool on, std::chrono::milliseconds delay) {
  if (on) thread_ = std::thread([this, delay] { show_until_end(delay); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
  erase();
}

void ProgressLine::begins(const char* what, const std::string& name, std::size_t number,
                          std::size_t total) {
  const std::scoped_lock lock(mutex_);
  line_ = fmt::format("{} {}/{} {}", what, number, total, output::escape_for_terminal(name));
}

bool ProgressLine::suits_standard_error(bool quiet) {
  return !quiet && ::isatty(STDERR_FILENO) == 1;
}

void ProgressLine::show_until_end(std::chrono::milliseconds delay) {
  constexpr std::chrono::milliseconds kGlance{200};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, delay, [this] { return ended_; })) {
    delay = kGlance;
    if (line_.empty()) continue;
    // The last column stays free: writing it makes some terminals wrap.
    print_to_standard_error("\r\033[K" + output::shorten(line_, standard_error_width() - 1));
    shown_ = true;
  }
}

void ProgressLine::erase() {
  if (shown_) print_to_standard_error("\r\033[K");
  shown_ = false;
}

}  // namespace skid::commands
