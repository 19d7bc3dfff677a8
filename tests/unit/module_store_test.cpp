// Where the files of a recording's mappings are found, and which of them are refused.
#include "src/locate/module_store.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record.h"
#include "src/support/file.h"
#include "src/support/file_identity.h"
#include "src/support/process.h"
#include "src/symbols/address_space.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/support/variable.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

namespace skid::locate {
namespace {

using namespace std::string_literals;
using Kind = ModuleStore::Remark::Kind;

class ModuleStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT("cc", "objcopy", "strip");
    program_ = build("program", "int wanted(int n) { return n * 3; }\n");
    build_id_ = symbols::Module::open(program_).build_id();
    ASSERT_FALSE(build_id_.empty());
  }

  static void run(const std::vector<std::string>& argv) {
    const auto done = run_program(argv);
    ASSERT_TRUE(done.code.success()) << shell_quoted(argv) << done.err;
  }

  fs::path build(const std::string& name, const std::string& source) const {
    const fs::path file = directory_ / name;
    fs::path text = file;
    text += ".c";
    std::ofstream(text) << source << "int main(void) { return wanted(0); }\n";
    run({"cc", "-g", "-O0", "-Wl,--build-id=sha1", "-o", file.string(), text.string()});
    return file;
  }

  /// Puts a file where it is looked for, directories and all.
  void put(const fs::path& from, const fs::path& place) const {
    fs::create_directories((directory_.path() / place).parent_path());
    fs::copy_file(from, directory_.path() / place);
  }

  /// Of the debug file of `program_`: symbols and lines, no code.
  fs::path debug_file() const {
    const fs::path debug = directory_ / "only.debug";
    run({"objcopy", "--only-keep-debug", program_.string(), debug.string()});
    return debug;
  }
  std::string below_build_id(const std::string& root, const std::string& suffix = {}) const {
    return root + "/.build-id/" + build_id_.substr(0, 2) + "/" + build_id_.substr(2) + suffix;
  }
  symbols::MappedFile gone() const { return {"/nowhere/program", build_id_}; }

  static std::vector<Kind> kinds_of(const ModuleStore& store) {
    return test::mapped(store.remarks(), &ModuleStore::Remark::kind);
  }
  static bool has_function(const ModuleStore::Found& found) {
    return found.module != nullptr && !found.module->functions_named("wanted").empty();
  }
  static bool has_code(const ModuleStore::Found& found) {
    if (!has_function(found)) return false;
    return !found.module->code(found.module->functions_named("wanted").front().range).empty();
  }

  test::TemporaryDirectory directory_;
  fs::path program_;
  std::string build_id_;
};

TEST_F(ModuleStoreTest, UsesTheRecordedPathWithTheRecordedBuildId) {
  ModuleStore store;
  EXPECT_TRUE(has_code(store.find({program_.string(), build_id_})));
  EXPECT_THAT(store.remarks(), IsEmpty());
  EXPECT_EQ(store.find({program_.string(), "00112233"}).module, nullptr);
  ASSERT_EQ(store.remarks().size(), 1U);
  EXPECT_EQ(store.remarks().front().kind, Kind::refused);
  EXPECT_THAT(store.remarks().front().text, HasSubstr("00112233"));
}

TEST_F(ModuleStoreTest, RefusesUnverifiedFilesOfAnotherArchitecture) {
#if defined(__x86_64__)
  const std::string here = "x86_64", elsewhere = "aarch64";
#else
  const std::string here = "aarch64", elsewhere = "x86_64";
#endif
  ModuleStore store;
  for (const std::string& other : {elsewhere, "armv7l"s, "i686"s, "riscv64"s}) {
    store.expect_machine(other, {});
    EXPECT_EQ(store.find({program_.string(), {}}).module, nullptr) << other;
    EXPECT_EQ(store.remarks().back().kind, Kind::refused);
    EXPECT_THAT(store.remarks().back().text, HasSubstr("another architecture than was recorded"));
    EXPECT_NE(store.find({program_.string(), build_id_}).module, nullptr)
        << "the build-id is better evidence";
    for (const std::string& known : {here, ""s, "damaged\x1b[31m"s}) {
      store.expect_machine(known, {});  // the next recording
      EXPECT_NE(store.find({program_.string(), {}}).module, nullptr) << known;
      EXPECT_EQ(store.remarks().back().kind, Kind::unverified);
    }
  }
}

