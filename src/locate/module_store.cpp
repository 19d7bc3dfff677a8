#include "src/locate/module_store.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/features.h"
#include "src/support/error.h"
#include "src/support/file_identity.h"
#include "src/support/process.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/sysmacros.h>
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

void ModuleStore::expect_machine(std::string_view arch, const perfdata::Features& features) {
  const auto before = std::tuple(expected_, expects_another_, is_own_machine_, other_host_);
  expected_ = arch_of_kernel(arch);
  expects_another_ = is_architecture_name(arch) && !expected_;
  is_own_machine_ = is_of_this_machine(features);
  struct utsname here {};
  const bool is_other = ::uname(&here) == 0 && features.hostname != here.nodename;
  other_host_ = is_other ? features.hostname : std::string();
  if (before != std::tuple(expected_, expects_another_, is_own_machine_, other_host_)) {
    answers_.clear();
  }
}

const ModuleStore::Opened* ModuleStore::open(const fs::path& path, std::string& problem) {
  const auto [entry, is_new] = opened_.try_emplace(path);
  auto& [opened, why] = entry->second;
  if (is_new) {
    try {
      auto module =
          path == kVdsoName
              ? symbols::running_vdso()
              : std::optional(symbols::Module::open(path, places_.by_build_id, places_.names));
      if (module) opened = std::make_unique<Opened>(Opened{path, std::move(*module)});
    } catch (const InputError& error) {
      why = error.what();
    }
  }
  problem = why;
  return opened.get();
}

/// Returns how a recording contradicts that a file is the recorded one; empty if it does not.
std::string ModuleStore::contradiction(const symbols::MappedFile& file,
                                       const symbols::Module& module, Place place) const {
  const bool has_id = !file.build_id.empty();
  if (has_id && module.build_id() != file.build_id) {
    return fmt::format("build-id {} is not the recorded {}",
                       module.build_id().empty() ? "(none)" : module.build_id(), file.build_id);
  }
  const auto arch = module.arch();  // nullopt for 32-bit programs, which run on both
  if (!has_id && arch && (expects_another_ || (expected_ && *arch != *expected_))) {
    return "is for another architecture than was recorded";
  }
  if (!has_id && place == Place::this_machine) {
    if (path_before_deletion(file.path) != file.path) {
      return "the recorded file was deleted or replaced while it was mapped";
    }
    if (!other_host_.empty()) {
      return fmt::format("the recording holds no build-id of it and is of another machine, {}",
                         other_host_);
    }
    const FileIdentity found = module.identity(), &recorded = file.identity;
    if (differ(found, recorded)) {
      if (found.inode == recorded.inode && found.device == recorded.device) {
        return fmt::format("generation {} of its inode is not the recorded {}", found.generation,
                           recorded.generation);
      }
      return fmt::format("inode {} of device {}:{} is not the recorded {} of {}:{}", found.inode,
                         major(found.device), minor(found.device), recorded.inode,
                         major(recorded.device), minor(recorded.device));
    }
  }
  if (module.has_code() && !file.executable.empty() &&
      !module.is_mapped_as(file.executable, !has_id)) {
    return fmt::format(
        "its segments are not those recorded, of which 0x{:x} bytes at offset 0x{:x} "
        "were mapped executable",
        file.executable.size(), file.executable.begin);
  }
  return {};
}

const ModuleStore::Opened* ModuleStore::open_with_id(const fs::path& path,
                                                     const symbols::MappedFile& file) {
  std::string ignored;  // most places do not have the file
  const Opened* opened = open(path, ignored);
  const bool is_file =
      opened != nullptr && contradiction(file, opened->module, Place::copy).empty();
  return is_file ? opened : nullptr;
}

/// Returns a file at the path of `file`, or null with the reason.
const ModuleStore::Opened* ModuleStore::judged(const symbols::MappedFile& file,
                                               const Opened& opened, Place place,
                                               std::optional<Remark>& remark) const {
  const std::string path = opened.path.string();
  const std::string reason = contradiction(file, opened.module, place);
  if (!reason.empty()) {
    remark = {Problem::refused, file.path,
              fmt::format("{}: {}; it is not used{}", path, reason, places_.remedy)};
    return nullptr;
  }
  remark.reset();
  if (file.build_id.empty()) {
    remark = {Problem::unverified, file.path,
              fmt::format("{}: the recording holds no build-id of it; the file is taken as it is "
                          "now",
                          path)};
  }
  return &opened;
}

