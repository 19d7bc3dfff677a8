// Records every branch that a program takes, by single steps, as the branch stacks of a recording:
// what a CPU without a fault records. x86-64 only; 20 to 40 us a step.
//   trace_branches OUTPUT STEPS DEPTH COMMAND...
// traces at most STEPS instructions of COMMAND and writes a stack of DEPTH records for each DEPTH
// branches. `skidscan audit OUTPUT --fail-on branches` must succeed on it.
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/module.h"
#include "tests/support/hex.h"
#include "tests/support/recording_builder.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <istream>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid::test {
namespace {

#if defined(__x86_64__)

// Where the kernel is entered and left, as far as an audit is concerned.
constexpr std::uint64_t kEntry = 0xffff'ffff'8180'0000, kExit = kEntry + 0x100;

/// A program that is traced, and its recording.
class Trace {
 public:
  Trace(pid_t pid, std::size_t depth) : pid_(pid), depth_(depth) {
    EventToBuild event;
    event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    event.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
    recording_.event(event);
    add_mappings();
  }

  void step_through(std::size_t steps) {
    int signal = 0;
    for (std::uint64_t at = address(); steps > 0; --steps) {
      const Instruction one = instruction_at(at);
      if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, signal) != 0) return;
      int status = 0;
      if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) return;
      signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
      const std::uint64_t next = address();
      const bool falls_through = next == at + one.size;
      // REP strings repeat without a branch. A signal handler begins where no branch leads.
      const bool by_kernel = signal != 0 || one.kind == Kind::system ||
                             (one.kind == Kind::other && !falls_through && next != at);
      if (by_kernel) {
        add(at, kEntry);
        add(kExit, next);
        if (one.kind == Kind::system) add_mappings();
      } else if (one.kind == Kind::always || (one.kind == Kind::conditional && !falls_through)) {
        add(at, next);
      }
      at = next;
    }
  }

  void write(const char* path) {
    recording_.feature(perfdata::HEADER_ARCH, recording_.writer().counted_text("x86_64").bytes());
    recording_.write(path);
  }

 private:
  enum class Kind : std::uint8_t { other, conditional, always, system };
  struct Instruction {
    unsigned size = 0;
    Kind kind = Kind::other;
  };

  std::uint64_t address() const {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    return registers.rip;
  }

  Instruction instruction_at(std::uint64_t address) {
    const auto known = instructions_.find(address);
    if (known != instructions_.end()) return known->second;
    constexpr std::size_t kLongest = 15;
    std::array<std::byte, kLongest> bytes{};
    iovec local{bytes.data(), bytes.size()};
    iovec remote{reinterpret_cast<void*>(address), bytes.size()};  // NOLINT: of another process
    (void)::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    const auto decoded = disassembler_.decode(bytes, address, 1).front();
    std::istringstream words(decoded.text);
    std::string word;
    while (words >> word) {
      constexpr std::array kPrefixes{"bnd", "notrack", "rep", "repz", "repe", "repne", "repnz"};
      if (std::find(kPrefixes.begin(), kPrefixes.end(), word) == kPrefixes.end()) break;
    }
    Instruction one{decoded.size, Kind::other};
    if (word == "jmp" || word == "call" || word == "ret") {
      one.kind = Kind::always;
    } else if (word.starts_with("j") || word.starts_with("loop")) {
      one.kind = Kind::conditional;
    } else if (word == "syscall") {
      one.kind = Kind::system;
    }
    instructions_.emplace(address, one);
    return one;
  }

  /// Mappings of code that are not in the recording yet.
  void add_mappings() {
    std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream fields(line);
      std::uint64_t begin = 0, end = 0, offset = 0;
      std::string modes, device, inode, path;
      char dash = 0;
      fields >> std::hex >> begin >> dash >> end >> modes >> offset >> device >> inode;
      std::getline(fields >> std::ws, path);
      const bool is_new = modes.find('x') != std::string::npos && mapped_.insert(line).second;
      if (!is_new || path == "[vsyscall]") continue;
      std::vector<std::byte> id;
      try {
        if (path.starts_with('/')) id = hex(symbols::Module::open(path).build_id());
      } catch (const InputError&) {
        id.clear();
      }
      const bool has_id = !id.empty();
      const auto id_size = static_cast<std::uint8_t>(id.size());
      id.resize(20);
      auto body = recording_.writer();
      body.i32(pid_).i32(pid_).u64(begin).u64(end - begin).u64(offset);
      body.u8(id_size).u8(0).u16(0);
      body.raw({reinterpret_cast<const char*>(id.data()), id.size()}).u32(5).u32(2);
      body.text(path.empty() ? "//anon" : path).i32(pid_).i32(pid_).u64(++time_);
      const std::uint16_t flag = has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0;
      recording_.record(PERF_RECORD_MMAP2, static_cast<std::uint16_t>(2 | flag), body.bytes());
    }
  }

  void add(std::uint64_t from, std::uint64_t to) {
    taken_.emplace_back(from, to);
    if (taken_.size() < 2 * depth_) return;
    taken_.erase(taken_.begin(), taken_.end() - static_cast<std::ptrdiff_t>(depth_));
    auto sample = recording_.writer();
    sample.u64(to).i32(pid_).i32(pid_).u64(++time_).u64(taken_.size());
    for (auto one = taken_.rbegin(); one != taken_.rend(); ++one) {
      sample.u64(one->first).u64(one->second).u64(2);  // predicted
    }
    recording_.record(PERF_RECORD_SAMPLE, to >= kEntry ? 1 : 2, sample.bytes());
  }

  pid_t pid_;
  std::size_t depth_;
  RecordingBuilder recording_;
  symbols::Disassembler disassembler_{Arch::x86_64};
  std::unordered_map<std::uint64_t, Instruction> instructions_;
  std::set<std::string> mapped_;  ///< lines of /proc/PID/maps
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
  std::uint64_t time_ = 0;
};

int run(char** arguments) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execvp(arguments[4], arguments + 4);
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
    std::fprintf(stderr, "%s: cannot be traced\n", arguments[4]);
    return 1;
  }
  Trace trace(pid, std::strtoul(arguments[3], nullptr, 10));
  trace.step_through(std::strtoul(arguments[2], nullptr, 10));
  ::kill(pid, SIGKILL);
  trace.write(arguments[1]);
  return 0;
}

#else

int run(char** /*arguments*/) {
  std::fputs("trace_branches: x86-64 only\n", stderr);
  return 77;
}

#endif

}  // namespace
}  // namespace skid::test

int main(int count, char** arguments) {
  if (count < 5) {
    std::fputs("usage: trace_branches OUTPUT STEPS DEPTH COMMAND...\n", stderr);
    return 64;
  }
  return skid::test::run(arguments);
}
