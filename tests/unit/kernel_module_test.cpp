// The functions of the kernel's modules by their files, compressed or not.
#include "src/locate/kernel_symbols.h"
#include "src/locate/module_store.h"
#include "src/locate/symbolizer.h"
#include "src/support/error.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "tests/support/assembled_program.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

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
  void build(const std::string& code) {
    assembled_.emplace(file_, code, Arch::x86_64, std::vector<std::string>{"-nostdlib", "-r"});
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

TEST_F(KernelModuleTest, IsNoOtherObjectFile) {
  SKIP_OR_BUILD_FILE(kCode);
  EXPECT_FALSE(assembled_->module().is_kernel_module());
  EXPECT_FALSE(assembled_->module().function_at(0));
}

}  // namespace
}  // namespace skid::symbols