/// A file without a build-id in a recording of this machine.
class FileWithoutBuildId : public ModuleStoreTest {
 protected:
  void SetUp() override {
    ModuleStoreTest::SetUp();
    if (IsSkipped()) return;
    const auto module = symbols::Module::open(program_);
    const auto code =
        module.executable_mapping_at(module.functions_named("wanted").front().range.begin).value();
    mapped_ = {.path = program_.string(),
               .identity = module.identity(),
               .executable = AddressRange::of_size(code.file_offset, code.range.size())};
    struct utsname here {};
    ASSERT_EQ(::uname(&here), 0);
    features_.hostname = here.nodename;
  }

  ModuleStore store_of(SearchPlaces places = {}) const {
    ModuleStore store(std::move(places));
    store.expect_machine("", features_);
    return store;
  }
  /// The remark on a file that is not used; empty if it is used.
  std::string refusal(const symbols::MappedFile& file, SearchPlaces places = {}) const {
    places.remedy = "; name a copy";
    ModuleStore store = store_of(std::move(places));
    const auto found = store.find(file);
    if (found.module != nullptr) return {};
    EXPECT_THAT(kinds_of(store), Each(Kind::refused));
    EXPECT_THAT(found.remark, EndsWith("; it is not used; name a copy"));
    return found.remark;
  }

  symbols::MappedFile mapped_;
  perfdata::Features features_;
};

TEST_F(FileWithoutBuildId, IsUsedUnlessItsInodeDiffers) {
  EXPECT_EQ(refusal(mapped_), "");
  auto other = mapped_;
  other.identity.inode += 1;
  // A file system that gives no inodes, as overlayfs, disproves nothing.
  const bool has_inode = mapped_.identity.inode != 0;
  if (has_inode) {
    EXPECT_THAT(refusal(other),
                HasSubstr(fmt::format("is not the recorded {}", other.identity.inode)));
  }
  other = mapped_;
  other.identity.generation += 1;
  if (mapped_.identity.generation != 0) {
    EXPECT_THAT(refusal(other), HasSubstr("generation"));
  }
  other.identity = {};  // PERF_RECORD_MMAP has none
  EXPECT_EQ(refusal(other), "");
}

TEST(FilesOfOneMachine, DifferByWhatAStartOfTheMachineDoesNotChange) {
  const std::uint64_t disk = makedev(254, 0), other_disk = makedev(254, 1), nfs = makedev(0, 45);
  const FileIdentity file{.device = disk, .inode = 7, .generation = 0};
  EXPECT_FALSE(differ(file, file));
  EXPECT_TRUE(differ(file, {.device = disk, .inode = 8}));
  EXPECT_TRUE(differ(file, {.device = other_disk, .inode = 7}));
  EXPECT_FALSE(differ(file, {.device = nfs, .inode = 7})) << "numbered when it is mounted";
  EXPECT_FALSE(differ(file, {.device = other_disk, .inode = 0})) << "not known";
  const FileIdentity young{.device = disk, .inode = 7, .generation = 3};
  EXPECT_FALSE(differ(young, {.device = other_disk, .inode = 7, .generation = 3}))
      << "the disk has another number";
  EXPECT_TRUE(differ(young, {.device = disk, .inode = 7, .generation = 4}));
  EXPECT_FALSE(differ(young, file)) << "one generation is not known";
}

TEST_F(FileWithoutBuildId, IsRefusedWithOtherSegments) {
  auto other = mapped_;
  other.identity = {};
  other.executable.end += 0x1000;
  EXPECT_THAT(refusal(other), HasSubstr("its segments are not those recorded"));
  other.executable = {mapped_.executable.begin + 0x1000, mapped_.executable.end + 0x1000};
  EXPECT_THAT(refusal(other), HasSubstr(fmt::format("at offset 0x{:x}", other.executable.begin)));
}

TEST_F(FileWithoutBuildId, OfAnotherMachineIsNotThatOfThisOne) {
  features_.hostname += "x";
  EXPECT_THAT(refusal(mapped_), HasSubstr("of another machine, " + features_.hostname));
  auto other = mapped_;
  other.identity.inode += 1;
  EXPECT_EQ(refusal(other, {.symfs = "/"}), "") << "files that the user names have other inodes";
  other.executable.end += 0x1000;
  EXPECT_THAT(refusal(other, {.symfs = "/"}), HasSubstr("segments"));
}

