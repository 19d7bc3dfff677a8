// `skidscan correct` on real data breakpoints, whose truth is known by construction.
#include "src/support/process.h"
#include "src/symbols/module.h"
#include "tests/end_to_end/correct_fixture.h"
#include "tests/support/breakpoints.h"
#include "tests/support/device.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using test::kDone;
using test::kGateFailed;
using test::kUsage;

/// Accesses of a datum, each with the offset in its function as the value of a symbol "site_NAME".
constexpr const char* kSites = R"(
  .macro function name
  .globl \name
  .hidden \name
  .type \name, @function
  \name:
  .endm
  .macro site name, in
  .Lat_\name:
  .set site_\name, .Lat_\name - \in
  .endm
  .text
  .globl work
  .type work, @function
work:
  site store, work
  movq %rdi, watched(%rip)
  site increment, work
  incq watched(%rip)
  testq $1, %rdi
  je .Leven
  site odd, work
  movq watched(%rip), %rax
  jmp .Ljoin
.Leven:
  site even, work
  movq watched(%rip), %rcx
.Ljoin:
  nop
  site compare, work
  cmpq %rdi, watched(%rip)
  jne .Lother
  nop
.Lother:
  incq %rax
  site push, work
  pushq watched(%rip)
  site pop, work
  popq watched(%rip)
  leaq watched(%rip), %rsi
  leaq buffer(%rip), %rdi
  site movs, work
  movsq
  leaq watched(%rip), %rsi
  leaq buffer(%rip), %rdi
  movl $8, %ecx
  site rep, work
  rep movsb
  site before_call, work
  movb watched+7(%rip), %dl
  call callee
  incq %rax
  call tail
  movq unwatched(%rip), %rax
  pushq %rax
  popq %rax
  site before_return, work
  movq watched(%rip), %rax
  ret
  .size work, . - work

  function callee
  site in_callee, callee
  movq %rax, watched(%rip)
  ret
  .size callee, . - callee

  function tail
  site in_tail, tail
  movl %eax, watched+4(%rip)
  jmp callee
  .size tail, . - tail

  .globl joined
  .type joined, @function
joined:
  testb $3, %dil
  je .Lfalls
  site jump, joined
  jmp *pointer(%rip)
  nop
.Lfalls:
  site falls, joined
  movq pointer(%rip), %rax
.Lmeet:
  incq %rax
  ret
  .size joined, . - joined

  function apart
  testb $1, %dil
  jne .Lstores
  site number, apart
  cmpq $-77, watched(%rip)
  jne .Lends
.Lstores:
  site stores, apart
  movq %rdi, watched(%rip)
.Lends:
  nop
  ret
  .size apart, . - apart

  .data
  .balign 8
  .globl watched, pointer
  .hidden watched, pointer
watched: .zero 8
unwatched: .zero 8
buffer: .zero 8
pointer: .quad .Lmeet
  .section .note.GNU-stack,"",@progbits
)";

/// With an argument it prints where the data are.
constexpr const char* kRun = R"(
#include <stdio.h>
#include <unistd.h>
extern long watched __attribute__((visibility("hidden")));
extern long pointer __attribute__((visibility("hidden")));
void work(long);
void joined(long);
void apart(long) __attribute__((visibility("hidden")));
int run(int argc) {
  int ends[2];
  if (argc > 1) return printf("%p %p\n", (void*)&watched, (void*)&pointer) < 0;
  if (pipe(ends) != 0) return 1;
  for (long i = 0; i < 200; ++i) {
    work(i);
    joined(i);
    apart(i);
  }
  return write(ends[1], &watched, sizeof watched) != sizeof watched;
}
)";
constexpr const char* kEntry =
    "int run(int); int main(int argc, char** argv) { (void)argv; return run(argc); }";
constexpr std::uint64_t kCalls = 200;

class CorrectCommand : public test::CorrectTest {
 protected:
  void write_sources() const {
    write("sites.s", kSites);
    write("run.c", kRun);
    write("entry.c", kEntry);
  }

  /// Records accesses of the datum of that number with addresses that do not change from run to
  /// run. False if that is not possible here.
  [[nodiscard]] bool record(const std::string& program, std::size_t datum,
                            const std::string& access, const std::string& recording,
                            const std::vector<std::string>& options = {}) const {
    if (!find_program("setarch") || !test::why_perf_cannot_record(directory_.path()).empty()) {
      return false;
    }
    const std::string addresses = done({"setarch", "-R", program, "x"});
    const auto space = addresses.find(' ');
    const std::string address = datum == 0
                                    ? addresses.substr(0, space)
                                    : addresses.substr(space + 1, addresses.find('\n') - space - 1);
    std::vector<std::string> command{
        "setarch", "-R",     "perf",
        "record",  "-q",     "-c",
        "1",       "-e",     fmt::format("mem:{}/8:{}", address, access),
        "-o",      recording};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(program);
    return run_program(command, directory_.path()).code.success();
  }

