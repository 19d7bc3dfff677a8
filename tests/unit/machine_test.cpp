#include "src/machine/machine.h"

#include "src/machine/configuration.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/cpuinfo.h"
#include "src/machine/file_tree.h"
#include "src/machine/sampling_support.h"
#include "src/support/process.h"
#include "tests/support/error_message.h"
#include "tests/support/only_path.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

namespace skid::machine {
namespace {

/// A directory used as "/".
class MachineRoot : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& content) const {
    directory_.write(path, content + "\n");
  }
  void put_pmu(const std::string& name, const std::string& file, const std::string& text) const {
    put("sys/bus/event_source/devices/" + name + "/" + file, text);
  }
  Machine inspected() const { return inspect(directory_.path()); }

  test::TemporaryDirectory directory_;
};

/// What is known of a CPU, "-" for what is not.
std::string described(const CpuIdentity& cpu) {
  const auto number = [](std::optional<int> known) { return known ? fmt::to_string(*known) : "-"; };
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", cpu.arch, cpu.vendor, cpu.model_name,
                     number(cpu.family), number(cpu.model), number(cpu.stepping), cpu.microcode,
                     cpu.hypervisor.value_or("-"));
}

TEST_F(MachineRoot, GivesAnEmptyMachineIfItIsEmpty) {
  const Machine machine = inspected();
  EXPECT_EQ(described(machine.cpu), "|||-|-|-||-");
  EXPECT_EQ(machine.kernel, "");
  EXPECT_EQ(machine.perf_event_paranoid, std::nullopt);
  EXPECT_THAT(machine.core_pmus, IsEmpty());
  EXPECT_THAT(machine.allowed_cpus, IsEmpty());
}

TEST_F(MachineRoot, IsThatOfItsFirstProcessor) {
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n"
      "model name\t: Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz\nstepping\t: 3\nmicrocode\t: 0xf0\n"
      "flags\t\t: fpu vme de pse\n\n"
      "processor\t: 1\nvendor_id\t: GenuineIntel\nstepping\t: 9");
  EXPECT_EQ(described(inspected().cpu),
            "x86_64|GenuineIntel|Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz|6|94|3|0xf0|-");
  put("proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
      "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
      "processor\t: 1\nCPU implementer\t: 0x42");
  EXPECT_EQ(described(inspected().cpu), "aarch64|0x41||-|3340|1||-");
}

TEST_F(MachineRoot, ReadsTheKernelAndItsSettings) {
  put("proc/sys/kernel/osrelease", "6.12.1-test");
  put("proc/sys/kernel/hostname", "lab7");
  put("proc/sys/kernel/arch", "riscv64");
  put("proc/sys/kernel/perf_event_paranoid", "-1");
  put("proc/sys/kernel/perf_event_max_sample_rate", "25000");
  put("proc/self/status", "Name:\tx\nCpus_allowed:\tc3\nCpus_allowed_list:\t0-1,6-7\nMems:\t1");
  const Machine machine = inspected();
  EXPECT_EQ(machine.kernel, "6.12.1-test");
  EXPECT_EQ(machine.hostname, "lab7");
  EXPECT_EQ(machine.cpu.arch, "riscv64");
  EXPECT_EQ(machine.perf_event_paranoid, -1);
  EXPECT_EQ(machine.perf_event_max_sample_rate, 25000);
  EXPECT_THAT(machine.allowed_cpus, ElementsAre(0, 1, 6, 7));
}