TEST_F(FileWithoutBuildId, IsFoundByItsNameBeforeItWasDeleted) {
  auto deleted = mapped_;
  deleted.path += " (deleted)";
  EXPECT_THAT(refusal(deleted), HasSubstr("was deleted or replaced"))
      << "another file is there now";
  put(program_, "copy/program");
  EXPECT_EQ(refusal(deleted, {.candidates = {directory_ / "copy/program"}}), "");
  EXPECT_EQ(refusal(deleted, {.symfs = "/"}), "");
  fs::rename(program_, deleted.path);
  EXPECT_EQ(refusal(deleted, {.symfs = "/"}), "");
  fs::remove(deleted.path);
  EXPECT_THAT(refusal(deleted), HasSubstr("was deleted or replaced"));

  const fs::path other = build("other", "int wanted(int n) { return n * 5; }\n");
  EXPECT_THAT(refusal(deleted, {.candidates = {other}}), HasSubstr("was deleted")) << "other name";
  deleted.executable.end += 0x1000;
  EXPECT_THAT(refusal(deleted, {.candidates = {directory_ / "copy/program"}}),
              HasSubstr("copy/program: its segments"));
}

TEST_F(FileWithoutBuildId, MayBeMappedInPartsIfItsBuildIdIsKnown) {
  auto known = mapped_;
  known.build_id = build_id_;
  known.identity.inode += 1;  // prelink and installations write the file again
  ModuleStore store = store_of();
  EXPECT_NE(store.find(known).module, nullptr);
  known.executable.begin += 0x10;  // code of the rest was copied elsewhere
  EXPECT_NE(store.find(known).module, nullptr);
  known.executable.end += 0x100000;
  EXPECT_EQ(store.find(known).module, nullptr);
  EXPECT_THAT(store.remarks().back().text, HasSubstr("segments"));
}

TEST_F(ModuleStoreTest, UsesAFileThatPrelinkMoved) {
  const fs::path moved = directory_ / "moved";
  run({"cc", "-g", "-O0", "-no-pie", "-Wl,--build-id=0x0123456789abcdef", "-o", program_.string(),
       program_.string() + ".c"});
  run({"cc", "-g", "-O0", "-no-pie", "-Wl,--build-id=0x0123456789abcdef",
       "-Wl,-Ttext-segment=0x10000000", "-o", moved.string(), program_.string() + ".c"});
  const auto module = symbols::Module::open(program_);
  const auto begin = module.functions_named("wanted").front().range.begin;
  const auto code = module.executable_mapping_at(begin).value();
  fs::rename(moved, program_);
  ModuleStore store;
  const auto found =
      store.find({.path = program_.string(),
                  .build_id = "0123456789abcdef",
                  .executable = AddressRange::of_size(code.file_offset, code.range.size())});
  ASSERT_TRUE(has_function(found));
  const auto address =
      found.module->address_at(begin - code.range.begin + code.file_offset).value();
  EXPECT_NE(address, begin);
  EXPECT_EQ(found.module->function_at(address)->name, "wanted");
  EXPECT_THAT(store.remarks(), IsEmpty());
}

TEST_F(ModuleStoreTest, PrependsSymfsToThePath) {
  put(program_, "root/usr/bin/program");
  SearchPlaces places{.symfs = directory_ / "root"};
  ModuleStore store(places);
  const auto found = store.find({"/usr/bin/program", build_id_});
  EXPECT_TRUE(has_code(found));
  EXPECT_EQ(found.path, directory_ / "root/usr/bin/program");
  // Without a build-id the file of this machine says nothing of the other one's.
  EXPECT_NE(store.find({"/usr/bin/program", {}}).module, nullptr);
  EXPECT_EQ(store.find({"/bin/sh", {}}).module, nullptr);
  EXPECT_EQ(store.remarks().back().kind, Kind::unreadable);
  EXPECT_THAT(store.remarks().back().text, HasSubstr((directory_ / "root/bin/sh").string()));
}

