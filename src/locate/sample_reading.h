// How the samples of a recording are read, which both passes of a digest share.
#pragma once

#include "src/locate/digest.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/recording.h"
#include "src/support/cores.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::locate {

struct SampleReading {
  /// Whether attributes were added since the layout was made.
  bool lacks_attributes() const { return attributes_version != recording.attributes_version(); }
  /// Adapts the layout to all attributes known now.
  void follow_attributes() {
    attributes_version = recording.attributes_version();
    layout.use(recording.decoder());
  }
  /// Whether there is a core for a second thread, which is then leased.
  bool has_core() {
    if (setup.cores == nullptr) return Cores::usable() > 1;
    if (!core) core = setup.cores->try_take();
    return core != nullptr;
  }
  /// Whether samples are also counted by address: those of breakpoints are compared by it.
  bool keeps_addresses() const {
    return std::ranges::find(recording.attributes(), PERF_TYPE_BREAKPOINT,
                             &perfdata::Attribute::type) != recording.attributes().end();
  }

  perfdata::Recording& recording;
  const DigestSetup& setup;
  bool in_order = false;             ///< the second pass cannot take pieces
  perfdata::BulkLayout layout = {};  ///< of samples
  unsigned attributes_version = 0;   ///< that of `layout`
  Cores::Lease core = {};
};

}  // namespace skid::locate