  /// "work+23", by the name of a site.
  std::string place_of(const std::string& binary, const std::string& function,
                       const std::string& site) const {
    const auto module = symbols::Module::open(directory_ / binary);
    return fmt::format("{}+{}", function, module.symbol_value("site_" + site).value());
  }
};

struct Site {
  std::string function, name;
  std::uint64_t executions;
};

const std::vector<Site>& sites() {
  static const std::vector<Site> all{
      {"work", "store", kCalls},
      {"work", "increment", kCalls},
      {"work", "odd", kCalls / 2},
      {"work", "even", kCalls / 2},
      {"work", "compare", kCalls},
      {"work", "push", kCalls},
      {"work", "pop", kCalls},
      {"work", "movs", kCalls},
      {"work", "rep", 8 * kCalls},
      {"work", "before_call", kCalls},
      {"work", "before_return", kCalls},
      {"callee", "in_callee", 2 * kCalls},
      {"tail", "in_tail", kCalls},
      // No CPU fuses a comparison with a number at a place that is relative to RIP.
      {"apart", "number", kCalls / 2},
      {"apart", "stores", kCalls / 2}};
  return all;
}

TEST_F(CorrectCommand, CountsEachAccessOfARealProgramExactly) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  compile({"-fPIE", "-pie", "-o", "pie", "run.c", "entry.c", "sites.s"});
  compile({"-fPIC", "-shared", "-o", "libsites.so", "run.c", "sites.s"});
  compile({"-o", "shared", "entry.c", "./libsites.so"});
  for (const std::string program : {"fixed", "pie", "shared"}) {
    SCOPED_TRACE(program);
    if (!record("./" + program, 0, "rw:u", program + ".data")) {
      GTEST_SKIP() << "perf cannot record a data breakpoint here";
    }
    const json event = corrected({program + ".data"})[0];
    EXPECT_EQ(event["verdict"], "corrected");
    EXPECT_EQ(event["skid"]["instructions"], 1);
    EXPECT_EQ(event["skid"]["source"], "known");
    EXPECT_EQ(event["unexplained"], 0);
    EXPECT_EQ(event["in_place"], 7 * kCalls) << "REP MOVSB, but for its last repetition";
    const auto places = by_place(event);
    for (const Site& site : sites()) {
      SCOPED_TRACE(site.name);
      const auto found = places.find(
          place_of(program == "shared" ? "libsites.so" : program, site.function, site.name));
      ASSERT_NE(found, places.end());
      EXPECT_EQ(found->second["corrected"], site.executions);
      EXPECT_EQ(found->second["low"], site.executions);
      EXPECT_EQ(found->second["high"], site.executions);
    }
  }
}

