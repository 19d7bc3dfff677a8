#include "src/support/architecture.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/synth/model_fields.h"

#include <optional>

namespace skid::synth {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

runway::Specification read_target(const JsonValue& document) {
  const Arch usual = arch_of_machine(document).value_or(kOwnArch);
  const auto object = document.find("target");
  if (!object) return runway::default_specification(usual);
  try {
    const auto arch = object->find("arch");
    const auto trigger = object->find("trigger");
    runway::Specification target = runway::default_specification(
        arch ? runway::arch_from(arch->string()) : usual,
        trigger ? runway::trigger_kind_from(trigger->string()) : runway::TriggerKind{});
    std::optional<std::size_t> triggers;
    std::vector<std::uint32_t> gaps;
    read_fields(*object, {{"arch"},
                          {"trigger"},
                          {"nops", whole(target.nops, 0, kWord)},
                          {"nop_bytes", whole(target.nop_bytes, 0, kWord)},
                          {"lead_in_nops", whole(target.lead_in_nops, 0, kWord)},
                          {"access_bytes", whole(target.access_bytes, 0, kWord)},
                          {"triggers", whole(triggers.emplace(), 0, runway::kMostTriggers)},
                          {"gaps",
                           [&](const JsonValue& list) {
                             for (const JsonValue& gap : list.elements(runway::kMostTriggers)) {
                               whole(gaps.emplace_back(), 0, kWord)(gap);
                             }
                           }},
                          {"working_set_bytes",
                           whole(target.working_set_bytes, 0, std::uint64_t{1} << 50)}});
    if (!object->find("triggers")) triggers.reset();
    target.gaps = runway::gaps_for(triggers, gaps, target.nops);
    runway::check(target);
    return target;
  } catch (const UsageError& error) {
    object->refuse(error.what(), {});
  }
}

}  // namespace

Model parse_model(std::string_view text_of_model, const std::string& name,
                  const fs::path& directory) {
  const json parsed = parse_json(text_of_model, name, "a model of synthetic recordings");
  const JsonValue document(parsed, name);
  Model model;
  std::string schema, source;  // the source is for people who read the model
  read_fields(document, {{"schema", text(schema), kRequired},
                         {"name", text(model.name), kRequired},
                         {"description", text(model.description)},
                         {"source", text(source)},
                         {"seed", whole(model.seed, 0, kAny)},
                         {"target"},
                         {"machine"},
                         {"ticks_per_nop", number(model.ticks_per_nop, 0, 1e6)},
                         {"ticks_per_second", number(model.ticks_per_second, 1, 1e11)},
                         {"buffers"},
                         {"events",
                          [&](const JsonValue& events) {
                            model.events =
                                read_events(events, directory, read_exact_rule(document));
                          },
                          kRequired}});
  if (schema != kModelSchema) {
    document["schema"].refuse(json_text(json(schema)), fmt::format("\"{}\"", kModelSchema));
  }
  model.target = read_target(document);
  model.machine = read_machine(document, model.target.arch);
  model.buffers = read_buffers(document);
  return model;
}

Model read_model(const fs::path& path) {
  return parse_model(read_file(path, kMostBytes), path.string(), path.parent_path());
}

}  // namespace skid::synth