/// Returns the candidate that is `file`.
const ModuleStore::Opened* ModuleStore::candidate(const symbols::MappedFile& file,
                                                  std::optional<Remark>& remark) {
  const fs::path name = fs::path(path_before_deletion(file.path)).filename();
  for (const fs::path& path : candidates_) {
    const Opened* opened = nullptr;
    std::string problem;
    if (!file.build_id.empty()) {
      opened = open_with_id(path, file);
    } else if (path.filename() == name && !is_pseudo_file(file.path)) {
      opened = open(path, problem);
      if (opened != nullptr) opened = judged(file, *opened, Place::copy, remark);
    }
    if (opened != nullptr) return opened;
  }
  if (file.build_id.empty() || name.empty() || is_pseudo_file(file.path)) return nullptr;
  for (const fs::path& directory : beside_) {
    std::string ignored;  // most recordings have no file beside them
    const Opened* opened = open(directory / name, ignored);
    if (opened != nullptr) opened = judged(file, *opened, Place::copy, remark);
    if (opened != nullptr) return opened;
  }
  return nullptr;
}

const ModuleStore::Opened* ModuleStore::at_path(const symbols::MappedFile& file,
                                                std::optional<Remark>& remark) {
  const bool is_vdso = file.path == kVdsoName;
  if (is_pseudo_file(file.path) && !is_vdso) return nullptr;
  // Without a build-id it may be that of another kernel.
  if (is_vdso && file.build_id.empty() && !is_own_machine_) return nullptr;
  const bool is_here = places_.symfs.empty() || is_vdso;
  std::string problem;
  const auto open_below = [&](std::string_view path) {
    if (is_here) return open(path, problem);
    const fs::path below = places_.symfs / fs::path(path).relative_path();
    const Opened* opened = open(below, problem);
    if (opened != nullptr) has_below_symfs_ = true;
    if (missing_below_symfs_.empty()) missing_below_symfs_ = below;
    return opened;
  };
  const Opened* opened = open_below(file.path);
  const std::string_view before = path_before_deletion(file.path);
  if (opened == nullptr && before != file.path) opened = open_below(before);
  if (opened != nullptr) {
    return judged(file, *opened, is_here ? Place::this_machine : Place::copy, remark);
  }
  if (before != file.path && !remark) {
    remark = {Problem::refused, file.path,
              fmt::format("{}: was deleted or replaced while it was mapped; it is not used{}",
                          before, places_.remedy)};
  } else if (!problem.empty() && !remark) {
    remark = {Problem::unreadable, file.path, problem};
  }
  return nullptr;
}

const ModuleStore::Opened* ModuleStore::by_build_id(const symbols::MappedFile& file) {
  const Opened* without_code = nullptr;
  const auto look = [&](const fs::path& path) {
    const Opened* opened = open_with_id(path, file);
    if (opened != nullptr && !opened->module.has_code()) {
      if (without_code == nullptr) without_code = opened;
      opened = nullptr;
    }
    return opened;
  };
  for (const fs::path& path : symbols::executables_of(places_.by_build_id, file.build_id)) {
    if (const Opened* opened = look(path)) return opened;
  }
  if (const Opened* opened = from_debuginfod(file)) return opened;
  for (const fs::path& path : symbols::debug_files_of(places_.by_build_id, file.build_id)) {
    if (const Opened* opened = look(path)) return opened;
  }
  return without_code;
}

