// The output of `skidscan doctor`, as text and as JSON.
#pragma once

#include "src/events/default_set.h"

#include <cstddef>
#include <string>

namespace skid::machine {
struct Diagnosis;
struct SamplingSupport;
}  // namespace skid::machine

namespace skid::output {

struct Page;

/// Events of the machine's core PMU in the catalogue.
struct CpuEvents {
  std::string catalogue;               ///< "libpfm4, skl"; empty: no catalogue covers the CPU
  std::size_t known = 0, precise = 0;  ///< events of the catalogue
  events::DefaultSet set;              ///< events that `record` records without -e
  std::string
      proving_command;  ///< records a program whose samples audit judges one by one; or empty
};

/// Returns one screen: what can be sampled, and each problem with its remedy; with `page.details`
/// also rights, settings, PMUs and default events. Names that come from files are escaped.
/// `cpu_events` is shown if one of the CPU's events can be sampled.
std::string diagnosis_text(const machine::SamplingSupport& support,
                           const machine::Diagnosis& diagnosis, const CpuEvents& cpu_events,
                           const Page& page);

/// Returns JSON with everything that the page shows and more; docs/formats.md lists the keys. Ends
/// with a newline.
std::string diagnosis_json(const machine::SamplingSupport& support,
                           const machine::Diagnosis& diagnosis, const CpuEvents& cpu_events);

}  // namespace skid::output
