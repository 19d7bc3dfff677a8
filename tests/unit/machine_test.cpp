#include "src/machine/machine.h"

#include "src/machine/cpuinfo.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::machine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSkylake =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\n"
    "model name\t: Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz\nstepping\t: 3\nmicrocode\t: 0xf0\n"
    "flags\t\t: fpu vme de pse\n\n"
    "processor\t: 1\nvendor_id\t: GenuineIntel\nstepping\t: 9\n";

constexpr const char* kNeoverse =
    "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
    "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
    "processor\t: 1\nCPU implementer\t: 0x42\n";

/// A directory used as "/".
class MachineRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "skidscan-machine-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& content) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << content;
  }
  void put_pmu(const std::string& name, const std::string& file, const std::string& text) const {
    put("sys/bus/event_source/devices/" + name + "/" + file, text + "\n");
  }

  fs::path root_;
};

TEST_F(MachineRoot, GivesAnEmptyMachineIfItIsEmpty) {
  const Machine machine = inspect(root_);
  EXPECT_EQ(machine.cpu.arch, "");
  EXPECT_EQ(machine.cpu.family, std::nullopt);
  EXPECT_EQ(machine.cpu.hypervisor, std::nullopt);
  EXPECT_EQ(machine.kernel, "");
  EXPECT_EQ(machine.perf_event_paranoid, std::nullopt);
  EXPECT_THAT(machine.core_pmus, IsEmpty());
  EXPECT_THAT(machine.allowed_cpus, IsEmpty());
}

TEST_F(MachineRoot, ReadsTheFirstProcessorOfAnIntelMachine) {
  put("proc/cpuinfo", kSkylake);
  const CpuIdentity cpu = inspect(root_).cpu;
  EXPECT_EQ(cpu.arch, "x86_64");
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model_name, "Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz");
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model, 94);
  EXPECT_EQ(cpu.stepping, 3);
  EXPECT_EQ(cpu.microcode, "0xf0");
  EXPECT_EQ(cpu.hypervisor, std::nullopt);
}

TEST_F(MachineRoot, ReadsImplementerPartAndRevisionOfAnArmMachine) {
  put("proc/cpuinfo", kNeoverse);
  const CpuIdentity cpu = inspect(root_).cpu;
  EXPECT_EQ(cpu.arch, "aarch64");
  EXPECT_EQ(cpu.vendor, "0x41");
  EXPECT_EQ(cpu.family, std::nullopt);
  EXPECT_EQ(cpu.model, 0xd0c);
  EXPECT_EQ(cpu.stepping, 1);
  EXPECT_EQ(cpu.model_name, "");
}