const ModuleStore::Opened* ModuleStore::from_debuginfod(const symbols::MappedFile& file) {
  if (!places_.asks_debuginfod || !debuginfod_problem_.empty()) return nullptr;
  const fs::path path = ask_debuginfod(file.build_id, debuginfod_problem_);
  if (!debuginfod_problem_.empty()) {
    remarks_.push_back({Remark::Kind::unreadable, {}, debuginfod_problem_});
  }
  return path.empty() ? nullptr : open_with_id(path, file);
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
  if (const auto answer = answers_.find(file); answer != answers_.end()) return answer->second;

  std::optional<Remark> remark;
  const Opened* opened = candidate(file, remark);
  if (opened == nullptr) opened = at_path(file, remark);
  if (opened == nullptr && searches_by_build_id_ && !file.build_id.empty()) {
    if (!places_.symfs.empty() && !is_pseudo_file(file.path)) {
      opened = open_with_id(file.path, file);
    }
    if (opened == nullptr) opened = by_build_id(file);
    if (opened != nullptr) {
      remark.reset();
    } else if (remark) {
      remark->text += fmt::format("; no other file with build-id {} is in {}", file.build_id,
                                  places_searched());
    }
  }
  if (opened != nullptr && !opened->module.has_code()) {
    remark = {Remark::Kind::no_code, file.path,
              fmt::format("{}: only its debug file {} was found, which has no code", file.path,
                          opened->path.string())};
  }
  Found found;
  if (opened != nullptr) {
    found = {&opened->module, opened->path, {}, {}};
    used_.insert(opened->path);
  }
  if (remark) {
    found.problem = remark->kind;
    found.remark = remark->text;
    remarks_.push_back(std::move(*remark));
  }
  answers_.emplace(file, found);
  return found;
}

/// Returns why a candidate is none of the files that were looked up; empty if it is one.
/// `module`: null if it was not opened, because no file without a build-id has its name.
std::string ModuleStore::why_unused(const fs::path& path, const symbols::Module* module) const {
  constexpr std::size_t kMostNamed = 3;
  if (used_.contains(path)) return {};
  std::vector<std::string> expected;
  for (const auto& [file, found] : answers_) {
    if (is_pseudo_file(file.path)) continue;
    const fs::path name = fs::path(path_before_deletion(file.path)).filename();
    if (name == path.filename()) {
      // Without a build-id, it was opened for this file and has a remark.
      return module == nullptr || file.build_id.empty() ? std::string()
                                                        : contradiction(file, *module, Place::copy);
    }
    if (expected.size() == kMostNamed) continue;
    expected.push_back(file.build_id.empty()
                           ? name.string()
                           : fmt::format("{} (build-id {})", name.string(), file.build_id));
  }
  if (expected.empty()) return {};
  const bool has_id = module != nullptr && !module->build_id().empty();
  if (has_id && module->is_kernel_module()) {
    return fmt::format(
        "no sampled module has its build-id {}; 'perf record --buildid-all' notes those of modules",
        module->build_id());
  }
  return fmt::format("no sampled file has its name{}; expected one such as {}",
                     has_id ? " or its build-id " + module->build_id() : "",
                     fmt::join(expected, ", "));
}

std::map<fs::path, std::string> ModuleStore::unused() const {
  std::map<fs::path, std::string> all;
  for (const fs::path& path : places_.candidates) {
    const auto found = opened_.find(path);
    const Opened* opened = found == opened_.end() ? nullptr : found->second.first.get();
    if (found != opened_.end() && opened == nullptr) {
      all.emplace(path, found->second.second + "; it is not used");
      continue;
    }
    const std::string why = why_unused(path, opened == nullptr ? nullptr : &opened->module);
    if (!why.empty()) all.emplace(path, fmt::format("{}: not used: {}", path.string(), why));
  }
  if (!has_below_symfs_ && !missing_below_symfs_.empty()) {
    all.emplace(
        places_.symfs,
        fmt::format("{}: not used: it has none of the sampled files; expected {} and others",
                    places_.symfs.string(), missing_below_symfs_.string()));
  }
  return all;
}

std::vector<ModuleStore::Remark> ModuleStore::remarks() const {
  std::vector<Remark> all = remarks_;
  for (const auto& [mapped, found] : answers_) {
    if (found.module == nullptr || !found.module->has_partial_lines()) continue;
    all.push_back({Remark::Kind::lines, mapped.path,
                   fmt::format("{}: some source lines are missing or lack inlined functions; its "
                               "debug information would take "
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
      if (!places_.symfs.empty()) has_below_symfs_ = true;
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
