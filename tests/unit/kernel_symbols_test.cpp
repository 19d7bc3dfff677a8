// Which table of the kernel's symbols is believed for a recording, and where it says the kernel
// lay.
#include "src/locate/kernel_symbols.h"

#include "src/locate/replay.h"
#include "src/locate/symbolizer.h"
#include "src/perfdata/bytes.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/location.h"
#include "tests/support/hex.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::locate {
namespace {

constexpr std::string_view kRunningId = "4a5a9b0affb66c437abcd455d2738af879985fa9";
constexpr std::string_view kOtherId = "0000000000000000000000000000000000000001";

/// An ELF note in the byte order of this machine, as /sys/kernel/notes holds them.
std::string note(std::uint32_t type, std::string_view name, std::string_view content) {
  test::ByteWriter out(perfdata::kHostOrder);
  const auto padded = [](std::string_view bytes) {
    std::string result(bytes);
    result.resize((result.size() + 3) / 4 * 4);
    return result;
  };
  out.u32(static_cast<std::uint32_t>(name.size() + 1));
  out.u32(static_cast<std::uint32_t>(content.size())).u32(type);
  return out.bytes() + padded(std::string(name) + '\0') + padded(content);
}

std::string bytes_of(std::string_view digits) {
  const auto bytes = test::hex(digits);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(BuildIdInNotes, IsFoundAmongOtherNotes) {
  const auto id = note(3, "GNU", bytes_of(kRunningId));
  EXPECT_EQ(build_id_in_notes(id), kRunningId);
  EXPECT_EQ(build_id_in_notes(note(6, "Linux", "x") + note(3, "Xen", "12") + id), kRunningId);
  EXPECT_EQ(build_id_in_notes(note(6, "Linux", "x")), "");
  EXPECT_EQ(build_id_in_notes(""), "");
  for (std::size_t size = 0; size < id.size(); ++size) {
    EXPECT_EQ(build_id_in_notes(id.substr(0, size)), "") << size;
  }
  // A size that would wrap around when it is rounded up.
  EXPECT_EQ(build_id_in_notes("\xff\xff\xff\xff\xff\xff\xff\xff\x03" + std::string(23, '\0')), "");
}

class KernelSymbolsTest : public ::testing::Test {
 protected:
  KernelSymbolsTest() {
    files_.kallsyms = directory_ / "kallsyms";
    files_.notes = directory_ / "notes";
    files_.cache = directory_ / "cache";
    files_.os_release = "6.1.0";
    std::ofstream(files_.notes) << note(3, "GNU", bytes_of(kRunningId));
    write_table("running");
  }

  static std::string table(const std::string& name) {
    return "ffffffff81000000 T _text\nffffffff81000100 T " + name +
           "\nffffffff81000200 T end\nffffffffc0000010 t in_module\t[snd_hda]\n";
  }
  void write_table(const std::string& name) const { std::ofstream(files_.kallsyms) << table(name); }
  void cache_table(std::string_view id, const std::string& name) const {
    const auto folder = files_.cache / "[kernel.kallsyms]" / std::string(id);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kallsyms") << table(name);
  }

  static RecordedKernel recorded(std::string_view build_id, const std::string& release = "6.1.0") {
    return {std::string(build_id), release, symbols::KernelReference{"_text", 0xffffffff81000000}};
  }
  /// "NAME|REMARK|REMARK" of an address, by a recording of this kernel.
  std::string found(const RecordedKernel& recorded,
                    std::uint64_t address = 0xffffffff81000110) const {
    KernelSymbols kernel([&] { return recorded; }, files_);
    const std::string name = name_of(kernel, address);
    EXPECT_EQ(name_of(kernel, address + 0x10), name);
    return fmt::format("{}|{}", name, fmt::join(kernel.remarks(), "|"));
  }
  static std::string name_of(KernelSymbols& kernel, std::uint64_t address,
                             const std::string& dso = "[kernel.kallsyms]",
                             std::uint64_t offset = 0) {
    const auto found = kernel.symbol_at({dso, {}}, address, offset);
    return found ? found->name : "";
  }

  test::TemporaryDirectory directory_;
  KernelFiles files_;
};

TEST_F(KernelSymbolsTest, AreThoseOfATableThatIsOfTheRecordedKernel) {
  const auto with_remark = [](const std::string& name, std::string_view remark) {
    return MatchesRegex(fmt::format("{}\\|[^|]*{}[^|]*", name, remark));  // one alone
  };
  EXPECT_EQ(found(recorded(kRunningId, "another release does not matter")), "running|");
  EXPECT_THAT(found(recorded(kOtherId)), with_remark("", kOtherId));
  cache_table(kOtherId, "cached");
  EXPECT_EQ(found(recorded(kOtherId)), "cached|") << "by perf";
  // Without a build-id the release says which it is.
  EXPECT_THAT(found(recorded({})), with_remark("running", "no build-id"));
  EXPECT_THAT(found(recorded({}, "6.2.0")), with_remark("", "6\\.2\\.0"));
  EXPECT_THAT(found(recorded({}, "")), StartsWith("|"));
  auto kernel = recorded(kRunningId);
  kernel.reference->symbol = "_stext";
  EXPECT_THAT(found(kernel), with_remark("", "no symbol '_stext'"));
  kernel.reference.reset();
  EXPECT_THAT(found(kernel), with_remark("running", "where it was loaded"));
  std::ofstream(files_.kallsyms) << "0000000000000000 T _text\n0000000000000000 T x\n";
  EXPECT_THAT(found(recorded(kRunningId), 0), with_remark("", "kptr_restrict"));
  fs::remove(files_.kallsyms);
  EXPECT_THAT(found(recorded(kRunningId)), with_remark("", "kallsyms"));
}

TEST_F(KernelSymbolsTest, ShiftsSymbolsByTheLoadAddress) {
  auto elsewhere = recorded(kRunningId);
  elsewhere.reference->address = 0xffffffffa2000000;
  KernelSymbols kernel([&] { return elsewhere; }, files_);
  const auto found = kernel.symbol_at({"[kernel.kallsyms]", {}}, 0xffffffffa2000110, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "running");
  EXPECT_EQ(found->range, (AddressRange{0xffffffffa2000100, 0xffffffffa2000200}));
  EXPECT_EQ(name_of(kernel, 0xffffffff81000110), "");
}

TEST_F(KernelSymbolsTest, UsesModuleSymbolsOnlyAtTheRecordedAddress) {
  const std::string file = "/lib/modules/6.1.0/kernel/snd-hda.ko.xz";
  KernelSymbols kernel([&] { return recorded(kRunningId); }, files_);
  EXPECT_EQ(name_of(kernel, 0xffffffffc0000020, file, 0x20), "in_module");
  EXPECT_EQ(name_of(kernel, 0xffffffffc0000020, "[snd_hda]", 0x20), "in_module");
  EXPECT_EQ(name_of(kernel, 0xffffffffc0000020, "[other]", 0x20), "");
  KernelSymbols moved([&] { return recorded(kRunningId); }, files_);
  EXPECT_EQ(name_of(moved, 0xffffffffc0000020, "[snd_hda]", 0x2020), "");
  EXPECT_THAT(moved.remarks(), ElementsAre(HasSubstr("not loaded where")));
}

using RecordedKernelTest = test::RecordingTest;

TEST_F(RecordedKernelTest, ComesFromTheMappingAndTheFeatures) {
  constexpr std::uint64_t kText = 0xffffffff81000000;
  auto builder = test::RecordingBuilder().event({}).mmap(-1, kText, 0x1000, kText,
                                                         "[kernel.kallsyms]_text", 0, 1);
  builder.feature(perfdata::HEADER_OSRELEASE, builder.writer().counted_text("6.1.0").bytes());
  auto recording = open(builder);
  auto spaces = read_address_spaces(recording);
  spaces.set_build_id("[kernel.kallsyms]", kRunningId);
  const auto kernel = recorded_kernel(recording, spaces);
  EXPECT_EQ(kernel.build_id, kRunningId);
  EXPECT_EQ(kernel.os_release, "6.1.0");
  EXPECT_EQ(kernel.reference, (symbols::KernelReference{"_text", kText}));
}

}  // namespace
}  // namespace skid::locate
