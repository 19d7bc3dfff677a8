// The ustar format (POSIX.1-2017, pax, "ustar Interchange Format"): for each file a header block
// with its numbers in octal, then its content up to a multiple of a block. Two blocks of zeros end
// it.

#include "src/run/packed_run.h"

#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/staged_file.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

namespace skid::run {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

constexpr std::size_t kBlock = 512, kTarRecord = 20 * kBlock;
/// A part of a header.
struct Field {
  std::size_t at = 0, bytes = 0;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kType{156, 1}, kMagic{257, 8},
    kPrefix{345, 155};
constexpr std::string_view kPosix = "ustar\00000"sv, kGnu = "ustar  \0"sv;
constexpr char kRegularFile = '0', kOldRegularFile = '\0', kDirectory = '5';
constexpr std::uint64_t kLargestFile = (std::uint64_t{1} << 33U) - 1;  // 11 octal digits
constexpr std::size_t kMostFiles = 200'000;
constexpr std::string_view kTop = "skidscan.run";

using Block = std::array<char, kBlock>;

std::string_view text_of(const Block& header, Field field) {
  const std::string_view text(header.data() + field.at, field.bytes);
  return text.substr(0, text.find('\0'));
}

void put(Block& header, Field field, std::string_view text) {
  std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(field.at));
}

/// The sum of the bytes of a header, in which the checksum itself counts as spaces.
std::uint64_t checksum_of(Block header) {
  put(header, kChecksum, std::string(kChecksum.bytes, ' '));
  return std::accumulate(header.begin(), header.end(), std::uint64_t{0}, [](auto sum, char byte) {
    return sum + static_cast<unsigned char>(byte);
  });
}

std::uint64_t padding_of(std::uint64_t size, std::size_t of) {
  return (of - size % of) % of;
}

std::string_view bytes_of(const Block& header) {
  return {header.data(), header.size()};
}

Block header_of(const std::string& name, std::uint64_t size) {
  if (name.size() > kName.bytes || size > kLargestFile) {
    throw Error("{}: a name of {} bytes, content of {} bytes; a packed run has at most {} and {}",
                name, name.size(), size, kName.bytes, kLargestFile);
  }
  Block header{};
  put(header, kName, name);
  // Mode, user, group, size, time; then the numbers of a device.
  put(header, {kName.bytes, 0},
      fmt::format("0000644\0{0}\0{0}\0{1:011o}\0{2:011o}\0"sv, "0000000", size, 0));
  put(header, kType, {&kRegularFile, 1});
  put(header, kMagic, kPosix);
  put(header, kPrefix, kTop);
  put(header, kChecksum, fmt::format("{:06o}\0 "sv, checksum_of(header)));
  return header;
}

/// The files of a tar, in their order.
class Reader {
 public:
  explicit Reader(fs::path path)
      : path_(std::move(path)), file_(open_regular_file(path_)), size_(skid::size_of(file_)) {}

