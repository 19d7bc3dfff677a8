// Builds the targets that come with packages of skidscan into one file (runway/shipped.h): those
// that record chooses without options for the target, for both architectures, and those of
// the built-in models. Run by cpack; not installed.
#include "runway/kinds/kind.h"
#include "runway/shipped.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/staged_file.h"
#include "src/support/temporary_directory.h"
#include "src/synth/built_in_models.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

namespace {

using namespace skid;
using record::ChosenEvent;
using runway::Specification;

/// An event of each sort that is recorded with a kind: by what it counts, and whether levels above
/// 0 are recorded; and IBS.
std::vector<ChosenEvent> events_for(runway::TriggerKind kind, const machine::Machine& machine) {
  std::vector<ChosenEvent> chosen;
  const auto add = [&](ChosenEvent event) {
    event.trigger = kind;
    event.period = record::default_period(event, machine.cpu, 1);
    chosen.push_back(std::move(event));
  };
  constexpr auto kLast = static_cast<int>(events::Counted::cpuids);
  for (int counted = 0; counted <= kLast; ++counted) {
    for (const int level : {0, machine::kHighestLevel}) {
      ChosenEvent event;
      event.levels = {level};
      event.counted = static_cast<events::Counted>(counted);
      const bool unknown = event.counted == events::Counted::other;
      if (unknown || is_busy(event) || runway::kind_of(kind).causes(event.counted)) add(event);
    }
  }
  ChosenEvent tagged;
  tagged.event.name = "ibs_op//";
  tagged.levels = {machine::kHighestLevel};
  add(tagged);
  return chosen;
}

void add_new(Specification target, std::vector<Specification>& targets) {
  if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
    targets.push_back(std::move(target));
  }
}

/// The specifications that choose_targets() comes to for one or two events at default periods, on
/// any CPU of the architecture, each once. Chases have their kind's usual working set.
void add_usual(Arch arch, std::vector<Specification>& targets) {
  std::vector<std::string> notes;
  machine::Machine machine;
  machine.cpu.arch = runway::name_of(arch);
  for (const char* vendor : {"", "GenuineIntel", "AuthenticAMD"}) {  // whose default periods differ
    machine.cpu.vendor = vendor;
    for (const runway::TriggerKind kind : runway::trigger_kinds_of(arch)) {
      const std::vector<ChosenEvent> chosen = events_for(kind, machine);
      for (const ChosenEvent& one : chosen) {
        for (const ChosenEvent& other : chosen) {
          if (is_tagged(one) != is_tagged(other)) continue;
          for (auto& [file, target] : record::choose_targets({one, other}, {}, machine, 0, notes)) {
            add_new(std::move(target), targets);
          }
        }
      }
    }
  }
}

std::string compressed(const std::string& text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), ZSTD_maxCLevel());
  if (ZSTD_isError(size) != 0) throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  bytes.resize(size);
  return bytes;
}

void ship_targets(const std::filesystem::path& output) {
  std::vector<Specification> specifications;
  for (const Arch arch : {Arch::x86_64, Arch::aarch64}) add_usual(arch, specifications);
  for (const std::string& name : synth::built_in_model_names()) {
    add_new(synth::parse_model(synth::built_in_model_text(name), name).target, specifications);
  }
  const TemporaryDirectory directory;
  const std::filesystem::path built = directory.path() / "target";
  std::string text;
  for (const Specification& specification : specifications) {
    (void)runway::build_target(specification, built);
    const std::string target = read_file(built, runway::kLargestTarget);
    text += runway::shipped_header(specification, target.size()) + target;
  }
  const std::string file = compressed(text);
  write_file_atomically(output, file);
  fmt::print("{}: {} targets, {} bytes\n", output.string(), specifications.size(), file.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw Error("usage: ship_targets FILE");
    ship_targets(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ship_targets: {}\n", error.what());
    return 1;
  }
}
