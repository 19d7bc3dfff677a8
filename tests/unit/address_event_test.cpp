// Which events have addresses that audit compares with the operands of instructions.
#include "src/measure/address_event.h"

#include "src/machine/machine.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "tests/support/prelude.h"

#include <map>
#include <string>

#include <linux/perf_event.h>

namespace skid::measure {
namespace {

TEST(AddressEvent, IsAPageFaultOfX86Alone) {
  const perfdata::Attribute faults{.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_PAGE_FAULTS,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR};
  for (const auto& [arch, is_compared] :
       std::map<std::string, bool>{{"x86_64", true}, {"", true}, {"aarch64", false}}) {
    machine::Machine machine;
    machine.cpu.arch = arch;
    const measure::RecordedEvent event{.attribute = faults, .machine = machine};
    EXPECT_EQ(address_event(event).has_value(), is_compared) << arch;
  }
}

}  // namespace
}  // namespace skid::measure
