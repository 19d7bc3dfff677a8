// Opening a recording: a file, a pipe or a directory.

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/fault_log.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::perfdata {
namespace {

[[noreturn]] void cannot_open(const std::filesystem::path& path) {
  throw InputError({path.string(), std::nullopt, describe_errno(errno), "", ""});
}

/// Returns a duplicated descriptor of standard input. Throws InputError for a terminal.
FileDescriptor standard_input() {
  if (::isatty(STDIN_FILENO) == 1) {
    throw InputError({"-", std::nullopt, "a terminal", "a recording",
                      "send one, as in: perf record -o - COMMAND | skidscan report -"});
  }
  FileDescriptor input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!input) cannot_open("-");
  return input;
}

/// Returns the numbered files of a directory in their order: "data.0", "data.1", …
std::set<std::pair<unsigned, std::filesystem::path>> numbered_files(
    const std::filesystem::path& directory) {
  constexpr std::string_view kPrefix = "data.";
  std::set<std::pair<unsigned, std::filesystem::path>> found;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(directory, problem)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const auto number = whole_number<unsigned>(std::string_view(name).substr(kPrefix.size()));
    if (number) found.emplace(*number, entry.path());
  }
  return found;
}

}  // namespace

Recording Recording::open(const std::filesystem::path& path, const std::filesystem::path& name) {
  Recording recording(name.empty() ? path : name);
  FileDescriptor input;
  struct stat status {};
  if (path == "-") {
    input = standard_input();
    if (::fstat(input.get(), &status) != 0) cannot_open(path);
  } else if (::stat(path.c_str(), &status) != 0) {
    cannot_open(path);
  }
  if (S_ISDIR(status.st_mode)) {
    recording.open_directory();
  } else if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
    if (!input) input = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!input) cannot_open(path);
    recording.open_pipe(std::move(input));
  } else {
    if (!input) input = open_regular_file(path);
    recording.open_file(recording.path_, std::move(input));
  }
  recording.decoder_ = SampleDecoder(recording.attributes(), recording.order_);
  recording.attributes_at_start_ = recording.attributes().size();
  recording.start_segment(0);
  return recording;
}

void Recording::open_pipe(FileDescriptor pipe) {
  mode_ = StorageMode::pipe;
  from_pipe_ = true;
  auto stream = ByteStream::of_pipe(pipe.get(), 0);
  stream.fill(FileHeader::kPipeSize);
  const auto start = stream.buffered();
  const auto header =
      parse_file_header(start.first(std::min(start.size(), FileHeader::kLargestSize)), path_);
  if (!header.pipe) {
    throw InputError({path_.string(), 8, "a recording in file mode on a pipe", "one in pipe mode",
                      "name the file, or redirect it: - < perf.data"});
  }
  order_ = header.order;
  stream.consume(FileHeader::kPipeSize);
  stream_ = std::move(stream);
  segments_.push_back({path_, std::move(pipe), FileHeader::kPipeSize, 0});
}

void Recording::open_file(const std::filesystem::path& path, FileDescriptor file) {
  std::array<std::byte, FileHeader::kLargestSize> bytes{};
  const std::size_t got = read_at(file, bytes, 0);
  const auto header = parse_file_header(std::span<const std::byte>(bytes).first(got), path);
  order_ = header.order;
  const std::uint64_t size = size_of(file);
  Segment segment{path, std::move(file), FileHeader::kPipeSize, size};
  if (header.pipe) {
    mode_ = StorageMode::pipe;
  } else {
    auto sections = read_file_sections(segment.file, size, path, header, faults_);
    segment.begin = sections.records_begin;
    segment.end = sections.records_end;
    metadata_ = std::move(sections.metadata);
  }
  segments_.push_back(std::move(segment));
}

void Recording::open_directory() {
  auto main_file = path_ / "data";
  std::error_code problem;
  if (!std::filesystem::exists(main_file, problem)) {
    throw InputError({path_.string(), std::nullopt, "a directory without the file 'data'",
                      "a recording of 'perf record --threads', or a run of 'skidscan record'", ""});
  }
  open_file(main_file, open_regular_file(main_file));
  mode_ = StorageMode::directory;
  unsigned expected = 0;
  for (const auto& [number, path] : numbered_files(path_)) {
    if (number > expected) {
      // perf numbers them without gaps.
      auto missing = path_ / fmt::format("data.{}", expected);
      faults_.add({missing.string(), std::nullopt, "no such file", "", kRecordAgain});
    }
    expected = number + 1;
    try {
      auto file = open_regular_file(path);
      const std::uint64_t size = size_of(file);
      segments_.push_back({path, std::move(file), 0, size});
    } catch (const InputError& error) {
      faults_.add(error.fault());
    }
  }
}

}  // namespace skid::perfdata
