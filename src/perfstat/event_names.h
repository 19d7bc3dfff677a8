// Which count of the rates an event of perf stat is, by name or by code.
#pragma once

#include "analysis/rates.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::perfstat {

/// The meaning of an event's name. Without quantity and umask no rate uses it.
struct KnownEvent {
  std::optional<analysis::Quantity> quantity;
  std::optional<std::uint8_t> l2_umask;  ///< of L2_RQSTS, event 0x24
  bool user_only = false;                ///< counted in user mode alone: `:u`
  bool kernel_only = false;              ///< in the kernel alone: `:k`
  std::string modifiers;                 ///< "u", "pp"; as written after the event
  std::string remark;                    ///< what the name leaves open; may be empty

  bool known() const noexcept { return quantity || l2_umask; }
};

/// Accepts perf's and libpfm4's spellings: any case; '.' and ':' alike; "cpu/NAME/",
/// "cpu/event=0xd1,umask=0x20/", "r20d1", "skl::NAME"; followed by modifiers. Events of other PMUs
/// than cpu and cpu_core, and named events with further terms (cmask, inv, edge), are not known.
KnownEvent identify_event(std::string_view name);

}  // namespace skid::perfstat
