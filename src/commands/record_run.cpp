#include "src/commands/record_run.h"

#include "src/support/process.h"

namespace skid::commands {

Targets build_targets(const std::vector<runway::Specification>& specifications,
                      const std::filesystem::path& directory) {
  Targets targets;
  for (const runway::Specification& specification : specifications) {
    const std::string trigger(runway::name_of(specification.trigger));
    targets.emplace(trigger,
                    runway::build_target(specification, directory / ("target." + trigger)));
  }
  return targets;
}

run::Run planned_run(const PlanOptions& options, const RecordRequest& request,
                     const Targets& targets) {
  std::map<runway::TriggerKind, runway::TargetDescription> descriptions;
  run::Run run;
  for (const auto& [trigger, target] : targets) {
    descriptions.emplace(target.description.specification.trigger, target.description);
    run.targets.push_back(
        {.trigger = trigger, .file = target.path.filename().string(), .build_id = target.build_id});
  }
  run.tool_version = SKIDSCAN_VERSION;
  run.command_line = own_command_line();
  run.cpu = request.cpu;
  run.samples = options.duration_seconds || options.iterations ? 0 : options.samples;
  run.duration_seconds = options.duration_seconds;
  run.measurements = plan_measurements(options, request, descriptions);
  run.notes = request.notes;
  return run;
}

}  // namespace skid::commands
