// `skidscan samples` beside `perf script`: the same samples, and every column of each the same.
// docs/agreement.md lists where the two differ; what differs there is asserted here too.
#include "tests/end_to_end/agreement.h"

#include "src/audit/block_bias.h"
#include "src/machine/machine.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/recordings.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

using test::SampleRow;

/// Work in user code, in the kernel and in the vdso, until a thread has had so many milliseconds of
/// a CPU, however busy the machine is: half of them in user code, the rest in equal parts, however
/// fast the CPU and the kernel are.
constexpr const char* kBusyHeader = R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifndef TIMES /* as many iterations as usual in a call: less is a faster CPU */
#define TIMES 1
#endif
static double spent(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
__attribute__((noinline)) static void ask_vdso(void) {
  struct timespec t;
  for (int i = 0; i < 2000 * TIMES; ++i) clock_gettime(CLOCK_MONOTONIC, &t);
}
__attribute__((noinline)) static void compute(void) {
  for (volatile int i = 0; i < 50000 * TIMES; ++i) {}
}
__attribute__((noinline)) static void ask_kernel(void) {
  static char buffer[32768];
  int file = open("/dev/zero", O_RDONLY);
  (void)!read(file, buffer, sizeof buffer);
  close(file);
  char* memory = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, 65536, MADV_NOHUGEPAGE); /* 16 faults */
  for (int i = 0; i < 65536; i += 4096) memory[i] = 1;
  munmap(memory, 65536);
}
#define FOR(milliseconds) for (double end = spent() + (milliseconds); spent() < end;)
static void busy(double milliseconds) {
  FOR(milliseconds) {
    FOR(2) compute();
    FOR(1) ask_kernel();
    FOR(1) ask_vdso();
  }
}
)";

constexpr const char* kBusyProgram = R"(
#include "busy.h"
int main(void) { busy(300); return 0; }
)";

/// 16,000 page faults at least.
constexpr const char* kFaultingProgram = R"(
#include "busy.h"
int main(void) {
  for (int i = 0; i < 1000; ++i) ask_kernel();
  busy(100);
  return 0;
}
)";

class Agreement : public test::AgreementTest {
 protected:
  void SetUp() override {
    AgreementTest::SetUp();
    if (IsSkipped()) return;
    SKIP_WITHOUT("cc");
    std::ofstream(directory_ / "busy.h") << kBusyHeader;
  }

  /// Compiles `source` to `name` in the test's directory.
  void build(const std::string& name, const std::string& source,
             const std::vector<std::string>& options = {}) const {
    std::ofstream(directory_ / (name + ".c")) << source;
    // tests/poorer/run.py makes the CPU faster or slower so.
    const char* times = std::getenv("SKIDSCAN_BUSY_TIMES");
    std::vector<std::string> command = {"cc",
                                        "-O1",
                                        "-g0",
                                        "-o",
                                        in_directory(name),
                                        in_directory(name + ".c"),
                                        std::string("-DTIMES=") + (times != nullptr ? times : "1")};
    command.insert(command.end(), options.begin(), options.end());
    const auto built = run_program(command);
    ASSERT_TRUE(built.code.success()) << built.err;
  }

  /// perf record of `program`, leaving the user's build-id cache alone.
  Completed try_to_record(const std::vector<std::string>& options,
                          const std::vector<std::string>& program) const {
    std::vector<std::string> command = {"perf", "record", "--no-bpf-event", "-q",
                                        "-N",   "-o",     recording()};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    command.insert(command.end(), program.begin(), program.end());
    return run_program(command, directory_.path());
  }
  void record(const std::vector<std::string>& options,
              const std::vector<std::string>& program) const {
    const auto recorded = try_to_record(options, program);
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
  }

