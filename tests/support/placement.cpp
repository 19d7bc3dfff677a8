#include "tests/support/placement.h"

#include "src/correct/correct.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording_writer.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/perftool.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/fields.h"
#include "src/support/json_text.h"
#include "src/support/random.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "src/synth/buffers.h"
#include "src/synth/code_places.h"
#include "src/synth/draw.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "src/synth/perf_settings.h"
#include "src/synth/recording.h"

#include <system_error>

#include <nlohmann/json.hpp>

namespace skid::test {
namespace {

using namespace synth;
using instructions::Categories;
using instructions::Instruction;

/// The streams of random numbers that a placement's seed is divided into.
enum Stream : std::uint64_t { kChoosing, kOrder, kBuffering };

constexpr std::uint64_t kLargestFunction = std::uint64_t{4} << 20;

/// One instruction at its address.
struct Standing {
  std::uint64_t address = 0;
  std::optional<Instruction> instruction;
};

/// The binary that samples are put into.
class Binary {
 public:
  explicit Binary(const std::filesystem::path& path)
      : path_(path), module_(symbols::Module::open(path)) {
    if (!module_.arch() || !module_.has_code()) {
      throw Error(
          fmt::format("{}: holds no x86-64 or aarch64 code to put samples on", path.string()));
    }
    arch_ = *module_.arch();
  }

  Arch arch() const noexcept { return arch_; }
  const symbols::Module& module() const noexcept { return module_; }
  const std::filesystem::path& path() const noexcept { return path_; }

  std::uint64_t address_of(const Place& place) const {
    if (place.address) return *place.address;
    const auto functions = module_.functions_named(place.symbol);
    if (functions.empty()) {
      throw Error(fmt::format("{}: has no function {}", path_.string(), place.symbol));
    }
    return functions.front().range.begin + place.offset;
  }

  /// A function's instructions from its first byte on.
  std::vector<Standing> decode(AddressRange range) const {
    std::vector<Standing> all;
    if (range.size() > kLargestFunction) return all;
    const auto bytes = module_.code(range);
    const std::span<const std::byte> code(bytes);
    for (std::size_t offset = 0; offset < code.size();) {
      all.push_back({range.begin + offset,
                     instructions::classify(arch_, code.subspan(offset), range.begin + offset)});
      offset += all.back().instruction ? all.back().instruction->length
                                       : instructions::step_without_instruction(arch_);
    }
    return all;
  }

