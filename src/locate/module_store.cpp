#include "src/locate/module_store.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/features.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>

namespace skid::locate {
namespace {

namespace fs = std::filesystem;

/// Time for one file. debuginfod's own limit is 90 s without any progress.
constexpr std::chrono::seconds kDebuginfodLimit(120);

/// Runs elfutils' debuginfod-find, from PATH, which queries the servers of DEBUGINFOD_URLS. Returns
/// the executable with that build-id (hexadecimal) in its cache; empty if no server has it. Sets
/// `problem` if the query failed or timed out, so that another query is useless. No other code
/// uses the network.
fs::path ask_debuginfod(const std::string& build_id, std::string& problem) {
  constexpr const char* kProgram = "debuginfod-find";
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  const auto program = find_program(kProgram);
  if (servers == nullptr || *servers == '\0') {
    problem = "DEBUGINFOD_URLS is not set; no debuginfod server was queried";
  } else if (!program) {
    problem = fmt::format("{}: not found; install it to query debuginfod servers", kProgram);
  }
  if (!problem.empty()) return {};
  try {
    ChildProcess child({program->string(), "executable", build_id});
    if (!child.wait(kDebuginfodLimit)) {
      problem = fmt::format("{}: no answer in {} s; no further queries are made", kProgram,
                            kDebuginfodLimit.count());
      return {};
    }
    if (!child.result().code.success()) return {};
    return child.result().out.substr(0, child.result().out.find('\n'));
  } catch (const Error& error) {
    problem = error.what();
    return {};
  }
}

}  // namespace

bool is_of_this_machine(const perfdata::Features& features) {
  struct utsname here {};
  return ::uname(&here) == 0 && !features.hostname.empty() && features.hostname == here.nodename &&
         features.os_release == here.release;
}

void ModuleStore::add_candidate(const fs::path& path) {
  if (std::ranges::find(candidates_, path) == candidates_.end()) candidates_.push_back(path);
}

void ModuleStore::expect_machine(std::string_view name) {
  const auto expected = arch_of_kernel(name);
  const bool expects_another = is_architecture_name(name) && !expected;
  if (expected != expected_ || expects_another != expects_another_) answers_.clear();
  expected_ = expected;
  expects_another_ = expects_another;
}

const ModuleStore::Opened* ModuleStore::open(const fs::path& path, std::string& problem) {
  const auto known = opened_.find(path);
  if (known != opened_.end()) return known->second.get();
  std::unique_ptr<Opened> opened;
  try {
    if (path == kVdsoName) {
      if (auto vdso = symbols::running_vdso()) {
        opened = std::make_unique<Opened>(Opened{path, std::move(*vdso)});
      }
    } else {
      opened = std::make_unique<Opened>(
          Opened{path, symbols::Module::open(path, places_.by_build_id, places_.demangles)});
    }
  } catch (const InputError& error) {
    problem = error.what();
  }
  return opened_.emplace(path, std::move(opened)).first->second.get();
}

const ModuleStore::Opened* ModuleStore::open_with_id(const fs::path& path,
                                                     const std::string& build_id) {
  std::string ignored;  // most places do not have the file
  const Opened* opened = open(path, ignored);
  return opened != nullptr && opened->module.build_id() == build_id ? opened : nullptr;
}

const ModuleStore::Opened* ModuleStore::at_path(const symbols::MappedFile& file,
                                                std::optional<Remark>& remark) {
  const bool is_vdso = file.path == kVdsoName;
  if (is_pseudo_file(file.path) && !is_vdso) return nullptr;
  const fs::path path = places_.symfs.empty() || is_vdso
                            ? fs::path(file.path)
                            : places_.symfs / fs::path(file.path).relative_path();
  std::string problem;
  const Opened* opened = open(path, problem);
  if (opened == nullptr) {
    if (!problem.empty()) remark = {Remark::Kind::unreadable, file.path, problem};
    return nullptr;
  }
  if (file.build_id.empty()) {
    const auto arch = opened->module.arch();  // nullopt for 32-bit programs, which run on both
    if (arch && (expects_another_ || (expected_ && *arch != *expected_))) {
      remark = {Remark::Kind::rebuilt, file.path,
                fmt::format("{}: is for another architecture than was recorded; it is not used, "
                            "--symfs DIR names where the recorded machine's files are",
                            path.string())};
      return nullptr;
    }
    remark = {Remark::Kind::unverified, file.path,
              fmt::format("{}: the recording holds no build-id of it; the file is taken as it is "
                          "now",
                          path.string())};
    return opened;
  }
  if (opened->module.build_id() == file.build_id) return opened;
  const auto& found_id = opened->module.build_id();
  remark = {Remark::Kind::rebuilt, file.path,
            fmt::format("{}: build-id {} is not the recorded {}; it was rebuilt and is not used",
                        path.string(), found_id.empty() ? "(none)" : found_id, file.build_id)};
  return nullptr;
}

const ModuleStore::Opened* ModuleStore::by_build_id(const std::string& build_id) {
  const Opened* without_code = nullptr;
  const auto look = [&](const fs::path& path) {
    const Opened* opened = open_with_id(path, build_id);
    if (opened != nullptr && !opened->module.has_code()) {
      if (without_code == nullptr) without_code = opened;
      opened = nullptr;
    }
    return opened;
  };
  for (const fs::path& path : symbols::executables_of(places_.by_build_id, build_id)) {
    if (const Opened* opened = look(path)) return opened;
  }
  if (const Opened* opened = from_debuginfod(build_id)) return opened;
  for (const fs::path& path : symbols::debug_files_of(places_.by_build_id, build_id)) {
    if (const Opened* opened = look(path)) return opened;
  }
  return without_code;
}

const ModuleStore::Opened* ModuleStore::from_debuginfod(const std::string& build_id) {
  if (!places_.asks_debuginfod || !debuginfod_problem_.empty()) return nullptr;
  const fs::path file = ask_debuginfod(build_id, debuginfod_problem_);
  if (!debuginfod_problem_.empty()) {
    remarks_.push_back({Remark::Kind::unreadable, {}, debuginfod_problem_});
  }
  return file.empty() ? nullptr : open_with_id(file, build_id);
}

std::string ModuleStore::places_searched() const {
  std::vector<std::string> places;
  for (const fs::path& directory : symbols::directories_of(places_.by_build_id)) {
    places.push_back(directory.string());
  }
  if (places_.asks_debuginfod && debuginfod_problem_.empty()) {
    places.emplace_back("debuginfod's servers");
  }
  return fmt::format("{}", fmt::join(places, ", "));
}

ModuleStore::Found ModuleStore::find(const symbols::MappedFile& file) {
  const auto key = std::make_pair(file.path, file.build_id);
  if (const auto answer = answers_.find(key); answer != answers_.end()) return answer->second;

  const Opened* opened = nullptr;
  if (!file.build_id.empty()) {
    for (const auto& candidate : candidates_) {
      if (opened == nullptr) opened = open_with_id(candidate, file.build_id);
    }
  }
  std::optional<Remark> remark;
  if (opened == nullptr) opened = at_path(file, remark);
  if (opened == nullptr && searches_by_build_id_ && !file.build_id.empty()) {
    if (!places_.symfs.empty() && !is_pseudo_file(file.path)) {
      opened = open_with_id(file.path, file.build_id);
    }
    if (opened == nullptr) opened = by_build_id(file.build_id);
    if (opened == nullptr) {
      if (remark) {
        remark->text += fmt::format("; no other file with build-id {} is in {}", file.build_id,
                                    places_searched());
      }
    } else {
      remark.reset();
    }
  }
  if (opened != nullptr && !opened->module.has_code()) {
    remark = {Remark::Kind::no_code, file.path,
              fmt::format("{}: only its debug file {} was found, which has no code", file.path,
                          opened->path.string())};
  }
  Found found;
  if (opened != nullptr) found = {&opened->module, opened->path, {}};
  if (remark) {
    found.problem = remark->kind;
    remark->build_id = file.build_id;
    remarks_.push_back(std::move(*remark));
  }
  answers_.emplace(key, found);
  return found;
}

std::vector<ModuleStore::Remark> ModuleStore::remarks() const {
  std::vector<Remark> all = remarks_;
  for (const auto& [mapped, found] : answers_) {
    if (found.module == nullptr || !found.module->has_partial_lines()) continue;
    all.push_back(
        {Remark::Kind::lines, mapped.first,
         fmt::format("{}: some source lines are missing; its debug information would take "
                     "more memory or time than that of other files of its size",
                     found.path.string())});
  }
  return all;
}

std::optional<symbols::Function> ModuleStore::generated_function_at(const std::string& path,
                                                                    std::uint64_t address) {
  if (places_.symfs.empty() && !is_own_machine_) return std::nullopt;
  const auto [entry, is_new] = perf_maps_.try_emplace(path);
  std::optional<symbols::PerfMap>& map = entry->second;
  if (is_new) {
    const fs::path file =
        places_.symfs.empty() ? fs::path(path) : places_.symfs / fs::path(path).relative_path();
    std::error_code none;
    if (!fs::exists(fs::symlink_status(file, none))) {
      return std::nullopt;  // most processes have none
    }
    try {
      map = symbols::PerfMap::read(file, generated_symbols_);
      generated_symbols_ -= map->size();
      remarks_.push_back({Remark::Kind::unverified, path,
                          fmt::format("{}: names of generated code are taken from it as it is now",
                                      file.string())});
    } catch (const InputError& error) {
      remarks_.push_back({Remark::Kind::unreadable, path, error.what()});
    }
  }
  return map ? map->function_at(address) : std::nullopt;
}

}  // namespace skid::locate
