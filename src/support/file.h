// Reading and writing files: whole reads with a bound, reads at an offset, complete writes.
#pragma once

#include "src/support/error.h"
#include "src/support/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace skid {

/// Whether the last part of a path may be a symbolic link.
enum class Links : std::uint8_t { followed, refused };

/// Opens a regular file for reading; never blocks on a FIFO or device put in its place.
/// Throws InputError when it is missing, unreadable or not a regular file.
FileDescriptor open_regular_file(const std::filesystem::path& path, Links links = Links::followed);

/// Returns the content of a regular file of at most `limit` bytes. Throws InputError.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Returns the next bytes of a regular file or pipe without consuming them: at most `count`, and
/// none only at its end. Blocks until a pipe has data. Empty for other kinds of files.
std::string peek(const FileDescriptor& file, std::size_t count);

/// Returns the rest of `file` to its end. If that is more than `limit` bytes, reading stops and the
/// result is longer than `limit`. `name`: the file's name in errors. Throws InputError.
std::string read_to_end(const FileDescriptor& file, std::uint64_t limit, const std::string& name);

/// Reads up to `bytes.size()` bytes from `offset` on. Returns how many were read before the end of
/// the file or an error.
std::size_t read_at(const FileDescriptor& file, std::span<std::byte> bytes, std::uint64_t offset);

/// Returns the size of a file in bytes; 0 if it is not known.
std::uint64_t size_of(const FileDescriptor& file);

/// Returns the size of a regular file without its holes (lseek(2), SEEK_DATA), in bytes: what its
/// owner had to write. Its whole size if the file system does not report holes.
std::uint64_t size_without_holes(const FileDescriptor& file);

/// Writes all of `content` at the position of `file`. Throws Error, whose message is that of
/// unwritable().
void write_all(const FileDescriptor& file, std::string_view content, const std::string& name,
               std::string_view remedy = {});

/// Copies `size` bytes of `from`, from `offset` on, to the position of `to`. Throws InputError of
/// `source` if it has fewer, and like write_all().
void copy_bytes(const FileDescriptor& from, std::uint64_t offset, std::uint64_t size,
                const FileDescriptor& to, const std::string& source,
                const std::string& destination);

/// Returns the error of a file that cannot be written, with the remedy if that is not empty:
/// "out.data: cannot be written: no space left on device".
Error unwritable(const std::string& name, int error_number, std::string_view remedy = {});

}  // namespace skid