  /// `count` instructions of a category, evenly chosen among all in functions of the binary (or in
  /// those of one name).
  std::vector<std::uint64_t> choose(const Place& place, Random& random) {
    std::vector<std::uint64_t> chosen;
    std::uint64_t met = 0;
    for (const auto& [address, categories] : instructions_of(place.function)) {
      if (!categories.contains(*place.category)) continue;
      ++met;
      if (chosen.size() < place.instructions) {
        chosen.push_back(address);
      } else if (const auto at = random.below(met); at < chosen.size()) {
        chosen[static_cast<std::size_t>(at)] = address;
      }
    }
    if (chosen.size() < place.instructions) {
      throw Error(fmt::format("{}: has {} instructions of the category {}{}{}, not {}",
                              path_.string(), met, instructions::name_of(*place.category),
                              place.function.empty() ? "" : " in ", place.function,
                              place.instructions));
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  /// Where the binary is mapped, as Linux would: one that is linked to address 0 is moved.
  std::uint64_t load_bias() const {
    constexpr std::uint64_t kLowest = 0x10000;
    for (const AddressRange& range : module_.executable_ranges()) {
      const auto mapping = module_.executable_mapping_at(range.begin);
      // ELF_ET_DYN_BASE of the kernel: two thirds of 47 and of 48 bits.
      if (mapping && mapping->range.begin < kLowest) {
        return arch_ == Arch::x86_64 ? 0x5555'5555'4000 : 0xaaaa'aaaa'0000;
      }
    }
    return 0;
  }

 private:
  using Categorized = std::vector<std::pair<std::uint64_t, Categories>>;

  /// The instructions of functions of a name, decoded once; empty: of all functions.
  const Categorized& instructions_of(const std::string& name) {
    const auto [found, is_new] = by_function_.try_emplace(name);
    if (!is_new) return found->second;
    const auto look_into = [&, &all = found->second](AddressRange range) {
      for (const Standing& standing : decode(range)) {
        if (standing.instruction) {
          all.emplace_back(standing.address, standing.instruction->categories);
        }
      }
    };
    if (!name.empty()) {
      for (const auto& function : module_.functions_named(name)) look_into(function.range);
    } else {
      for (const std::uint64_t start : module_.function_starts()) {
        const auto function = module_.function_at(start);
        if (function && function->range.begin == start) look_into(function->range);
      }
    }
    return found->second;
  }

  std::filesystem::path path_;
  symbols::Module module_;
  Arch arch_ = Arch::x86_64;
  std::map<std::string, Categorized> by_function_;
};

/// What the catalogue says of samples at an address.
class Judge {
 public:
  /// What can cause an event is known of x86 alone.
  Judge(const Binary& binary, const machine::Machine& machine)
      : binary_(binary),
        catalogue_(binary.arch() == Arch::x86_64 ? events::find_catalogue(machine) : std::nullopt) {
  }

  /// Decodes a function once where its places follow each other.
  void judge(const perfdata::Attribute& attribute, PlacedSamples& placed) {
    const auto function = binary_.module().function_at(placed.address);
    constexpr std::uint64_t kLongest = 15;
    const AddressRange range =
        function ? function->range : AddressRange{placed.address, placed.address + kLongest};
    if (function) {
      placed.symbol = function->name;
      placed.offset = placed.address - function->range.begin;
    }
    if (range != decoded_range_) {
      decoded_ = binary_.decode(range);
      decoded_range_ = range;
    }
    const auto& all = decoded_;
    const auto at = std::lower_bound(
        all.begin(), all.end(), placed.address,
        [](const Standing& standing, std::uint64_t address) { return standing.address < address; });
    if (at == all.end() || at->address != placed.address || !at->instruction) return;
    placed.categories = at->instruction->categories;
    const bool is_of_it = placed.exact && attribute.precise_ip >= 2;
    if (!is_of_it || !catalogue_ || attribute.type != PERF_TYPE_RAW) return;
    Categories of_pair = placed.categories;
    const auto pair_with = [&](const Standing& first, const Standing& second,
                               const Standing& other) {
      if (first.instruction && second.instruction &&
          instructions::fuses(first.instruction->fusion, second.instruction->fusion)) {
        of_pair |= other.instruction->categories;
      }
    };
    if (at != all.begin()) pair_with(*(at - 1), *at, *(at - 1));
    if (at + 1 != all.end()) pair_with(*at, *(at + 1), *(at + 1));
    const auto event = catalogue_->find_code(attribute.config, attribute.config1);
    if (event.size() != 1 || event.front().precise != true) return;
    const auto verdict = events::verdict_on(events::causes_of(event.front()), of_pair);
    const bool may_be_second = at == all.begin() && can_be_second(at->instruction->fusion);
    if (!may_be_second || verdict != events::Verdict::never) placed.verdict = verdict;
  }

 private:
  const Binary& binary_;
  std::optional<events::Catalogue> catalogue_;
  AddressRange decoded_range_;
  std::vector<Standing> decoded_;
};

std::uint64_t kernel_samples(const PlacedLevel& level, std::uint64_t placed) {
  return static_cast<std::uint64_t>(
      std::floor(static_cast<double>(placed) * level.kernel / (1 - level.kernel) + 0.5));
}

perfdata::Attribute attribute_of(const PlacedEvent& event, const PlacedLevel& placed,
                                 std::size_t index, unsigned cpus) {
  const int level = placed.level;
  perfdata::Attribute attribute = event.attribute;
  attribute.period_or_frequency = event.period;
  attribute.sample_type = kSampleType;
  const bool has_branches = std::any_of(placed.places.begin(), placed.places.end(),
                                        [](const Place& place) { return !place.branches.empty(); });
  if (has_branches) {
    attribute.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attribute.branch_sample_type = 1U << 0 | 1U << 3;  // PERF_SAMPLE_BRANCH_USER, ANY
  }
  attribute.precise_ip = static_cast<unsigned>(level);
  attribute.sample_id_all = true;
  set_modes(event.modifiers, attribute);
  attribute.name = perftool::event_at_level(event.name, event.modifiers, level);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    attribute.ids.push_back(kFirstId + index * cpus + cpu);
  }
  return attribute;
}

/// Puts the samples of one event at one level.
class Placer {
 public:
  Placer(Binary& binary, std::uint64_t bias, Random& random)
      : binary_(binary), bias_(bias), random_(random) {}

