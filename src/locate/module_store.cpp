#include "src/locate/module_store.h"

#include "src/locate/mapping_name.h"
#include "src/support/error.h"
#include "src/symbols/vdso.h"

#include <utility>

#include <fmt/format.h>

namespace skid::locate {
void ModuleStore::add_candidate(const std::filesystem::path& path) {
  candidates_.push_back(path);
}

const ModuleStore::Opened* ModuleStore::open(const std::filesystem::path& path,
                                             std::string& problem) {
  const auto known = opened_.find(path);
  if (known != opened_.end()) return known->second.get();
  std::unique_ptr<Opened> opened;
  try {
    if (path == kVdsoName) {
      if (auto vdso = symbols::running_vdso()) {
        opened = std::make_unique<Opened>(Opened{path, std::move(*vdso)});
      }
    } else {
      opened = std::make_unique<Opened>(Opened{path, symbols::Module::open(path)});
    }
  } catch (const InputError& error) {
    problem = error.what();
  }
  return opened_.emplace(path, std::move(opened)).first->second.get();
}

ModuleStore::Found ModuleStore::find(const symbols::MappedFile& file) {
  const auto key = std::make_pair(file.path, file.build_id);
  if (const auto answer = answers_.find(key); answer != answers_.end()) return answer->second;

  Found found;
  std::string problem;
  if (!file.build_id.empty()) {
    for (const auto& candidate : candidates_) {
      const Opened* opened = open(candidate, problem);
      if (opened == nullptr || opened->module.build_id() != file.build_id) continue;
      found = {&opened->module, opened->path};
      break;
    }
  }
  if (found.module == nullptr && (!is_pseudo_file(file.path) || file.path == kVdsoName)) {
    problem.clear();
    const Opened* opened = open(file.path, problem);
    if (opened == nullptr) {
      if (!problem.empty()) remarks_.push_back({Remark::Kind::unreadable, file.path, problem});
    } else if (file.build_id.empty()) {
      found = {&opened->module, opened->path};
      remarks_.push_back(
          {Remark::Kind::unverified, file.path,
           fmt::format("{}: the recording holds no build-id of it; the file is taken as it is now",
                       file.path)});
    } else if (opened->module.build_id() != file.build_id) {
      const auto& found_id = opened->module.build_id();
      remarks_.push_back(
          {Remark::Kind::rebuilt, file.path,
           fmt::format("{}: build-id {} is not the recorded {}; it was rebuilt and is not used",
                       file.path, found_id.empty() ? "(none)" : found_id, file.build_id)});
    } else {
      found = {&opened->module, opened->path};
    }
  }
  answers_.emplace(key, found);
  return found;
}

}  // namespace skid::locate
