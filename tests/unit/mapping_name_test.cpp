// The names of what has no file of its own.
#include "src/locate/mapping_name.h"

#include "tests/support/prelude.h"

namespace skid::locate {
namespace {

TEST(KernelMappingName, SplitsOffTheKernelsReferenceSymbol) {
  const auto name = kernel_mapping_name("[kernel.kallsyms]_text");
  EXPECT_TRUE(name.is_kernel);
  EXPECT_EQ(name.dso, "[kernel.kallsyms]");
  EXPECT_EQ(name.reference, "_text");
  EXPECT_EQ(kernel_mapping_name("[kernel.kallsyms]_stext").reference, "_stext");
  EXPECT_EQ(kernel_mapping_name("[kernel.kallsyms]").reference, "");
  EXPECT_TRUE(kernel_mapping_name("[kernel.kallsyms").is_kernel);
}

TEST(KernelMappingName, LeavesModulesAsTheyAre) {
  EXPECT_FALSE(kernel_mapping_name("[ext4]").is_kernel);
  EXPECT_EQ(kernel_mapping_name("/lib/modules/6.1/ext4.ko").dso, "/lib/modules/6.1/ext4.ko");
  EXPECT_EQ(kernel_mapping_name("").dso, "");
}

TEST(ModuleName, IsTheOneThatTheKernelUses) {
  EXPECT_EQ(module_name("/lib/modules/6.1/snd-hda-intel.ko.xz"), "snd_hda_intel");
  EXPECT_EQ(module_name("/lib/modules/6.1/ext4.ko"), "ext4");
  EXPECT_EQ(module_name("[ext4]"), "ext4");
  EXPECT_EQ(module_name("[]"), "");
  EXPECT_EQ(module_name("/usr/bin/true"), "");
  EXPECT_EQ(module_name("bpf_prog_1"), "");
  EXPECT_EQ(module_name(""), "");
}

TEST(KernelDsoName, IsAModulesFileOnlyWithItsBuildId) {
  EXPECT_EQ(kernel_dso_name({"/lib/ext4.ko", ""}), "[ext4]");
  EXPECT_EQ(kernel_dso_name({"/lib/ext4.ko", "00"}), "/lib/ext4.ko");
  EXPECT_EQ(kernel_dso_name({"[ext4]", ""}), "[ext4]");
  EXPECT_EQ(kernel_dso_name({"[kernel.kallsyms]", ""}), "[kernel.kallsyms]");
}

TEST(UserMappingName, OfExecutableMemoryIsThePerfMapFile) {
  const auto name = [](const std::string& path, bool executable) {
    perfdata::MappingRecord mapping;
    mapping.pid = 123;
    mapping.path = path;
    mapping.executable = executable;
    return user_mapping_name(mapping);
  };
  for (const std::string path : {"//anon", "/dev/zero (deleted)", "/anon_hugepage", "[stack]",
                                 "/SYSV00000000 (deleted)", "[heap]"}) {
    EXPECT_EQ(name(path, true), "/tmp/perf-123.map") << path;
    EXPECT_EQ(name(path, false), path);
  }
  EXPECT_EQ(name("/usr/bin/x", true), "/usr/bin/x");
  EXPECT_EQ(name("[vdso]", true), "[vdso]");
}

TEST(IsPseudoFile, RecognizesNamesThatMustNotBeOpened) {
  for (const std::string path : {"", "//anon", "[vdso]", "[heap]", "/memfd:x (deleted)",
                                 "/usr/bin/x (deleted)", "/dev/zero", "/tmp/perf-12.map"}) {
    EXPECT_TRUE(is_pseudo_file(path)) << path;
  }
  for (const std::string path :
       {"/usr/bin/x", "/tmp/perf-.map", "/tmp/perf-12.mapx", "/tmp/perf-x.map", "/tmp/perf-"}) {
    EXPECT_FALSE(is_pseudo_file(path)) << path;
  }
}

}  // namespace
}  // namespace skid::locate
