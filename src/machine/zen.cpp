#include "src/machine/zen.h"

#include "src/machine/cpu_identity.h"

#include <array>
#include <string>

namespace skid::machine {
namespace {

/// Models `first` to `last` of a family.
struct Models {
  int family, first, last, generation;
};

constexpr auto kZens = std::to_array<Models>({
    {0x17, 0x00, 0x2f, 1},
    {0x17, 0x30, 0x4f, 2},
    {0x17, 0x50, 0x5f, 1},
    {0x17, 0x60, 0x7f, 2},
    {0x17, 0x90, 0x91, 2},
    {0x17, 0xa0, 0xaf, 2},
    {0x19, 0x00, 0x0f, 3},
    {0x19, 0x10, 0x1f, 4},
    {0x19, 0x20, 0x5f, 3},
    {0x19, 0x60, 0xaf, 4},
    {0x1a, 0x00, 0x2f, 5},
    {0x1a, 0x40, 0x4f, 5},
    {0x1a, 0x50, 0x5f, 6},
    {0x1a, 0x60, 0x7f, 5},
    {0x1a, 0x80, 0xaf, 6},
    {0x1a, 0xc0, 0xcf, 6},
    {0x1a, 0xd0, 0xd7, 5},
    {0x1a, 0xd8, 0xef, 6},
});

}  // namespace

std::optional<int> zen_generation(const CpuIdentity& cpu) {
  if (cpu.vendor != "AuthenticAMD" || !cpu.family || !cpu.model) return std::nullopt;
  for (const Models& models : kZens) {
    if (cpu.family == models.family && *cpu.model >= models.first && *cpu.model <= models.last) {
      return models.generation;
    }
  }
  return std::nullopt;
}

}  // namespace skid::machine