  /// A program with two libraries, of which the second comes to lie where the first one was, again
  /// and again; only their times differ. Returns its command.
  std::vector<std::string> build_reloading_program() const {
    for (const std::string name : {"first", "second"}) {
      build(name + ".so",
            "#include \"busy.h\"\n"
            "__attribute__((noinline)) static void spin_" +
                name +
                "(void) { compute(); }\n"
                "void work(void) { FOR(20) spin_" +
                name + "(); }",
            {"-shared", "-fPIC"});
    }
    build("program", R"(
#include <dlfcn.h>
int main(int argc, char** argv) {
  (void)argc;
  for (int i = 0; i < 10; ++i) {
    void* library = dlopen(argv[1 + i % 2], RTLD_NOW);
    if (!library) return 1;
    ((void (*)(void))dlsym(library, "work"))();
    dlclose(library);
  }
  return 0;
}
)",
          {"-ldl"});
    return {in_directory("program"), in_directory("first.so"), in_directory("second.so")};
  }

  /// perf record into a pipe that is kept in the file `piped` and read by skidscan at once. Returns
  /// what that printed.
  Completed record_through_pipe(const std::string& subcommand,
                                const std::vector<std::string>& options,
                                const std::vector<std::string>& program) const {
    std::vector<std::string> command = {
        "bash",
        "-c",
        "set -o pipefail; skidscan=$1; subcommand=$2; options=$3; shift 3; "
        "perf record -q -N --no-bpf-event -e cpu-clock -F 4000 -o - -- \"$@\" | tee piped | "
        "\"$skidscan\" $subcommand - $options",
        "bash",
        test::skidscan_program(),
        subcommand};
    std::string joined;
    for (const auto& option : options) joined += option + " ";
    command.push_back(joined);
    command.insert(command.end(), program.begin(), program.end());
    return run_program(command, directory_.path());
  }
};

TEST_F(Agreement, OnPieNonPieAndStaticPrograms) {
  // Functions with several names, and a symbol without a size in one of another.
  const std::string program = R"(
#include "busy.h"
__attribute__((noinline)) void spin(void) { for (volatile int i = 0; i < 150000; ++i) {} }
void spin_alias(void) __attribute__((alias("spin")));
void __spin_weak(void) __attribute__((weak, alias("spin")));
extern void without_size(void);
#ifdef __aarch64__
__asm__(".text\nwithout_size: mov w0, #60000\ninside_it: subs w0, w0, #1\nb.ne inside_it\nret\n");
#else
__asm__(".text\nwithout_size: mov $200000, %eax\ninside_it: dec %eax\njnz inside_it\nret\n");
#endif
int main(void) {
  FOR(100) { spin(); without_size(); }
  busy(300);
  return 0;
}
)";
  for (const std::string option : {"-pie", "-no-pie", "-static"}) {
    build("program", program, {option, option == "-pie" ? "-fPIE" : "-fno-pie", "-Wl,--build-id"});
    record({"-e", "cpu-clock:u", "-F", "2000"}, {in_directory("program")});
    const auto rows = agreed_rows();
    EXPECT_GT(samples_of(rows, "spin_alias"), 10) << option;
    EXPECT_GT(samples_of(rows, "inside_it"), 10) << option;
    EXPECT_GT(samples_of(rows, "compute"), 20) << option;
    EXPECT_GT(samples_in_file(rows, "[vdso]"), 10) << option;
  }
}

