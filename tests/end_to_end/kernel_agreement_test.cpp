// Every symbol of the kernel, and kernels that were loaded elsewhere: recordings built byte by byte
// with samples at each address that matters, read by `skidscan samples` and by `perf script`.
#include "src/audit/block_bias.h"
#include "src/perfdata/features.h"
#include "tests/end_to_end/agreement.h"
#include "tests/support/facts.h"
#include "tests/support/hex.h"
#include "tests/support/recording_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/utsname.h>

namespace skid {
namespace {

using test::RecordingBuilder;

constexpr std::uint16_t kKernelMode = 1;
constexpr std::uint16_t kGuestKernelMode = 4;
constexpr std::int32_t kKernelPid = -1;
/// A build-id that no kernel has; perf and skidscan look for it in the build-id cache.
constexpr std::string_view kMadeUpId = "00112233445566778899aabbccddeeff00112233";
constexpr std::string_view kModuleId = "ffeeddccbbaa99887766554433221100ffeeddcc";
constexpr std::string_view kNotedModule = "/lib/modules/6.1.0/kernel/no-ted.ko";

class KernelAgreement : public test::AgreementTest {
 protected:
  static RecordingBuilder builder(const test::EventToBuild& event = {}) {
    RecordingBuilder builder;
    builder.attribute_size(112);  // nothing after the fields that the builder writes
    builder.event(event);
    return builder;
  }

  static void map_kernel(RecordingBuilder& builder, std::uint64_t begin, std::uint64_t size,
                         std::uint64_t page_offset, std::string_view path) {
    builder.mmap(kKernelPid, begin, size, page_offset, path, 0, kKernelMode);
  }

  /// Samples of pid 7 in the kernel, 1 ns apart.
  static void sample_kernel(RecordingBuilder& builder, const std::vector<std::uint64_t>& addresses,
                            std::uint16_t mode = kKernelMode) {
    std::uint64_t time = 0;
    for (const auto address : addresses) builder.sample(address, 7, ++time, mode);
  }

  struct BuildId {
    std::string_view path, build_id;
  };
  static void set_build_ids(RecordingBuilder& builder, const std::vector<BuildId>& build_ids) {
    std::string section;
    for (const auto& [path, build_id] : build_ids) {
      const auto id = test::hex(build_id);
      section += builder.build_id_entry(path, {reinterpret_cast<const char*>(id.data()), id.size()},
                                        kKernelMode | perfdata::PERF_RECORD_MISC_BUILD_ID_SIZE, 20);
    }
    builder.feature(perfdata::HEADER_BUILD_ID, section);
  }

  static void set_os_release(RecordingBuilder& builder, std::string_view release) {
    builder.feature(perfdata::HEADER_OSRELEASE, builder.writer().counted_text(release).bytes());
  }

  /// Puts a table of symbols into the build-id cache below the test's directory.
  void cache_kallsyms(std::string_view build_id, std::string_view table) const {
    const auto folder = directory_ / ".debug" / "[kernel.kallsyms]" / std::string(build_id);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kallsyms") << table;
  }