TEST_F(MachineRoot, ReadsFlagsDataCachesAndMemory) {
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2  avx512f\n\n");
  put("proc/self/status", "Cpus_allowed_list:\t0,2");
  put("proc/meminfo", "MemTotal:       24616944 kB\nMemFree:        1 kB");
  const auto put_cache = [&](int cpu, int index, const char* level, const char* type,
                             const char* size) {
    const std::string cache = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                              std::to_string(index) + "/";
    put(cache + "level", level);
    put(cache + "type", type);
    put(cache + "size", size);
  };
  put_cache(0, 0, "1", "Data", "48K");
  put_cache(0, 1, "1", "Instruction", "32K");
  put_cache(0, 2, "2", "Unified", "2048K");
  put_cache(0, 3, "3", "Unified", "30M");
  put_cache(1, 0, "1", "Data", "16K");  // not allowed
  put_cache(2, 0, "1", "Data", "big");
  put_cache(2, 1, "2", "Unified", "18446744073709551615K");
  put_cache(2, 2, "x", "Unified", "4K");
  const Machine machine = inspected();
  EXPECT_THAT(machine.cpu_flags, ElementsAre("fpu", "sse2", "avx512f"));
  EXPECT_EQ(machine.memory_bytes, std::uint64_t{24616944} * 1024);
  ASSERT_EQ(machine.data_caches.size(), 1U);
  std::map<int, std::uint64_t> sizes;
  for (const DataCache& cache : machine.data_caches.at(0)) sizes[cache.level] = cache.bytes;
  EXPECT_EQ(sizes, (std::map<int, std::uint64_t>{{1, 48U << 10}, {2, 2U << 20}, {3, 30U << 20}}));
}

TEST_F(MachineRoot, FindsCorePmusByTheirNameOrCpus) {
  for (const char* name : {"breakpoint", "software", "tracepoint", "msr", "uprobe"}) {
    put_pmu(name, "type", "5");
  }
  put_pmu("uncore_imc_0", "type", "14");
  put_pmu("uncore_imc_0", "cpumask", "0");
  EXPECT_FALSE(inspected().has_core_pmu());
  put_pmu("cpu", "type", "4");
  put_pmu("cpu", "caps/max_precise", "3");
  put_pmu("armv8_pmuv3_0", "type", "8");
  put_pmu("armv8_pmuv3_0", "cpus", "0-3");
  const auto pmus = test::mapped(inspected().core_pmus, [](const CorePmu& pmu) {
    return fmt::format("{}, type {}, level {}, CPUs [{}]", pmu.name, pmu.type,
                       pmu.max_precise.value_or(-1), fmt::join(pmu.cpus, " "));
  });
  EXPECT_THAT(pmus, ElementsAre("armv8_pmuv3_0, type 8, level -1, CPUs [0 1 2 3]",
                                "cpu, type 4, level 3, CPUs []"));
}

TEST_F(MachineRoot, LeavesFieldsWithNonsenseEmpty) {
  put("proc/cpuinfo", "vendor_id : X\ncpu family : six\nmodel : 99999999999999\nstepping :");
  put("proc/sys/kernel/perf_event_paranoid", "2 or so");
  put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t3-1,x,-4,2,99999999-99999999");
  put_pmu("cpu", "type", "-1");
  const Machine machine = inspected();
  EXPECT_EQ(described(machine.cpu), "x86_64|X||-|-|-||-");
  EXPECT_EQ(machine.perf_event_paranoid, std::nullopt);
  EXPECT_THAT(machine.allowed_cpus, ElementsAre(2));
  EXPECT_FALSE(machine.has_core_pmu());
}

TEST(Machine, AgreesWithTheSystem) {
  const Machine machine = inspect();
  const std::string uname = run_program({"uname", "-mrn"}).out;
  EXPECT_EQ(machine.hostname + " " + machine.kernel + " " + machine.cpu.arch + "\n", uname);
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(machine.allowed_cpus.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const int cpu : machine.allowed_cpus) EXPECT_TRUE(CPU_ISSET(cpu, &set)) << cpu;
}

