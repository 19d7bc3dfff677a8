// The members of a CPU's identity, with their keys in JSON.
#pragma once

#include "src/support/field_values.h"
#include "src/support/field_writer.h"

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid {

void fields(auto& io, Of<machine::CpuIdentity> auto& value) {
  SKID_MEMBERS_OR_NULL(vendor, model_name);
  io("family", value.family, kAnyInteger);
  io("model", value.model, kAnyInteger);
  io("stepping", value.stepping, kAnyInteger);
  SKID_MEMBERS_OR_NULL(microcode, arch);
  io("hypervisor", value.hypervisor);
  io.derived("emulated", value.emulated());
}

}  // namespace skid
