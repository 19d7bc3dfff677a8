#include "src/machine/machine.h"
#include "src/support/text.h"

#include <array>
#include <cstddef>

namespace skid::machine {
namespace {

struct Numbered {
  unsigned number;
  std::string_view name;
};
constexpr std::array<Numbered, 14> kImplementers{{{0x41, "Arm"},
                                                  {0x42, "Broadcom"},
                                                  {0x43, "Cavium"},
                                                  {0x46, "Fujitsu"},
                                                  {0x48, "HiSilicon"},
                                                  {0x4e, "NVIDIA"},
                                                  {0x50, "APM"},
                                                  {0x51, "Qualcomm"},
                                                  {0x53, "Samsung"},
                                                  {0x56, "Marvell"},
                                                  {0x61, "Apple"},
                                                  {0x69, "Intel"},
                                                  {0x6d, "Microsoft"},
                                                  {0xc0, "Ampere"}}};

constexpr unsigned kArm = 0x41;
constexpr std::array<Numbered, 28> kCores{
    {{0xd03, "Cortex-A53"},  {0xd04, "Cortex-A35"},    {0xd05, "Cortex-A55"},
     {0xd07, "Cortex-A57"},  {0xd08, "Cortex-A72"},    {0xd09, "Cortex-A73"},
     {0xd0a, "Cortex-A75"},  {0xd0b, "Cortex-A76"},    {0xd0c, "Neoverse N1"},
     {0xd0d, "Cortex-A77"},  {0xd40, "Neoverse V1"},   {0xd41, "Cortex-A78"},
     {0xd44, "Cortex-X1"},   {0xd46, "Cortex-A510"},   {0xd47, "Cortex-A710"},
     {0xd48, "Cortex-X2"},   {0xd49, "Neoverse N2"},   {0xd4a, "Neoverse E1"},
     {0xd4b, "Cortex-A78C"}, {0xd4d, "Cortex-A715"},   {0xd4e, "Cortex-X3"},
     {0xd4f, "Neoverse V2"}, {0xd80, "Cortex-A520"},   {0xd81, "Cortex-A720"},
     {0xd82, "Cortex-X4"},   {0xd83, "Neoverse V3AE"}, {0xd84, "Neoverse V3"},
     {0xd8e, "Neoverse N3"}}};

template <std::size_t N>
std::string_view name_of(const std::array<Numbered, N>& known, unsigned number) {
  const Numbered* found = find_by(known, &Numbered::number, number);
  return found == nullptr ? std::string_view() : found->name;
}

}  // namespace

std::string_view arm_implementer(unsigned implementer) {
  return name_of(kImplementers, implementer);
}

std::string_view arm_core_name(unsigned implementer, unsigned part) {
  return implementer == kArm ? name_of(kCores, part) : std::string_view();
}

}  // namespace skid::machine