TEST_F(CorrectCommand, AgreesWithExecutionBreakpoints) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  if (!record("./fixed", 0, "w:u", "fixed.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  const auto places = by_place(corrected({"fixed.data"})[0]);
  const auto module = symbols::Module::open(directory_ / "fixed");
  // As many as there are debug registers.
  const std::vector<Site> written{
      {"work", "store", 0}, {"work", "pop", 0}, {"callee", "in_callee", 0}, {"tail", "in_tail", 0}};
  std::vector<std::string> command{"perf", "stat", "-x,"};
  for (const Site& site : written) {
    const std::uint64_t address = module.functions_named(site.function).front().range.begin +
                                  module.symbol_value("site_" + site.name).value();
    command.insert(command.end(), {"-e", fmt::format("mem:{:#x}:x:u", address)});
  }
  command.emplace_back("./fixed");
  const auto counted = run_program(command, directory_.path());
  ASSERT_TRUE(counted.code.success()) << counted.err;
  std::size_t begin = 0;
  for (const Site& site : written) {
    const auto count = std::stoull(counted.err.substr(begin));
    begin = counted.err.find('\n', begin) + 1;
    EXPECT_EQ(places.at(place_of("fixed", site.function, site.name))["corrected"], count)
        << site.name;
  }
  EXPECT_EQ(places.count(place_of("fixed", "work", "odd")), 0u) << "it only reads";
}

TEST_F(CorrectCommand, KnowsDataOfFilesThatAreMappedLater) {
  SKIP_WITHOUT_BREAKPOINTS();
  write("data.c", "long watched; void touch(void) { watched += 1; }");
  write("falls.s", R"(
  .text
  .globl falls, into
  .type falls, @function
  .type into, @function
falls:
  movq watched@GOTPCREL(%rip), %rax
  movq %rdi, (%rax)
  .size falls, . - falls
into:
  nop
  ret
  .size into, . - into
  .section .note.GNU-stack,"",@progbits
)");
  write("main.c", R"(
#include <stdio.h>
extern long watched;
void touch(void);
void falls(long);
int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return printf("%p %p\n", (void*)&watched, (void*)&watched) < 0;
  for (long i = 0; i < 50; ++i) {
    falls(i);
    touch();
  }
  return 0;
}
)");
  compile({"-fPIC", "-shared", "-o", "libdata.so", "data.c"});
  compile({"-fPIE", "-pie", "-fPIC", "-o", "main", "main.c", "falls.s", "./libdata.so"});
  if (!record("./main", 0, "w:u", "main.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  const json event = corrected({"main.data"})[0];
  EXPECT_EQ(event["split"], 0);
  const json falls = by_place(event).at("falls+7");
  EXPECT_EQ(falls["low"], 50) << "callers write to the stack, which is not in the library";
}

TEST_F(CorrectCommand, BoundsCoverSitesThatShareASuccessor) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  if (!record("./fixed", 1, "rw:u", "fixed.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  const json event = corrected({"fixed.data"})[0];
  EXPECT_EQ(event["split"], kCalls);
  EXPECT_EQ(event["split_by"]["equal_shares"], kCalls);
  const auto places = by_place(event);
  const json& jump = places.at(place_of("fixed", "joined", "jump"));
  const json& falls = places.at(place_of("fixed", "joined", "falls"));
  EXPECT_EQ(jump["low"], 0);
  EXPECT_EQ(jump["high"], kCalls) << "of which 3/4 are right";
  EXPECT_EQ(falls["low"], 0);
  EXPECT_EQ(falls["high"], kCalls);
  const json whole = corrected({"fixed.data", "--by", "function"})[0]["places"];
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0]["symbol"], "joined");
  EXPECT_EQ(whole[0]["low"], kCalls) << "both are in it";
  EXPECT_EQ(whole[0]["corrected"], kCalls);
}

TEST_F(CorrectCommand, LeavesWhatAFilterDoesNotSelectInItsCopy) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  if (!record("./fixed", 0, "rw:u", "fixed.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  const auto samples = [&](const std::string& file) {
    std::vector<std::pair<std::uint64_t, std::string>> all;
    std::istringstream lines(run({"samples", file, "--columns", "time,ip"}).out);
    std::string time, ip;
    for (lines >> time >> ip; lines >> time >> ip;) all.emplace_back(std::stoull(time), ip);
    return all;
  };
  const auto before = samples("fixed.data");
  const std::uint64_t end = before.at(before.size() / 2).first;
  const std::string times = fmt::format(",{}.{:09}", end / 1'000'000'000, end % 1'000'000'000);
  const json event = corrected({"fixed.data", "--time", times, "-o", "half.data"})[0];
  const auto after = samples("half.data");
  ASSERT_EQ(after.size(), before.size());
  std::uint64_t selected = 0, moved = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before[i].first <= end) ++selected;
    if (before[i] == after[i]) continue;
    ++moved;
    EXPECT_LE(before[i].first, end);
  }
  EXPECT_EQ(event["samples"], selected);
  EXPECT_EQ(event["moved"], moved);
}

