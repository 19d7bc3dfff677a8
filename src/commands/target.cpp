#include "runway/target.h"

#include "runway/kinds/kind.h"
#include "runway/note.h"
#include "runway/specification.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/output/json_values.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/json_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;
using runway::Specification;

struct TargetOptions {
  std::string arch{runway::name_of(kOwnArch)};
  std::optional<runway::TriggerKind> trigger;
  std::optional<std::uint32_t> nops, lead_in;
  std::optional<unsigned> nop_bytes, access_bytes;
  std::optional<unsigned> triggers;
  std::vector<std::uint32_t> gaps;           // NOPs
  std::optional<std::uint64_t> working_set;  // bytes
  std::optional<std::uint64_t> iterations;
  std::optional<double> duration;  // seconds
  std::string output = "skidscan-target";
  std::string read;
  bool assembly = false;
  OutputOptions shown;
};

std::chrono::nanoseconds duration_from(double seconds) {
  constexpr double kMostSeconds = 1e6;  // far above what is allowed, far below overflow
  if (!(seconds > 0 && seconds < kMostSeconds)) {
    throw UsageError("duration: {} s given; expected 1 ms to 24 h", seconds);
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

Specification specification_of(const TargetOptions& options) {
  Specification specification = runway::default_specification(
      runway::arch_from(options.arch), options.trigger.value_or(runway::TriggerKind{}));
  specification.nops = options.nops.value_or(specification.nops);
  specification.lead_in_nops = options.lead_in.value_or(specification.lead_in_nops);
  specification.gaps = runway::gaps_for(options.triggers, options.gaps, specification.nops);
  specification.nop_bytes = options.nop_bytes.value_or(specification.nop_bytes);
  specification.access_bytes = options.access_bytes.value_or(specification.access_bytes);
  specification.working_set_bytes = options.working_set.value_or(specification.working_set_bytes);
  if (options.iterations) specification.length = *options.iterations;
  if (options.duration) specification.length = duration_from(*options.duration);
  runway::check(specification);
  return specification;
}

std::string shown(const fs::path& path) {
  return escape_for_terminal(path.string());
}

/// A compiler would overwrite any file; a typing error must cost no more than an older target.
void require_replaceable(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return;
  bool is_target = false;
  try {
    is_target = runway::read_target(path).has_value();
  } catch (const InputError&) {
    // Not an ELF file, or a damaged one: it is not replaced.
  }
  if (!is_target) {
    throw Error("{}: exists and is not a skidscan target; remove it or choose another name with -o",
                shown(path));
  }
}

std::string length_text(const runway::RunLength& length) {
  if (const auto* iterations = std::get_if<std::uint64_t>(&length)) {
    return fmt::format("{} iterations", *iterations);
  }
  return fmt::format(
      "{} s", std::chrono::duration<double>(std::get<std::chrono::nanoseconds>(length)).count());
}

std::string trigger_text(const Specification& specification) {
  std::string text(runway::name_of(specification.trigger));
  if (!runway::kind_of(specification.trigger).widths.empty())
    text += fmt::format(" of {} bytes", specification.access_bytes);
  if (const std::uint64_t elements = runway::elements_of(specification); elements != 0) {
    text += fmt::format(", a chase of {} elements through {}", elements,
                        runway::size_text(specification.working_set_bytes));
  }
  return text;
}

std::string row(std::string_view part, const AddressRange& range,
                std::optional<std::uint64_t> instructions) {
  return fmt::format("{:<14} {:>10}  {:>9}  {:>12}\n", part, fmt::format("{:#x}", range.begin),
                     range.size(), instructions ? std::to_string(*instructions) : "");
}

std::string text_of(const runway::Target& target) {
  const Specification& specification = target.description.specification;
  const runway::Layout& layout = target.description.layout;
  std::string text =
      fmt::format("{}: {}, trigger {}, runs for {}\nbuild-id {}, built by skidscan {}\n\n",
                  shown(target.path), runway::name_of(specification.arch),
                  trigger_text(specification), length_text(specification.length), target.build_id,
                  escape_for_terminal(target.description.tool_version));
  text += fmt::format("{:<14} {:>10}  {:>9}  {:>12}\n", "part", "address", "bytes", "instructions");
  text += row("loop", layout.loop, {});
  text += row("lead-in", layout.lead_in, specification.lead_in_nops);
  const std::vector<runway::TriggerBlock> trigger_blocks = layout.trigger_blocks();
  for (std::size_t i = 0; i < trigger_blocks.size(); ++i) {
    text += row("trigger", trigger_blocks[i].trigger, 1);
    text += row("runway", trigger_blocks[i].runway, runway::runway_nops(specification, i));
  }
  for (const AddressRange& other : layout.other_triggers) text += row("other trigger", other, {});
  text += row("datum", {layout.datum, layout.datum + specification.access_bytes}, {});
  for (const runway::TouchedData& data : target.description.data) {
    const std::uint64_t begin = layout.datum + data.offset;
    text +=
        row(data.of_trigger ? "trigger's data" : "other's data", {begin, begin + data.bytes}, {});
  }

  text += fmt::format("\n{:<14} {:>10}  {:>13}\n", "event", "offset", "per iteration");
  for (const runway::Expectation& expectation : target.description.expectations) {
    const std::string offset = !expectation.offset ? "none"
                               : *expectation.offset == 0
                                   ? "0"
                                   : fmt::format("{:+}", *expectation.offset);
    text += fmt::format("{:<14} {:>10}  {:>13}\n", escape_for_terminal(expectation.event), offset,
                        expectation.events_per_iteration);
  }
  return text;
}

Json json_of(const AddressRange& range) {
  return {{"begin", output::hexadecimal(range.begin)}, {"end", output::hexadecimal(range.end)}};
}

std::string json_text_of(const runway::Target& target) {
  const runway::TargetDescription& description = target.description;
  const runway::Layout& layout = description.layout;
  const Json described = runway::json_of(description);
  const Json document{
      {"schema", "skidscan.target/1"},
      {"tool_version", description.tool_version},
      {"file", target.path.string()},
      {"build_id", target.build_id},
      {"specification", described["specification"]},
      {"layout",
       {{"loop", json_of(layout.loop)},
        {"lead_in", json_of(layout.lead_in)},
        {"trigger", json_of(layout.trigger)},
        {"runway", json_of(layout.runway)},
        {"further",
         output::array_of(
             layout.further,
             [](const auto& block) -> Json {
               return {{"trigger", json_of(block.trigger)}, {"runway", json_of(block.runway)}};
             })},
        {"datum", output::hexadecimal(layout.datum)},
        {"other_triggers", output::array_of(layout.other_triggers, json_of)}}},
      {"expectations", described["expectations"]},
      {"data", described["data"]}};
  return json_text(document, 2) + '\n';
}

ExitStatus run_target(const TargetOptions& options) {
  if (options.assembly) {
    print(runway::assembly_of(specification_of(options)));
    return ExitStatus::done;
  }
  std::optional<runway::Target> target;
  if (!options.read.empty()) {
    target = runway::require_target(options.read);
  } else {
    const Specification specification = specification_of(options);
    require_replaceable(options.output);
    target = runway::build_target(specification, options.output);
  }
  print(options.shown.format == Format::json ? json_text_of(*target) : text_of(*target));
  return ExitStatus::done;
}

}  // namespace

Command target_command() {
  const Specification defaults;
  auto options = std::make_shared<TargetOptions>();
  Command command{
      .name = "target",
      .description = "build a runway target and print its layout",
      .options = {trigger_option(options->trigger,
                                 "instruction that causes the event (default: load)"),
                  {"--nops",
                   Value::number("N", options->nops, runway::kFewestNops, runway::kMostNops),
                   fmt::format("NOPs of the runway (default: {})", defaults.nops)},
                  {"--nop-bytes", Value::number("B", options->nop_bytes),
                   "bytes of one NOP: 1 to 9 on x86_64 (default: 1), 4 on aarch64"},
                  {"--triggers", Value::number("K", options->triggers, 1, runway::kMostTriggers),
                   "triggers in one iteration (default: 1)"},
                  {"--gaps", Value::number("N,N", options->gaps, 0, runway::kMostNops).separated(),
                   "NOPs between consecutive triggers, comma-separated (default: unequal, growing "
                   "up to --nops)"},
                  {"--lead-in", Value::number("N", options->lead_in, 0, runway::kMostNops),
                   fmt::format("NOPs before the trigger (default: {})", defaults.lead_in_nops)},
                  {"--access-bytes", Value::number("BYTES", options->access_bytes),
                   "width of the access (default: the widest of the kind; 8 for integer accesses)"},
                  {"--working-set", Value::size("BYTES", options->working_set),
                   "size of the pointer chase of load-l2, load-l3 and load-dram (default: 128 KiB, "
                   "4 MiB, 256 MiB)"},
                  {"--arch", Value::text("ARCH", options->arch).suggesting({"x86_64", "aarch64"}),
                   "architecture of the target (default: this machine's)"},
                  {"--iterations",
                   Value::number("N", options->iterations, 1, runway::kMostIterations),
                   "iterations of a run by default (default: 1000000)",
                   {"--duration"}},
                  {"--duration", Value::number("S", options->duration),
                   "seconds of a run by default, instead of iterations"}},
      .notes = {"The same specification gives the same bytes. A target accepts --iterations N or "
                "--seconds S, --cpu N, and --control FIFO with --ack FIFO as the counterpart of "
                "perf record --control. It prints one line of JSON at its end."},
      .examples = {"skidscan target --trigger store --nops 2000 -o store-target",
                   "./store-target --seconds 0.5"},
      .run = [options] { return run_target(*options); }};
  Option read{"--read",
              Value::file("FILE", options->read),
              "print the layout of this target instead of building one",
              {"--output", "--assembly"}};
  for (const Option& building : command.options) read.excludes.push_back(building.names.back());
  return std::move(command).with(
      std::vector<Option>{{"-o,--output", Value::file("FILE", options->output),
                           "file to write (default: skidscan-target)"},
                          read,
                          {"--assembly",
                           Value::flag(options->assembly),
                           "print the assembly instead of building it",
                           {"--output", "--format"}},
                          format_option(options->shown.format, {"text", "json"})},
      output_options(options->shown));
}

}  // namespace skid::commands