TEST(Hypervisor, IsNamedByTheTracesOfIt) {
  const std::string kvm("KVMKVMKVM\0\0\0", 12);
  const auto x86 = [](std::vector<std::string> signatures) {
    return HypervisorTraces{.x86 = true, .flag = true, .signatures = std::move(signatures)};
  };
  const std::vector<std::pair<HypervisorTraces, std::optional<std::string>>> all{
      {x86({kvm}), "KVM"},
      {x86({"VMwareVMware"}), "VMware"},
      {x86({"Microsoft Hv"}), "Hyper-V"},
      {x86({"Microsoft Hv", kvm}), "KVM"},
      {x86({"TCGTCGTCGTCG"}), "QEMU TCG"},
      {x86({"NobodyKnowsMe"}), "unknown hypervisor"},
      {{.x86 = true, .flag = true, .dmi_vendor = "Nutanix", .dmi_product = "AHV"},
       "unknown hypervisor (Nutanix AHV)"},
      // Without a signature, by the firmware.
      {{.dmi_vendor = "QEMU"}, "QEMU"},
      {{.dmi_vendor = "Microsoft Corporation", .dmi_product = "Virtual Machine"}, "Hyper-V"},
      {{.sys_hypervisor = "xen"}, "Xen"},
      {{.device_tree = std::string("linux,kvm\0", 10)}, "KVM"},
      {{.dmi_vendor = "Amazon EC2", .dmi_product = "c7g.large"}, "Amazon EC2"},
      // Bare metal. x86 has a flag, which is not set in the last.
      {{.dmi_vendor = "Dell Inc."}, std::nullopt},
      {{.dmi_vendor = "Amazon EC2", .dmi_product = "c7g.metal"}, std::nullopt},
      {{.x86 = true, .dmi_vendor = "Amazon EC2", .dmi_product = "c7g.large"}, std::nullopt}};
  for (const auto& [traces, name] : all) {
    EXPECT_EQ(name_hypervisor(traces), name);
  }
}

TEST(PerfVersion, IsReadWithItsDistributionSuffix) {
  for (const auto& [output, expected] : std::map<std::string, std::string>{
           {"perf version 6.1.187\n", "6.1.187|6.1"},
           {"perf version 6.5.13", "6.5.13|6.5"},
           {"perf version 4.18.0-477.10.1.el8_8.x86_64\n", "4.18.0-477.10.1.el8_8.x86_64|4.18"},
           {"perf version 5.10.g2c85ebc57b3e\n", "5.10.g2c85ebc57b3e|5.10"},
           {"perf version 6.12~rc3\n", "6.12~rc3|6.12"},
           {"perf version x\n", "none"},
           {"perf version 6", "none"},
           {"", "none"}}) {
    const auto tool = parse_perf_version(output);
    EXPECT_EQ(tool ? fmt::format("{}|{}.{}", tool->version, tool->major, tool->minor) : "none",
              expected);
  }
}

TEST(PerfVersion, DeterminesTheOptionsOfPerf) {
  const auto tool = [](int major, int minor) { return PerfTool{.major = major, .minor = minor}; };
  EXPECT_FALSE(tool(5, 9).has_control());
  EXPECT_TRUE(tool(5, 10).has_control());
  EXPECT_TRUE(tool(6, 1).has_control());
  EXPECT_FALSE(tool(4, 19).has(PerfTool::kNoBpfEvent));
  EXPECT_TRUE(tool(5, 1).has(PerfTool::kNoBpfEvent));
}

/// PATH is one directory with a `perf` of our making in it.
class FindPerf : public ::testing::Test {
 protected:
  void put_perf(const std::string& script) const {
    fs::permissions(directory_.write("perf", "#!/bin/sh\n" + script), fs::perms::owner_all);
  }
  static std::string message() { return test::message_of(find_perf, std::string()); }

  test::TemporaryDirectory directory_;
  test::OnlyPath only_{directory_.path()};
};

TEST_F(FindPerf, GivesItsPathAndVersion) {
  put_perf("echo perf version 6.5.13\n");
  const PerfTool perf = find_perf();
  EXPECT_EQ(perf.path, directory_ / "perf");
  EXPECT_EQ(perf.version, "6.5.13");
}

TEST_F(FindPerf, TakesTheOneThatTheEnvironmentNames) {
  put_perf("echo perf version 6.5.13\n");
  const auto other = directory_.write("other/perf 5", "#!/bin/sh\necho perf version 5.4.0\n");
  fs::permissions(other, fs::perms::owner_all);
  {
    const test::Variable named("PERF", other);
    EXPECT_EQ(find_perf().path, other);
    EXPECT_EQ(find_perf().version, "5.4.0");
    const test::Variable missing("PERF", "perf_9");
    EXPECT_THAT(message(), HasSubstr("perf_9: not an executable file or a program in PATH; name "
                                     "the perf to use in the environment variable PERF"));
  }
  EXPECT_EQ(find_perf().version, "6.5.13");
}

TEST_F(FindPerf, NamesThePackageIfPerfIsMissing) {
  EXPECT_THAT(message(), HasSubstr("perf: not found in PATH; install it"));
  EXPECT_THAT(message(), HasSubstr("linux-perf"));
}