TEST_F(CorrectCommand, WritesARecordingThatPerfShowsCorrected) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-fPIE", "-pie", "-o", "pie", "run.c", "entry.c", "sites.s"});
  if (!record("./pie", 0, "rw:u", "pie.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  const std::string original = test::content_of(directory_ / "pie.data");
  std::map<std::string, std::uint64_t> expected, shown;
  for (const auto& [name, place] : by_place(corrected({"pie.data", "-o", "corrected.data"})[0])) {
    if (place["corrected"] > 0) expected[name] = place["corrected"].get<std::uint64_t>();
  }
  std::istringstream lines(done({"perf", "script", "-i", "corrected.data", "-F", "ip,sym,symoff"}));
  std::string address, symbol;
  while (lines >> address >> symbol) {
    const auto plus = symbol.find('+');
    const auto offset = std::stoull(symbol.substr(plus + 1), nullptr, 16);
    ++shown[fmt::format("{}+{}", symbol.substr(0, plus), offset)];
  }
  EXPECT_EQ(shown, expected);
  const auto annotated = run_program(
      {"perf", "annotate", "--stdio", "-i", "corrected.data", "-s", "callee", "--show-nr-samples"},
      directory_.path());
  if (annotated.code.success()) {
    EXPECT_THAT(annotated.out, ::testing::ContainsRegex(" 400 +:.*mov +%rax,")) << annotated.err;
  }
  constexpr const char* kMark = ", corrected by skidscan";
  EXPECT_THAT(done({"perf", "report", "-i", "corrected.data", "--header-only"}), HasSubstr(kMark));
  EXPECT_THAT(run({"inspect", "corrected.data"}).out, HasSubstr(kMark));
  const auto again = run({"correct", "corrected.data"});
  EXPECT_EQ(again.code.status, test::kFailed);
  EXPECT_THAT(again.err, HasSubstr("correct the original"));
  EXPECT_EQ(run({"correct", "pie.data", "-o", "pie.data"}).code.status, kUsage);
  EXPECT_EQ(test::content_of(directory_ / "pie.data"), original);

  namespace fs = std::filesystem;
  const std::string copy = test::content_of(directory_ / "corrected.data");
  fs::permissions(directory_ / "corrected.data", fs::perms::all);
  fs::create_symlink("corrected.data", directory_ / "link");
  // Name of earlier versions' temporary files.
  fs::create_symlink("pie", directory_ / "link.partial");
  const std::string program = test::content_of(directory_ / "pie");
  corrected({"pie.data", "-o", "link"});
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(test::content_of(directory_ / "corrected.data"), copy);
  EXPECT_EQ(test::content_of(directory_ / "pie"), program);
  EXPECT_EQ(fs::status(directory_ / "corrected.data").permissions(),
            fs::status(directory_ / "pie.data").permissions());

  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  const auto piped =
      run_program({"sh", "-c", R"(cat fifo > piped.data & "$1" correct pie.data -o fifo && wait)",
                   "sh", test::skidscan_program()},
                  directory_.path());
  EXPECT_EQ(piped.code.status, kDone) << piped.err;
  EXPECT_EQ(test::content_of(directory_ / "piped.data"), copy);
  EXPECT_TRUE(fs::is_fifo(directory_ / "fifo"));
  if (!test::make_device(directory_ / "null", test::MemoryDevice::null)) {
    GTEST_SKIP() << "no permission to make device nodes; the rest passed";
  }
  corrected({"pie.data", "-o", "null"});
  EXPECT_TRUE(fs::is_character_file(directory_ / "null"));
}

TEST_F(CorrectCommand, MovesTheFirstEntryOfCallChains) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  if (!record("./fixed", 0, "w:u", "fixed.data", {"-g"})) {
    GTEST_SKIP() << "perf cannot record a data breakpoint here";
  }
  corrected({"fixed.data", "-o", "corrected.data"});
  std::istringstream lines(done({"perf", "script", "-i", "corrected.data", "-F", "ip,sym,symoff"}));
  const auto sites = by_place(corrected({"fixed.data"})[0]);
  std::string line, before;
  std::size_t samples = 0;
  while (std::getline(lines, line)) {
    if (before.empty() &&
        !line.empty()) {  // the first entry, which perf shows as the sample's place
      ++samples;
      const auto plus = line.find('+');
      const auto begin = line.rfind(' ', plus) + 1;
      const auto offset = std::stoull(line.substr(plus + 1), nullptr, 16);
      const auto place = sites.find(fmt::format("{}+{}", line.substr(begin, plus - begin), offset));
      ASSERT_NE(place, sites.end()) << line;
      EXPECT_GT(place->second["corrected"], 0) << line;
    }
    before = line;
  }
  EXPECT_GT(samples, kCalls);
}

