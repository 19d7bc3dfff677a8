#include "src/machine/machine.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "tests/support/prelude.h"

#include <optional>

namespace skid {
namespace {

TEST(ArmCore, IsNamedByImplementerAndPart) {
  EXPECT_EQ(machine::arm_core_name(0x41, 0xd0c), "Neoverse N1");
  EXPECT_EQ(machine::arm_core_name(0xc0, 0xd0c), "") << "a number is of its implementer";
  EXPECT_EQ(machine::arm_core_name(0, 0xd0c), "Neoverse N1") << "emulated";
  EXPECT_EQ(machine::arm_implementer(0xc0), "Ampere");
  EXPECT_EQ(machine::arm_implementer(0xff), "");
}

TEST(ArmCore, NamesTheCpuWhereTheKernelDoesNot) {
  const auto name = [](const char* vendor, std::optional<int> model, const char* given = "") {
    return output::cpu_name({.vendor = vendor, .model_name = given, .model = model});
  };
  EXPECT_EQ(name("0x41", 0xd08), "Arm Cortex-A72");
  EXPECT_EQ(name("0x41", 0xfff), "Arm part 0xfff");
  EXPECT_EQ(name("0xc0", 0xac3), "Ampere part 0xac3");
  EXPECT_EQ(name("0x00", 0xd0c), "emulated Neoverse N1");
  EXPECT_TRUE((machine::CpuIdentity{.vendor = "0x00"}.emulated()));
  EXPECT_FALSE((machine::CpuIdentity{.vendor = "0x41"}.emulated()));
  EXPECT_EQ(name("0x61", std::nullopt), "Apple");
  EXPECT_EQ(name("0x41 ", 0xd08), "0x41 ");
  EXPECT_EQ(name("0x", 0xd08), "0x");
  EXPECT_EQ(name("GenuineIntel", 94), "GenuineIntel");
  EXPECT_EQ(name("0x41", std::nullopt, "name of the firmware"), "name of the firmware");
}

}  // namespace
}  // namespace skid