TEST_F(ModuleStoreTest, StatesWhyCandidatesAndSymfsAreNotUsed) {
  const fs::path other = build("other", "int wanted(int n) { return n * 5; }\n");
  const auto texts_of = [&](const SearchPlaces& places, const symbols::MappedFile& file) {
    ModuleStore store(places);
    EXPECT_THAT(store.unused(), IsEmpty()) << "nothing was looked up";
    (void)store.find(file);
    std::string texts;
    for (const auto& [path, text] : store.unused()) texts += text + '\n';
    return texts;
  };
  const symbols::MappedFile recorded{program_.string(), build_id_};
  const std::string id_of_other = symbols::Module::open(other).build_id();
  EXPECT_EQ(texts_of({.candidates = {program_}}, recorded), "");
  EXPECT_EQ(
      texts_of({.candidates = {other}}, recorded),
      fmt::format("{}: not used: no sampled file has its name or its build-id {}; expected one "
                  "such as program (build-id {})\n",
                  other.string(), id_of_other, build_id_));
  put(other, "copy/program");
  EXPECT_EQ(texts_of({.candidates = {directory_ / "copy/program"}}, recorded),
            fmt::format("{}/copy/program: not used: build-id {} is not the recorded {}\n",
                        directory_.path().string(), id_of_other, build_id_));
  EXPECT_EQ(
      texts_of({.candidates = {other}}, {program_.string(), {}}),
      other.string() + ": not used: no sampled file has its name; expected one such as program\n");
  EXPECT_THAT(texts_of({.candidates = {program_.string() + ".c"}}, recorded),
              HasSubstr("expected an ELF file; it is not used"));
  fs::create_directories(directory_ / "below");
  EXPECT_EQ(texts_of({.symfs = directory_ / "below"}, {"/usr/bin/program", build_id_}),
            fmt::format("{0}/below: not used: it has none of the sampled files; expected "
                        "{0}/below/usr/bin/program and others\n",
                        directory_.path().string()));
  put(program_, "below/usr/bin/program");
  EXPECT_EQ(texts_of({.symfs = directory_ / "below"}, {"/usr/bin/program", build_id_}), "");
}

TEST_F(ModuleStoreTest, UsesEachCandidateOfTheSameName) {
  const fs::path other = build("other", "int wanted(int n) { return n * 5; }\n");
  put(other, "copy/program");
  const fs::path copy = directory_ / "copy/program";
  ModuleStore store(SearchPlaces{.candidates = {program_, copy}});
  const std::string id_of_copy = symbols::Module::open(copy).build_id();
  EXPECT_EQ(store.find({"/a/program", build_id_}).path, program_);
  EXPECT_EQ(store.find({"/b/program", id_of_copy}).path, copy);
  EXPECT_THAT(store.unused(), IsEmpty());
  // The answers on the first recording are not those on the next one.
  store.expect_machine("riscv64", {});
  EXPECT_EQ(store.find({"/c/program", "00112233"}).module, nullptr);
  EXPECT_THAT(store.unused(), IsEmpty());
}

TEST_F(ModuleStoreTest, CountsOnlyRecordedPathsBelowSymfsAsUsed) {
  const auto unused = [&](const SearchPlaces& places) {
    ModuleStore store(places);
    (void)store.find({"[vdso]", "00112233"});
    (void)store.find({"/other/program", build_id_});
    (void)store.find({"/nowhere/program", "00112233"});
    return store.unused();
  };
  EXPECT_THAT(unused({.symfs = "."}),
              ElementsAre(Pair(".", HasSubstr("expected ./other/program and others"))));
  EXPECT_THAT(unused({.symfs = "/", .candidates = {program_}}),
              ElementsAre(Pair("/", HasSubstr("expected /nowhere/program and others"))));
}

TEST_F(ModuleStoreTest, FindsFilesInBothLayoutsOfPerfsCache) {
  SearchPlaces places;
  places.by_build_id.build_id_cache = directory_ / "cache";
  put(program_, below_build_id("cache", "/elf"));
  EXPECT_TRUE(has_code(ModuleStore(places).find(gone())));

  fs::remove_all(directory_ / "cache");
  put(program_, "cache/nowhere/program/" + build_id_);
  fs::create_directories((directory_ / below_build_id("cache")).parent_path());
  fs::create_symlink("../../nowhere/program/" + build_id_, directory_ / below_build_id("cache"));
  ModuleStore old(places);
  EXPECT_TRUE(has_code(old.find(gone())));
  EXPECT_THAT(old.remarks(), IsEmpty());
}