TEST_F(CorrectCommand, RefusesToCopyWhatCannotBeChangedInPlace) {
  if (const auto why = test::why_perf_cannot_record(directory_.path()); !why.empty()) {
    GTEST_SKIP() << why;
  }
  done({"perf", "record", "--no-bpf-event", "-q", "-z", "-e", "page-faults", "-o", "small.data",
        "--", "true"});
  const auto compressed = run({"correct", "small.data", "-o", "copy.data"});
  EXPECT_EQ(compressed.code.status, test::kFailed);
  EXPECT_THAT(compressed.err, HasSubstr("record without -z"));
  // A section that ends behind the file would go on in what is appended to a copy.
  done({"perf", "record", "--no-bpf-event", "-q", "-e", "page-faults", "-o", "damaged.data", "--",
        "true"});
  constexpr std::streamoff kSizeOfAttributes = 32;  // of struct perf_file_header
  std::fstream damaged(directory_ / "damaged.data", std::ios::in | std::ios::out);
  damaged.seekp(kSizeOfAttributes).write("\0\0\1\0\0\0\0\0", 8);
  damaged.close();
  const auto beyond = run({"correct", "damaged.data", "-o", "copy.data"});
  EXPECT_EQ(beyond.code.status, test::kFailed);
  EXPECT_THAT(beyond.err, HasSubstr("attribute section of 65536 bytes"));
  EXPECT_THAT(beyond.err, HasSubstr("correct without -o"));
  const auto unmoved = run({"correct", "probe", "-o", "copy.data"});
  EXPECT_EQ(unmoved.code.status, test::kFailed) << "an older copy.data would be taken for this one";
  EXPECT_THAT(unmoved.err, HasSubstr("not written: no event was corrected"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "copy.data"));
}

TEST_F(CorrectCommand, GuessesHowOftenAStringInstructionIsSampledItself) {
  SKIP_WITHOUT_BREAKPOINTS();
  if (const auto why = test::why_perf_cannot_record(directory_.path()); !why.empty()) {
    GTEST_SKIP() << why;
  }
  // Its samples are as many as its repetitions, of which the executions around it say nothing.
  write("string.s", R"(
  .globl _start
  .data
x: .quad 1
  .text
  .type f, @function
f: movl x(%rip), %eax
  nop
  movl $5, %ecx
  leaq x(%rip), %rdi
  testl $1, %ebx
  jz 1f
  movl x(%rip), %eax
1: rep stosb
  nop
  ret
  .size f, . - f
_start: movl $100, %ebx
2: call f
  decl %ebx
  jnz 2b
  movl $60, %eax
  xorl %edi, %edi
  syscall
)");
  compile({"-nostdlib", "-static", "-o", "string", "string.s"});
  std::istringstream symbols(done({"nm", "string"}));
  std::string line, datum;
  while (std::getline(symbols, line)) {
    if (line.ends_with(" d x")) datum = line.substr(0, line.find(' '));
  }
  done({"perf", "record", "--no-bpf-event", "-q", "-c", "1", "-e", "mem:0x" + datum + ":rw:u", "-o",
        "string.data", "./string"});
  const json event = corrected({"string.data"})[0];
  EXPECT_EQ(event["split_by"]["equal_shares"], event["split"]) << event;
  EXPECT_GT(event["split"], 0);
}

TEST_F(CorrectCommand, LeavesAccessesOfTheKernel) {
  SKIP_WITHOUT_BREAKPOINTS();
  write_sources();
  compile({"-no-pie", "-o", "fixed", "run.c", "entry.c", "sites.s"});
  if (!record("./fixed", 0, "rw", "fixed.data")) {
    GTEST_SKIP() << "perf cannot record a data breakpoint of the kernel here";
  }
  const json event = corrected({"fixed.data"})[0];
  EXPECT_EQ(event["verdict"], "corrected");
  EXPECT_GE(event["not_placed"].value("kernel", 0), 1) << "write() copies the datum";
  EXPECT_EQ(event["unexplained"], 0);
}

TEST_F(CorrectCommand, RefusesWhatHasNoConstantSkid) {
  if (!run({"synth", "--like", "gregg-2017"}).code.success()) GTEST_SKIP() << "no target";
  for (const json& event : corrected({"synth.data"})) {
    EXPECT_EQ(event["verdict"], "refused");
    EXPECT_TRUE(event["skid"]["instructions"].is_null());
  }
  const auto gated = run({"correct", "synth.data", "--fail-on", "refused"});
  EXPECT_EQ(gated.code.status, kGateFailed);
  EXPECT_THAT(gated.err, HasSubstr("--fail-on refused: synth.data: "));
  EXPECT_EQ(run({"correct", "synth.data", "-e", "nothing"}).code.status, kUsage);
}

TEST_F(CorrectCommand, RefusesTimers) {
  const std::string why = test::why_perf_cannot_record(directory_.path());
  if (!why.empty()) GTEST_SKIP() << why;
  const json event = corrected({"probe"})[0];
  EXPECT_EQ(event["verdict"], "refused");
  EXPECT_THAT(event["reason"].get<std::string>(), HasSubstr("timer"));
}

}  // namespace
}  // namespace skid
