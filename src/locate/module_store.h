// The files of a recording's mappings: opened once, used only if they are the recorded ones.
#pragma once

#include "src/locate/search_places.h"
#include "src/support/address.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "src/symbols/perf_map.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
struct Features;
}  // namespace skid::perfdata

namespace skid::symbols {
struct Function;
}  // namespace skid::symbols

namespace skid::locate {

/// Whether a recording was made on this machine with its running kernel: host name and release are
/// equal.
bool is_of_this_machine(const perfdata::Features& features);

class ModuleStore {
 public:
  /// Looks only at recorded paths, at candidates and below /usr/lib/debug.
  ModuleStore() = default;
  /// Also looks in `places` for files with a recorded build-id.
  explicit ModuleStore(SearchPlaces places)
      : places_(std::move(places)), searches_by_build_id_(true), candidates_(places_.candidates) {}

  /// Adds a file that is used for a mapped one with the same build-id, whatever its recorded path:
  /// the target in its run directory. Where no build-id was recorded, for one with its file name.
  void add_candidate(const std::filesystem::path& path);

  /// Adds the directory of a recording: a file in it is used for a mapped one with its file name
  /// and build-id, whatever its recorded path.
  void look_in(const std::filesystem::path& directory) { beside_.insert(directory); }

  /// Sets the recorded machine: `arch`, as `uname -m` prints it, may be empty. Without a recorded
  /// build-id a file of another architecture is refused, and all files of this machine if its host
  /// name is not the recorded one. Perf maps of this machine are used if is_of_this_machine().
  void expect_machine(std::string_view arch, const perfdata::Features& features);

  /// The reason why a file is not used, or is used without verification.
  enum class Problem {
    unreadable,  ///< cannot be opened, or is not an ELF file
    no_code,     ///< only its debug file was found
    unverified,  ///< no build-id was recorded; the current file is used
    refused,     ///< another file than the recorded one; not used
    lines,       ///< some of its lines are missing (Module::has_partial_lines)
  };

  struct Found {
    const symbols::Module* module = nullptr;  ///< null if none is verified
    std::filesystem::path path;               ///< where it was opened
    std::optional<Problem> problem;
    std::string remark;  ///< one line on the problem; empty if there is none
  };

  /// Finds the file of a mapping: a candidate, one beside the recording, the one at its path (for
  /// "[vdso]" that of the running kernel), one with its build-id elsewhere, or its debug file,
  /// which has symbols and lines but no code (Module::has_code). Other pseudo files ("//anon",
  /// "[heap]") have none. A file is used only if its build-id is the recorded one or, where none
  /// was recorded, nothing in the recording contradicts it: device and inode, machine,
  /// architecture. In both cases its segments must be those that were mapped. What is not verified,
  /// or refused, is in `remarks`.
  Found find(const symbols::MappedFile& file);

  /// Returns the function that a process generated at an address, from its perf map
  /// ("/tmp/perf-123.map") below SearchPlaces::symfs. Without symfs, only for recordings of this
  /// machine. Nothing verifies that the file is of that process, as a remark states.
  std::optional<symbols::Function> generated_function_at(const std::string& path,
                                                         std::uint64_t address);

  /// A file that was refused, could not be verified, or lacks some of its lines.
  struct Remark {
    using Kind = Problem;
    Kind kind;
    std::string mapped;  ///< symbols::MappedFile::path
    std::string text;    ///< one line
  };
  /// Returns one remark for each such file so far.
  std::vector<Remark> remarks() const;

  /// Returns the candidates of SearchPlaces, and its symfs, that no file was found in so far, each
  /// with a line that states why. The other recordings of a command may use them.
  std::map<std::filesystem::path, std::string> unused() const;

 private:
  struct Opened {
    std::filesystem::path path;
    symbols::Module module;
  };
  /// Where a file is that may be the recorded one.
  enum class Place : std::uint8_t { this_machine, copy };
  const Opened* open(const std::filesystem::path& path, std::string& problem);
  std::string contradiction(const symbols::MappedFile& file, const symbols::Module& module,
                            Place place) const;
  /// Returns the module in `path`, if it is `file` by its build-id and segments.
  const Opened* open_with_id(const std::filesystem::path& path, const symbols::MappedFile& file);
  const Opened* judged(const symbols::MappedFile& file, const Opened& opened, Place place,
                       std::optional<Remark>& remark) const;
  const Opened* candidate(const symbols::MappedFile& file, std::optional<Remark>& remark);
  const Opened* at_path(const symbols::MappedFile& file, std::optional<Remark>& remark);
  const Opened* by_build_id(const symbols::MappedFile& file);
  const Opened* from_debuginfod(const symbols::MappedFile& file);
  std::string why_unused(const std::filesystem::path& path, const symbols::Module* module) const;
  std::string places_searched() const;

  SearchPlaces places_;
  std::optional<Arch> expected_;
  bool expects_another_ = false;  ///< neither architecture was recorded: "armv7l", "i686"
  bool searches_by_build_id_ = false;
  std::string debuginfod_problem_;  ///< why its servers are no longer queried
  /// By path; null with the reason why it cannot be opened.
  std::map<std::filesystem::path, std::pair<std::unique_ptr<Opened>, std::string>> opened_;
  std::vector<std::filesystem::path> candidates_;
  std::set<std::filesystem::path> beside_;  ///< directories of recordings
  std::map<symbols::MappedFile, Found> answers_;
  std::set<std::filesystem::path> used_;       ///< Found::path of all recordings
  std::filesystem::path missing_below_symfs_;  ///< the first; empty: none
  bool has_below_symfs_ = false;               ///< a file was there, even if it was refused
  bool is_own_machine_ = false;
  std::string other_host_;  ///< the recorded host name, if this machine has another
  std::map<std::string, std::optional<symbols::PerfMap>> perf_maps_;  ///< by mapped path
  std::size_t generated_symbols_ =
      symbols::PerfMap::kMostSymbols;  ///< symbols that may still be read
  std::vector<Remark> remarks_;
};

}  // namespace skid::locate