/// perf before 6.3 looks for the PLT at its place in the file and lets _init reach over what
/// follows it.
TEST_F(Agreement, OnNamesOfCppAndRust) {
  SKIP_WITHOUT("c++");
  // The last two with symbols that rustc 1.90 made.
  const std::string source = in_directory("names.cpp");
  std::ofstream(source) << R"(
#include <ctime>
#include <string>
#define SPIN { for (volatile int i = 0; i < 300000; i = i + 1) {} }
#define OUT __attribute__((noinline))
template <typename T> struct Box { OUT void spin(const std::string&) const SPIN };
namespace { OUT void unnamed() SPIN }
struct Made { OUT Made() SPIN OUT operator long() const { SPIN return 1; } };
void v0() __asm__("_RNvMNtCs6GmmlP4bgsG_1r5innerINtB2_1ThE2goB4_");
void legacy() __asm__("_ZN1r5inner10T$LT$X$GT$2go17ha24e223752888595E");
OUT void v0() SPIN
OUT void legacy() SPIN
int main() {
  auto lambda = [](int) OUT SPIN;
  // Each second of a processor has 4000 samples.
  for (const auto end = std::clock() + CLOCKS_PER_SEC / 2; std::clock() < end;) {
    Box<std::string>().spin("");
    unnamed();
    (void)(long)Made();
    v0();
    legacy();
    lambda(1);
  }
})";
  const auto built = run_program({"c++", "-O1", "-o", in_directory("names"), source});
  ASSERT_TRUE(built.code.success()) << built.err;
  record({"-e", "cpu-clock:u"}, {in_directory("names")});
  const auto mangled = agreed_rows();
  EXPECT_GT(samples_of(mangled, "_RNvMNtCs6GmmlP4bgsG_1r5innerINtB2_1ThE2goB4_"), 0);
  const std::string fields = "time,pid,tid,event,ip,sym,symoff,dso";
  std::vector<std::string> strange;
  const auto sampled =
      run_program({test::skidscan_program(), "samples", recording(), "--columns", fields});
  const auto rows = test::rows_of_skidscan(sampled.out, strange);
  for (const std::string name :
       {"(anonymous namespace)::unnamed()", "Made::Made()", "Made::operator long() const",
        "<r::inner::T<u8>>::go", "r::inner::T<X>::go",
        "main::{lambda(int)#1}::operator()(int) const"}) {
    EXPECT_GT(samples_of(rows, name), 0) << name << "\n" << test::describe(rows);
  }
  if (!has_perf(6, 4)) return;
  const auto printed =
      run_program({"perf", "script", "-G", "--no-itrace", "--ns", "-F", fields, "-i", recording()});
  const auto of_perf = test::rows_of_perf(printed.out, strange);
  EXPECT_EQ(test::samples_in(test::without(of_perf, rows)), 0) << test::describe(rows);
  EXPECT_EQ(test::samples_in(of_perf), test::samples_in(rows));
}

TEST_F(Agreement, EndsAtEntriesOfThePlt) {
  SKIP_WITHOUT("breakpoints", "objdump");
  struct {
    const char *section, *pointer, *sym;
  } const cases[] = {
      {".plt", "", "getppid@plt"},
      // A function whose address is taken, too, has its entry in .plt.got.
      {".plt.got", "int (*volatile pointer)(void) = (int (*)(void))getppid; (void)pointer;",
       "getppid@plt"}};
  for (const auto& [section, pointer, sym] : cases) {
    build("program",
          std::string("#include <unistd.h>\nint main(void) { ") + pointer +
              "for (int i = 0; i < 1000; ++i) getppid(); return 0; }",
          {"-no-pie", "-fPIE", "-Wl,-z,lazy", "-fcf-protection=none"});
    const auto listed = run_program({"sh", "-c",
                                     "objdump -d -j \"$2\" \"$1\" | sed -n "
                                     "'s/^0*\\([0-9a-f]*\\) <getppid@plt>:$/\\1/p'",
                                     "sh", in_directory("program"), section});
    const std::string address = listed.out.substr(0, listed.out.find('\n'));
    if (address.empty()) GTEST_SKIP() << "the linker made no " << section;
    const auto recorded =
        try_to_record({"-e", "mem:0x" + address + ":x", "-c", "10"}, {in_directory("program")});
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
    const auto both = read_with_both(recording());
    // Of 100 samples, on a busy virtual machine one less now and then.
    const auto all = count_if(both.skidscan, [](const auto&) { return true; });
    EXPECT_GE(all, 95) << section;
    EXPECT_EQ(
        count_if(both.skidscan,
                 [sym = sym](const auto& row) { return row.sym == sym && row.symoff == "0x0"; }),
        all)
        << section;
    EXPECT_EQ(count_if(both.perf,
                       [](const auto& row) {
                         return row.sym == "getppid@plt" || row.sym == "_init" || row.sym.empty();
                       }),
              all)
        << section;
  }
}

