// The functions of the kernel's modules by their files, compressed or not.
#include "src/locate/kernel_symbols.h"
#include "src/locate/module_store.h"
#include "src/locate/search_places.h"
#include "src/locate/symbolizer.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "tests/support/assembled_program.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::symbols {
namespace {

constexpr const char* kCode = R"(
  function first
  call second
  ret
  end first
  .section .init.text, "ax"
  function init
  ret
  end init
  .section .text.unlikely, "ax"
  function second
  nop
  ret
  end second
)";
constexpr const char* kThisModule = R"(
  .section .gnu.linkonce.this_module, "aw"
  .zero 64
)";

class KernelModuleTest : public ::testing::Test {
 protected:
  void build(const std::string& code, Arch arch = Arch::x86_64) {
    assembled_.emplace(file_, code, arch, std::vector<std::string>{"-nostdlib", "-r"});
  }
  /// The function at an offset in the mapping of a module, which `file` has.
  static std::optional<Function> function_at(const std::filesystem::path& file,
                                             const std::string& build_id, std::uint64_t offset) {
    locate::KernelSymbols kernel([] { return locate::RecordedKernel(); });
    locate::ModuleStore modules{locate::SearchPlaces()};
    modules.add_candidate(file);
    return locate::kernel_function_at(kernel, modules, {"/lib/modules/6.1.0/small.ko", build_id},
                                      kLoaded + offset, offset);
  }

  static constexpr std::uint64_t kLoaded = 0xffff'ffff'c010'0000;
  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_ / "small.ko";
  std::optional<test::AssembledProgram> assembled_;
};

#define SKIP_OR_BUILD_FILE(...)         \
  SKIP_WITHOUT_ASSEMBLER(Arch::x86_64); \
  build(__VA_ARGS__)

TEST_F(KernelModuleTest, NamesFunctionsWhereTheyWereLoaded) {
  SKIP_OR_BUILD_FILE(std::string(kCode) + kThisModule);
  const std::string id = assembled_->module().build_id();
  const auto first = function_at(file_, id, 1), second = function_at(file_, id, 7);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->name, "first");
  EXPECT_EQ(first->range.begin, kLoaded);
  EXPECT_EQ(second->name, "second") << "without .init.text between";
  EXPECT_FALSE(function_at(file_, id, 9)) << "beyond its code";
  EXPECT_FALSE(function_at(file_, std::string(id.rbegin(), id.rend()), 1)) << "another build";
  EXPECT_FALSE(function_at(file_, "", 1));
}

TEST_F(KernelModuleTest, IsNotUsedWithoutARecordedBuildId) {
  SKIP_OR_BUILD_FILE(std::string(kCode) + kThisModule);
  locate::ModuleStore modules{locate::SearchPlaces{.candidates = {file_}}};
  (void)modules.find({"/usr/bin/program", "00112233"});
  EXPECT_THAT(
      modules.unused(),
      ElementsAre(Pair(file_, fmt::format("{}: not used: no sampled module has its build-id {}; "
                                          "'perf record --buildid-all' notes those of modules",
                                          file_.string(), assembled_->module().build_id()))));
}

TEST_F(KernelModuleTest, ReadsCompressedFiles) {
  SKIP_OR_BUILD_FILE(std::string(kCode) + kThisModule);
  for (const auto& [program, extension] :
       {std::pair{"xz", ".xz"}, {"zstd", ".zst"}, {"gzip", ".gz"}}) {
    if (!find_program(program)) continue;
    ASSERT_TRUE(run_program({program, "--keep", "--quiet", file_.string()}).code.success());
    const std::filesystem::path compressed = file_.string() + extension;
    const auto second = function_at(compressed, assembled_->module().build_id(), 7);
    ASSERT_TRUE(second) << program;
    EXPECT_EQ(second->name, "second");
    std::filesystem::resize_file(compressed, std::filesystem::file_size(compressed) - 8);
    EXPECT_THROW(Module::open(compressed), InputError) << program;
  }
}

TEST_F(KernelModuleTest, RelocatesCallsOfItsOwnFunctions) {
  SKIP_OR_BUILD_FILE(std::string(kCode) + kThisModule);
  const Module& module = assembled_->module();
  EXPECT_TRUE(module.is_kernel_module());
  EXPECT_TRUE(module.unresolved_fields().empty());
  const std::vector<std::byte> call{std::byte{0xe8}, std::byte{1}, {}, {}, {}};
  EXPECT_EQ(module.code({0, 5}), call);
}