TEST_F(ModuleStoreTest, FindsFilesInDebuginfodsCache) {
  SearchPlaces places;
  places.by_build_id.debuginfod_cache = directory_ / "debuginfod";
  put(program_, "debuginfod/" + build_id_ + "/executable");
  ModuleStore store(places);
  EXPECT_TRUE(has_code(store.find(gone())));
  EXPECT_THAT(store.remarks(), IsEmpty());
}

TEST_F(ModuleStoreTest, RefusesTheWrongBuildIdWhereverItIs) {
  const fs::path other = build("other", "int wanted(int n) { return n * 5; }\n");
  SearchPlaces places{
      .symfs = directory_ / "root",
      .by_build_id = {{directory_ / "debug"}, directory_ / "cache", directory_ / "debuginfod"}};
  put(other, "root/nowhere/program");
  put(other, below_build_id("cache", "/elf"));
  put(other, "debuginfod/" + build_id_ + "/executable");
  put(other, "debuginfod/" + build_id_ + "/debuginfo");
  put(other, below_build_id("debug"));
  put(other, below_build_id("debug", ".debug"));
  ModuleStore store(places);
  EXPECT_EQ(store.find(gone()).module, nullptr);
  EXPECT_THAT(kinds_of(store), ElementsAre(Kind::refused));
}

TEST_F(ModuleStoreTest, NamesAnotherFileBesideTheRecordingUnlessTheRecordedOneIsFound) {
  const fs::path other = build("other", "int wanted(int n) { return n * 5; }\n");
  put(other, "moved/program");
  ModuleStore store;
  store.look_in(directory_ / "moved");
  EXPECT_EQ(store.find(gone()).module, nullptr);
  EXPECT_THAT(kinds_of(store), ElementsAre(Kind::refused));
  EXPECT_THAT(store.remarks().front().text,
              AllOf(HasSubstr((directory_ / "moved/program").string()), HasSubstr(build_id_)));
  ModuleStore finds_it;
  finds_it.look_in(directory_ / "moved");
  EXPECT_TRUE(has_code(finds_it.find({program_.string(), build_id_})));
  EXPECT_THAT(finds_it.remarks(), IsEmpty());
}

TEST_F(ModuleStoreTest, ListsTheSearchedPlaces) {
  SearchPlaces places{
      .by_build_id = {{directory_ / "debug"}, directory_ / "cache", directory_ / "debuginfod"}};
  ModuleStore store(places);
  EXPECT_EQ(store.find(gone()).module, nullptr);
  ASSERT_EQ(store.remarks().size(), 1U);
  const std::string text = store.remarks().front().text;
  for (const char* place : {"debug", "cache", "debuginfod"}) {
    EXPECT_THAT(text, HasSubstr((directory_ / place).string()));
  }
  EXPECT_THAT(text, HasSubstr("/usr/lib/debug"));
  EXPECT_THAT(text, HasSubstr(build_id_));
  EXPECT_THAT(text, HasSubstr("/nowhere/program"));
}

TEST_F(ModuleStoreTest, ADebugFileHasSymbolsAndLinesButNoCode) {
  put(debug_file(), below_build_id("debug", ".debug"));
  SearchPlaces places;
  places.by_build_id.debug_directories = {directory_ / "debug"};
  ModuleStore alone(places);
  const auto found = alone.find(gone());
  EXPECT_TRUE(has_function(found));
  EXPECT_FALSE(has_code(found));
  EXPECT_FALSE(found.module->has_code());
  EXPECT_THAT(kinds_of(alone), ElementsAre(Kind::no_code));

  // Beside the stripped program it is where symbols and lines come from.
  run({"strip", program_.string()});
  ModuleStore store(places);
  const auto stripped = store.find({program_.string(), build_id_});
  EXPECT_TRUE(has_code(stripped));
  EXPECT_TRUE(
      stripped.module->line_at(stripped.module->functions_named("wanted").front().range.begin));
  EXPECT_FALSE(has_function(ModuleStore().find({program_.string(), build_id_})));
}