  void put(const Place& place) {
    const auto addresses =
        place.category ? binary_.choose(place, random_) : std::vector{binary_.address_of(place)};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::uint64_t share =
          place.samples / addresses.size() + (i < place.samples % addresses.size() ? 1 : 0);
      counts_[{false, addresses[i], place.exact, branches_of(place)}] += share;
      placed_ += share;
    }
  }

  void put_into_kernel(const PlacedLevel& level) {
    const AddressRange kernel = kCodeOfKernel;
    for (std::uint64_t left = kernel_samples(level, placed_); left > 0; --left) {
      ++counts_[{true, kernel.begin + random_.below(kernel.size()), false, {}}];
    }
  }

  std::vector<PlacedSamples> places() const {
    std::vector<PlacedSamples> places;
    for (const auto& [where, samples] : counts_) {
      const auto& [kernel, address, exact, branches] = where;
      PlacedSamples placed;
      placed.address = address;
      placed.ip = kernel ? address : address + bias_;
      placed.kernel = kernel;
      placed.exact = exact;
      placed.samples = samples;
      for (const auto& [from, to] : branches) {
        placed.branches.push_back({.from = from + bias_, .to = to + bias_});
      }
      places.push_back(std::move(placed));
    }
    return places;
  }

 private:
  using BranchStack = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  static BranchStack branches_of(const Place& place) {
    BranchStack stack;
    for (const auto& branch : place.branches) stack.emplace_back(branch.from, branch.to);
    return stack;
  }