TEST_F(KernelModuleTest, RelocatesEachFieldOfArm64) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build(std::string(R"(
  function work
  bl leaf
  b leaf
  tbz w0, #3, leaf
  cbz x0, leaf
  adr x0, leaf
  ldr x0, leaf
  adrp x1, data
  add x1, x1, :lo12:data
  ldrb w2, [x1, :lo12:data]
  ldrh w2, [x1, :lo12:data]
  ldr w2, [x1, :lo12:data]
  ldr x2, [x1, :lo12:data]
  ldr q0, [x1, :lo12:data]
  movz x3, :abs_g3:data
  movk x3, :abs_g2_nc:data
  movk x3, :abs_g1_nc:data
  movk x3, :abs_g0_nc:data
  bl printk
  end work
  function leaf
  ret
  end leaf
  .section .text.unlikely, "ax"
  function rare
  ret
  end rare
  .data
  .zero 0x1230
  .balign 16
  .globl data
  .hidden data
data:
)") + kThisModule,
        Arch::aarch64);
  const Module& module = assembled_->module();
  ASSERT_TRUE(module.is_kernel_module());
  const std::uint64_t data = module.value_of("data").value();
  constexpr std::uint64_t kPrintk = 17 * 4, kLeaf = 18 * 4, kEnd = kLeaf + 4;
  std::vector<std::string> lines;
  for (const auto& line : Disassembler(Arch::aarch64).decode(module.code({0, kEnd}), 0, 100)) {
    lines.push_back(line.text);
  }
  const auto leaf = [&](const char* instruction) {
    return fmt::format("{}#{:#x}", instruction, kLeaf);
  };
  const auto load = [&](const char* instruction) {
    return fmt::format("{}, [x1, #{:#x}]", instruction, data % 4096);
  };
  const auto move = [&](const char* instruction, unsigned shift) {
    const std::uint64_t value = data >> shift & 0xffff;
    return fmt::format("{} x3, #{}{}", instruction,
                       value > 9 ? fmt::format("{:#x}", value) : fmt::format("{}", value),
                       shift == 0 ? "" : fmt::format(", lsl #{}", shift));
  };
  EXPECT_THAT(
      lines,
      ElementsAre(leaf("bl "), leaf("b "), leaf("tbz w0, #3, "), leaf("cbz x0, "), leaf("adr x0, "),
                  leaf("ldr x0, "), fmt::format("adrp x1, #{:#x}", data - data % 4096),
                  fmt::format("add x1, x1, #{:#x}", data % 4096), load("ldrb w2"), load("ldrh w2"),
                  load("ldr w2"), load("ldr x2"), load("ldr q0"), "movz x3, #0, lsl #48",
                  move("movk", 32), move("movk", 16), move("movk", 0), "bl #0x3ff8000", "ret"));
  ASSERT_THAT(module.unresolved_fields(), SizeIs(1));
  EXPECT_EQ(module.unresolved_fields().front().begin, kPrintk);
  EXPECT_EQ(module.address_at(kLeaf), kLeaf);
  EXPECT_FALSE(module.address_at(kEnd)) << "where .text.unlikely is depends on the CPU";
}

TEST_F(KernelModuleTest, DoesNotKnowWhatReplacesAnAdrpAtTheEndOfAPage) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build(std::string(R"(
  function work
  .rept 0xff4 / 4
  nop
  .endr
  .rept 4
  adrp x1, data
  .endr
  end work
  .data
data:
)") + kThisModule,
        Arch::aarch64);
  std::vector<std::uint64_t> begins;
  for (const AddressRange& field : assembled_->module().unresolved_fields()) {
    begins.push_back(field.begin);
  }
  EXPECT_THAT(begins, ElementsAre(0xff8, 0xffc));
}

TEST_F(KernelModuleTest, DoesNotKnowWhereCodeAfterThePltIs) {
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build(std::string(R"(
  .section .plt, "ax"
  .byte 0
  .section .text.late, "ax"
  function late
  ret
  end late
)") + kThisModule,
        Arch::aarch64);
  ASSERT_TRUE(assembled_->module().is_kernel_module());
  EXPECT_FALSE(assembled_->module().address_at(0));
}

TEST_F(KernelModuleTest, IsAsLargeAsItsArchitectureAllows) {
  const std::string large = std::string(R"(
  function work
  ret
  end work
  .bss
  .zero 0x5000000
)") + kThisModule;
  SKIP_OR_BUILD_FILE(large);
  EXPECT_TRUE(assembled_->module().is_kernel_module());
  SKIP_WITHOUT_ASSEMBLER(Arch::aarch64);
  build(large, Arch::aarch64);
  EXPECT_FALSE(assembled_->module().is_kernel_module()) << "80 MiB; a branch has 128";
}

TEST_F(KernelModuleTest, IsNoOtherObjectFile) {
  SKIP_OR_BUILD_FILE(kCode);
  EXPECT_FALSE(assembled_->module().is_kernel_module());
  EXPECT_FALSE(assembled_->module().function_at(0));
}

}  // namespace
}  // namespace skid::symbols