  Both read_built(const RecordingBuilder& builder, const std::string& home = {}) const {
    builder.write(recording());
    return read_with_both(recording(), "time,pid,tid,event,ip,sym,symoff,dso", home);
  }
};

struct RunningSymbols {
  std::uint64_t reference = 0;  ///< address of _text
  std::vector<std::uint64_t> addresses;
};

/// The symbols of the kernel itself, from _text to the last one of code or data: there perf lets
/// the kernel's mapping end.
RunningSymbols running_symbols() {
  RunningSymbols symbols;
  std::uint64_t last = 0;
  std::ifstream kallsyms("/proc/kallsyms");
  for (std::string line; std::getline(kallsyms, line);) {
    if (line.find('[') != std::string::npos) continue;
    std::istringstream fields(line);
    std::uint64_t address = 0;
    std::string type, name;
    fields >> std::hex >> address >> type >> name;
    if (name == "_text") symbols.reference = address;
    symbols.addresses.push_back(address);
    if (std::string_view("TtWwDdBb").find(type) != std::string_view::npos) {
      last = std::max(last, address);
    }
  }
  std::sort(symbols.addresses.begin(), symbols.addresses.end());
  auto& addresses = symbols.addresses;
  addresses.erase(addresses.begin(),
                  std::lower_bound(addresses.begin(), addresses.end(), symbols.reference));
  addresses.erase(std::upper_bound(addresses.begin(), addresses.end(), last), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return symbols;
}

/// Of symbols that share an address one is named; where one ends shows at the byte before the next.
TEST_F(KernelAgreement, HoldsAtEverySymbolOfTheRunningKernelWhereverItWasLoaded) {
  SKIP_WITHOUT("kernel-symbols");
  const auto symbols = running_symbols();
  if (symbols.reference == 0) GTEST_SKIP() << "this kernel has no symbol _text";
  struct utsname name {};
  ASSERT_EQ(::uname(&name), 0);
  // Where the running kernel is, each symbol; elsewhere, one of eight.
  using Load = std::pair<std::uint64_t, std::size_t>;
  for (const auto& [elsewhere, step] : {Load{0, 1}, Load{0x5000000, 8}}) {
    auto built = builder();
    map_kernel(built, symbols.reference + elsewhere,
               symbols.addresses.back() - symbols.reference + 0x1000, symbols.reference + elsewhere,
               "[kernel.kallsyms]_text");
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < symbols.addresses.size(); i += step) {
      const auto address = symbols.addresses[i];
      places.push_back(address + elsewhere);
      if (address > symbols.reference) places.push_back(address + elsewhere - 1);
    }
    sample_kernel(built, places);
    set_os_release(built, name.release);
    const auto both = read_built(built);
    expect_equal(both, "loaded " + std::to_string(elsewhere) + " bytes higher");
    EXPECT_GT(named_kernel_samples(both.perf), 20000 / static_cast<int>(step));
    EXPECT_THAT(both.skidscan_says, HasSubstr("holds no build-id"));
  }
}

constexpr const char* kTable =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T first_alias\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81001000 t local\n"
    "ffffffff81002000 W weak\n"
    "ffffffff81002000 T strong_but_earlier\n"
    "ffffffff81002000 t a_much_longer_name\n"
    "ffffffff81003000 T __long\n"
    "ffffffff81003000 T short\n"
    "ffffffff81004000 r constant\n"
    "ffffffff81005000 d datum\n"
    "ffffffff81006010 T last_of_the_kernel\n"
    "ffffffffc0000010 t module_begin\t[some_module]\n"
    "ffffffffc0000400 t module_end\t[some_module]\n"
    "ffffffffc0010000 t other_begin\t[other]\n"
    "ffffffffc0010020 d other_datum\t[other]\n"
    "ffffffffc0020100 t noted_begin\t[no_ted]\n"
    "ffffffffc0020300 t noted_end\t[no_ted]\n";

std::vector<std::uint64_t> every_16_bytes(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint64_t> places;
  for (auto place = begin; place < end; place += 16) places.push_back(place);
  return places;
}

TEST_F(KernelAgreement, HoldsForACachedTableAndAKernelThatWasLoadedElsewhere) {
  cache_kallsyms(kMadeUpId, kTable);
  for (const std::uint64_t elsewhere : {0x0ULL, 0x1000000ULL}) {
    auto built = builder();
    const std::uint64_t text = 0xffffffff81000000 + elsewhere;
    map_kernel(built, text, 0x8000, text, "[kernel.kallsyms]_text");
    sample_kernel(built, every_16_bytes(text - 0x1000, text + 0x9000));
    set_build_ids(built, {{"[kernel.kallsyms]", kMadeUpId}});
    const auto both = read_built(built, directory_.path().string());
    expect_equal(both, std::to_string(elsewhere));
    EXPECT_EQ(samples_of(both.skidscan, "_text"), 256);
    EXPECT_EQ(samples_of(both.skidscan, "a_much_longer_name"), 256);
  }
}

TEST_F(KernelAgreement, HoldsForModules) {
  cache_kallsyms(kMadeUpId, kTable);
  auto built = builder();
  map_kernel(built, 0xffffffff81000000, 0x8000, 0xffffffff81000000, "[kernel.kallsyms]_text");
  map_kernel(built, 0xffffffffc0000000, 0x3000, 0, "/lib/modules/6.1.0/kernel/some-module.ko.xz");
  map_kernel(built, 0xffffffffc0010000, 0x3000, 0, "[other]");
  map_kernel(built, 0xffffffffc0020000, 0x1000, 0, kNotedModule);
  // First one of the kernel, so that perf has read the table when it comes to the modules.
  std::vector<std::uint64_t> places = {0xffffffff81001000};
  for (const std::uint64_t begin :
       {0xffffffffc0000000ULL, 0xffffffffc0010000ULL, 0xffffffffc0020000ULL}) {
    const auto more = every_16_bytes(begin, begin + 0x2000);
    places.insert(places.end(), more.begin(), more.end());
  }
  sample_kernel(built, places);
  set_build_ids(built, {{"[kernel.kallsyms]", kMadeUpId}, {kNotedModule, kModuleId}});
  const auto both = read_built(built, directory_.path().string());
  expect_equal(both, "modules");
  EXPECT_GT(samples_of(both.skidscan, "module_begin"), 10);
  EXPECT_GT(samples_of(both.skidscan, "other_begin"), 1);
  EXPECT_GT(samples_of(both.skidscan, "noted_begin"), 1);
  EXPECT_EQ(samples_in_file(both.skidscan, std::string(kNotedModule)), 256);
  EXPECT_EQ(samples_in_file(both.skidscan, "[some_module]"), 512);
}

/// perf takes the running kernel's symbols for any kernel without a build-id.
TEST_F(KernelAgreement, EndsWherePerfNamesAnotherReleaseByTheRunningOne) {
  SKIP_WITHOUT("kernel-symbols");
  const auto symbols = running_symbols();
  if (symbols.reference == 0) GTEST_SKIP() << "this kernel has no symbol _text";
  auto built = builder();
  map_kernel(built, symbols.reference, 0x1000000, symbols.reference, "[kernel.kallsyms]_text");
  sample_kernel(built, {symbols.reference, symbols.reference + 0x1000});
  set_os_release(built, "2.6.0-of-another-machine");
  const auto both = read_built(built);
  EXPECT_EQ(named_kernel_samples(both.perf), 2);
  EXPECT_EQ(named_kernel_samples(both.skidscan), 0);
  EXPECT_EQ(samples_in_file(both.skidscan, "[kernel.kallsyms]"), 2);
  EXPECT_THAT(both.skidscan_says, HasSubstr("made on release 2.6.0-of-another-machine"));
}

/// perf leaves out what ran in guests unless it is told of them; skidscan lists it without a place.
TEST_F(KernelAgreement, EndsAtGuests) {
  auto built = builder();
  map_kernel(built, 0xffffffff81000000, 0x8000, 0xffffffff81000000, "[kernel.kallsyms]_text");
  sample_kernel(built, {0xffffffff81000100, 0xffffffff81000200}, kGuestKernelMode);
  const auto both = read_built(built);
  EXPECT_EQ(test::samples_in(both.perf), 0);
  EXPECT_EQ(test::samples_in(both.skidscan), 2);
  EXPECT_EQ(samples_in_file(both.skidscan, ""), 2);
}

/// Generic events are named alike; of the rest skidscan prints more than perf.
TEST_F(KernelAgreement, EndsAtUnnamedRawEvents) {
  struct Case {
    std::uint32_t type;
    std::uint64_t config;
    unsigned precise_ip;
    std::string perf, skidscan;
  };
  const std::vector<Case> cases = {
      {PERF_TYPE_HARDWARE, 1, 0, "instructions:HG", "instructions:HG"},
      {PERF_TYPE_HARDWARE, 0, 2, "cycles:pp", "cycles:pp"},
      {PERF_TYPE_SOFTWARE, 2, 0, "page-faults:HG", "page-faults:HG"},
      {PERF_TYPE_BREAKPOINT, 0, 0, "mem:0x0::HG", "mem:0x0::HG"},
      {PERF_TYPE_RAW, 0x1cd, 0, "raw 0x1cd:HG", "r1cd:HG"},
      // Here perf's line goes on with ": 8", which reads as the end of a name.
      {8, 0x1cd, 0, "unknown attr type", "type 8 config 0x1cd"}};
  for (const auto& [type, config, precise_ip, perf, skidscan] : cases) {
    auto built = builder({.type = type, .config = config, .precise_ip = precise_ip});
    built.sample(0x1000, 7, 1);
    const auto both = read_built(built);
    ASSERT_EQ(both.perf.size(), 1u) << both.perf_says;
    ASSERT_EQ(both.skidscan.size(), 1u) << both.skidscan_says;
    EXPECT_EQ(both.perf.begin()->first.event, perf);
    EXPECT_EQ(both.skidscan.begin()->first.event, skidscan);
  }
}

TEST_F(KernelAgreement, EndsAtTime) {
  auto built = builder({.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID});
  built.record(PERF_RECORD_SAMPLE, 2, built.writer().u64(0x1000).i32(7).i32(7).bytes());
  const auto both = read_built(built);
  EXPECT_FALSE(both.perf_reads);
  EXPECT_THAT(both.perf_says, HasSubstr("do not have TIME attribute"));
  ASSERT_EQ(both.skidscan.size(), 1u);
  EXPECT_EQ(both.skidscan.begin()->first.time, "0");
}

}  // namespace
}  // namespace skid
