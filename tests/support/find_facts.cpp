// Finds out what this machine has and permits, for the tests.
// usage: facts --write      finds it out and writes the file of facts (facts_file.h)
//        facts NAME... [-- COMMAND...]
//                           reads the file, which is written first if it is missing, and runs the
//                           command
// exit status: 0 or that of the command if all of these facts hold; 77 if not, and the reason is
// printed
#include "src/machine/diagnosis.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/facts_file.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid::test {
namespace {

/// Programs that tests start; each is a fact of its name.
constexpr const char* kPrograms[] = {"aarch64-linux-gnu-gcc",
                                     "aarch64-linux-gnu-objdump",
                                     "prlimit",
                                     "x86_64-linux-gnu-gcc",
                                     "x86_64-linux-gnu-nm",
                                     "aarch64-linux-gnu-nm",
                                     "bash",
                                     "busybox",
                                     "c++",
                                     "cc",
                                     "chromedriver",
                                     "chromium",
                                     "dash",
                                     "fish",
                                     "gnuplot",
                                     "groff",
                                     "help2man",
                                     "man",
                                     "nm",
                                     "objcopy",
                                     "objdump",
                                     "python3",
                                     "qemu-aarch64-static",
                                     "qemu-x86_64-static",
                                     "qemu-system-aarch64",
                                     "Rscript",
                                     "setarch",
                                     "setpriv",
                                     "shellcheck",
                                     "strip",
                                     "tar",
                                     "taskset",
                                     "zsh"};

/// Modules of Python that tests import; each is a fact of its name after "python3-".
constexpr const char* kModules[] = {"cram", "jsonschema", "pandas", "selenium"};

/// What perf can do here: facts by the options of `perf record` that succeed.
struct PerfFact {
  const char* name;
  std::vector<std::string> options;
};
const PerfFact kPerfFacts[] = {{"samples", {"-e", "cpu-clock"}},
                               {"kernel-samples", {"-e", "cpu-clock:k"}},
                               {"samples-of-all", {"-a", "-e", "cpu-clock"}},
                               {"page-fault-tracepoint", {"-e", "exceptions:page_fault_user"}},
                               {"branch-stacks", {"-b"}},
                               {"perf-buildid-mmap", {"--buildid-mmap", "-e", "cpu-clock"}},
                               {"perf-threads", {"--threads", "-e", "cpu-clock"}}};

/// The line of a program's messages that states the reason: not its heading.
std::string reason_in(const std::string& messages) {
  std::istringstream lines(messages);
  std::string line;
  while (std::getline(lines, line) && (line.empty() || line.ends_with(':'))) {
  }
  return line.empty() ? "it failed without a message" : line;
}

std::string why_failed(const std::vector<std::string>& command) {
  const Completed done = run_program(command);
  return done.code.success() ? "" : reason_in(done.err);
}

/// Runs `attempt` in a process of its own, which it may spoil; it returns 0 or an errno.
std::string try_apart(const std::string& what, const std::function<int()>& attempt) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(attempt());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return what + ": cannot be tried";
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return what + ": " + (WIFEXITED(status) ? std::strerror(WEXITSTATUS(status)) : "it was killed");
}

int single_step() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool stopped =
      WIFSTOPPED(status) && ::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
      ::waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
  const int error = stopped ? 0 : errno == 0 ? EPERM : errno;
  ::kill(child, SIGKILL);
  return error;
}

void find_programs(Facts& facts) {
  for (const char* name : kPrograms) {
    facts[name] = find_program(name) ? "" : std::string(name) + " is not installed";
  }
  for (const std::string module : kModules) {
    const std::string package = "python3-" + module;
    facts[package] = facts["python3"];
    if (!facts[package].empty()) continue;
    // The distribution's Python has the distribution's modules.
    const std::string python =
        ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
    const Completed found = run_program(
        {python, "-c",
         "import importlib.util, sys; sys.exit(not importlib.util.find_spec('" + module + "'))"});
    if (!found.code.success()) facts[package] = package + " is not installed";
  }
}

void find_perf_facts(Facts& facts, const TemporaryDirectory& directory) {
  const std::string file = directory / "perf.data";
  std::string missing;
  try {
    machine::find_perf();
  } catch (const Error&) {
    missing = "perf is not installed, or does not run";
  }
  facts["perf"] = missing;
  facts["counts"] = missing;
  for (const auto& [name, options] : kPerfFacts) facts[name] = missing;
  if (!missing.empty()) return;
  for (const auto& [name, options] : kPerfFacts) {
    std::vector<std::string> command{"perf", "record", "--no-bpf-event", "-q", "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", "true"});
    const std::string why = why_failed(command);
    if (why.empty()) continue;
    facts[name] = "perf record";
    for (const std::string& option : options) facts[name] += ' ' + option;
    facts[name] += ": " + why;
  }
  const std::string why = why_failed(
      {"perf", "stat", "-o", directory / "counts", "-e", "task-clock,page-faults", "--", "true"});
  if (!why.empty()) facts["counts"] = "perf stat: " + why;
}