TEST_F(ModuleStoreTest, QueriesDebuginfodOnlyOnRequest) {
  std::ofstream(directory_ / "debuginfod-find")
      << "#!/bin/sh\necho \"$@\" >>" << (directory_ / "asked").string()
      << "\n[ \"$2\" = " << build_id_ << " ] && echo " << program_.string() << "\n";
  fs::permissions(directory_ / "debuginfod-find", fs::perms{0755});
  const test::Variable path("PATH", directory_.path().string() + ":" + std::getenv("PATH"));
  SearchPlaces places;
  {
    const test::Variable servers("DEBUGINFOD_URLS", "http://localhost:1");
    EXPECT_EQ(ModuleStore(places).find(gone()).module, nullptr);
    EXPECT_FALSE(fs::exists(directory_ / "asked"));

    places.asks_debuginfod = true;
    ModuleStore store(places);
    EXPECT_TRUE(has_code(store.find(gone())));
    EXPECT_EQ(store.find({"/nowhere/else", "00112233445566"}).module, nullptr);
    EXPECT_THAT(store.remarks().back().text, HasSubstr("debuginfod's servers"));
  }
  EXPECT_THAT(test::lines_of(read_file(directory_ / "asked", 1000)),
              ElementsAre("executable " + build_id_, "executable 00112233445566"));

  const test::Variable none("DEBUGINFOD_URLS", "");
  ModuleStore store(places);
  EXPECT_EQ(store.find(gone()).module, nullptr);
  EXPECT_THAT(store.remarks().front().text, HasSubstr("DEBUGINFOD_URLS"));
}

TEST_F(ModuleStoreTest, IgnoresInvalidBuildIds) {
  symbols::BinaryPlaces places{.build_id_cache = directory_ / "cache"};
  for (const char* id : {"", "ab", "../../etc", "ABCDEF", "12/../34"}) {
    EXPECT_THAT(symbols::executables_of(places, id), IsEmpty()) << id;
    EXPECT_THAT(symbols::debug_files_of(places, id), IsEmpty()) << id;
  }
}

TEST(SearchPlaces, AreThoseOfTheEnvironment) {
  const test::Variable home("HOME", "/home/someone");
  {
    const test::Variable cache("DEBUGINFOD_CACHE_PATH", "/cache");
    const test::Variable xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(SearchPlaces::of_this_machine().by_build_id.debuginfod_cache, "/cache");
  }
  const test::Variable none("DEBUGINFOD_CACHE_PATH", "");
  {
    const test::Variable xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(SearchPlaces::of_this_machine().by_build_id.debuginfod_cache,
              "/xdg/debuginfod_client");
  }
  const test::Variable xdg("XDG_CACHE_HOME", "");
  const auto places = SearchPlaces::of_this_machine();
  EXPECT_EQ(places.by_build_id.debuginfod_cache, "/home/someone/.cache/debuginfod_client");
  EXPECT_EQ(places.by_build_id.build_id_cache, "/home/someone/.debug");
  EXPECT_FALSE(places.asks_debuginfod);
}

TEST(KernelMappingName, SplitsOffTheKernelsReferenceSymbolAlone) {
  const auto parts = [](const char* mapping) {
    const auto name = kernel_mapping_name(mapping);
    return fmt::format("{}{} {}", name.is_kernel ? "kernel " : "", name.dso, name.reference);
  };
  EXPECT_EQ(parts("[kernel.kallsyms]_text"), "kernel [kernel.kallsyms] _text");
  EXPECT_EQ(parts("[kernel.kallsyms]_stext"), "kernel [kernel.kallsyms] _stext");
  EXPECT_EQ(parts("[kernel.kallsyms]"), "kernel [kernel.kallsyms] ");
  EXPECT_TRUE(kernel_mapping_name("[kernel.kallsyms").is_kernel);
  EXPECT_EQ(parts("[ext4]"), "[ext4] ");
  EXPECT_EQ(parts("/lib/modules/6.1/ext4.ko"), "/lib/modules/6.1/ext4.ko ");
  EXPECT_EQ(parts(""), " ");
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
    perfdata::MappingRecord mapping{.pid = 123, .path = path, .executable = executable};
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
  for (const std::string path :
       {"", "//anon", "[vdso]", "[heap]", "/memfd:x (deleted)", "/dev/zero", "/tmp/perf-12.map"}) {
    EXPECT_TRUE(is_pseudo_file(path)) << path;
  }
  for (const std::string path : {"/usr/bin/x", "/usr/bin/x (deleted)", "/tmp/perf-.map",
                                 "/tmp/perf-12.mapx", "/tmp/perf-x.map", "/tmp/perf-"}) {
    EXPECT_FALSE(is_pseudo_file(path)) << path;
  }
}

}  // namespace
}  // namespace skid::locate
