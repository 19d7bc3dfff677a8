// The files of a recording's mappings: opened once, used only with the recorded build-id.
#pragma once

#include "src/support/address.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/module.h"
#include "src/symbols/text_symbols.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
struct Features;
}  // namespace skid::perfdata

namespace skid::symbols {
struct Function;
struct MappedFile;
}  // namespace skid::symbols

namespace skid::locate {

/// Where the files of a recording are searched.
struct SearchPlaces {
  /// Prepended to every recorded path; empty: paths as recorded.
  std::filesystem::path symfs;
  symbols::BinaryPlaces by_build_id;
  bool asks_debuginfod = false;  ///< debuginfod's servers, for what is nowhere else
  bool demangles = true;         ///< functions have the names of their sources
  /// As ModuleStore::add_candidate.
  std::vector<std::filesystem::path> candidates = {};

  /// What this machine has: perf's build-id cache ($HOME/.debug) and the cache of debuginfod's
  /// clients ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client, else
  /// ~/.cache/debuginfod_client).
  static SearchPlaces of_this_machine();
};

/// Whether a recording is of this machine and its kernel, by host name and release.
bool is_of_this_machine(const perfdata::Features& features);

class ModuleStore {
 public:
  /// Looks at recorded paths, for candidates and below /usr/lib/debug, nowhere else.
  ModuleStore() = default;
  /// Also looks in `places` for files with a recorded build-id.
  explicit ModuleStore(SearchPlaces places)
      : places_(std::move(places)), searches_by_build_id_(true), candidates_(places_.candidates) {}

  /// Adds a file that replaces a mapped one with the same build-id, whatever its recorded path: the
  /// target in its run directory.
  void add_candidate(const std::filesystem::path& path);

  /// The machine that was recorded, as `uname -m` calls it; may be empty. A file without a recorded
  /// build-id is refused if it is for another machine: the recording was made elsewhere.
  void expect_machine(std::string_view name);

  /// Whether the recording was made on this machine, so that perf maps here may be of its
  /// processes.
  void expect_own_machine(bool is_own) { is_own_machine_ = is_own; }

  /// Why a file is not used, or used with reserve.
  enum class Problem {
    unreadable,  ///< cannot be opened, or is no ELF file
    no_code,     ///< only its debug file was found
    unverified,  ///< without a recorded build-id; the current file is used
    rebuilt,     ///< its build-id is not the recorded one, or it is of another machine; not used
    lines,       ///< some of its lines are left out (Module::has_partial_lines)
  };

  struct Found {
    const symbols::Module* module = nullptr;  ///< null if none is verified
    std::filesystem::path path;               ///< where it was opened
    std::optional<Problem> problem;
  };

  /// The file of a mapping: a candidate, the one at its path (of "[vdso]" the running kernel's),
  /// one with its build-id elsewhere, or, with symbols and lines but without code
  /// (Module::has_code), its debug file. Other pseudo files ("//anon", "[heap]") have none. A file
  /// whose build-id differs from the recorded one is refused wherever it is; one without a recorded
  /// build-id is opened and named in `remarks`.
  Found find(const symbols::MappedFile& file);

  /// The function that the process of a perf map ("/tmp/perf-123.map") generated at an address, by
  /// that file below SearchPlaces::symfs; without one, of a recording of this machine only. Nothing
  /// verifies that the file is of that process, as a remark states.
  std::optional<symbols::Function> generated_function_at(const std::string& path,
                                                         std::uint64_t address);

  /// Files that were refused or could not be verified, one remark each, and those of whose lines
  /// some were left out until now.
  struct Remark {
    using Kind = Problem;
    Kind kind;
    std::string mapped;         ///< symbols::MappedFile::path
    std::string text;           ///< one line
    std::string build_id = {};  ///< as recorded
  };
  std::vector<Remark> remarks() const;

 private:
  struct Opened {
    std::filesystem::path path;
    symbols::Module module;
  };
  const Opened* open(const std::filesystem::path& path, std::string& problem);
  /// The module in `path`, if it has that build-id.
  const Opened* open_with_id(const std::filesystem::path& path, const std::string& build_id);
  const Opened* at_path(const symbols::MappedFile& file, std::optional<Remark>& remark);
  const Opened* by_build_id(const std::string& build_id);
  const Opened* from_debuginfod(const std::string& build_id);
  std::string places_searched() const;

  SearchPlaces places_;
  std::optional<Arch> expected_;
  bool expects_another_ = false;  ///< a machine that is of neither architecture: "armv7l", "i686"
  bool searches_by_build_id_ = false;
  std::string debuginfod_problem_;  ///< why its servers are no longer queried
  std::map<std::filesystem::path, std::unique_ptr<Opened>> opened_;
  std::vector<std::filesystem::path> candidates_;
  std::map<std::pair<std::string, std::string>, Found> answers_;
  bool is_own_machine_ = false;
  std::map<std::string, std::optional<symbols::PerfMap>> perf_maps_;  // by mapped path
  std::size_t generated_symbols_ = symbols::PerfMap::kMostSymbols;    // that may still be read
  std::vector<Remark> remarks_;
};

}  // namespace skid::locate