void find_breakpoint_facts(Facts& facts) {
  const int answer = machine::try_event({.type = PERF_TYPE_BREAKPOINT,
                                         .breakpoint = HW_BREAKPOINT_RW,
                                         .user_only = true,
                                         .period = 1});
  if (answer == machine::kNoSamples) {
    facts["breakpoints"] = "no breakpoint fires on this machine";
  } else if (answer != machine::kAccepted) {
    facts["breakpoints"] = std::string("breakpoints are refused: ") + std::strerror(answer);
  } else {
    facts["breakpoints"] = {};
  }
}

std::string why_no_kernel_symbols() {
  std::ifstream kallsyms("/proc/kallsyms");
  for (std::string line; std::getline(kallsyms, line);) {
    if (line.find_first_not_of('0') < line.find(' ')) return {};
  }
  return "/proc/kallsyms shows no addresses: it takes root, or kernel.kptr_restrict=0";
}

void find_permissions(Facts& facts, const TemporaryDirectory& directory) {
  facts["root"] = ::geteuid() == 0 ? "" : "only root may do it";
  facts["mount"] = try_apart("no permission to mount a tmpfs", [&] {
    const std::string& where = directory.path();
    return ::mount("tmpfs", where.c_str(), "tmpfs", 0, "size=64k") == 0 &&
                   ::umount2(where.c_str(), MNT_DETACH) == 0
               ? 0
               : errno;
  });
  facts["single-steps"] = try_apart("a program cannot be traced", single_step);
  facts["another-user"] = facts["root"].empty() ? facts["setpriv"] : facts["root"];
  if (facts["another-user"].empty() &&
      !run_program({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x",
                    SKIDSCAN_FACTS_PROGRAM})
           .code.success()) {
    facts["another-user"] = "another user cannot run the programs of this build";
  }
}

Facts find_out() {
  Facts facts;
  const TemporaryDirectory directory;
  find_programs(facts);
  find_perf_facts(facts, directory);
  find_breakpoint_facts(facts);
  find_permissions(facts, directory);
  const machine::Machine here = machine::inspect();
  facts["core-pmu"] = here.has_core_pmu() ? "" : "this machine has no core PMU";
  facts["no-core-pmu"] = here.has_core_pmu() ? "this machine has a core PMU" : "";
  facts["two-cpus"] = here.allowed_cpus.size() > 1 ? "" : "one CPU alone";
  facts["x86-64"] =
      here.cpu.arch == "x86_64" ? "" : "for x86-64, and this machine is " + here.cpu.arch;
  facts["kernel-symbols"] = why_no_kernel_symbols();
  facts["user-samples-only"] = here.perf_event_paranoid == 2
                                   ? ""
                                   : "kernel.perf_event_paranoid is not 2, which lets other users "
                                     "sample user mode only";
  facts["recordings"] = why_no_recordings();
  return facts;
}

void write(const Facts& facts, const std::filesystem::path& path) {
  const std::filesystem::path partial = path.string() + "." + std::to_string(::getpid());
  std::ofstream file(partial);
  for (const auto& [name, reason] : facts) {
    file << name << (reason.empty() ? "" : ": ") << reason << '\n';
    if (!reason.empty()) std::printf("%s: %s\n", name.c_str(), reason.c_str());
  }
  file.close();
  std::filesystem::rename(partial, path);  // a test may be reading it
}

int run(std::span<char*> arguments) {
  if (arguments.size() == 1) {
    std::fputs("usage: facts --write | facts NAME...\n", stderr);
    return 64;
  }
  if (std::string_view(arguments[1]) == "--write") {
    write(find_out(), facts_file());
    return 0;
  }
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--") {
      const std::span<char*> command = arguments.subspan(i + 1);  // argv ends with a null pointer
      ::execvp(command.data()[0], command.data());
      throw std::runtime_error(std::string(command.data()[0]) + ": cannot be started");
    }
    if (const std::string why = why_without({name}); !why.empty()) {
      std::printf("skipped: %s\n", why.c_str());
      return 77;
    }
  }
  return 0;
}

}  // namespace
}  // namespace skid::test

int main(int argc, char** argv) {
  try {
    return skid::test::run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "facts: %s\n", error.what());
    return 1;
  }
}