TEST_F(FindPerf, QuotesAWrapperWithoutPerfForThisKernel) {
  put_perf("echo 'WARNING: perf not found for kernel 5.15.0-91' >&2; exit 2\n");
  EXPECT_THAT(message(), HasSubstr("does not run: WARNING: perf not found for kernel 5.15.0-91;"));
}

TEST_F(FindPerf, RefusesAProgramThatIsNotPerf) {
  put_perf("echo hello\n");
  EXPECT_THAT(message(), HasSubstr("no version in what --version prints (\"hello\")"));
}

class FileTreeTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& content) const {
    directory_.write(path, content);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(FileTreeTest, ReadsBelowItsRoot) {
  put("tree/a/b", " 7 \n");
  put("tree/a/c", "");
  const FileTree files(directory_ / "tree");
  EXPECT_FALSE(files.is_here());
  EXPECT_EQ(files.content_of("a/b"), "7");
  EXPECT_THAT(files.names_in("a"), ElementsAre("b", "c"));
  EXPECT_TRUE(files.exists("a/c"));
  EXPECT_FALSE(files.exists("a/d"));
  EXPECT_EQ(files.content_of("a"), "");
}

TEST_F(FileTreeTest, ReadsNoFileLongerThanItsLimit) {
  put("tree/line", std::string(FileTree::kLine, 'x'));
  put("tree/long", std::string(FileTree::kLine + 1, 'x'));
  const FileTree files(directory_ / "tree");
  EXPECT_EQ(files.content_of("line").size(), FileTree::kLine);
  EXPECT_EQ(files.content_of("long"), "");
}

TEST_F(FileTreeTest, LeavesOutPmusWithoutAType) {
  put("tree/sys/bus/event_source/devices/cpu/type", "4");
  put("tree/sys/bus/event_source/devices/typeless/caps/x", "1");
  const auto pmus = read_pmus(FileTree(directory_ / "tree"));
  ASSERT_EQ(pmus.size(), 1U);
  EXPECT_EQ(pmus[0].name, "cpu");
}

TEST(StatusValue, FollowsAWholeKey) {
  const std::string status = "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\nCapEff:\t00ff\n";
  EXPECT_EQ(status_value(status, "Seccomp"), "2");
  EXPECT_EQ(status_value(status, "CapEff"), "00ff");
  EXPECT_EQ(status_value(status, "Cap"), "");
  EXPECT_EQ(status_value("", "Cap"), "");
}

TEST(Configuration, DiffersInWhatTellsMachinesApart) {
  const CpuIdentity cpu{.arch = "x86_64",
                        .vendor = "GenuineIntel",
                        .model_name = "A",
                        .family = 6,
                        .model = 94,
                        .stepping = 3,
                        .microcode = "0xf0",
                        .hypervisor = {}};
  CpuIdentity other = cpu;
  other.model_name = "B";
  EXPECT_THAT(differences(configuration_of(cpu, "6.1"), configuration_of(other, "6.1")), IsEmpty());
  other.stepping = 4;
  other.hypervisor = "KVM";
  std::string found;
  for (const auto& [one, another] :
       differences(configuration_of(cpu, "6.1"), configuration_of(other, "6.2"))) {
    found += fmt::format("{}: {} {};", one.name, one.value, another.value);
  }
  EXPECT_EQ(found, "CPU stepping: 3 4;kernel: 6.1 6.2;hypervisor:  KVM;");
}

TEST(MidrRegister, IsParsed) {
  const auto midr = parse_midr("0x00000000414fd4f2");
  ASSERT_TRUE(midr);
  EXPECT_EQ(std::tuple(midr->implementer, midr->variant, midr->part, midr->revision, midr->name()),
            std::tuple(0x41U, 4U, 0xd4fU, 2U, "Neoverse V2 r4p2"));
  EXPECT_EQ(parse_midr("0x00000000480fd4f0")->name(), "");
  for (const char* text : {"413fd0c1", "0x", "0xfffffffffffffffff"}) EXPECT_FALSE(parse_midr(text));
}

}  // namespace
}  // namespace skid::machine