  /// Extracts all files into `directory`.
  void extract(const fs::path& directory) {
    for (std::size_t files = 0; next(); files += type_ != kDirectory ? 1 : 0) {
      if (files == kMostFiles) refuse("more files than a run has", "");
      const std::string name = checked_name();
      if (type_ == kDirectory) continue;
      const fs::path path = directory / name;
      const FileDescriptor file(
          ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (!file && errno == EEXIST) refuse(fmt::format("'{}' for the second time", name), "");
      if (!file) throw unwritable(path.string(), errno);
      copy_bytes(file_, at_ + kBlock, bytes_, file, path_.string(), path.string());
    }
  }

 private:
  [[noreturn]] void refuse(std::string found, std::string expected) const {
    throw InputError({path_.string(), at_, std::move(found), std::move(expected),
                      "resume the run, and pack it again"});
  }

  /// Goes to the next header. Returns false at the end.
  bool next() {
    at_ = next_;
    if (size_ - at_ < kBlock) refuse("the end of the file", "a block of zeros before it");
    if (read_at(file_, std::as_writable_bytes(std::span(header_)), at_) < kBlock) {
      refuse("an error of reading", "a header");
    }
    if (header_ == Block{}) return false;
    const std::string_view magic(header_.data() + kMagic.at, kMagic.bytes);
    if (magic != kPosix && magic != kGnu) refuse("no header of a file in a tar", "ustar");
    if (number(kChecksum) != checksum_of(header_)) refuse("a header with a wrong sum", "");
    type_ = header_[kType.at];
    bytes_ = number(kSize);
    const std::uint64_t left = size_ - at_ - kBlock;
    if (bytes_ > left || padding_of(bytes_, kBlock) > left - bytes_) {
      refuse(fmt::format("a file of {} bytes", bytes_), fmt::format("at most {}", left));
    }
    next_ = at_ + kBlock + bytes_ + padding_of(bytes_, kBlock);
    return true;
  }

  std::uint64_t number(Field field) const {
    std::string_view text = text_of(header_, field);
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto value = text.empty() ? 0 : whole_number<std::uint64_t>(text, 8);
    if (!value) refuse("no octal number", "digits from 0 to 7");
    return *value;
  }

  /// Returns the name of a file without the directory that all of them are in.
  std::string checked_name() {
    const bool has_prefix = text_of(header_, kMagic) == "ustar";
    const fs::path path = fs::path(has_prefix ? text_of(header_, kPrefix) : std::string_view()) /
                          text_of(header_, kName);
    if (type_ != kRegularFile && type_ != kOldRegularFile && type_ != kDirectory) {
      refuse(fmt::format("'{}' of type '{}'", path.string(), type_), "a regular file");
    }
    std::vector<std::string> parts;
    for (const fs::path& part : path) {
      if (!part.empty() && part != ".") parts.push_back(part.string());
    }
    if (type_ == kDirectory && parts.empty()) return {};
    const std::string top = parts.size() > 1 || type_ == kDirectory ? parts.front() : "";
    if (top_.empty()) top_ = top;
    const std::size_t most = type_ == kDirectory ? 1 : 2;
    if (path.is_absolute() || parts.empty() || parts.size() > most || top != top_ ||
        contains(parts, "..")) {
      refuse(fmt::format("the name '{}'", path.string()), "that of a file in one directory");
    }
    return parts.back();
  }

  fs::path path_;
  FileDescriptor file_;
  std::uint64_t size_;
  std::uint64_t at_ = 0, next_ = 0;  ///< of the header, and of the one after it
  Block header_{};
  char type_ = 0;
  std::uint64_t bytes_ = 0;  ///< of the file's content
  std::string top_;          ///< the directory of all files; empty: none
};

}  // namespace

bool is_packed_run(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return false;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Block header{};
  return read_at(file, std::as_writable_bytes(std::span(header)), 0) == kBlock &&
         text_of(header, kMagic).starts_with("ustar");
}

void pack_run(const Run& run, const fs::path& directory, const fs::path& file) {
  std::vector<std::string> names{kFileName};
  for (const RunTarget& target : run.targets) names.push_back(target.file);
  for (const PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state == State::finished) names.push_back(measurement.file);
  }
  StagedFile staged(file);
  std::uint64_t written = 0;
  const auto write = [&](std::string_view bytes) {
    write_all(staged.file(), bytes, file.string());
    written += bytes.size();
  };
  for (const std::string& name : names) {
    const fs::path path = directory / name;
    const FileDescriptor content = open_regular_file(path);
    const std::uint64_t size = skid::size_of(content);
    write(bytes_of(header_of(name, size)));
    copy_bytes(content, 0, size, staged.file(), path.string(), file.string());
    written += size;
    write(std::string(padding_of(size, kBlock), '\0'));
  }
  write(std::string(2 * kBlock, '\0'));
  write(std::string(padding_of(written, kTarRecord), '\0'));
  staged.complete();
}

UnpackedRun::UnpackedRun(const fs::path& file) : directory_(TemporaryDirectory::roomy_parent()) {
  Reader(file).extract(path());
  std::error_code none;
  if (fs::exists(path() / kFileName, none)) return;
  throw InputError({file.string(),
                    {},
                    "a tar without a run.json",
                    "a run of 'skidscan record'",
                    "pack a run with skidscan record"});
}

}  // namespace skid::run