TEST_F(Agreement, OnTheKernelAndOnAllProcesses) {
  SKIP_WITHOUT("kernel-symbols", "kernel-samples", "samples-of-all");
  build("program", kBusyProgram);
  record({"-e", "cpu-clock", "-F", "4000"}, {in_directory("program")});
  const auto rows = agreed_rows();
  EXPECT_GT(named_kernel_samples(rows), 20);
  EXPECT_GT(samples_of(rows, "compute"), 20);
  record({"-a", "-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  EXPECT_GT(named_kernel_samples(agreed_rows()), 20);
}

TEST_F(Agreement, OnALibraryLoadedAtTheStart) {
  build("libwork.so", "#include \"busy.h\"\nvoid work(void) { busy(200); }", {"-shared", "-fPIC"});
  build("program", "void work(void); int main(void) { work(); return 0; }",
        {in_directory("libwork.so"), "-Wl,-rpath," + directory_.path().string()});
  record({"-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  EXPECT_GT(samples_in_file(agreed_rows(), in_directory("libwork.so")), 20);
}

TEST_F(Agreement, OnLibrariesThatFollowEachOtherAtOneAddress) {
  const auto command = build_reloading_program();
  record({"-e", "cpu-clock", "-F", "4000"}, command);
  const auto rows = agreed_rows();
  EXPECT_GT(samples_in_file(rows, in_directory("first.so")), 20);
  EXPECT_GT(samples_in_file(rows, in_directory("second.so")), 20);
  // That one address was sampled in both shows that it was reused.
  std::map<std::string, std::vector<std::string>> files_at;
  for (const auto& [row, count] : rows) files_at[row.ip].push_back(row.dso);
  EXPECT_TRUE(std::any_of(files_at.begin(), files_at.end(), [&](const auto& entry) {
    const auto& files = entry.second;
    return std::count(files.begin(), files.end(), in_directory("first.so")) > 0 &&
           std::count(files.begin(), files.end(), in_directory("second.so")) > 0;
  }));
}

TEST_F(Agreement, OnChildrenThatGoOnOrBecomeOtherPrograms) {
  build("other", "#include \"busy.h\"\nint main(void) { busy(100); return 0; }");
  build("program", R"(
#include "busy.h"
#include <sys/wait.h>
int main(int argc, char** argv) {
  (void)argc;
  if (fork() == 0) { busy(100); _exit(0); }
  if (fork() == 0) { busy(50); execl(argv[1], argv[1], (char*)0); _exit(1); }
  busy(100);
  while (wait(0) > 0) {}
  return 0;
}
)");
  record({"-e", "cpu-clock", "-F", "2000"}, {in_directory("program"), in_directory("other")});
  const auto rows = agreed_rows();
  EXPECT_GT(samples_in_file(rows, in_directory("program")), 20);
  EXPECT_GT(samples_in_file(rows, in_directory("other")), 20);
  std::map<std::string, int> processes;
  for (const auto& [row, count] : rows) processes[row.pid] += count;
  EXPECT_GE(processes.size(), 3u);
}

TEST_F(Agreement, OnThreads) {
  build("program", R"(
#include "busy.h"
#include <pthread.h>
static void* run(void* unused) { busy(100); return unused; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  return 0;
}
)",
        {"-pthread"});
  record({"-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  std::map<std::string, int> threads;
  for (const auto& [row, count] : agreed_rows()) threads[row.tid] += count;
  EXPECT_GE(threads.size(), 4u);
}

TEST_F(Agreement, OnAProcessThatWasRunningAlready) {
  build("program", "#include \"busy.h\"\nint main(void) { busy(60000); return 0; }");
  const ChildProcess running({in_directory("program")});
  const std::string pid = std::to_string(running.pid());
  // Until the program has had a CPU for 30 clock ticks of 10 ms (proc(5)).
  record({"-e", "cpu-clock", "-F", "2000", "-p", pid},
         {"sh", "-c",
          "spent() { awk '{ print $14 + $15 }' \"/proc/$1/stat\"; }\n"
          "end=$(($(spent \"$1\") + 30))\n"
          "while [ \"$(spent \"$1\")\" -lt $end ]; do sleep 0.05; done",
          "sh", pid});
  EXPECT_GT(samples_of(agreed_rows(), "compute"), 20);
}

/// Code that a program writes itself, and names in the file that perf reads.
TEST_F(Agreement, OnGeneratedCodeByItsPerfMap) {
  SKIP_WITHOUT("x86-64");
  build("program", R"(
#include "busy.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
static const unsigned char code[] = {0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3};
int main(void) {
  void* memory = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx %x generated(long, int)\n", (long)memory, (int)sizeof code);
  fclose(map);
  if (fork() == 0) { FOR(100) ((long (*)(long))memory)(1000000); _exit(0); }
  FOR(100) ((long (*)(long))memory)(1000000);
  wait(0);
  return 0;
}
)");
  record({"-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  const auto rows = agreed_rows();
  EXPECT_GT(samples_of(rows, "generated(long, int)"), 50);
  for (const auto& [row, count] : rows) {
    if (row.dso.starts_with("/tmp/perf-")) std::filesystem::remove(row.dso);
  }
}

/// The same through a jitdump, which perf inject turns into mappings of ELF files.
TEST_F(Agreement, OnGeneratedCodeByItsJitdump) {
  SKIP_WITHOUT("x86-64");
  build("program", R"(
#include "busy.h"
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* struct jitheader and struct jr_code_load, tools/perf/util/jitdump.h */
static struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } header;
static struct {
  uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t vma, address, bytes, index;
} load;
static const unsigned char code[] = {0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3};
static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
int main(void) {
  char name[64];
  snprintf(name, sizeof name, "jit-%d.dump", (int)getpid());
  FILE* dump = fopen(name, "w+");
  header.magic = 0x4a695444;
  header.version = 1;
  header.size = sizeof header;
  header.machine = EM_X86_64;
  header.pid = (uint32_t)getpid();
  header.time = now();
  fwrite(&header, sizeof header, 1, dump);
  fflush(dump);
  mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
  void* memory = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  static const char function[] = "generated";
  load.size = sizeof load + sizeof function + sizeof code;
  load.time = now();
  load.pid = load.tid = (uint32_t)getpid();
  load.vma = load.address = (uint64_t)memory;
  load.bytes = sizeof code;
  load.index = 1;
  fwrite(&load, sizeof load, 1, dump);
  fwrite(function, sizeof function, 1, dump);
  fwrite(code, sizeof code, 1, dump);
  fclose(dump);
  FOR(200) ((long (*)(long))memory)(1000000);
  return 0;
}
)");
  record({"-k", "mono", "-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  const auto injected = run_program({"env", "HOME=" + directory_.path().string(), "perf", "inject",
                                     "--jit", "-i", "perf.data", "-o", "injected.data"},
                                    directory_.path());
  ASSERT_TRUE(injected.code.success()) << injected.err;
  const auto both = read_with_both(in_directory("injected.data"));
  expect_equal(both, "injected.data");
  EXPECT_GT(samples_of(both.skidscan, "generated"), 20);
}

/// The kernel announces the code that it makes of a BPF program in a record.
TEST_F(Agreement, OnABpfProgram) {
  build("program", R"(
#include "busy.h"
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
/* r0 = 0; r1 = 100000; do r0 += 1; while (r0 < r1); r0 = 0; exit */
static const struct bpf_insn code[] = {
    {.code = 0xb7, .dst_reg = 0}, {.code = 0xb7, .dst_reg = 1, .imm = 100000},
    {.code = 0x07, .dst_reg = 0, .imm = 1}, {.code = 0xad, .dst_reg = 0, .src_reg = 1, .off = -2},
    {.code = 0xb7, .dst_reg = 0}, {.code = 0x95}};
int main(void) {
  union bpf_attr load;
  memset(&load, 0, sizeof load);
  load.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
  load.insns = (uint64_t)code;
  load.insn_cnt = sizeof code / sizeof *code;
  load.license = (uint64_t) "GPL";
  strcpy(load.prog_name, "filter_loop");
  int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load);
  int pair[2];
  if (program < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 ||
      setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program) != 0) {
    perror("bpf");
    return 77;
  }
  FOR(200) (void)!write(pair[0], "x", 1);
  return 0;
}
)");
  const auto loaded = run_program({in_directory("program")});
  if (!loaded.code.success()) GTEST_SKIP() << "no BPF program can be loaded: " << loaded.err;
  record({"-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  const auto rows = agreed_rows();
  const auto in_program = [](const SampleRow& row) {
    return row.sym.starts_with("bpf_prog_") && row.sym.ends_with("_filter_loop");
  };
  if (std::ifstream("/proc/sys/net/core/bpf_jit_enable").peek() == '0') return;  // interpreted
  EXPECT_GT(count_if(rows, in_program), 50);
}

TEST_F(Agreement, WithBuildIdsInTheMappings) {
  SKIP_WITHOUT("perf-buildid-mmap");
  build("program", kBusyProgram);
  record({"--buildid-mmap", "-e", "cpu-clock", "-F", "2000"}, {in_directory("program")});
  EXPECT_GT(samples_of(agreed_rows(), "compute"), 20);
}

TEST_F(Agreement, WithBranchStacks) {
  SKIP_WITHOUT("branch-stacks");
  build("program", kBusyProgram);
  record({"-b"}, {in_directory("program")});
  EXPECT_GT(samples_of(agreed_rows(), "compute"), 20);
}

TEST_F(Agreement, WithEachOptionOfRecord) {
  build("program", kBusyProgram, {"-fno-omit-frame-pointer"});
  for (const std::string option : {"-B", "-z", "--call-graph=fp", "--call-graph=dwarf", "-d", "-W",
                                   "-R", "-s", "--switch-events", "--sample-identifier"}) {
    record({"-e", "cpu-clock", "-F", "1000", option}, {in_directory("program")});
    EXPECT_GT(samples_of(agreed_rows(), "compute"), 20) << option;
  }
}

TEST_F(Agreement, OnSeveralEvents) {
  build("program", kFaultingProgram);
  const auto samples_of_event = [](const test::SampleRows& rows, const std::string& event) {
    return count_if(rows, [&](const SampleRow& row) { return row.event == event; });
  };
  // No timer: it would come every 200 ns, and where it is throttled other events are lost with it.
  record({"-e", "page-faults,minor-faults,context-switches", "-c", "200"},
         {in_directory("program")});
  const auto rows = agreed_rows();
  EXPECT_GT(samples_of_event(rows, "page-faults"), 20);
  EXPECT_GT(samples_of_event(rows, "minor-faults"), 20);

  record({"-e", "cpu-clock/period=1000000/,page-faults/period=100/"}, {in_directory("program")});
  const auto own_periods = agreed_rows();
  EXPECT_GT(samples_of_event(own_periods, "cpu-clock/period=1000000/"), 20);
  EXPECT_GT(samples_of_event(own_periods, "page-faults/period=100/"), 5);
}

TEST_F(Agreement, OnMembersOfAGroup) {
  build("program", kFaultingProgram);
  record({"-e", "{cpu-clock,page-faults}:S"}, {in_directory("program")});
  const auto rows = agreed_rows();
  const auto clocks = count_if(rows, [](const auto& row) { return row.event == "cpu-clock"; });
  const auto faults = count_if(rows, [](const auto& row) { return row.event == "page-faults"; });
  EXPECT_GT(clocks, 20);
  EXPECT_GT(faults, 5) << "counted at the samples of cpu-clock";
}

TEST_F(Agreement, OnATracepoint) {
  SKIP_WITHOUT("page-fault-tracepoint");
  build("program", kFaultingProgram);
  record({"-e", "exceptions:page_fault_user", "-e", "cpu-clock"}, {in_directory("program")});
  EXPECT_GT(
      count_if(agreed_rows(),
               [](const SampleRow& row) { return row.event == "exceptions:page_fault_user"; }),
      100);
}

TEST_F(Agreement, OnADataBreakpoint) {
  SKIP_WITHOUT("breakpoints", "nm");
  build("program", R"(
static volatile long datum;
__attribute__((noinline)) static void touch(void) { datum = datum + 1; }
int main(void) { for (int i = 0; i < 2000; ++i) touch(); return 0; }
)",
        {"-no-pie", "-fno-pie"});
  const auto named = run_program(
      {"sh", "-c", "nm \"$1\" | sed -n 's/^0*\\([0-9a-f]*\\) . datum$/\\1/p' | tr -d '\\n'", "sh",
       in_directory("program")});
  ASSERT_FALSE(named.out.empty()) << named.err;
  record({"-e", "mem:0x" + named.out + ":rw", "-c", "1"}, {in_directory("program")});
  EXPECT_GE(samples_of(agreed_rows(), "touch"), 4000);
}

TEST_F(Agreement, OnAPipeRecording) {
  build("program", kBusyProgram);
  for (const std::string option : {"-F2000", "-g", "-z"}) {
    const auto recorded = run_program(
        {"sh", "-c",
         "perf record -q -N --no-bpf-event -e cpu-clock \"$2\" -o - -- \"$1\" >perf.data", "sh",
         in_directory("program"), option},
        directory_.path());
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
    EXPECT_GT(samples_of(agreed_rows(), "compute"), 20) << option;
  }
}

/// What a pipe gives cannot be read twice: samples wait for the mappings of their time.
TEST_F(Agreement, OfALivePipeWithTheSameBytesInAFile) {
  SKIP_WITHOUT("bash");
  const std::vector<std::string> options = {"--columns",
                                            "time,pid,tid,event,exact,ip,sym,symoff,dso"};
  const auto live = record_through_pipe("samples", options, build_reloading_program());
  ASSERT_TRUE(live.code.success()) << live.err;
  const auto stored = test::skidscan({"samples", in_directory("piped"), options[0], options[1]});
  ASSERT_TRUE(stored.code.success()) << stored.err;
  const auto sorted_lines = [](const std::string& text) {
    auto lines = test::lines_of(text);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(sorted_lines(live.out), sorted_lines(stored.out));
  EXPECT_THAT(live.out, ::testing::HasSubstr("first.so"));
  EXPECT_THAT(live.out, ::testing::HasSubstr("second.so"));
  expect_equal(read_with_both(in_directory("piped")), "piped");
}

/// The functions of the two libraries share their addresses, so counts by place show whether each
/// sample went to the library of its time.
TEST_F(Agreement, OfAReportOnALivePipeWithOneOnTheFile) {
  SKIP_WITHOUT("bash");
  const std::vector<std::string> options = {"--hit",   "spin_first", "--runway",
                                            "compute", "--format",   "json"};
  const auto live = record_through_pipe("report", options, build_reloading_program());
  ASSERT_TRUE(live.code.success()) << live.err;
  std::vector<std::string> command = {"report", in_directory("piped")};
  command.insert(command.end(), options.begin(), options.end());
  const auto stored = test::skidscan(command);
  ASSERT_TRUE(stored.code.success()) << stored.err;
  const auto of_live = nlohmann::json::parse(live.out)["measurements"].at(0);
  const auto of_file = nlohmann::json::parse(stored.out)["measurements"].at(0);
  EXPECT_EQ(of_live["samples"], of_file["samples"]);
  EXPECT_EQ(of_live["histogram"], of_file["histogram"]);
  EXPECT_GT(of_live["samples"]["read"], 100);
}

/// One file a thread of perf, each with the samples of some CPUs; the mappings are in one of them.
TEST_F(Agreement, OnADirectoryWrittenByThreads) {
  SKIP_WITHOUT("perf-threads");
  record({"--threads", "-e", "cpu-clock,page-faults", "-F", "4000"}, build_reloading_program());
  ASSERT_TRUE(std::filesystem::is_directory(recording()));
  const auto rows = agreed_rows();
  EXPECT_GT(samples_in_file(rows, in_directory("first.so")), 20);
  EXPECT_GT(samples_in_file(rows, in_directory("second.so")), 20);
}

/// The sum over the parts is the whole, for audits too.
TEST_F(Agreement, OnWhatFiltersSelect) {
  build("program", R"(
#include "busy.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
static void on_cpu(const char* cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}
static void* work(void* unused) {
  busy(40);
  prctl(PR_SET_NAME, "worker");
  busy(40);
  return unused;
}
int main(int argc, char** argv) {
  if (argc > 4) { busy(40); return 0; }
  on_cpu(argv[2]);
  busy(40);
  prctl(PR_SET_NAME, "new name");
  on_cpu(argv[3]);
  if (fork() == 0) { busy(40); execl(argv[1], argv[1], "v", "w", "x", "y", (char*)0); _exit(1); }
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  while (wait(0) > 0) {}
  return 0;
}
)",
        {"-pthread"});
  std::filesystem::copy_file(in_directory("program"), in_directory("other"));
  const auto cpus = machine::inspect().allowed_cpus;
  const auto first = std::to_string(cpus.front()), last = std::to_string(cpus.back());
  record({"-e", "cpu-clock", "-F", "2000", "--sample-cpu"},
         {in_directory("program"), in_directory("other"), first, last});
  const std::string fields = "time,pid,tid,event,ip";
  const auto selected = [&](const std::string& filter) {
    const auto both = read_with_both(recording(), fields, {}, filter);
    expect_equal(both, filter);
    EXPECT_THAT(
        both.skidscan_says,
        ::testing::HasSubstr("filter: " + std::to_string(samples_in(both.skidscan)) + " of "))
        << filter;
    return both.skidscan;
  };
  const int all = samples_in(read_with_both(recording(), fields).skidscan);
  int sampled = 0, audited = 0;
  SampleRow some;
  for (const std::string comms : {"program", "new name", "worker", "other", "perf,perf-exec"}) {
    const auto rows = selected("--comms '" + comms + "'");
    EXPECT_TRUE(samples_in(rows) > 20 || comms.starts_with("perf")) << comms;
    sampled += samples_in(rows);
    if (comms == "worker") some = std::next(rows.begin(), samples_in(rows) / 2)->first;
    const auto audit = test::skidscan({"audit", recording(), "--comm", comms, "--format", "json"});
    ASSERT_EQ(audit.code.success(), samples_in(rows) > 0) << audit.err;
    audited += nlohmann::json::parse(audit.out)["recordings"][0]["events"][0]["samples"].get<int>();
  }
  EXPECT_EQ(sampled, all);
  EXPECT_EQ(audited, all);
  const std::string time =
      some.time.substr(0, some.time.size() - 9) + "." + some.time.substr(some.time.size() - 9);
  std::vector<std::string> filters = {
      "--pid " + some.pid, "--tid " + some.tid + ",99999", "--dsos other,[vdso]",
      "--time " + time + ",", "--time ," + time,
      // With the first sample, and with the last one.
      "--time 0%-60%", "--time 50%/2 --comms 'new name,worker,other'"};
  if (test::why_without({"kernel-samples"}).empty()) {
    filters.emplace_back("--dsos [kernel.kallsyms]");
  }
  if (first != last) filters.push_back("--cpu " + first);
  for (const std::string& filter : filters) {
    const int part = samples_in(selected(filter));
    EXPECT_GT(part, 0) << filter;
    EXPECT_LT(part, all) << filter;
  }
}

class AgreementOnPublicRecordings : public Agreement,
                                    public ::testing::WithParamInterface<const char*> {
 protected:
  /// Files of EXPECTED.tsv in this mode ("file" or "pipe").
  static std::vector<std::string> files_in_mode(const std::string& mode) {
    const std::string directory = test::recordings_directory();
    std::vector<std::string> files;
    std::ifstream table(directory + "/EXPECTED.tsv");
    for (std::string line; std::getline(table, line);) {
      const auto tab = line.find('\t');
      if (line.substr(tab + 1, mode.size() + 1) == mode + "\t") {
        files.push_back(directory + "/" + line.substr(0, tab));
      }
    }
    return files;
  }
};

/// Their files and kernels are elsewhere, so only the fields of the samples can be compared.
TEST_P(AgreementOnPublicRecordings, HoldsForEverySample) {
  SKIP_WITHOUT("recordings");
  int compared = 0;
  for (const auto& file : files_in_mode(GetParam())) {
    const auto both = read_with_both(file, "time,pid,tid,event,ip");
    if (!both.perf_reads) continue;  // newer than the perf here, or damaged
    expect_equal(both, file);
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

TEST_P(AgreementOnPublicRecordings, HoldsForWhatFiltersSelect) {
  SKIP_WITHOUT("recordings");
  int selected = 0;
  for (const auto& file : files_in_mode(GetParam())) {
    for (const std::string filter : {"--comms swapper,sh,chrome,sleep,perf", "--tid 0"}) {
      const auto both = read_with_both(file, "time,pid,tid,event,ip", {}, filter);
      if (!both.perf_reads) continue;
      expect_equal(both, file + " " + filter);
      selected += samples_in(both.perf);
    }
  }
  EXPECT_GE(selected, 100);
}

INSTANTIATE_TEST_SUITE_P(ByMode, AgreementOnPublicRecordings, ::testing::Values("file", "pipe"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace skid
