#include "tests/support/placement.h"

#include "runway/target.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording_writer.h"
#include "src/run/perftool/event_name.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file_descriptor.h"
#include "src/support/json_value.h"
#include "src/support/random.h"
#include "src/symbols/module.h"
#include "src/synth/buffers.h"
#include "src/synth/code_places.h"
#include "src/synth/draw.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "src/synth/perf_settings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>

namespace skid::test {
namespace {

using namespace synth;
using nlohmann::json;
using ExecutableMapping = symbols::Module::ExecutableMapping;

/// The streams of random numbers that a placement's seed is divided into.
enum Stream : std::uint64_t { kChoosing, kOrder, kBuffering };

/// A number, or "0x" and hexadecimal digits.
std::uint64_t number_of(const json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 16)
                           : value.get<std::uint64_t>();
}

/// The binary that samples are put into, in one executable mapping.
class Binary {
 public:
  explicit Binary(const std::filesystem::path& path)
      : path_(std::filesystem::canonical(path)), module_(symbols::Module::open(path_)) {
    // As Linux maps it: what is linked to address 0 is moved to ELF_ET_DYN_BASE of the kernel, two
    // thirds of 47 and of 48 bits.
    constexpr std::uint64_t kLowest = 0x10000;
    for (const AddressRange& range : module_.executable_ranges()) {
      const auto mapping = module_.executable_mapping_at(range.begin);
      if (!mapping || mapping->range.begin >= kLowest) continue;
      bias_ = arch() == Arch::x86_64 ? 0x5555'5555'4000 : 0xaaaa'aaaa'0000;
    }
  }

  Arch arch() const { return module_.arch().value(); }

  /// The address of a place in the recording.
  std::uint64_t address_of(const json& place) {
    const std::uint64_t address = link_time_address(place);
    if (!mapping_) mapping_ = module_.executable_mapping_at(address);
    if (!mapping_ || !mapping_->range.contains(address)) {
      throw Error("{}: {:#x} is not in {} executable segment", path_.string(), address,
                  mapping_ ? "the same" : "any");
    }
    return address + bias_;
  }

  TargetMapping mapping() const {
    const ExecutableMapping& code = mapping_.value();
    return {path_.string(),
            module_.build_id(),
            {{code.range.begin + bias_, code.range.end + bias_}, code.file_offset},
            {},
            {}};
  }

 private:
  std::uint64_t link_time_address(const json& place) const {
    if (place.contains("address")) return number_of(place["address"]);
    const std::string symbol = place.at("symbol");
    const auto functions = module_.functions_named(symbol);
    if (functions.empty()) throw Error("{}: has no function {}", path_.string(), symbol);
    return functions.front().range.begin + number_of(place.value("offset", json(0)));
  }

  std::filesystem::path path_;
  symbols::Module module_;
  std::uint64_t bias_ = 0;
  std::optional<ExecutableMapping> mapping_;
};

perfdata::Attribute attribute_of(const json& event, const std::string& name, int level,
                                 std::size_t index, unsigned cpus) {
  const auto [plain, modifiers] = perftool::split_event_name(name);
  perfdata::Attribute attribute;
  if (const auto breakpoint = event.find("breakpoint"); breakpoint != event.end()) {
    static const std::map<std::string, std::uint32_t> kKinds{{"rw", 3}, {"w", 2}, {"x", 4}};
    attribute.type = PERF_TYPE_BREAKPOINT;
    attribute.config1 = number_of(breakpoint->at("address"));
    attribute.config2 = sizeof(long);
    attribute.bp_type = kKinds.at(breakpoint->at("access"));
  } else {
    attribute.type = event.value("type", std::uint32_t{PERF_TYPE_RAW});
    attribute.config = number_of(event.at("config"));
  }
  attribute.period_or_frequency = event.at("period");
  attribute.sample_type = kSampleType;
  attribute.precise_ip = static_cast<unsigned>(level);
  attribute.sample_id_all = true;
  set_modes(modifiers, attribute);
  attribute.name = perftool::event_at_level(plain, modifiers, level);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    attribute.ids.push_back(kFirstId + index * cpus + cpu);
  }
  return attribute;
}

/// The samples of one event at one level.
std::vector<DrawnSample> samples_of(const json& level, Binary& binary, Random& random) {
  std::vector<DrawnSample> samples;
  const auto add = [&](std::uint64_t number, const DrawnSample& sample) {
    if (number > kMostSamples - samples.size()) throw Error("more than {} samples", kMostSamples);
    samples.insert(samples.end(), static_cast<std::size_t>(number), sample);
  };
  for (const json& place : level.at("places")) {
    add(place.at("samples"), {.address = binary.address_of(place),
                              .exact = place.value("exact", level.at("level") >= 2)});
  }
  const double kernel = level.value("kernel", 0.0);
  const auto placed = static_cast<double>(samples.size());
  for (auto left = std::llround(placed * kernel / (1 - kernel)); left > 0; --left) {
    const AddressRange code = kCodeOfKernel;
    add(1, {.address = code.begin + random.below(code.size()), .mode = perfdata::CpuMode::kernel});
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

}  // namespace

void write_placement(const json& placement, const std::filesystem::path& directory,
                     const std::filesystem::path& recording,
                     const perfdata::WritingChoices& choices) {
  const std::uint64_t seed = placement.value("seed", std::uint64_t{1});
  const JsonValue document(placement, "placement");
  Binary binary(directory / placement.at("binary").get<std::string>());
  machine::Machine machine = read_machine(document, binary.arch());
  machine.cpu.arch = runway::name_of(binary.arch());
  const Buffers buffers = read_buffers(document);
  std::vector<perfdata::Attribute> attributes;
  std::vector<std::string> command_line{"perf", "record"};
  Contents contents;
  for (const json& event : placement.at("events")) {
    for (const json& level : event.at("levels")) {
      const std::size_t index = attributes.size();
      Random random(seed_of(seed, {kChoosing, index}));
      contents.add(static_cast<std::uint16_t>(index), samples_of(level, binary, random),
                   LevelModel());
      attributes.push_back(
          attribute_of(event, event.at("event"), level.at("level"), index, buffers.cpus));
      command_line.insert(command_line.end(), {"-e", attributes.back().name});
    }
  }
  FileDescriptor file(::open(recording.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  perfdata::RecordingWriter writer(
      std::move(file), recording, attributes,
      synthetic_features(machine, buffers.cpus, std::move(command_line)), choices);
  Random order(seed_of(seed, {kOrder}));
  Random buffering(seed_of(seed, {kBuffering}));
  write_contents(std::move(contents), attributes, binary.mapping(), buffers, order, buffering,
                 writer);
}

}  // namespace skid::test
