// The files behind a recording's mappings: opened once, believed only with the right build-id.
#pragma once

#include "src/symbols/address_space.h"
#include "src/symbols/module.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid::locate {

class ModuleStore {
 public:
  /// Knows of a file that may stand in for a mapped one with the same build-id, wherever the
  /// recording saw it: the target in its run directory.
  void add_candidate(const std::filesystem::path& path);

  struct Found {
    const symbols::Module* module = nullptr;  ///< null when there is none to believe
    std::filesystem::path path;               ///< where it was opened
  };

  /// The file of a mapping. Pseudo files ("//anon", "[heap]") have none; "[vdso]" is the one of the
  /// running kernel. A file whose build-id differs from the recorded one is refused; one without a
  /// recorded build-id is opened and named in `remarks`.
  Found find(const symbols::MappedFile& file);

  /// What had to be refused or could not be verified: one for each file that was asked for.
  struct Remark {
    enum class Kind {
      unreadable,  ///< cannot be opened, or is no ELF file
      unverified,  ///< the recording holds no build-id of it; it was taken as it is now
      rebuilt,     ///< its build-id is not the recorded one; it is not used
    };
    Kind kind;
    std::string mapped;  ///< symbols::MappedFile::path
    std::string text;    ///< one line
  };
  const std::vector<Remark>& remarks() const noexcept { return remarks_; }

 private:
  struct Opened {
    std::filesystem::path path;
    symbols::Module module;
  };
  const Opened* open(const std::filesystem::path& path, std::string& problem);

  std::map<std::filesystem::path, std::unique_ptr<Opened>> opened_;
  std::vector<std::filesystem::path> candidates_;
  std::map<std::pair<std::string, std::string>, Found> answers_;
  std::vector<Remark> remarks_;
};

}  // namespace skid::locate