TEST_F(MachineRoot, ReadsTheKernelAndItsSettings) {
  put("proc/sys/kernel/osrelease", "6.12.1-test\n");
  put("proc/sys/kernel/hostname", "lab7\n");
  put("proc/sys/kernel/arch", "riscv64\n");
  put("proc/sys/kernel/perf_event_paranoid", "-1\n");
  put("proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
  put("proc/self/status", "Name:\tx\nCpus_allowed:\tc3\nCpus_allowed_list:\t0-1,6-7\nMems:\t1\n");
  const Machine machine = inspect(root_);
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
  put("proc/self/status", "Cpus_allowed_list:\t0,2\n");
  put("proc/meminfo", "MemTotal:       24616944 kB\nMemFree:        1 kB\n");
  const auto put_cache = [&](int cpu, int index, const char* level, const char* type,
                             const char* size) {
    const std::string cache = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" +
                              std::to_string(index) + "/";
    put(cache + "level", std::string(level) + "\n");
    put(cache + "type", std::string(type) + "\n");
    put(cache + "size", std::string(size) + "\n");
  };
  put_cache(0, 0, "1", "Data", "48K");
  put_cache(0, 1, "1", "Instruction", "32K");
  put_cache(0, 2, "2", "Unified", "2048K");
  put_cache(0, 3, "3", "Unified", "30M");
  put_cache(1, 0, "1", "Data", "16K");  // not allowed
  put_cache(2, 0, "1", "Data", "big");
  put_cache(2, 1, "2", "Unified", "18446744073709551615K");
  put_cache(2, 2, "x", "Unified", "4K");
  const Machine machine = inspect(root_);
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
  EXPECT_FALSE(inspect(root_).has_core_pmu());
  put_pmu("cpu", "type", "4");
  put_pmu("cpu", "caps/max_precise", "3");
  put_pmu("armv8_pmuv3_0", "type", "8");
  put_pmu("armv8_pmuv3_0", "cpus", "0-3");
  const Machine machine = inspect(root_);
  ASSERT_EQ(machine.core_pmus.size(), 2U);
  EXPECT_EQ(machine.core_pmus[0].name, "armv8_pmuv3_0");
  EXPECT_EQ(machine.core_pmus[0].max_precise, std::nullopt);
  EXPECT_THAT(machine.core_pmus[0].cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(machine.core_pmus[1].name, "cpu");
  EXPECT_EQ(machine.core_pmus[1].type, 4U);
  EXPECT_EQ(machine.core_pmus[1].max_precise, 3);
  EXPECT_THAT(machine.core_pmus[1].cpus, IsEmpty());
}

TEST_F(MachineRoot, LeavesFieldsWithNonsenseEmpty) {
  put("proc/cpuinfo", "vendor_id : X\ncpu family : six\nmodel : 99999999999999\nstepping :\n");
  put("proc/sys/kernel/perf_event_paranoid", "2 or so\n");
  put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t3-1,x,-4,2,99999999-99999999\n");
  put_pmu("cpu", "type", "-1");
  const Machine machine = inspect(root_);
  EXPECT_EQ(machine.cpu.family, std::nullopt);
  EXPECT_EQ(machine.cpu.model, std::nullopt);
  EXPECT_EQ(machine.cpu.stepping, std::nullopt);
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
  const auto version_of = [](const char* output) {
    const auto tool = parse_perf_version(output);
    return tool ? tool->version + "|" + std::to_string(tool->major) + "." +
                      std::to_string(tool->minor)
                : "none";
  };
  EXPECT_EQ(version_of("perf version 6.1.187\n"), "6.1.187|6.1");
  EXPECT_EQ(version_of("perf version 6.5.13"), "6.5.13|6.5");
  EXPECT_EQ(version_of("perf version 4.18.0-477.10.1.el8_8.x86_64\n"),
            "4.18.0-477.10.1.el8_8.x86_64|4.18");
  EXPECT_EQ(version_of("perf version 5.10.g2c85ebc57b3e\n"), "5.10.g2c85ebc57b3e|5.10");
  EXPECT_EQ(version_of("perf version 6.12~rc3\n"), "6.12~rc3|6.12");
  EXPECT_EQ(version_of("perf version x\n"), "none");
  EXPECT_EQ(version_of("perf version 6"), "none");
  EXPECT_EQ(version_of(""), "none");
}

TEST(PerfVersion, DeterminesTheOptionsOfPerf) {
  const auto tool = [](int major, int minor) {
    PerfTool perf;
    perf.major = major;
    perf.minor = minor;
    return perf;
  };
  EXPECT_FALSE(tool(5, 9).has_control());
  EXPECT_TRUE(tool(5, 10).has_control());
  EXPECT_TRUE(tool(6, 1).has_control());
  EXPECT_FALSE(tool(4, 19).has(PerfTool::kNoBpfEvent));
  EXPECT_TRUE(tool(5, 1).has(PerfTool::kNoBpfEvent));
}

/// PATH is one directory with a `perf` of our making in it.
class FindPerf : public MachineRoot {
 protected:
  void SetUp() override {
    MachineRoot::SetUp();
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", root_.c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_before_.c_str(), 1);
    MachineRoot::TearDown();
  }
  void put_perf(const std::string& script) const {
    put("perf", "#!/bin/sh\n" + script);
    ASSERT_EQ(::chmod((root_ / "perf").c_str(), 0755), 0);
  }
  static std::string message() {
    try {
      find_perf();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::string path_before_;
};

TEST_F(FindPerf, GivesItsPathAndVersion) {
  put_perf("echo perf version 6.5.13\n");
  const PerfTool perf = find_perf();
  EXPECT_EQ(perf.path, root_ / "perf");
  EXPECT_EQ(perf.version, "6.5.13");
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

}  // namespace
}  // namespace skid::machine