  Binary& binary_;
  std::uint64_t bias_;
  Random& random_;
  std::uint64_t placed_ = 0;
  std::map<std::tuple<bool, std::uint64_t, bool, BranchStack>, std::uint64_t>
      counts_;  ///< kernel, where, exact
};

/// All places lie in one executable mapping, as recordings of one file mostly have.
symbols::Module::ExecutableMapping mapping_of(const Binary& binary,
                                              const std::vector<PlacedTruth>& truth) {
  std::optional<symbols::Module::ExecutableMapping> mapping;
  for (const PlacedTruth& event : truth) {
    for (const PlacedSamples& placed : event.places) {
      if (placed.kernel) continue;
      if (!mapping) mapping = binary.module().executable_mapping_at(placed.address);
      if (!mapping || !mapping->range.contains(placed.address)) {
        throw Error(fmt::format("{}: {:#x} is not in {} executable segment", binary.path().string(),
                                placed.address, mapping ? "the same" : "any"));
      }
    }
  }
  if (!mapping) throw Error(fmt::format("{}: no sample was put there", binary.path().string()));
  return *mapping;
}

std::uint64_t samples_in(const Placement& placement) {
  std::uint64_t samples = 0;
  for (const PlacedEvent& event : placement.events) {
    for (const PlacedLevel& level : event.levels) {
      std::uint64_t placed = 0;
      for (const Place& place : level.places) placed += place.samples;
      samples += placed + (placed <= kMostSamples ? kernel_samples(level, placed) : 0);
    }
  }
  return samples;
}

}  // namespace

std::vector<PlacedTruth> write_placement(const Placement& placement, FileDescriptor file,
                                         const std::filesystem::path& path,
                                         const perfdata::WritingChoices& choices) {
  if (const auto samples = samples_in(placement); samples > kMostSamples) {
    throw Error(fmt::format("{}: a recording of {} samples, expected at most {}", path.string(),
                            samples, kMostSamples));
  }
  std::error_code missing;
  auto binary_path = std::filesystem::canonical(placement.binary, missing);
  if (missing) binary_path = placement.binary;
  Binary binary(binary_path);
  const std::uint64_t bias = binary.load_bias();
  machine::Machine machine = placement.machine;
  machine.cpu.arch = runway::name_of(binary.arch());
  const auto of_vendor = arch_of_vendor(machine.cpu.vendor);
  if (of_vendor && *of_vendor != binary.arch()) {
    throw Error(fmt::format("{}: holds {} code, which no CPU of the vendor {} runs",
                            binary.path().string(), machine.cpu.arch, machine.cpu.vendor));
  }
  Judge judge(binary, machine);
  std::vector<PlacedTruth> truth;
  std::vector<perfdata::Attribute> attributes;
  std::vector<std::string> command_line{"perf", "record"};
  Contents contents;
  for (const PlacedEvent& event : placement.events) {
    for (const PlacedLevel& level : event.levels) {
      const std::size_t index = attributes.size();
      Random random(seed_of(placement.seed, {kChoosing, index}));
      Placer placer(binary, bias, random);
      for (const Place& place : level.places) placer.put(place);
      placer.put_into_kernel(level);
      PlacedTruth one;
      one.event = event.name;
      one.requested = perftool::event_at_level(event.name, event.modifiers, level.level);
      one.attribute = attribute_of(event, level, index, placement.buffers.cpus);
      one.places = placer.places();
      std::vector<DrawnSample> samples;
      for (PlacedSamples& placed : one.places) {
        if (!placed.kernel) judge.judge(one.attribute, placed);
        const auto mode = placed.kernel ? perfdata::CpuMode::kernel : perfdata::CpuMode::user;
        samples.insert(samples.end(), static_cast<std::size_t>(placed.samples),
                       {.address = placed.ip,
                        .mode = mode,
                        .exact = placed.exact,
                        .branches = &placed.branches});
        one.samples += placed.samples;
      }
      contents.add(static_cast<std::uint16_t>(index), std::move(samples), LevelModel());
      attributes.push_back(one.attribute);
      command_line.insert(command_line.end(), {"-e", one.requested});
      truth.push_back(std::move(one));
    }
  }
  const auto code = mapping_of(binary, truth);
  const TargetMapping mapped{binary.path().string(),
                             binary.module().build_id(),
                             {{code.range.begin + bias, code.range.end + bias}, code.file_offset},
                             {},
                             {}};
  perfdata::RecordingWriter writer(
      std::move(file), path, attributes,
      synthetic_features(machine, placement.buffers.cpus, std::move(command_line)), choices);
  Random order(seed_of(placement.seed, {kOrder}));
  Random buffering(seed_of(placement.seed, {kBuffering}));
  write_contents(std::move(contents), attributes, mapped, placement.buffers, order, buffering,
                 writer);
  return truth;
}

std::string placement_truth_json(const Placement& placement, const std::string& file,
                                 const std::vector<PlacedTruth>& truth) {
  using Json = nlohmann::ordered_json;
  const auto hexadecimal = [](std::uint64_t number) { return fmt::format("{:#x}", number); };
  Json events = Json::array();
  for (const PlacedTruth& event : truth) {
    Json places = Json::array();
    std::uint64_t impossible = 0;
    for (const PlacedSamples& placed : event.places) {
      if (placed.verdict == events::Verdict::never) impossible += placed.samples;
      Json categories = Json::array();
      for (const auto category : instructions::kCategories) {
        if (placed.categories.contains(category)) {
          categories.push_back(instructions::name_of(category));
        }
      }
      places.push_back(
          {{"address", hexadecimal(placed.address)},
           {"ip", hexadecimal(placed.ip)},
           {"symbol", placed.symbol.empty() ? Json() : Json(placed.symbol)},
           {"offset", placed.offset},
           {"mode", placed.kernel ? "kernel" : "user"},
           {"exact_ip", placed.exact},
           {"samples", placed.samples},
           {"categories", categories},
           {"verdict", placed.verdict ? Json(events::name_of(*placed.verdict)) : Json()}});
    }
    events.push_back({{"event", event.event},
                      {"requested", event.requested},
                      {"recorded", event.attribute.name},
                      {"level", event.attribute.precise_ip},
                      {"period", event.attribute.period_or_frequency},
                      {"samples", event.samples},
                      {"impossible", impossible},
                      {"places", places}});
  }
  const Json document = {{"file", file},
                         {"binary", placement.binary.string()},
                         {"seed", placement.seed},
                         {"events", events}};
  return json_text(document, 1) + '\n';
}

}  // namespace skid::test
